import { dirname, resolve } from 'node:path';
import type { Scan } from '../engine/outcome.js';
import { printable } from '../report/cells.js';
import { plural, shellWord } from '../report/prose.js';
import type { Report } from '../report/report.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { Failure } from '../workspace/failure.js';
import { stage } from '../workspace/git.js';
import { indexEntries } from '../workspace/git-index.js';
import { guard, nothingLeft, withUnstaged } from '../workspace/guard.js';
import { isInside, repositoryRoot, rootOf, shownFrom } from '../workspace/places.js';
import { State } from '../workspace/state.js';
import type { Writer } from '../workspace/writer.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { tidy } from './tidying.js';

export interface Unwritten {
  readonly path: string;
  readonly reason: string;
}

/** A file that could be fixed, and is not written. */
export interface Held {
  readonly path: string;
  readonly reason: string;
}

/**
 * Which files are not to be written, since something could not be brought back: by git, or by `memfix undo`. Refuses where
 * that is all of them. `groups`: each a file that was looked at, and others that change with it.
 */
export async function guardFiles(
  context: Context,
  { targets }: Look,
  groups: readonly (readonly string[])[],
): Promise<readonly Held[]> {
  const place = (path: string) => targets.get(path)?.target ?? resolve(context.io.cwd, path);
  const files = new Set(groups.flat().map(place));
  const leave = { dirty: mayBeDirty(context.args), noVcs: context.args.flag('allow-no-vcs') };
  const dirty = guard([...files], leave, context.io);
  const held = groups.flatMap((group) => {
    const other = group.find((path) => dirty.has(place(path)));
    const [path = ''] = group;
    if (other === undefined) return [];
    const reason = dirty.get(place(other)) ?? '';
    return [
      { path, reason: other === path ? reason : `${printable(other)}, which changes with it: ${reason}` },
    ];
  });
  if (held.length > 0 && held.length === groups.length)
    throw nothingLeft(dirty.keys(), leave, context.io.cwd);
  const roots = new Set(
    [...files].filter((file) => !dirty.has(file)).map((file) => rootOf(file, context.io.cwd)),
  );
  for (const root of roots) {
    State.of(root, context.io.env).open();
    await tidy(context, root);
  }
  return held;
}

/** What would keep `apply`, asked the same, from files with fixes: changes that are not committed, or no git. */
export function heldFrom(
  { args, io }: Context,
  { targets }: Look,
  scans: readonly Scan[],
): Pick<Report, 'held' | 'isWithoutGit'> {
  const fixed = scans.filter(({ findings }) => findings.some(({ fix }) => fix !== undefined));
  const place = (path: string) => targets.get(path)?.target ?? resolve(io.cwd, path);
  const places = fixed.map(({ file }) => place(file.path));
  try {
    const dirty = guard(places, { dirty: mayBeDirty(args), noVcs: true }, io);
    return {
      held: new Set(fixed.map(({ file }) => file.path).filter((path) => dirty.has(place(path)))),
      isWithoutGit: places.some((each) => repositoryRoot(dirname(each)) === undefined),
    };
  } catch {
    // Git says so again where something is to be written.
    return {};
  }
}

/** Whoever asks for changed files asks for files with changes. */
function mayBeDirty(args: Context['args']): boolean | 'staged' {
  if (args.flag('allow-dirty') || args.flag('changed')) return true;
  return args.flag('staged') ? 'staged' : false;
}

/** The files that a run could have fixed. */
export function nameHeld(context: Context, held: readonly Held[]): void {
  for (const { path, reason } of held) context.say(`${printable(path)}: left alone: ${reason}`);
  if (held.length > 0)
    context.say(
      context.args.flag('staged')
        ? 'Stage the rest of these files (`git add`), or add `--allow-dirty`, to have fixes in them too.'
        : 'Commit or stash these changes, or add `--changed` or `--allow-dirty`, to have fixes in these files too.',
    );
}

/** With `--staged --allow-dirty`, the files of a look that hold changes which are not staged: `git add` would take those along. */
export function mixedFiles({ args }: Context, { targets }: Look): ReadonlySet<string> {
  if (!args.flag('staged') || !args.flag('allow-dirty')) return new Set();
  return withUnstaged([...targets.values()].map(({ target }) => target));
}

/**
 * With `--staged`, what was written is staged as well: a commit that is under way takes it along. What the index had before
 * goes into the journal. Whether anything was staged.
 */
export function stageFiles(
  context: Context,
  { targets }: Look,
  paths: readonly string[],
  mixed: ReadonlySet<string>,
  writer: Writer,
): boolean {
  if (!context.args.flag('staged') || paths.length === 0) return false;
  const written = paths.map((path) => targets.get(path)?.target ?? resolve(context.io.cwd, path));
  const files = written.filter((file) => !mixed.has(file));
  for (const file of written.filter((each) => mixed.has(each))) {
    const name = shownFrom(context.io.cwd, file);
    context.say(
      `${printable(name)}: written, but not staged: it has changes of your own that are not; \`git add -p ${shellWord(name)}\` lets you choose`,
    );
  }
  const roots = new Map<string, string[]>();
  for (const file of files) {
    const root = rootOf(file, context.io.cwd);
    roots.set(root, [...(roots.get(root) ?? []), file]);
  }
  const left = [...roots].flatMap(([root, own]) => stageRecorded(context, root, own, writer));
  const staged = files.length - left.length;
  if (staged > 0) context.say(`Staged ${plural(staged, 'file')}.`);
  for (const file of left)
    context.say(
      `${printable(shownFrom(context.io.cwd, file))}: written, but not staged: a git filter is in charge of it`,
    );
  return staged > 0;
}

function stageRecorded(
  context: Context,
  root: string,
  files: readonly string[],
  writer: Writer,
): readonly string[] {
  const before = indexEntries(root, files);
  const left = stageOrTell(context, root, files);
  for (const [file, after] of indexEntries(root, files)) {
    const old = before.get(file) ?? null;
    if (old?.id === after.id) continue;
    const recorded = writer.recordIndex(file, old, after);
    if (!recorded.ok)
      context.say(`${printable(shownFrom(context.io.cwd, file))}: undo leaves it staged: ${recorded.reason}`);
  }
  return left;
}

/** What is written stays written where git cannot stage it, as while another git is at work. */
function stageOrTell({ io }: Context, root: string, files: readonly string[]): readonly string[] {
  try {
    return stage(root, files);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const names = files.map((file) => shellWord(shownFrom(io.cwd, file)));
    throw new Failure(
      'Written, but not staged',
      error.detail.split('\n', 1)[0] ?? '',
      `\`git add ${names.join(' ')}\` stages what was written once git can; \`memfix undo\` takes it back.`,
    );
  }
}

/** An editor that holds a notebook would write its old code back. */
export function sayReload(context: Context, paths: readonly string[]): void {
  const notebooks = paths.filter(isNotebookName).length;
  if (notebooks > 0)
    context.say(
      `Reload ${notebooks === 1 ? 'the notebook' : 'these notebooks'} where you have ${notebooks === 1 ? 'it' : 'them'} open, before you save there.`,
    );
}

export function sayHowToUndo(context: Context, roots: readonly string[], isStaged: boolean): void {
  if (roots.length === 1 && roots.every((root) => isInside(context.io.cwd, root)))
    context.say(`\`memfix undo\` takes it back${isStaged ? ', out of the index too' : ''}.`);
  else
    for (const root of roots)
      context.say(
        `\`memfix undo ${shellWord(shownFrom(context.io.cwd, root))}\` takes back what changed there.`,
      );
}

export function reportUnwritten(context: Context, unwritten: readonly Unwritten[]): void {
  if (unwritten.length === 0) return;
  const lines = unwritten.map(({ path, reason }) => `  ${printable(path)}: ${reason}`);
  context.warn(
    new Failure(
      `${plural(unwritten.length, 'file')} could not be written`,
      `left as ${unwritten.length === 1 ? 'it is' : 'they are'}:\n${lines.join('\n')}`,
      'Remove the cause and run `memfix apply` again; the other files are done.',
    ),
  );
}

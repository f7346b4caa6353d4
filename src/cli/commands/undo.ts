import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { printable } from '../../report/cells.js';
import { plural, shellWord } from '../../report/prose.js';
import { isNotebookName } from '../../text/notebook/notebook.js';
import { Failure, reasonOf } from '../../workspace/failure.js';
import { changedFiles, unstaged } from '../../workspace/git.js';
import { committedEntries, indexEntries, setIndex } from '../../workspace/git-index.js';
import { isInside, repositoryRoot, shownFrom } from '../../workspace/places.js';
import { rememberedIn } from '../../workspace/remember.js';
import { State } from '../../workspace/state.js';
import { hasPages, type Undone, undoLast } from '../../workspace/undo.js';
import { type Context, EXIT } from '../context.js';
import { tidy } from '../tidying.js';

/** The last apply of a repository, or what it did in a file or folder. */
interface Wish {
  readonly root: string;
  /** Undefined: all of it. */
  readonly place: string | undefined;
}

export async function undo(context: Context): Promise<number> {
  const { args, io } = context;
  const wishes = wishesOf(args.operands, io);
  const undone: Undone[] = [];
  for (const root of new Set(wishes.map((wish) => wish.root))) await tidy(context, root);
  for (const wish of wishes) {
    const state = State.of(wish.root, io.env);
    const one = undoLast(state, wish.place) ?? refuse(wish, state, io, undone.length === 0);
    if (one === undefined) continue;
    undone.push(one);
    if (one.isGone) context.say(goneNote(wish, io.cwd));
    else takeOutOfIndex(context, wish.root, one);
  }
  if (undone.every(({ isGone }) => isGone)) return EXIT.clean;
  const restored = undone.flatMap((one) => one.restored);
  const removed = undone.flatMap((one) => one.removed);
  for (const file of restored) context.say(`restored ${printable(shownFrom(io.cwd, file))}`);
  for (const file of removed)
    context.say(`removed ${printable(shownFrom(io.cwd, file))}, which memfix had made`);
  context.say(`${plural(restored.length, 'file')} restored.`);
  for (const root of new Set(wishes.map((wish) => wish.root))) {
    for (const [file, count] of restored.length === 0 ? [] : rememberedIn(root))
      context.say(
        `${printable(shownFrom(io.cwd, file))} still says yes to ${plural(count, 'question')} for good: take ${count === 1 ? 'it' : 'them'} out of its \`assume\` to be asked again.`,
      );
    for (const file of stagedAmong(root, restored)) {
      const name = printable(shownFrom(io.cwd, file));
      context.say(
        `${name} has staged changes, which stay as they are: \`git add ${shellWord(name)}\` stages what it is now.`,
      );
    }
  }
  const left = undone.flatMap((one) => one.left);
  const earlier = undone.reduce((sum, one) => sum + (one.earlier ?? 0), 0);
  if (left.length === 0) {
    const again = ['memfix undo', ...args.operands.map(shellWord)].join(' ');
    if (earlier > 0)
      context.say(
        `An earlier apply changed ${plural(earlier, 'file')}: \`${printable(again)}\` again takes that back.`,
      );
    return EXIT.clean;
  }
  const lines = left.map(({ path, reason }) => `  ${printable(shownFrom(io.cwd, path))}: ${reason}`);
  context.warn(
    new Failure(
      `${plural(left.length, 'file')} left as ${left.length === 1 ? 'it is' : 'they are'}`,
      `not restored:\n${lines.join('\n')}`,
      `${left.every(({ path }) => isNotebookName(path)) ? 'Take the fix back by hand in the cells that are named' : 'Use git to take the change back by hand, for example `git diff` and `git checkout -p`'}; \`memfix undo\` can be run again once the file is as memfix wrote it.${earlier > 0 ? ' What an earlier apply did to another file goes back by its name: `memfix undo FILE`.' : ''}`,
    ),
  );
  return EXIT.error;
}

/** Without a path, the repository here; a place inside another one that is named goes with that. */
function wishesOf(operands: readonly string[], { cwd, env }: Context['io']): readonly Wish[] {
  if (operands.length === 0) {
    const folder = realOf(cwd, '.');
    return [{ root: repositoryRoot(folder) ?? folder, place: undefined }];
  }
  const places = [...new Set(operands.map((path) => realOf(resolve(cwd, path), path)))];
  const outer = places.filter((place) => !places.some((other) => other !== place && isInside(place, other)));
  return outer.map((place) => {
    const folder = statSync(place).isDirectory() ? place : dirname(place);
    const here = realOf(cwd, '.');
    // Without git, an apply belongs to the folder in which it was started.
    const isOfHere = isInside(folder, here) && !hasPages(State.of(folder, env));
    const root = repositoryRoot(folder) ?? (isOfHere ? here : folder);
    return { root, place: place === root ? undefined : place };
  });
}

function goneNote({ place }: Wish, cwd: string): string {
  if (place === undefined)
    return 'The files are as they were before the last apply: there is nothing to take back.';
  return `${printable(shownFrom(cwd, place))}: as before the last apply; there is nothing to take back.`;
}

/** Nothing to undo: an error where that is all that was asked, or else told where the rest is done. */
function refuse({ root, place }: Wish, state: State, io: Context['io'], isFirst: boolean): undefined {
  const others = place === undefined ? State.below(root, io.env).filter(hasPages) : [];
  const commands = others.map((other) => `  memfix undo ${shellWord(shownFrom(io.cwd, other.root))}`);
  const where = place ?? root;
  const more = isFirst ? '' : '; what was named before it is done';
  const whole = `Without a path, \`memfix undo\` takes back the whole last apply.`;
  throw new Failure(
    'Nothing to undo',
    `there is no apply left to take back in ${where}${ignored(state)}${others.length === 0 ? '' : `; below it there is:\n${commands.join('\n')}`}${more}`,
    others.length > 0
      ? 'Name the repository: each has its own.'
      : hasPages(state) && place !== undefined
        ? whole
        : 'Run it in the repository (or, without git, in the folder) where `memfix apply` was run.',
  );
}

/** What `apply --staged` put into the index goes out of it, where it is still exactly that and not committed. */
function takeOutOfIndex(context: Context, root: string, { index }: Undone): void {
  if (index.length === 0 || repositoryRoot(root) === undefined) return;
  const files = index.map(({ path }) => resolve(root, path));
  const now = indexEntries(root, files);
  const committed = committedEntries(root, files);
  for (const { path, before, after } of index) {
    const file = resolve(root, path);
    const entry = now.get(file);
    if (entry?.id !== after.id || entry.mode !== after.mode || committed.get(file)?.id === after.id) continue;
    const name = printable(shownFrom(context.io.cwd, file));
    const problem = setIndex(root, file, before);
    context.say(
      problem === undefined
        ? `unstaged the fixes of ${name}: the index has again what you had staged`
        : `${name}: the fixes stay staged: ${problem}`,
    );
  }
}

/** What is staged beside, or in place of, what memfix staged is the user's. */
function stagedAmong(root: string, files: readonly string[]): readonly string[] {
  if (files.length === 0 || repositoryRoot(root) === undefined) return [];
  const staged = changedFiles(root, { kind: 'staged' });
  const differing = unstaged(root, files);
  return files.filter((file) => staged.has(file) && differing.has(file));
}

/** A journal in the project may be anybody's. */
function ignored({ root, folder }: State): string {
  const old = join(root, '.memfix');
  if (lstatSync(old, { throwIfNoEntry: false }) === undefined) return '';
  return `\n${old} is not read: whoever wrote the repository could have made it. The journal is in ${folder}`;
}

function realOf(place: string, typed: string): string {
  try {
    return realpathSync.native(place);
  } catch (error) {
    throw new Failure('Path not found', `\`${typed}\`: ${reasonOf(error)}`, 'Check the spelling.');
  }
}

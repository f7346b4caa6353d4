import { resolve } from 'node:path';
import { printable } from '../report/cells.js';
import { plural } from '../report/prose.js';
import { Failure } from '../workspace/failure.js';
import { guard } from '../workspace/guard.js';
import { isInside, rootOf } from '../workspace/places.js';
import { State } from '../workspace/state.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { tidy } from './tidying.js';

export interface Unwritten {
  readonly path: string;
  readonly reason: string;
}

/**
 * Refuses where something could not be brought back: by git, and by `memfix undo`. `paths`: of files that were looked at, and
 * of others that change with them.
 */
export async function guardFiles(
  context: Context,
  { targets }: Look,
  paths: readonly string[],
): Promise<void> {
  const files = new Set(paths.map((path) => targets.get(path)?.target ?? resolve(context.io.cwd, path)));
  const leave = { dirty: context.args.flag('allow-dirty'), noVcs: context.args.flag('allow-no-vcs') };
  guard([...files], leave, context.io.cwd);
  const roots = new Set([...files].map((file) => rootOf(file, context.io.cwd)));
  for (const root of roots) {
    State.of(root, context.io.env).open();
    await tidy(context, root);
  }
}

export function sayHowToUndo(context: Context, roots: readonly string[]): void {
  if (roots.length === 1 && roots.every((root) => isInside(context.io.cwd, root)))
    context.say('`memfix undo` takes it back.');
  else for (const root of roots) context.say(`\`memfix undo ${root}\` takes back what changed there.`);
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

import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { printable } from '../../report/cells.js';
import { plural, shellWord } from '../../report/prose.js';
import { forgetAnswers } from '../../workspace/answers.js';
import { bytesAt } from '../../workspace/bounded.js';
import { Failure, reasonOf } from '../../workspace/failure.js';
import { changedFiles } from '../../workspace/git.js';
import { repositoryRoot, shownFrom } from '../../workspace/places.js';
import { rememberedIn } from '../../workspace/remember.js';
import { State } from '../../workspace/state.js';
import { hasPages, undoLast } from '../../workspace/undo.js';
import { type Context, EXIT } from '../context.js';
import { tidy } from '../tidying.js';

export async function undo(context: Context): Promise<number> {
  const { args, io } = context;
  const [path = '.', another] = args.operands;
  if (another !== undefined) throw args.misuse('`memfix undo` takes one path at most.');
  const folder = folderOf(resolve(io.cwd, path), path);
  const root = repositoryRoot(folder) ?? folder;
  const state = State.of(root, io.env);
  await tidy(context, root);
  const undone = undoLast(state);
  if (undone?.isGone) {
    context.say('The files are as they were before the last apply: there is nothing to take back.');
    return EXIT.clean;
  }
  if (undone === undefined) {
    const others = State.below(root, io.env).filter(hasPages);
    const commands = others.map((other) => `  memfix undo ${shellWord(shownFrom(io.cwd, other.root))}`);
    throw new Failure(
      'Nothing to undo',
      `there is no apply left to take back in ${root}${ignored(state)}${others.length === 0 ? '' : `; below it there is:\n${commands.join('\n')}`}`,
      others.length === 0
        ? 'Run it in the repository (or, without git, in the folder) where `memfix apply` was run.'
        : 'Name the repository: each has its own.',
    );
  }
  for (const file of undone.restored) context.say(`restored ${printable(shownFrom(io.cwd, file))}`);
  context.say(`${plural(undone.restored.length, 'file')} restored.`);
  forgetAnswers(state, new Map(undone.restored.map((file) => [file, bytesAt(file) ?? Buffer.alloc(0)])));
  for (const [file, count] of undone.restored.length === 0 ? [] : rememberedIn(root))
    context.say(
      `${printable(shownFrom(io.cwd, file))} still says yes to ${plural(count, 'question')} for good: take them out of its \`assume\` to be asked again.`,
    );
  for (const file of stagedAmong(root, undone.restored)) {
    const name = printable(shownFrom(io.cwd, file));
    context.say(
      `${name} has staged changes, which stay as they are: \`git add ${shellWord(name)}\` stages what it is now.`,
    );
  }
  if (undone.left.length === 0) return EXIT.clean;
  const lines = undone.left.map(({ path, reason }) => `  ${printable(shownFrom(io.cwd, path))}: ${reason}`);
  context.warn(
    new Failure(
      `${plural(undone.left.length, 'file')} left as ${undone.left.length === 1 ? 'it is' : 'they are'}`,
      `not restored:\n${lines.join('\n')}`,
      'Use git to take the change back by hand, for example `git diff` and `git checkout -p`.',
    ),
  );
  return EXIT.error;
}

/** The fixes of `apply --staged` are in the index too, which is git's. */
function stagedAmong(root: string, files: readonly string[]): readonly string[] {
  if (files.length === 0 || repositoryRoot(root) === undefined) return [];
  const staged = changedFiles(root, { kind: 'staged' });
  return files.filter((file) => staged.has(file));
}

/** A journal in the project may be anybody's. */
function ignored({ root, folder }: State): string {
  const old = join(root, '.memfix');
  if (lstatSync(old, { throwIfNoEntry: false }) === undefined) return '';
  return `\n${old} is not read: whoever wrote the repository could have made it. The journal is in ${folder}`;
}

function folderOf(place: string, typed: string): string {
  try {
    const real = realpathSync.native(place);
    return statSync(real).isDirectory() ? real : dirname(real);
  } catch (error) {
    throw new Failure('Path not found', `\`${typed}\`: ${reasonOf(error)}`, 'Check the spelling.');
  }
}

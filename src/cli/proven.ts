import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Proven } from '../report/prove/proven.js';
import type { VerifiedRun } from '../report/prove/verified.js';
import { textOf } from '../workspace/bounded.js';
import { Failure } from '../workspace/failure.js';
import { repositoryRoot, slashed } from '../workspace/places.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';

/** What the file of `--evidence` says; undefined without one. */
export async function provenOf(context: Context, look: Look): Promise<Proven | undefined> {
  const { args, io } = context;
  const file = args.text('evidence');
  if (file === undefined) return undefined;
  const { provenIn } = await import('../report/prove/proven.js');
  const { verifiedIn } = await import('../report/prove/verified.js');
  const text = textOf(resolve(io.cwd, file));
  const runs = text === undefined ? undefined : verifiedIn(text);
  if (runs !== undefined) return provenByRuns(context, look, runs);
  const proven = text === undefined ? undefined : provenIn(text);
  if (proven !== undefined) return proven;
  throw new Failure(
    'No evidence there',
    text === undefined
      ? `${file} cannot be read`
      : `${file} is not what \`memfix prove --json\` or \`apply --save-evidence\` writes`,
    'Make it with `memfix prove --json -o prove.json -- <command>`, or with `memfix apply --verify <command> --save-evidence verified.json`.',
  );
}

/** What verifications say of this project as it is now. */
export async function provenByRuns(
  { io }: Context,
  look: Look,
  runs: readonly VerifiedRun[],
): Promise<Proven> {
  const { provenBy } = await import('../report/prove/proven.js');
  const { CodeNow } = await import('../workspace/prove/code-digest.js');
  const root = realpathSync.native(repositoryRoot(io.cwd) ?? io.cwd);
  const now = new CodeNow(await look.tools.parser.load(), root);
  const nameOf = (path: string) =>
    slashed(relative(root, look.targets.get(path)?.target ?? resolve(io.cwd, path)));
  return provenBy(runs, nameOf, (run) => now.stateOf(run));
}

import { resolve } from 'node:path';
import type { Proven } from '../report/prove/proven.js';
import { textOf } from '../workspace/bounded.js';
import { Failure } from '../workspace/failure.js';
import type { Context } from './context.js';

/** What the file of `--evidence` says; undefined without one. */
export async function provenOf({ args, io }: Context): Promise<Proven | undefined> {
  const file = args.text('evidence');
  if (file === undefined) return undefined;
  const { provenIn } = await import('../report/prove/proven.js');
  const text = textOf(resolve(io.cwd, file));
  const proven = text === undefined ? undefined : provenIn(text);
  if (proven !== undefined) return proven;
  throw new Failure(
    'No evidence there',
    text === undefined ? `${file} cannot be read` : `${file} is not what \`memfix prove --json\` writes`,
    'Make it with `memfix prove --json -o prove.json -- <command>`.',
  );
}

import { Failure } from '../../workspace/failure.js';
import { Git } from '../../workspace/migrate/git.js';
import type { Context } from '../context.js';

/** Who commits, in git's own variables; asked once, rather than found out as the same failure of every repository. */
export async function identityOf(context: Context): Promise<Readonly<Record<string, string>>> {
  return { ...(await identityAs('AUTHOR', context)), ...(await identityAs('COMMITTER', context)) };
}

async function identityAs(
  role: 'AUTHOR' | 'COMMITTER',
  { io }: Context,
): Promise<Readonly<Record<string, string>>> {
  const git = new Git(io.env, io.signal, '');
  const { status, stdout, stderr } = await git.ask(['var', `GIT_${role}_IDENT`]);
  const [, name, email] = /^(.*) <(.*)> \d+ [+-]\d+$/m.exec(stdout) ?? [];
  if (status === 0 && name !== undefined && email !== undefined)
    return { [`GIT_${role}_NAME`]: name, [`GIT_${role}_EMAIL`]: email };
  throw new Failure(
    'Git does not know who commits',
    stderr.split('\n').findLast((line) => line.startsWith('fatal')) ?? stderr,
    'Run `git config --global user.name …` and `git config --global user.email …`.',
  );
}

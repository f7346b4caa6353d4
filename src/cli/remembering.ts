import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, textOf } from '../workspace/bounded.js';
import { Cache } from '../workspace/cache.js';
import { Failure, reasonOf } from '../workspace/failure.js';
import { isInside, repositoryRoot } from '../workspace/places.js';
import type { Project } from '../workspace/project.js';
import { isAllKnown, type Means } from '../workspace/visit.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { ownVersion, packageRoot } from './package.js';

/** The cache of this run, unless it is not wanted or there is no good place for it. */
export async function cacheOf(context: Context, project: Project): Promise<Cache | undefined> {
  const { args, io } = context;
  if (io.self === undefined || args.choice('cache') === false) return undefined;
  // It promises to leave the tree as it is.
  if (args.command === 'prove') return undefined;
  const wish = args.text('cache-dir');
  const root = projectRoot(project);
  const folder = wish === undefined ? root && join(root, '.memfix_cache') : realFolder(resolve(io.cwd, wish));
  if (folder === undefined) return undefined;
  return new Cache(folder, [ownVersion(), await io.self.build(), root, io.cwd, project.facts]);
}

export function keep(
  context: Context,
  { project, targets, discovery }: Look,
  means: Means & { readonly cache: Cache },
): void {
  const { cache } = means;
  const { paths, since } = project.request;
  const { whole, ground } = project;
  if (whole !== undefined && !ground.isUndisturbed(whole) && isAllKnown(discovery.candidates, means))
    ground.settle(whole);
  const sawAll = since === undefined && paths.every((path) => path === '.');
  const reason = cache.save(sawAll ? targets : undefined);
  if (reason === undefined) return;
  if (context.args.text('cache-dir') === undefined) {
    if (context.isVerbose) context.say(`cache: not kept: ${reason}`);
    return;
  }
  context.warn(
    new Failure(
      'The cache could not be written',
      `${context.args.text('cache-dir')}: ${reason}`,
      'Name a folder that you may write to; the results are complete without it.',
    ),
  );
}

/** The repository; without one, the working folder, if that holds everything asked for. */
function projectRoot({ folder, request }: Project): string | undefined {
  return repositoryRoot(folder) ?? (isInside(folder, request.cwd) ? request.cwd : undefined);
}

/** A link to a folder is as good as the folder where the user names it. */
function realFolder(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    reasonOf(error);
    return path;
  }
}

/** The build has a name for itself; else it is the program, and the times and sizes of the files in its checkout. */
export function buildOf(entry: string): string {
  const built = textOf(fileURLToPath(new URL('build-id', entry)));
  if (built !== undefined && built !== '') return built;
  const program = bytesOf(fileURLToPath(entry));
  const files = ['src', 'transforms'].flatMap((folder) => {
    const place = join(packageRoot(), folder);
    return readdirSync(place, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        const { mtimeMs, size } = statSync(join(place, name));
        return `${name} ${mtimeMs} ${size}\n`;
      });
  });
  return createHash('sha256').update(program).update(files.join('')).digest('hex');
}

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** A bundle's entry names its parts by their content; a checkout is the times and sizes of its files. */
export function buildOf(entry: string): string {
  const path = fileURLToPath(entry);
  const hash = createHash('sha256').update(readFileSync(path));
  if (path.endsWith('.ts')) {
    for (const folder of ['src', 'transforms']) {
      const place = join(packageRoot(), folder);
      for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' }).sort()) {
        const { mtimeMs, size } = statSync(join(place, name));
        hash.update(`${name} ${mtimeMs} ${size}\n`);
      }
    }
  }
  return hash.digest('hex');
}

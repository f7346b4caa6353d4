import { createHash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, textOf } from '../workspace/bounded.js';
import { Cache, type CachePlace, namedPlace, usualPlace } from '../workspace/cache.js';
import { Failure, reasonOf } from '../workspace/failure.js';
import { isInside, repositoryRoot } from '../workspace/places.js';
import type { Project } from '../workspace/project.js';
import { State } from '../workspace/state.js';
import { isAllKnown, type Means } from '../workspace/visit.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';
import { ownVersion, packageRoot } from './package.js';
import { tidy } from './tidying.js';

/** The cache of this run, unless it is not wanted or there is no good place for it. */
export async function cacheOf(context: Context, project: Project): Promise<Cache | undefined> {
  const { args, io } = context;
  if (io.self === undefined || args.choice('cache') === false) return undefined;
  // It promises to leave the tree as it is.
  if (args.command === 'prove') return undefined;
  // What a plugin finds may depend on code that cannot be told from other code.
  if (context.catalogue.plugins?.some(({ digest }) => digest === undefined)) return undefined;
  const place = placeFor(context, project);
  if (place === undefined) return undefined;
  if (place.objection === undefined)
    return new Cache(
      place,
      [ownVersion(), await io.self.build(), projectRoot(project), io.cwd, project.facts, args.flag('strict')],
      (path) => project.factsFor(path),
    );
  complain(context, place.objection);
  return undefined;
}

function placeFor({ args, io }: Context, project: Project): CachePlace | undefined {
  const wish = args.text('cache-dir');
  if (wish !== undefined) return namedPlace(realFolder(resolve(io.cwd, wish)));
  const root = projectRoot(project);
  return root === undefined ? undefined : usualPlace(State.of(root, io.env));
}

/** The user hears of a folder that was asked for. */
function complain(context: Context, reason: string): void {
  const named = context.args.text('cache-dir');
  if (named === undefined) {
    if (context.isVerbose) context.say(`cache: not kept: ${reason}`);
    return;
  }
  context.warn(
    new Failure(
      'The cache could not be kept',
      `${named}: ${reason}`,
      'Name a folder that you may write to, outside of any repository; the results are complete without it.',
    ),
  );
}

export async function keep(
  context: Context,
  { project, targets, discovery }: Look,
  means: Means & { readonly cache: Cache },
): Promise<void> {
  const { cache } = means;
  const { paths, since } = project.request;
  const { whole, ground } = project;
  // What was found by the rules of another config is not among what a quick look goes by.
  const isOne = project.nestedConfigs.length === 0;
  if (isOne && whole !== undefined && !ground.isUndisturbed(whole) && isAllKnown(discovery.candidates, means))
    ground.settle(whole);
  const sawAll = since === undefined && paths.every((path) => path === '.');
  const reason = cache.save(sawAll ? targets : undefined);
  if (reason !== undefined) complain(context, reason);
  await tidy(context, project.root);
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

import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { shortened } from '../../text/resemblance.js';
import { withExtended } from '../config-file.js';
import { codeOf, Failure } from '../failure.js';
import { Ground } from '../ground.js';
import { realPath, repositoryRoot } from '../places.js';
import type { Request } from '../project.js';
import { configTableFor } from '../wishes.js';

const require = createRequire(import.meta.url);

/** A plugin as somebody named it. */
export interface NamedPlugin {
  readonly name: string;
  /** Paths are relative to this folder, and packages are looked for above it. */
  readonly folder: string;
}

/** The plugins that the nearest config names, and the project that it speaks for. */
export interface ConfiguredPlugins {
  readonly config: string;
  /** The repository; without one, the folder of the config. */
  readonly root: string;
  readonly plugins: readonly NamedPlugin[];
}

/** What the config of a request names; nothing of it is loaded, and the config of a stranger is not even asked. */
export function configuredPlugins(request: Request): ConfiguredPlugins | undefined {
  if (request.isTarget) return undefined;
  const config = configTableFor(request, new Ground(request.cwd));
  if (config === undefined) return undefined;
  const file = withExtended(config).findLast(({ table }) => table['plugins'] !== undefined);
  const names = file?.table['plugins'];
  // A wrong value is complained about by the reader of the config.
  if (file === undefined || !Array.isArray(names) || names.length === 0) return undefined;
  const plugins = names.flatMap((name) => (typeof name === 'string' ? { name, folder: file.folder } : []));
  const folder = realPath(dirname(config.path));
  return { config: config.path, root: repositoryRoot(folder) ?? folder, plugins };
}

/** The real path of a plugin's file. */
export function fileOf({ name, folder }: NamedPlugin): string {
  const isPath = isAbsolute(name) || /^\.{1,2}[\\/]/.test(name) || /\.[cm]?[jt]s$/.test(name);
  try {
    return realpathSync.native(isPath ? resolve(folder, name) : require.resolve(name, { paths: [folder] }));
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw new Failure(
      'Plugin not found',
      isPath
        ? `there is no file ${shortened(resolve(folder, name))}`
        : `no package \`${shortened(name)}\` can be loaded from ${folder} (${code})`,
      isPath
        ? 'Correct the path: it is relative to the file that names it, or on the command line to where you are.'
        : 'Install it there with npm; its package.json needs `main`, or `exports` with `default`. A path starts with `./`.',
    );
  }
}

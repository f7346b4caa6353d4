import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadedPlugin } from '../catalogue.js';
import { Failure } from '../failure.js';
import { digestOf } from './digest.js';

/** A plugin's file, and what it is called in words. */
export interface PluginFile {
  readonly name: string;
  readonly file: string;
}

/** Runs the code of these files: whoever calls this has been told to by the user. */
export async function loadPlugins(files: readonly PluginFile[]): Promise<readonly LoadedPlugin[]> {
  const { API_VERSION, pluginToolkit } = await import('../../toolkit/plugin.js');
  const { transformsIn } = await import('./contract.js');
  const loaded: LoadedPlugin[] = [];
  for (const { name, file } of files) {
    const digest = digestOf(file);
    const exported = await defaultOf(name, file, digest);
    loaded.push({ name, file, digest, transforms: transformsIn(name, exported, API_VERSION, pluginToolkit) });
  }
  return loaded;
}

/** A file that has changed since it was loaded is another module. */
async function defaultOf(name: string, file: string, digest: string | undefined): Promise<unknown> {
  const url = pathToFileURL(file);
  url.searchParams.set('memfix', digest ?? String(Date.now()));
  try {
    const module: { readonly default?: unknown } = await import(url.href);
    return module.default;
  } catch (error) {
    if (/^\.[cm]?ts$/.test(extname(file)) && !readsTypes())
      throw new Failure(
        'A plugin in TypeScript needs a newer Node.js',
        `${name}: this is Node.js ${process.versions.node}, which runs JavaScript only`,
        'Use Node.js 22.18 or newer, or write the plugin as .mjs.',
      );
    const told = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    throw new Failure('A plugin cannot be loaded', `${name}: ${told}`, 'Correct it, or leave it out.');
  }
}

function readsTypes(): boolean {
  return 'typescript' in process.features && process.features.typescript !== false;
}

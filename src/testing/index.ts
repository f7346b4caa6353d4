/** The laws of memfix's own fixtures, for those of a plugin: under vitest, `node:test` or whatever runs functions. */

import { fileURLToPath } from 'node:url';
import { transforms } from '../../transforms/index.js';
import { chosenParser } from '../workspace/parser-choice.js';
import { loadPlugins } from '../workspace/plugins/load.js';
import { fileOf } from '../workspace/plugins/named.js';
import type { Law } from './laws.js';
import { pluginLaws } from './plugin-laws.js';

export type { Law };

export interface LawOptions {
  /** The folder with a folder of cases for each transform; `fixtures/` beside the plugin where it is not named. */
  readonly fixtures?: string | URL;
  /** Whether to write `findings.json` anew, and `output.py` where there is none: read the diff. */
  readonly record?: boolean;
}

/** What the fixtures of a plugin must hold to, each as a name and a function that throws. Runs the plugin's code. */
export async function laws(plugin: string | URL, options: LawOptions = {}): Promise<readonly Law[]> {
  const name = pathOf(plugin);
  const [loaded] = await loadPlugins([{ name, file: fileOf({ name, folder: process.cwd() }) }]);
  if (loaded === undefined) return [];
  return pluginLaws(loaded, {
    parser: await chosenParser(process.env['MEMFIX_PARSER']),
    others: transforms,
    ...(options.fixtures !== undefined && { fixtures: pathOf(options.fixtures) }),
    records: options.record === true,
  });
}

function pathOf(place: string | URL): string {
  return typeof place === 'string' && !place.startsWith('file:') ? place : fileURLToPath(place);
}

import { dirname, join } from 'node:path/posix';
import { readYaml, type YamlScalar } from '../syntax/yaml.js';
import type { PyModule } from './module.js';

/** Where the settings of a Hydra program are: what `@hydra.main(config_path=…, config_name=…)` names. */
interface HydraConfig {
  /** Of the configurations, as seen from the project. */
  readonly folder: string;
  readonly text: string;
  readonly path: string;
}

/** A file that Hydra composes into the settings of the program, and the keys that are left to follow in it. */
export interface HydraSource {
  readonly path: string;
  readonly text: string;
  readonly keys: readonly string[];
}

const MAIN = /@hydra\.main\(([^)]*)\)/;
/** `- model: phi4`, also `- override /model: phi4`. */
const CHOICE = /^\s*-\s*(?:override\s+)?\/?([\w/]+)(?:@[\w.]+)?\s*:\s*["']?([\w./-]+)["']?\s*(?:#.*)?$/;

/**
 * The files that may give the setting at these keys: that of the group which the defaults choose, and the configuration itself.
 * The command line may choose others.
 */
export function hydraSources(module: PyModule, keys: readonly string[]): readonly HydraSource[] {
  const config = module.memo(findConfig, module);
  const [group, ...rest] = keys;
  if (config === undefined || group === undefined) return [];
  const chosen = choicesOf(config.text).get(group);
  const file =
    chosen === undefined ? undefined : module.around.file(join(config.folder, group, `${chosen}.yaml`));
  const own = { path: config.path, text: config.text, keys };
  return file === undefined || /^#\s*@package/m.test(file.text)
    ? [own]
    : [{ path: file.path, text: file.text, keys: rest }, own];
}

/** The plain value at these keys, where one of the files has it, and which one. */
export function hydraSetting(
  module: PyModule,
  keys: readonly string[],
): { readonly value: YamlScalar; readonly path: string } | undefined {
  for (const source of hydraSources(module, keys)) {
    const name = source.keys.at(-1);
    const section = name === undefined ? '' : readYaml(source.text, source.keys.slice(0, -1));
    const entry = typeof section === 'string' || name === undefined ? undefined : section.entries.get(name);
    if (entry !== undefined) return { value: entry.value, path: source.path };
  }
  return undefined;
}

function choicesOf(text: string): ReadonlyMap<string, string> {
  const [, listed = ''] = /^defaults:[^\n]*\n((?:[ \t]*(?:-[^\n]*|#[^\n]*)?(?:\n|$))*)/m.exec(text) ?? [];
  const choices = listed.split('\n').flatMap((line): readonly (readonly [string, string])[] => {
    const [, group, name] = CHOICE.exec(line) ?? [];
    return group === undefined || name === undefined || name === 'null' ? [] : [[group, name]];
  });
  return new Map(choices);
}

function findConfig(module: PyModule): HydraConfig | undefined {
  const { modules, unread } = module.around.naming({ word: 'hydra', beside: [] }, (text) => MAIN.test(text));
  if (unread !== undefined) return undefined;
  const programs = [module, ...modules].flatMap((there) => {
    const [, given] = MAIN.exec(there.code) ?? [];
    return given === undefined ? [] : [{ there, given }];
  });
  const [only, ...others] = programs;
  if (only === undefined || others.length > 0) return undefined;
  const named = (name: string) => new RegExp(`\\b${name}\\s*=\\s*["']([\\w./-]+)["']`).exec(only.given)?.[1];
  const folder = join(dirname(only.there.path), named('config_path') ?? '.');
  const name = named('config_name');
  const file =
    name === undefined ? undefined : module.around.file(join(folder, `${name.replace(/\.ya?ml$/, '')}.yaml`));
  return file && { folder, text: file.text, path: file.path };
}

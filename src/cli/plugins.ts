import { printable } from '../report/cells.js';
import { type Catalogue, withPlugins } from '../workspace/catalogue.js';
import { shownFrom } from '../workspace/places.js';
import type { ConfiguredPlugins, NamedPlugin } from '../workspace/plugins/named.js';
import type { Request } from '../workspace/project.js';
import type { Io } from './io.js';

/** The catalogue with the plugins of a run, and what the user should hear of those that are not in it. */
export interface WithPlugins {
  readonly catalogue: Catalogue;
  readonly unloaded?: string;
}

/**
 * Loads what `--plugin` names, and what the config names if the user has trusted it. A config may come with a cloned
 * repository: by itself it runs nothing.
 */
export async function catalogueWithPlugins(
  catalogue: Catalogue,
  request: Request,
  named: readonly string[],
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): Promise<WithPlugins> {
  const { configuredPlugins, fileOf } = await import('../workspace/plugins/named.js');
  const configured = configuredPlugins(request);
  if (named.length === 0 && configured === undefined) return { catalogue };
  const byFlag = named.map((name) => at({ name, folder: cwd }));
  const given = new Set(byFlag.map(({ file }) => file));
  const { trusted, others } = await sorted(configured, given, env);
  const files = [...byFlag, ...trusted.map(at)];
  const isWhole = others.length === 0;
  const unloaded = isWhole || configured === undefined ? {} : { unloaded: wordsFor(configured, others, cwd) };
  if (files.length === 0) return { catalogue, ...unloaded };
  const { loadPlugins } = await import('../workspace/plugins/load.js');
  return { catalogue: withPlugins(catalogue, await loadPlugins(unique(files)), isWhole), ...unloaded };

  function at(plugin: NamedPlugin) {
    return { name: plugin.name, file: fileOf(plugin) };
  }
}

/** Those of the config that the user has trusted, and those that stay unread. */
async function sorted(
  configured: ConfiguredPlugins | undefined,
  given: ReadonlySet<string>,
  env: Io['env'],
): Promise<{ readonly trusted: readonly NamedPlugin[]; readonly others: readonly NamedPlugin[] }> {
  if (configured === undefined) return { trusted: [], others: [] };
  const { fileOf } = await import('../workspace/plugins/named.js');
  const { trustedIn } = await import('../workspace/plugins/trust.js');
  const trusted = trustedIn(configured.root, env);
  // Of a project that nobody trusts, not even paths are looked at.
  if (trusted.size + given.size === 0) return { trusted: [], others: configured.plugins };
  const isTrusted = (plugin: NamedPlugin) => {
    const file = fileOf(plugin);
    return trusted.has(file) || given.has(file);
  };
  return {
    trusted: configured.plugins.filter(isTrusted),
    others: configured.plugins.filter((plugin) => !isTrusted(plugin)),
  };
}

function unique<T extends { readonly file: string }>(files: readonly T[]): readonly T[] {
  return files.filter(({ file }, index) => files.findIndex((each) => each.file === file) === index);
}

function wordsFor({ config }: ConfiguredPlugins, others: readonly NamedPlugin[], cwd: string): string {
  const names = others.map(({ name }) => printable(name)).join(', ');
  const where = printable(shownFrom(cwd, config));
  return (
    `Not loaded: ${others.length === 1 ? 'the plugin' : 'the plugins'} ${names} of ${where}, whose code would run as you. ` +
    'If you trust it, run `memfix trust`.'
  );
}

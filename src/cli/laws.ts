import type { Law } from '../testing/laws.js';
import { chosenParser } from '../workspace/parser-choice.js';
import { loadPlugins, type PluginFile } from '../workspace/plugins/load.js';
import type { Context } from './context.js';

/** The laws for the fixtures of plugins, which are loaded for it. */
export async function lawsFor(
  { catalogue, io }: Context,
  files: readonly PluginFile[],
  records: boolean,
): Promise<readonly Law[]> {
  const { pluginLaws } = await import('../testing/plugin-laws.js');
  const parser = await chosenParser(io.env['MEMFIX_PARSER']);
  const setting = { parser, others: await catalogue.transforms(), records };
  return (await loadPlugins(files)).flatMap((plugin) => pluginLaws(plugin, setting));
}

import { printable } from '../../report/cells.js';
import { plural } from '../../report/prose.js';
import { Failure } from '../../workspace/failure.js';
import { fileOf } from '../../workspace/plugins/named.js';
import { type Context, EXIT } from '../context.js';
import { lawsFor } from '../laws.js';
import { catalogueWithPlugins } from '../plugins.js';

/** Holds the fixtures of plugins to the laws of memfix's own. */
export async function testTransform(context: Context): Promise<number> {
  const { io, args } = context;
  const named = args.operands.map((name) => ({ name, file: fileOf({ name, folder: io.cwd }) }));
  const plugins = named.length > 0 ? named : await trusted(context);
  const laws = await lawsFor(context, plugins, args.flag('record'));
  const broken: string[] = [];
  for (const { name, check } of laws) {
    io.signal.throwIfAborted();
    try {
      await check();
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      broken.push(`${name}\n${told.replace(/^/gm, '  ')}\n`);
    }
  }
  const names = plugins.map(({ name }) => printable(name)).join(', ');
  const verdict =
    broken.length === 0
      ? `${plural(laws.length, 'law')} ${laws.length === 1 ? 'holds' : 'hold'}: ${names}\n`
      : `${broken.length} of ${plural(laws.length, 'law')} broken: ${names}\n`;
  context.out(`${broken.map((words) => `${words}\n`).join('')}${verdict}`);
  return broken.length === 0 ? EXIT.clean : EXIT.findings;
}

/** What the config names, as far as the user trusts it. */
async function trusted(context: Context) {
  const { io, args, catalogue } = context;
  const found = await catalogueWithPlugins(catalogue, args.request(io.cwd, io.env), [], io);
  const { plugins = [] } = found.catalogue;
  if (plugins.length > 0) return plugins;
  throw new Failure(
    'No plugin to test',
    found.unloaded ?? 'none is named, here or in a config',
    'Name its file: `memfix test-transform ./memfix_rules/acme-cache.mjs`.',
  );
}

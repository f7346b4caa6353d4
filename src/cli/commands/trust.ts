import { printable } from '../../report/cells.js';
import { Failure } from '../../workspace/failure.js';
import { shownFrom } from '../../workspace/places.js';
import { configuredPlugins, fileOf } from '../../workspace/plugins/named.js';
import { distrust, trust as remember } from '../../workspace/plugins/trust.js';
import { type Context, EXIT } from '../context.js';

/** Lets the plugins that a config names be loaded from now on. */
export async function trust(context: Context): Promise<number> {
  const { args, io } = context;
  if (args.operands.length > 1) throw args.misuse('`memfix trust` takes one folder.');
  const configured = configuredPlugins(args.request(io.cwd, io.env));
  if (configured === undefined)
    throw new Failure(
      'No plugins here',
      'no config of this folder names any',
      'Name them in `[tool.memfix]` with `plugins = ["./memfix_rules/acme.mjs"]`; docs/plugins.md says more.',
    );
  const { root, plugins } = configured;
  const shown = printable(shownFrom(io.cwd, root));
  if (args.flag('forget')) {
    const was = distrust(root, io.env);
    context.out(
      was
        ? `The plugins of ${shown} are not trusted any more.\n`
        : `The plugins of ${shown} were not trusted.\n`,
    );
    return EXIT.clean;
  }
  remember(root, plugins.map(fileOf), io.env);
  const list = plugins.map(({ name }) => `  ${printable(name)}\n`).join('');
  context.out(
    `Trusted in ${shown}, with your rights, until \`memfix trust --forget\`:\n${list}` +
      'Whoever can change these files, a `git pull` included, can run code as you.\n',
  );
  return EXIT.clean;
}

import { renderCatalogue } from '../../report/catalogue.js';
import { type Context, EXIT } from '../context.js';

const FORMATS = ['full', 'json'] as const;

export async function list(context: Context): Promise<number> {
  const { args, transforms, view } = context;
  if (args.operands.length > 0)
    throw args.misuse('`memfix list` takes no paths; `memfix explain <id>` shows one transform.');
  const metas = transforms.map((transform) => transform.meta);
  const isJson = args.oneOf('output-format', FORMATS, 'full') === 'json';
  context.out(isJson ? `${JSON.stringify(metas, undefined, 2)}\n` : renderCatalogue(metas, view));
  return EXIT.clean;
}

import { renderCatalogue } from '../../report/catalogue.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import { Vocabulary } from '../../workspace/selection.js';
import { type Context, EXIT } from '../context.js';
import { PAGE_FORMATS } from '../formats.js';

export async function list(context: Context): Promise<number> {
  const { args, catalogue, view } = context;
  const vocabulary = new Vocabulary(catalogue);
  vocabulary.check(args.operands, '`memfix list`');
  const metas = vocabulary.metas.filter((meta) => isNamed(meta, args.operands));
  const isJson = args.oneOf('output-format', PAGE_FORMATS, 'full') === 'json';
  await context.show(isJson ? `${JSON.stringify(metas, undefined, 2)}\n` : renderCatalogue(metas, view));
  return EXIT.clean;
}

/** As in a selection; but a list of a symptom also shows what runs only when it is asked for. */
function isNamed({ id, aliases = [], group, symptom }: TransformMeta, names: readonly string[]): boolean {
  const own = [...(group === 'documented' ? [] : ['all']), group, symptom, id, ...aliases];
  return names.length === 0 || names.some((name) => own.includes(name.toLowerCase()));
}

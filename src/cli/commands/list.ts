import { renderCatalogue } from '../../report/catalogue.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import { Vocabulary } from '../../workspace/selection.js';
import { type Context, EXIT } from '../context.js';

const FORMATS = ['full', 'json'] as const;

export async function list(context: Context): Promise<number> {
  const { args, catalogue, view } = context;
  const vocabulary = new Vocabulary(catalogue);
  vocabulary.check(args.operands, '`memfix list`');
  const metas = vocabulary.metas.filter((meta) => isNamed(meta, args.operands));
  const isJson = args.oneOf('output-format', FORMATS, 'full') === 'json';
  await context.show(isJson ? `${JSON.stringify(metas, undefined, 2)}\n` : renderCatalogue(metas, view));
  return EXIT.clean;
}

/** Unlike a selection, a list of a symptom also shows what runs only when it is asked for. */
function isNamed({ id, aliases = [], group, symptom }: TransformMeta, names: readonly string[]): boolean {
  const own = ['all', group, symptom, id, ...aliases];
  return names.length === 0 || names.some((name) => own.includes(name));
}

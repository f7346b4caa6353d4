import { join } from 'node:path';
import { terminalPage } from '../../report/explain.js';
import type { Example } from '../../report/page.js';
import { textOf } from '../../workspace/bounded.js';
import { Vocabulary } from '../../workspace/selection.js';
import { type Context, EXIT } from '../context.js';
import { packageRoot } from '../package.js';

export async function explain(context: Context): Promise<number> {
  const { args, catalogue, view } = context;
  const [id, another] = args.operands;
  if (id === undefined || another !== undefined) {
    throw args.misuse('`memfix explain` takes the id of one transform; `memfix list` shows them all.');
  }
  const meta = new Vocabulary(catalogue).meta(id);
  await context.show(terminalPage(meta, exampleOf(meta.id), view));
  return EXIT.clean;
}

/** Both sides of the example on the transform's generated page, which travels with the package as fixtures do not. */
function exampleOf(id: string): Example {
  const page = textOf(join(packageRoot(), 'transforms', `${id}.md`)) ?? '';
  const [, language, code = ''] = /^## Example\n\n```(\w+)\n([\s\S]*?)^```$/m.exec(page) ?? [];
  if (language !== 'diff') return { before: code, after: code };
  const lines = code.split(/(?<=\n)/);
  const side = (other: string) =>
    lines
      .filter((line) => !line.startsWith(other) && !line.startsWith('@@'))
      .map((line) => line.replace(/^[ +-]/, ''))
      .join('');
  return { before: side('+'), after: side('-') };
}

import { dirname, join } from 'node:path';
import { terminalPage } from '../../report/explain.js';
import { isSelectable, meaningOf } from '../../report/meanings.js';
import type { Example } from '../../report/page.js';
import { wrap } from '../../report/prose.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import { textOf } from '../../workspace/bounded.js';
import type { Catalogue } from '../../workspace/catalogue.js';
import { Vocabulary } from '../../workspace/selection.js';
import { type Context, EXIT } from '../context.js';
import { packageRoot } from '../package.js';

export async function explain(context: Context): Promise<number> {
  const { args, catalogue, view } = context;
  const [id, another] = args.operands;
  const spot = spotNamed(args.operands.join(' '));
  if (spot !== undefined) {
    const { explainPlace } = await import('../place-explained.js');
    return explainPlace(context, spot.path, spot);
  }
  const word = args.operands.join(' ');
  const meaning = meaningOf(word);
  if (meaning !== undefined) {
    const more = isSelectable(word) ? ` \`memfix list ${word.toLowerCase()}\` shows its transforms.` : '';
    const lines = wrap(`${word}: ${meaning}.${more}`, view.width, { first: '', rest: '' });
    context.out(`${lines.join('\n')}\n`);
    return EXIT.clean;
  }
  if (id === undefined || another !== undefined) {
    throw args.misuse(
      '`memfix explain` takes the id of one transform, or a place such as `train.py:42` or `train.ipynb:7:3` (cell 7, line 3); `memfix list` shows all transforms.',
    );
  }
  const meta = new Vocabulary(catalogue).meta(id);
  await context.show(terminalPage(meta, exampleOf(meta, catalogue), view));
  return EXIT.clean;
}

/** A place as reports tell it, or as `file:line:column`; of a notebook, `file:cell:line`. */
function spotNamed(words: string): { path: string; cell?: number; line?: number } | undefined {
  const told = /^(?<path>.+\.ipynb)(?:: ?| )cell (?<cell>\d+)(?:,? line (?<line>\d+))?$/.exec(words);
  const marked = /^(?<path>.+\.(?:pyi?|ipynb))(?::(?<first>\d+))?(?::(?<second>\d+))?$/.exec(words);
  const { path, cell, line, first, second } = (told ?? marked)?.groups ?? {};
  if (path === undefined) return undefined;
  const isNotebook = path.endsWith('.ipynb');
  const [inCell, onLine] = isNotebook ? [cell ?? first, line ?? second] : [undefined, first];
  return {
    path,
    ...(inCell !== undefined && { cell: Number(inCell) }),
    ...(onLine !== undefined && { line: Number(onLine) }),
  };
}

/** Both sides of the example: of a plugin its fixture, else on the generated page, which travels with the package. */
function exampleOf({ id, example }: TransformMeta, { plugins = [] }: Catalogue): Example {
  const owner = plugins.find(({ transforms }) => transforms.some(({ meta }) => meta.id === id));
  if (owner !== undefined) {
    const folder = join(dirname(owner.file), 'fixtures', id, example);
    const before = textOf(join(folder, 'input.py')) ?? '';
    return { before, after: textOf(join(folder, 'output.py')) ?? before };
  }
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

import type { PyNode } from '../syntax/node.js';
import type { PyModule } from './module.js';

export interface StarImport {
  readonly from: string;
  /** It runs whenever the file does. */
  readonly isSure: boolean;
  readonly statement: PyNode;
}

/** `from x import *` at the top of a file, last one first: what it binds counts where several bind a name. */
export function starImports(module: PyModule): readonly StarImport[] {
  return module.alone.memo(findStarImports, module.alone);
}

function findStarImports(module: PyModule): readonly StarImport[] {
  if (!STAR.test(module.text)) return [];
  const found = module.ownWords('import', module.root).flatMap(({ parent: statement }) => {
    const from = statement?.module_name?.text;
    if (from === undefined || statement?.childOfType('wildcard_import') === undefined) return [];
    return [{ from, isSure: statement.parent === module.root, statement }];
  });
  return found.reverse();
}

const STAR = /\bimport\b[ \t\\]*[\n\r]?[ \t]*\*/;
/** Names that a file gives without naming them in its code. */
const GIVES_MORE = /__getattr__|globals\(/;
/** Stars of stars are followed this far. */
const MAX_HOPS = 5;

/** Whether `from x import *` may bind a name: not where the file is known, names it nowhere, and passes on none that may. */
export function mayBring(module: PyModule, from: string, name: string, hops = 0): boolean {
  const text = module.around.text(from);
  if (text === undefined || text.includes(name) || GIVES_MORE.test(text) || hops > MAX_HOPS) return true;
  if (!STAR.test(text)) return false;
  const other = module.around.module(from);
  return other === undefined || starImports(other).some((star) => mayBring(other, star.from, name, hops + 1));
}

/** The dotted name of what a module holds: `.lib` and `Net` are `.lib.Net`. */
export function within(from: string, name: string): string {
  return `${from}${from.endsWith('.') ? '' : '.'}${name}`;
}

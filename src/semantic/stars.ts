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
const PASSES_ON = /\bimport[ \t]*\(?[ \t]*\*|__getattr__|globals\(/;

/** Whether `from x import *` may bind a name: not where the file is known, names it nowhere, and passes no others on. */
export function mayBring(module: PyModule, from: string, name: string): boolean {
  const text = module.around.text(from);
  return text === undefined || text.includes(name) || PASSES_ON.test(text);
}

/** The dotted name of what a module holds: `.lib` and `Net` are `.lib.Net`. */
export function within(from: string, name: string): string {
  return `${from}${from.endsWith('.') ? '' : '.'}${name}`;
}

import type { PyNode } from '../syntax/node.js';
import { wholeWord } from '../text/words.js';
import type { PyModule } from './module.js';
import { plainString } from './strings.js';

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
  if (text === undefined || text.includes(name) || hops > MAX_HOPS) return true;
  if (!STAR.test(text) && !GIVES_MORE.test(text)) return false;
  const other = module.around.module(from);
  if (other === undefined || GIVES_MORE.test(other.code)) return true;
  return (
    handsOn(other, name) !== false &&
    starImports(other).some((star) => mayBring(other, star.from, name, hops + 1))
  );
}

/** The dotted name of what a module holds: `.lib` and `Net` are `.lib.Net`. */
export function within(from: string, name: string): string {
  return `${from}${from.endsWith('.') ? '' : '.'}${name}`;
}

/** Whether `import *` takes a name of a module, as far as its `__all__` goes. */
export function handsOn({ scope, text }: PyModule, name: string): boolean | undefined {
  if (!scope.has('__all__')) return true;
  if (/__all__\s*[.+]/.test(text)) return undefined;
  const [only, ...others] = scope.bindings('__all__');
  const list = only?.parent?.type === 'assignment' ? only.parent.right : undefined;
  if (others.length > 0 || (list?.type !== 'list' && list?.type !== 'tuple')) return undefined;
  const names = list.named.filter(({ type }) => type !== 'comment').map(plainString);
  return names.includes(undefined) ? undefined : names.includes(name);
}

/** Whether a file of the project that the file takes by `from x import *` binds a name, so that it is not Python's own. */
export function isStarred(module: PyModule, name: string): boolean {
  return !name.startsWith('_') && starImports(module).length > 0 && module.memo(findStarred, name);
}

function findStarred(module: PyModule, name: string): boolean {
  return starImports(module).some(({ from }) => isBrought(module, from, name, 0));
}

function isBrought(module: PyModule, from: string, name: string, hops: number): boolean {
  const text = module.around.text(from);
  if (text === undefined || hops > MAX_HOPS || !mayBring(module, from, name)) return false;
  const other = module.around.module(from);
  if (other === undefined) return wholeWord(name).test(text);
  if (handsOn(other, name) === false) return false;
  return (
    other.scope.has(name) || starImports(other).some((star) => isBrought(other, star.from, name, hops + 1))
  );
}

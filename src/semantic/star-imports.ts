import { definedElsewhere, type Elsewhere } from './elsewhere.js';
import type { PyModule } from './module.js';

/**
 * The definition in another file of the project that a name without a binding in its own file comes from, by
 * `from x import *`. Where several bring it, the last one counts; undefined where one of those may and does not show it.
 */
export function starredDefinition(module: PyModule, name: string): Elsewhere | undefined {
  if (name.startsWith('_')) return undefined;
  for (const { from, isSure } of module.alone.memo(starImports, module.alone)) {
    if (!mayBring(module, from, name)) continue;
    return isSure ? definedElsewhere(module, `${from}${from.endsWith('.') ? '' : '.'}${name}`) : undefined;
  }
  return undefined;
}

interface StarImport {
  readonly from: string;
  /** It runs whenever the file does. */
  readonly isSure: boolean;
}

/** Last one first. */
function starImports(module: PyModule): readonly StarImport[] {
  const found = [...module.ownWords('import', module.root)].flatMap(({ parent: statement }) => {
    const from = statement?.field('module_name')?.text;
    if (from === undefined || statement?.childOfType('wildcard_import') === undefined) return [];
    return [{ from, isSure: statement.parent === module.root }];
  });
  return found.reverse();
}

/** Whether `from x import *` may bind a name: not where the file is known, names it nowhere, and passes no others on. */
function mayBring(module: PyModule, from: string, name: string): boolean {
  const text = module.around.text(from);
  return (
    text === undefined || text.includes(name) || /\bimport[ \t]*\(?[ \t]*\*|__getattr__|globals\(/.test(text)
  );
}

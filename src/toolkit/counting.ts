import { freeName } from '../semantic/free-name.js';
import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import type { EditBuilder } from './edit-builder.js';

/**
 * Gives a `for` a counter of its own: `for x, y in data` becomes `for name, (x, y) in enumerate(data)`. The counter's name,
 * or undefined where that name or `enumerate` means something else there.
 */
export function countPasses(
  edit: EditBuilder,
  module: PyModule,
  loop: PyNode,
  name: string,
): string | undefined {
  const target = loop.left;
  const iterable = loop.right;
  const scope = module.scopeAt(loop);
  if (loop.type !== 'for_statement' || target === undefined || iterable === undefined) return undefined;
  if (loop.children[0]?.type === 'async' || /^(?:expression_list|yield)$/.test(iterable.type))
    return undefined;
  if (module.lookup('enumerate', scope) !== undefined || !freeName(module, name, scope)) return undefined;
  // `for(x, y)in(data)` has no blanks to keep words apart.
  const [gap, after] = [target.previous, iterable.previous].map((word) => (isGlued(word) ? ' ' : ''));
  edit.replace(target, `${gap}${name}, ${target.type === 'pattern_list' ? `(${target.text})` : target.text}`);
  edit.replace(iterable, `${after}enumerate(${iterable.text})`);
  return name;
}

/** Whether something starts right after a word. */
function isGlued(word: PyNode | undefined): boolean {
  return word !== undefined && word.next?.start === word.end;
}

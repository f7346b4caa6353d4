import type { PyNode } from '../syntax/node.js';
import { lineageOf } from './elsewhere.js';
import { placeOf } from './gate.js';
import type { PyModule } from './module.js';
import { decoratorsOf, enclosingClass, enclosingFunction } from './statements.js';

const PROPERTY = /^(?:functools\.)?(?:cached_|lazy_)?property$/;
/** Calls that only look. */
const LOOKS =
  /\b(?:next|iter|getattr|hasattr|isinstance|str|parameters|buffers|children|modules|device|is_available|current_device)\s*\(/g;

/** The property behind `self.device` that does more than look, with its place. */
export function busyProperty(module: PyModule, device: PyNode): string | undefined {
  const name = device.type === 'attribute' ? device.attribute?.text : undefined;
  if (name === undefined) return undefined;
  const own = propertiesOf(module, name).filter(isBusy);
  if (own[0] !== undefined) return `the property \`${name}\` of this file`;
  const method = enclosingFunction(device);
  const around = method && enclosingClass(method);
  if (around === undefined || propertiesOf(module, name).length > 0) return undefined;
  for (const base of lineageOf(module, around).elsewhere) {
    const found = propertiesOf(base.module, name).find((each) => base.node.contains(each) && isBusy(each));
    if (found !== undefined) return `the property ${placeOf(base.module, found)}`;
  }
  return undefined;
}

function propertiesOf(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap((node) => {
    const made =
      node.parent?.type === 'function_definition' && node.parent.name === node ? node.parent : undefined;
    return made !== undefined && decoratorsOf(made).some(({ text }) => PROPERTY.test(text)) ? [made] : [];
  });
}

/** It assigns, deletes or calls something else than what only looks. */
function isBusy(property: PyNode): boolean {
  const body = property.body;
  if (body === undefined) return false;
  return [...body.walk()].some((node) => {
    if (
      /^(?:assignment|augmented_assignment|delete_statement|global_statement|named_expression)$/.test(
        node.type,
      )
    )
      return node.type !== 'assignment' || node.left?.type !== 'identifier';
    if (node.type !== 'call') return false;
    const callee = node.function?.text ?? '';
    return `${callee}(`.replace(LOOKS, '').endsWith('(');
  });
}

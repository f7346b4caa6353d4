import { classAround } from '../../semantic/definitions.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName } from '../../semantic/statements.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';
import { isDevice } from '../tensor/device-value.js';
import { kindOf } from '../tensor/tensor.js';

export interface MovedAttribute {
  /** `self.name`. */
  readonly attribute: PyNode;
  /** `self.name.to`, `self.name[:n].cuda`. */
  readonly method: PyNode;
}

const MOVED = /\.([\w\u0080-\uffff]+)(?:\[(?:[^[\]\n]|\[[^\]\n]*\])*\])*[\s\\]*\.(?:to|cuda)\(/g;

/** The names of attributes that the code moves and a constructor may have made, going by the text alone. */
export function movedNames(glimpse: Glimpse): ReadonlySet<string> {
  return glimpse.memo(findMovedNames);
}

function findMovedNames({ stretches }: Glimpse): ReadonlySet<string> {
  const constructors = stretches.filter((stretch) => stretch.includes('def __init__'));
  return new Set(
    stretches.flatMap(namesIn).filter((name) => {
      const set = new RegExp(`\\.${name}(?![\\w\\u0080-\\uffff])[^=\\n]*=(?!=)`);
      return constructors.some((each) => set.test(each));
    }),
  );
}

function namesIn(stretch: string): readonly string[] {
  return [...stretch.matchAll(MOVED)].map(([, name = '']) => name);
}

/** Attributes of an object that its methods move to a device. */
export function* movedAttributes(module: PyModule): Generator<MovedAttribute> {
  const names = movedNames(module.glimpse);
  const may = (stretch: string): boolean => namesIn(stretch).some((name) => names.has(name));
  for (const { parent: method } of ['.to(', '.cuda('].flatMap((literal) => module.atWhere(literal, may))) {
    const call = method?.parent;
    if (method === undefined || call?.type !== 'call' || !isMove(module, call)) continue;
    let attribute = method.field('object');
    while (attribute?.type === 'subscript') attribute = attribute.field('value');
    const around = attribute?.type === 'attribute' ? classAround(attribute) : undefined;
    if (attribute !== undefined && attribute.field('object')?.text === around?.self)
      yield { attribute, method };
  }
}

export function isMove(module: PyModule, call: PyNode): boolean {
  const [first] = argumentsOf(call);
  if (methodName(call) === 'cuda') return true;
  if (methodName(call) !== 'to' || first === undefined) return false;
  const device = first.type === 'keyword_argument' ? first.field('value') : first;
  if (first.type === 'keyword_argument' && first.field('name')?.text !== 'device') return false;
  // `.to(x)` of another tensor moves as well.
  return device !== undefined && (isDevice(module, device) !== 'no' || kindOf(module, device) === 'tensor');
}

import { givesHeld, isOfModule, ofTensor } from '../../library/library.js';
import { DATASETS, PLAIN_BASES } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { everywhere } from '../../semantic/companions.js';
import { ancestryOf, methodsOf } from '../../semantic/definitions.js';
import { lineageOf } from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isRedefined, subclassesElsewhere } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import {
  enclosingClass,
  isTarget,
  methodName,
  unparenthesized,
  wholeName,
} from '../../semantic/statements.js';
import { waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { operatorCalls } from '../value/operators.js';
import type { GradTrace } from '../value/trace.js';
import { isMixedIn, isSetInPlace } from './inherited.js';

/** Where a method of this name, of which something is true, keeps what it is given. */
type Keeper = (
  module: PyModule,
  name: string,
  is?: (there: PyModule, method: PyNode) => boolean,
) => string | undefined;

/** `kept >> y`, of a class of the project whose `__rshift__` may keep what it is given. */
export function keptByOperator(
  module: PyModule,
  node: PyNode,
  trace: GradTrace,
  keeperNamed: Keeper,
): Question | undefined {
  for (const { name, object, given } of operatorCalls(module, node)) {
    const keeper = trace.of(given) === 'graph' ? operatorKeeping(module, name, keeperNamed) : undefined;
    const isOfTensor = keeper !== undefined && object !== undefined && isGivenByTensor(module, object);
    const byTensors: Keeper = (where, each) => keeperNamed(where, each, mayBeOfTensors);
    if (isOfTensor && operatorKeeping(module, name, byTensors) === undefined) continue;
    if (keeper !== undefined)
      return ask(
        'kept-only-read',
      )`Is \`${shown(given)}\`, which \`${shown(node)}\` may keep (${keeper}), ${ONLY_READ}?`;
  }
  return undefined;
}

/** `correct` of `correct = pred.eq(target)`: only tensors have such a method, unless a class of the project is one of tensors. */
function isGivenByTensor(module: PyModule, object: PyNode): boolean {
  const node = unparenthesized(object);
  if (node.type === 'identifier') {
    const ways = waysReaching(module, node);
    const isCall = (way: Definition): boolean =>
      way.kind === 'value' && way.value.type === 'call' && isGivenByTensor(module, way.value);
    return ways.length > 0 && ways.every(isCall);
  }
  const name = node.type === 'call' ? (methodName(node) ?? '') : '';
  if (ofTensor(name)?.gives !== 'tensor' || isOfModule(name) || givesHeld(name)) return false;
  if (qualifiedName(module, node.function ?? node) !== undefined) return false;
  return !isRedefined(module, name) && !isSetInPlace(module, name);
}

/** Objects of the class of a method may be tensors, or have methods of other objects. */
function mayBeOfTensors(module: PyModule, method: PyNode): boolean {
  const owner = enclosingClass(method);
  const name = owner?.name?.text;
  if (owner === undefined || name === undefined || isMixedIn(module, name)) return true;
  const { elsewhere, imported, unknown } = lineageOf(module, owner);
  const isPlain = (path: string): boolean =>
    PLAIN_BASES.has(path) || isModuleClass(path) || DATASETS.some((each) => path.startsWith(each));
  if (unknown || !imported.every(isPlain)) return true;
  const classes = [owner, ...ancestryOf(module, owner).classes, ...elsewhere.map(({ node }) => node)];
  const heirs = subclassesElsewhere(module, name) ?? [];
  return (
    classes.some((each) => methodsOf(each).some((own) => DELEGATES.has(own.name?.text ?? ''))) ||
    heirs.some(({ members }) => members.some((each) => DELEGATES.has(each)))
  );
}

const DELEGATES: ReadonlySet<string> = new Set(['__getattr__', '__getattribute__']);

function operatorKeeping(module: PyModule, name: string, keeperNamed: Keeper): string | undefined {
  const names = new Set([name]);
  for (const each of names) {
    const keeper = keeperNamed(module, each);
    if (keeper !== undefined) return keeper;
    for (const other of everywhere(module, each, otherNames)?.flat() ?? ['']) {
      if (other === '') return `\`${each}\``;
      names.add(other);
    }
  }
  return undefined;
}

/** `__add__` of `__radd__ = __add__`; empty where it is something else. */
function otherNames(alone: PyModule, name: string): readonly string[] {
  return alone.words(name).flatMap((node) => {
    const value = isTarget(wholeName(node)) ? node.closest('assignment')?.right : undefined;
    if (value === undefined || value.type === 'none') return [];
    return value.type === 'identifier'
      ? [value.text]
      : value.type === 'assignment'
        ? [value.left?.text ?? '', value.right?.text ?? '']
        : [''];
  });
}

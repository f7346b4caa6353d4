import { INTEGER_DTYPES } from '../../library/dtypes.js';
import { isHarmlessBuiltin, ofTensor, packageOf } from '../../library/library.js';
import { calledDefinition, methodNamed, selfName } from '../../semantic/definitions.js';
import { isAsked } from '../../semantic/given-away.js';
import { hasStarImport, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { isRedefined } from '../../semantic/project-names.js';
import {
  argumentValue,
  givenTo,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { isUnbound, readsOf, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from './plain.js';
import { isProvenTensor } from './proven-tensor.js';
import { kindOf } from './tensor.js';
import { operation, type Trace, worst } from './trace-kinds.js';

export { putInto } from './put-into.js';

/** The target takes the indices of `values, indices = x.topk(k)`. */
export function givesIndices(target: PyNode, value: PyNode): boolean {
  const name = value.type === 'call' ? methodName(value) : undefined;
  return (
    name !== undefined && ofTensor(name)?.paired === true && (target.parent?.named.indexOf(target) ?? 0) > 0
  );
}

/** `scores.max(1)[1]`, `scores.topk(k)[1]`; `scores.max(others)[1]` is a row of the larger ones. */
function takesIndices({ value: pair, named }: PyNode): boolean {
  const name = pair?.type === 'call' ? methodName(pair) : undefined;
  if (pair === undefined || name === undefined || named.length !== 2 || named[1]?.text !== '1') return false;
  if (ofTensor(name)?.paired !== true) return false;
  const dim = keywordValue(pair, 'dim') ?? positionalArguments(pair)[0];
  return /^(?:kthvalue|sort|topk)$/.test(name) || /^-?\d+$/.test(dim?.text ?? '');
}

/** `x.type(torch.ByteTensor)`, `x.to(torch.long)`: whole numbers have no graph. */
export function makesWhole(module: PyModule, call: PyNode): boolean {
  const name = methodName(call);
  if (name === undefined || ofTensor(name)?.dtype !== 'argument' || isRedefined(module, name)) return false;
  return givenTo(call).some((each) => INTEGER_DTYPES.has(qualifiedName(module, argumentValue(each)) ?? ''));
}

const PLAIN_TYPES =
  /^(?:int|float|str|bool|bytes|(?:Optional\[)?(?:int|float|str|bool)\]?|(?:\w+\.)?(?:DataLoader|Path|device|Namespace))\b/;

/** Its annotation or default says that it is no tensor. */
export function isPlainParameter(parameter: PyNode): boolean {
  const holder = parameter.parent;
  if (holder === undefined || !/default|typed/.test(holder.type)) return false;
  const type = holder.field('type')?.text;
  if (type !== undefined && PLAIN_TYPES.test(type)) return true;
  return ['integer', 'float', 'string', 'true', 'false'].includes(holder.value?.type ?? '');
}

/** A packed sequence has its values there, with their graph. */
const PACKED = /\bPackedSequence\b|\bpack_(?:padded_)?sequence\b/;
/** A field of a data class or of a typed tuple. */
const FIELD = /^[ \t]+data[ \t]*:[ \t]*\w/m;

/** Whether `.data` of a value may be a field of some object, which keeps its graph, and not what torch cuts off. */
export function mayHaveField(module: PyModule, object: PyNode): boolean {
  return !isProvenTensor(module, object) && module.memo(hasFieldAround, module);
}

const WORDS = [
  'PackedSequence',
  'pack_padded_sequence',
  'pack_sequence',
  'namedtuple',
  'dataclass',
  'forward',
];

export function hasFieldAround(module: PyModule): boolean {
  if (module.alone.memo(hasField, module.alone)) return true;
  return WORDS.some(
    (word) => module.around.summaries({ word, beside: [] }, hasField)?.includes(true) ?? true,
  );
}

function hasField(alone: PyModule): boolean {
  if (alone.mentions(PACKED) || alone.mentions(FIELD)) return true;
  if (alone.words('namedtuple').some((node) => /\bdata\b/.test(node.closest('call')?.text ?? '')))
    return true;
  return alone.mentions(/\bself\.data[ \t]*(?::|=(?!=))/) && alone.words('data').some(isOfOutput);
}

/** `self.data = …` of a class that a forward may hand out: no dataset, and no network itself. */
function isOfOutput(node: PyNode): boolean {
  const target = node.parent;
  if (target?.text !== 'self.data' || target.parent?.left !== target) return false;
  const bases = target.closest('class_definition')?.superclasses?.text ?? '';
  return !/\b(?:Dataset|Module)\b/.test(bases);
}

/** Making an object of a class of the file sets more of it than what it is given: `self.loss = loss * 2`. */
export function computesWhenMade(module: PyModule, classNode: PyNode): boolean {
  const init = methodNamed(module, classNode, '__init__');
  if (init === undefined) return false;
  return [...(init.body ?? init).walk()].some(
    ({ type, right }) => type === 'assignment' && right !== undefined && /operator$|^call$/.test(right.type),
  );
}

/** The object whose method a call runs, and its name in there. */
interface Made {
  readonly object: PyNode;
  readonly self: string;
  /** It knows nothing but what it is given by its methods. */
  readonly isMeter: boolean;
}

/** `losses` of `losses.update(x)`, where the function has made it. */
export function objectMadeIn(
  module: PyModule,
  functionNode: PyNode,
  method: PyNode,
  call: PyNode,
): Made | undefined {
  const object = receiverOf(call);
  const self = selfName(method);
  if (object?.type !== 'identifier' || self === undefined) return undefined;
  const made = module.resolve(object)?.node === functionNode ? waysGiven(module, object) : [];
  if (made.length === 0 || made.some(({ kind }) => kind === 'parameter')) return undefined;
  const isMeter =
    made.every((each) => each.kind === 'value' && makesMeter(module, each.value)) &&
    readsOf(module, object).every(isAsked);
  return { object, self, isMeter };
}

/** `AverageMeter()`, of a class of the file without bases. */
function makesMeter(module: PyModule, making: PyNode): boolean {
  const classNode = making.type === 'call' ? calledDefinition(module, making) : undefined;
  return classNode?.type === 'class_definition' && module.memo(knowsNothingElse, classNode);
}

/** Nothing that a class names lies outside its methods, but for what has no tensors. */
function knowsNothingElse(module: PyModule, classNode: PyNode): boolean {
  const bases = classNode.superclasses?.named ?? [];
  if (!bases.every(({ text }) => text === 'object')) return false;
  const isOpen = hasStarImport(module);
  return [...(classNode.body ?? classNode).walk()].every((node) => {
    if (node.type !== 'identifier' || roleOf(node) !== 'read') return true;
    const scope = module.resolve(node);
    if (scope === undefined) return isHarmlessBuiltin(node.text) && !isOpen;
    return (
      classNode.contains(scope.node) || packageOf(qualifiedName(module, node) ?? '')?.gives !== undefined
    );
  });
}

/** An object from outside, whose methods are somebody else's code: an import, `self`, a parameter, a global. */
export function isHandle(module: PyModule, receiver: PyNode, self: string | undefined): boolean {
  let root = unparenthesized(receiver);
  for (;;) {
    // `self.mean.mul_(0.9)` is `self.mean`.
    const inner = /[a-z]_$/.test(methodName(root) ?? '')
      ? receiverOf(root)
      : root.field(root.type === 'attribute' ? 'object' : 'value');
    if (inner === undefined || !/^(?:attribute|subscript|call)$/.test(root.type)) break;
    root = unparenthesized(inner);
  }
  if (root.type !== 'identifier') return false;
  if (root.text === self) return true;
  const scope = module.resolve(root);
  if (scope === undefined || scope.kind === 'module') return true;
  return waysGiven(module, root).some((way) => {
    if (way.kind === 'loop') return !givesTensors(way.iterable);
    return way.kind === 'value' ? module.memo(isForeignResult, way.value) : way.kind !== 'update';
  });
}

/** `for name, p in model.named_parameters()`, also counted or sorted. */
function givesTensors(iterable: PyNode): boolean {
  return [...iterable.walk()].some(
    (node) => node.type === 'call' && /^(?:named_)?(?:parameters|buffers)$/.test(methodName(node) ?? ''),
  );
}

/** `thing = other`, `thing = Thing(…)`, `thing = get_thing(…)` of code that neither the file, Python nor a known package has. */
function isForeignResult(module: PyModule, value: PyNode): boolean {
  if (/^(?:identifier|attribute|subscript|conditional_expression|boolean_operator)$/.test(value.type))
    return true;
  const callee = value.type === 'call' ? value.function : undefined;
  if (callee === undefined || calledDefinition(module, value) !== undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return !isOfKnownPackage(path);
  return callee.type === 'identifier' && !isUnbound(module, callee);
}

/** Expressions without a graph, those that gather what a loop gives, and those that hold what is in them. */
export const PLAIN =
  /^(?:(?:concatenated_)?string|integer|float|none|true|false|ellipsis|(?:comparison|not)_operator|slice)$/;
export const GATHERS = /_comprehension$|^generator_expression$/;
export const HOLDS_ALL =
  /^(?:list|tuple|set|dictionary|expression_list|boolean_operator|(?:list|dictionary)_splat)$/;

/** The variables of a function that one inside it reads, or has as defaults. */
export function readsInside(module: PyModule, nested: PyNode, owner: PyNode): readonly PyNode[] {
  return [...nested.walk()].filter(
    (node) => node.type === 'identifier' && roleOf(node) === 'read' && module.resolve(node)?.node === owner,
  );
}

/** What layers call their parameters. */
const WEIGHTS = /(?:^|_)(?:weight|bias)(?:_|$)/;

/** What a subscript makes of the traces of what it is of: a part of a tensor is computed, what a container holds is taken out as it is. */
export function takenBy(module: PyModule, subscript: PyNode): (traces: readonly Trace[]) => Trace {
  if (takesIndices(subscript)) return () => 'plain';
  const { value } = subscript;
  const isOfTensor =
    WEIGHTS.test(value?.attribute?.text ?? '') ||
    (value !== undefined && kindOf(module, value).endsWith('tensor'));
  return isOfTensor ? operation : worst;
}

/** `"%d of %d" % counts`, `folder / "train" / name`: no tensor is divided by a text. */
export function isOfText(module: PyModule, { left, right, operator }: PyNode): boolean {
  const isText = (side: PyNode | undefined): boolean => side?.type.endsWith('string') === true;
  if (isText(left)) return true;
  if (left === undefined || operator?.text !== '/') return false;
  const isPath = isText(right) || (left.type === 'binary_operator' && isOfText(module, left));
  return isPath && !isRedefined(module, '__truediv__');
}

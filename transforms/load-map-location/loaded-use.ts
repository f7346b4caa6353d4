import { isExact, isPlain, isReportedBy, ofTensor, readsOnly } from '../../src/library/library.js';
import { caughtHere } from '../../src/semantic/catching.js';
import type { Elsewhere } from '../../src/semantic/elsewhere.js';
import { readsReached } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import type { Scope } from '../../src/semantic/scope.js';
import { argumentsOf, enclosingFunction, methodName, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';
import { valuesAt } from './keeper.js';
import { isReadElsewhere } from './read-by-name.js';

/** A use of what was loaded that may depend on its device. */
export interface Stray {
  /** `no` where it surely does. */
  readonly answer: 'no' | 'unknown';
  readonly node: PyNode;
  /** What is done with it: "is returned". */
  readonly does: string;
  /** What would change: where it is, or whether it is the loaded tensor itself or a copy of it; nothing, if it is a number. */
  readonly matter: 'device' | 'copy' | 'number';
}

export interface Load extends Elsewhere {
  /** The call that gave it to that function, where it was returned to it. */
  readonly from?: Elsewhere;
}

/** What becomes of a loaded value: the `load_state_dict` calls it ends in, and the other places it reaches. */
export interface Fate {
  /** Here, or in a function of the project that it is handed to. */
  readonly loads: readonly Load[];
  /** Whether it is also copied, tensor by tensor, into state that is there. */
  readonly isCopied: boolean;
  readonly strays: readonly Stray[];
}

/** What a value holds: state by name, pairs of a name and state, state alone (a tensor or anything else), or a number. */
export type Holds = 'mapping' | 'pairs' | 'state' | 'number';

/** Methods of others that take it and keep nothing of its device. */
export function takesOnly(name: string): boolean {
  return isReportedBy(name) || /^(?:format|print)$/.test(name);
}

/** `tensor.copy_(value)`: the numbers go into a tensor that is there, wherever that is. Nobody gives anything else that name. */
export function copiesNumbers(module: PyModule, call: PyNode): boolean {
  const filled = methodName(call) === 'copy_' ? receiverOf(call) : undefined;
  if (filled === undefined || givesCopying(module.alone)) return false;
  if (!fillsState(module, call) && !valueOf(module, filled).isTensor) return false;
  return module.around.summaries({ word: 'copy_', beside: [] }, givesCopying)?.includes(true) === false;
}

/** `own[name].copy_(value)` of `own = net.state_dict()`, `weight.data.copy_(value)`, `param.copy_(value)` of a loop over such. */
export function fillsState(module: PyModule, call: PyNode): boolean {
  const filled = receiverOf(call);
  if (filled?.type === 'attribute') return filled.attribute?.text === 'data';
  const holder = filled?.type === 'subscript' ? filled.value : filled;
  const made = holder?.type === 'identifier' ? valuesAt(module, holder) : [holder];
  const [only] = made?.length === 1 ? made : [];
  if (only === undefined) return false;
  if (filled?.type === 'subscript') return methodName(only) === 'state_dict';
  const loop = only.closest('for_statement', 'block');
  const each = loop?.type === 'for_statement' && loop.left?.contains(only) ? loop.right : undefined;
  return each !== undefined && /^(?:named_)?(?:parameters|buffers)$/.test(methodName(each) ?? '');
}

/** Whether a file names the method otherwise than by a call of it. */
function givesCopying(alone: PyModule): boolean {
  if (/["']copy_["']/.test(alone.text)) return true;
  return alone.words('copy_').some(({ text, parent }) => {
    const isCalled = parent?.type === 'attribute' && parent.parent?.function === parent;
    return text === 'copy_' && !isCalled;
  });
}

/** Functions that hand a value on are followed this far. */
export const MAX_HANDED = 3;

/** What such a node stands for is the value in it, or holds it. */
export const HOLDS_VALUE =
  /^(?:parenthesized_expression|boolean_operator|dictionary|dictionary_comprehension|dictionary_splat)$/;
/** Calls that hand the same tensors on in another container. */
export const REPACKS: ReadonlySet<string> = new Set(
  'OrderedDict copy deepcopy defaultdict dict enumerate iter list next reversed sorted tqdm tuple'.split(' '),
);

/** What the container of such a call holds. */
export function repacked(name: string, holds: Holds): Holds {
  return holds === 'pairs' && (name === 'dict' || name === 'OrderedDict') ? 'mapping' : holds;
}

/** What makes the loaded tensor itself a part of a module. */
export const MAKES_STATE =
  /(?:^|\.)(?:Parameter|Buffer|setattr|register_buffer|register_parameter|from_pretrained)$/;
/** Where only the truth of a value counts, or what it reads like. */
export const TESTED: ReadonlySet<string> = new Set([
  'assert_statement',
  'elif_clause',
  'expression_statement',
  'if_statement',
  'interpolation',
  'not_operator',
  'while_statement',
]);

/** They tell the device, in words. */
const WRITES_OUT: ReadonlySet<string> = new Set(['format', 'repr', 'str']);

/** Whether a function only looks at its argument, and at nothing of it that depends on a device. */
export function looksOnly(module: PyModule, call: PyNode): boolean {
  const name = call.function?.text ?? '';
  if (name === 'isinstance') return asksForPlainTypes(module, call);
  if (WRITES_OUT.has(name)) return isShown(call);
  return isLook(call) && name !== 'max' && name !== 'min';
}

/** `len(…)`, `int(…)`: a Python number, or nothing that matters. */
export function isLook(call: PyNode): boolean {
  const name = call.function?.text ?? '';
  return readsOnly(name) || /^(?:abs|max|min)$/.test(name);
}

const PLAIN_TYPES: ReadonlySet<string> = new Set(
  'DictConfig Mapping Module MutableMapping Namespace OrderedDict Parameter Tensor bool bytes defaultdict dict float int list ndarray str tuple'.split(
    ' ',
  ),
);

/** `torch.cuda.FloatTensor` and `torch.FloatTensor` are types by device. */
function asksForPlainTypes(module: PyModule, call: PyNode): boolean {
  const asked = argumentsOf(call)[1];
  const types = asked?.type === 'tuple' ? asked.named : asked === undefined ? [] : [asked];
  return types.every((type) => {
    const path = qualifiedName(module, type) ?? type.text;
    return PLAIN_TYPES.has(path.slice(path.lastIndexOf('.') + 1)) && !path.includes('cuda');
  });
}

/** Text for a person: part of a message, printed or logged. */
function isShown(call: PyNode): boolean {
  const { parent } = call;
  if (parent?.type === 'interpolation' || parent?.type === 'binary_operator') return true;
  const outer = parent?.type === 'argument_list' ? parent.parent : undefined;
  if (outer === undefined) return false;
  return outer.function?.text === 'print' || takesOnly(methodName(outer) ?? '');
}

/** `.cpu()`, `.cuda()`, `.to(device)`: what comes back is the tensor itself if it is there already, else a copy. */
export function isDeviceMove(call: PyNode): boolean {
  const method = methodName(call);
  if (method === 'cpu' || method === 'cuda') return true;
  if (method !== 'to') return false;
  const [first] = argumentsOf(call);
  const asked = argumentsOf(call).some((argument) => argument.name?.text === 'device');
  return asked || /(?:^|[._])device$|^["'](?:cpu|cuda|mps)|^(?:\w+\.)?device\(/.test(first?.text ?? '');
}

/** A key that is a string as it is written. */
export function isNamed(key: PyNode | undefined): boolean {
  if (key?.type === 'binary_operator') return key.named.some(isNamed);
  return key?.type === 'string' || key?.type === 'concatenated_string';
}

const PLAIN_INDICES: ReadonlySet<string> = new Set('ellipsis integer none slice true false'.split(' '));

/** An index that is no tensor, as it is written: one on the GPU fits no tensor on the CPU. */
export function isPlainIndex(key: PyNode): boolean {
  if (key.type === 'tuple' || key.type === 'list' || key.type === 'unary_operator')
    return key.named.every(isPlainIndex);
  return (
    PLAIN_INDICES.has(key.type) || isNamed(key) || (key.type === 'call' && methodName(key) === 'replace')
  );
}

/** `self.step`, where the file registers a buffer of that name. */
export function registersBuffer(module: PyModule, attribute: PyNode): boolean {
  const name = attribute.attribute?.text ?? '';
  return new RegExp(`register_buffer\\(\\s*["']${name}["']`).test(module.text);
}

/** The reads of a variable that this very binding reaches, where the flow shows it; all of them where it is only changed here. */
export function readsOf(module: PyModule, name: PyNode): readonly PyNode[] {
  const scope = module.resolve(name);
  if (scope === undefined) return [];
  // After `global` or `nonlocal`, others read it whenever they run.
  const isOwn = (enclosingFunction(name) ?? module.root) === scope.node;
  const isTraced = isOwn && roleOf(name) !== 'read' && scope.kind !== 'comprehension';
  const reads = isTraced
    ? readsReached(module, scope, name.text, [name])
    : readsAnywhere(module, scope, name.text);
  return reads.filter((read) => roleOf(read) !== 'delete' && read !== name);
}

/** A variable that only `global` makes one of the file is bound nowhere else. */
function readsAnywhere(module: PyModule, scope: Scope, name: string): readonly PyNode[] {
  if (scope !== module.scope || scope.has(name)) return module.reads(scope, name);
  return module
    .words(name)
    .filter(
      (node) =>
        node.type === 'identifier' &&
        roleOf(node) === 'read' &&
        (module.resolve(node) ?? scope) === scope &&
        node.parent?.attribute !== node,
    );
}

/** Whether what stands around a value takes it for a tensor, or may. */
export function showsTensor(module: PyModule, parent: PyNode): boolean {
  if (parent.type === 'attribute') return !OF_CONTAINERS.test(parent.attribute?.text ?? '');
  if (parent.type === 'augmented_assignment' || parent.type === 'binary_operator')
    return parent.named.some((side) => side.type === 'call' && !isLook(side));
  const callee = parent.type === 'argument_list' ? parent.parent?.function : undefined;
  return callee !== undefined && takesTensors(module, callee);
}

/** Of a list or a dictionary, and of no tensor. */
const OF_CONTAINERS = /^(?:append|extend|get|insert|items|keys|pop|setdefault|update)$/;

/** A function that says that its argument is a tensor; those that make one also take numbers. */
function takesTensors(module: PyModule, callee: PyNode): boolean {
  const path = qualifiedName(module, callee) ?? '';
  return (
    MAKES_STATE.test(callee.text) ||
    /^torch\.(?!(?:\w+\.)*(?:arange|as_tensor|full|is_tensor|linspace|manual_seed\w*|save|tensor|Tensor|\w*LR|\w*Scheduler)$)/.test(
      path,
    )
  );
}

export function isReturned(node: PyNode): boolean {
  return node.closest('return_statement', 'block')?.type === 'return_statement';
}

/** Settings, which may hold anything. */
export const SETTINGS_ENTRY = /^(?:\w+_)?(?:args|arch|config|cfg|hparams|hyper_?parameters|version)$/;

/** Methods that give nothing of what an object holds, or what it says wherever it is. */
export function tellsNoDevice(call: PyNode, name: string): boolean {
  if (DICT_METHODS.test(name)) return name !== 'numpy' || caughtHere(call, /./) === undefined;
  return isPlainHere(name) || OF_TEXT.has(name);
}

/** Of a dict, and of a tensor on the CPU: on the GPU there is no `.numpy()`. */
const DICT_METHODS = /^(?:clear|keys|numpy|update)$/;

/** Of a text, and of no tensor. */
export const OF_TEXT: ReadonlySet<string> = new Set(
  'encode endswith lower lstrip partition replace rpartition rsplit rstrip startswith strip upper'.split(' '),
);

/** What a tensor says about itself, wherever it is. */
export function isPlainHere(name: string): boolean {
  const known = ofTensor(name);
  return isPlain(known) && !known?.tellsDevice;
}

/** They give the same numbers back, and no cast or other form. */
export function keepsValues(name: string): boolean {
  return isExact(name) || PASSING_METHODS.test(name);
}

const PASSING_METHODS = /^(?:copy|detach|expand|repeat|state_dict|to)$/;

/** Without `list(…)` and the like around it. */
export function bare(value: PyNode): PyNode {
  const inner = REPACKS.has(value.function?.text ?? '') ? argumentsOf(value)[0] : undefined;
  return inner === undefined ? value : bare(inner);
}

/** `name in state`, `state is None`: neither looks at a tensor. */
export function isLookedFor(comparison: PyNode, value: PyNode): boolean {
  const operators = comparison.children.flatMap((child) =>
    comparison.named.includes(child) ? [] : child.text,
  );
  return operators.every(
    (operator) => /^is\b/.test(operator) || (/in$/.test(operator) && comparison.named[0] !== value),
  );
}

/** The name that gets a value of `one, other = state["one"], state["other"]`. */
export function unpackedTo(values: PyNode, value: PyNode): PyNode | undefined {
  const assignment = values.parent?.type === 'assignment' ? values.parent : undefined;
  const targets = assignment?.right === values ? assignment.left?.named : undefined;
  const target = targets?.[values.named.indexOf(value)];
  return targets?.length === values.named.length && target?.type === 'identifier' ? target : undefined;
}

/** What a loop over state, or over pairs of a name and state, gives state to; undefined where that does not show. */
export function stateOfLoop(target: PyNode, holds: Holds): readonly PyNode[] | undefined {
  if (holds !== 'pairs') return target.type === 'identifier' ? [target] : undefined;
  if (target.type === 'identifier') return undefined;
  const bound = target.named.at(-1);
  return bound?.type === 'identifier' ? [bound] : (bound?.named.slice(-1) ?? []);
}

/** `net, optimizer = …`: each name gets a part. */
export function areNames({ type, named }: PyNode): boolean {
  return /^(?:pattern_list|tuple_pattern)$/.test(type) && named.every((each) => each.type === 'identifier');
}

/** Whether a value gets a name of a function or a program that nobody reads. */
export function isLeft(module: PyModule, value: PyNode): boolean {
  const statement = value.parent?.parent?.type === 'expression_statement' ? value.parent : undefined;
  const target = statement?.type === 'assignment' ? statement.left : undefined;
  const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
  if (target === undefined || scope === undefined || readsAnywhere(module, scope, target.text).length > 0)
    return false;
  return scope.kind === 'function' || (scope.kind === 'module' && !isReadElsewhere(module, target));
}

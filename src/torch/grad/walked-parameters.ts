import { OPTIMIZERS } from '../../library/names.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { allPlacesOf } from '../../semantic/places.js';
import {
  argumentsOf,
  argumentValue,
  assignedValue,
  isTarget,
  methodName,
  receiverOf,
  statementOf,
  targetsAt,
} from '../../semantic/statements.js';
import { isUnbound, readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isPlainAttribute } from '../../values/value/plain.js';

/**
 * What becomes of the parameters or the parts that a walk over a network gives. `plain`: they are counted, copied or
 * averaged. `frozen`: their gradients are switched off for good. `trained`: an optimizer of torch gets them. `taken`: something
 * else does.
 */
export type Walked = 'plain' | 'frozen' | 'trained' | 'taken';

/** What hands its arguments on one by one. */
const PASSES = /^(?:zip|enumerate|list|tuple|iter|sorted|reversed|set|dict)$/;
/** How many names they are followed through. */
const MAX_NAMES = 3;

/** What becomes of `net.parameters()`, `net.named_modules()` and the like. */
export function walkedFor(module: PyModule, call: PyNode): Walked {
  const found = handedOn(module, call, 0);
  return found === 'taken' && trainedIn(module, call) ? 'trained' : found;
}

function handedOn(module: PyModule, walk: PyNode, names: number, isDict = false): Walked {
  let at = walk;
  let isByName = isDict;
  let position: number | undefined;
  for (;;) {
    const holder = at.parent;
    // `list(a.parameters()) + list(b.parameters())`
    if (holder?.type === 'binary_operator' && holder.operator?.text === '+') {
      at = holder;
      continue;
    }
    const outer = holder?.type === 'argument_list' ? holder.parent : undefined;
    const callee = outer?.function;
    if (outer === undefined || callee === undefined) break;
    if (isOptimizerClass(module, callee)) return 'trained';
    if (qualifiedName(module, callee) === 'itertools.chain') {
      at = outer;
      continue;
    }
    if (!isUnbound(module, callee)) return 'taken';
    if (callee.text === 'next') return isLookedAt(outer) ? 'plain' : 'taken';
    if (!PASSES.test(callee.text)) return callee.text === 'len' ? 'plain' : 'taken';
    if (callee.text === 'zip') position = argumentsOf(outer).indexOf(at);
    isByName ||= callee.text === 'dict';
    at = outer;
  }
  const loop = at.parent;
  if (loop?.type === 'assignment' && loop.right === at && position === undefined && names < MAX_NAMES)
    return worst(readsNamed(module, loop.left).map((read) => fateOfNamed(module, read, names + 1, isByName)));
  if (!/^for_(?:statement|in_clause)$/.test(loop?.type ?? '') || loop?.right !== at) return 'taken';
  // The names of a dictionary.
  if (isByName) return 'plain';
  const target = loop.left;
  const targets = target === undefined ? [] : targetsAt(target, position);
  const place = loop.type === 'for_statement' ? loop.body : loop.parent;
  if (place === undefined || targets.length === 0) return 'taken';
  return worst(targets.map((each) => fateOf(module, each, place)));
}

/** The reads of a variable or an attribute that nothing else is given; undefined among them where that does not show. */
function readsNamed(module: PyModule, target: PyNode | undefined): readonly (PyNode | undefined)[] {
  const places = target && allPlacesOf(module, target);
  return places?.writes.length === 1 ? places.reads : [undefined];
}

/** `parameters = dict(net.named_parameters())`: one use of such a variable. */
function fateOfNamed(module: PyModule, read: PyNode | undefined, names: number, isDict: boolean): Walked {
  const holder = read?.parent;
  if (read === undefined || holder === undefined) return 'taken';
  if (isDict && holder.type === 'subscript' && holder.value === read)
    return isTarget(holder) ? 'plain' : fateOfRead(module, holder);
  const call = holder.type === 'argument_list' ? holder.parent : undefined;
  // The values are copied.
  if (
    isDict &&
    call !== undefined &&
    methodName(call) === 'load_state_dict' &&
    receiverOf(call) !== undefined
  )
    return 'plain';
  return handedOn(module, read, names, isDict);
}

/** `[{"params": net.parameters()}]`, `list(a.parameters()) + list(b.parameters())` inside the optimizer's own parentheses. */
export function trainedIn(module: PyModule, call: PyNode): boolean {
  const statement = statementOf(call);
  for (const around of call.ancestors()) {
    if (around === statement) return false;
    const callee = around.type === 'call' ? around.function : undefined;
    if (callee !== undefined && isOptimizerClass(module, callee)) return true;
  }
  return false;
}

function isOptimizerClass(module: PyModule, callee: PyNode): boolean {
  const path = qualifiedName(module, callee) ?? '';
  return path.startsWith(OPTIMIZERS) && /^torch\.optim\.(?:\w+\.)?[A-Z]\w*$/.test(path);
}

/** `next(net.parameters()).device` */
function isLookedAt(value: PyNode): boolean {
  const attribute = value.parent;
  return attribute?.type === 'attribute' && isPlainAttribute(attribute.attribute?.text ?? '');
}

function worst(found: readonly Walked[]): Walked {
  const order: readonly Walked[] = ['trained', 'taken', 'frozen', 'plain'];
  return order.find((each) => found.includes(each)) ?? 'plain';
}

function fateOf(module: PyModule, name: PyNode, place: PyNode): Walked {
  if (isUnbound(module, name)) return 'taken';
  const reads = readsOf(module, name).filter((read) => place.contains(read));
  return worst(reads.map((read) => fateOfRead(module, read)));
}

/** One use of a parameter or a part that a loop gives. */
function fateOfRead(module: PyModule, read: PyNode): Walked {
  const holder = read.parent;
  switch (holder?.type) {
    case 'attribute':
      return fateOfAttribute(module, holder);
    case 'binary_operator':
    case 'comparison_operator':
    case 'not_operator':
    case 'interpolation':
      return 'plain';
    case 'argument_list':
      return isHarmlessCall(module, holder.parent) ? 'plain' : 'taken';
    case 'if_statement':
    case 'if_clause':
      return 'plain';
    default:
      return 'taken';
  }
}

/** `p.data`, `p.numel()`, `p.requires_grad = False`, `p.copy_(…)`, `m.eval()`; not `p.grad`. */
function fateOfAttribute(module: PyModule, attribute: PyNode): Walked {
  const name = attribute.attribute?.text ?? '';
  const above = attribute.parent;
  if (name === 'requires_grad') return assignedValue(attribute)?.type === 'false' ? 'frozen' : 'plain';
  if (name === 'requires_grad_' && above?.type === 'call') {
    const [mode] = argumentsOf(above);
    return mode && argumentValue(mode).type === 'false' ? 'frozen' : 'plain';
  }
  // A parameter is a leaf: what is left of it in place asks for no gradient any more.
  if (name === 'detach_' && above?.type === 'call') return 'frozen';
  if (/^(?:weight|bias)$/.test(name) && above?.type === 'attribute') return fateOfAttribute(module, above);
  if (name !== 'data' && /grad|hook|parameters|modules|children|weight|bias/.test(name)) return 'taken';
  // Its value is changed, read or copied: who gets that gets no parameter.
  if (isPlainAttribute(name)) return 'plain';
  if (above?.type === 'call' && above.function === attribute) return 'plain';
  if (isTarget(attribute))
    return /^(?:true|false|none|integer|float|string)$/.test(above?.right?.type ?? '') ? 'plain' : 'taken';
  return module.mentions(/\.grad\b/) ? 'taken' : 'plain';
}

/** `isinstance(m, nn.BatchNorm2d)`, `target.data.copy_(p)`, `torch.lerp(a, b, tau)`. */
function isHarmlessCall(module: PyModule, call: PyNode | undefined): boolean {
  const callee = call?.function;
  if (call === undefined || callee === undefined) return false;
  if (isUnbound(module, callee))
    return /^(?:isinstance|print|len|type|str|repr|hasattr|id)$/.test(callee.text);
  const path = qualifiedName(module, callee);
  if (path !== undefined) return /^torch\.[a-z]\w*$/.test(path);
  return (
    /^(?:copy_|mul_|add_|lerp_|sub_|set_|fill_)$/.test(methodName(call) ?? '') &&
    receiverOf(call) !== undefined
  );
}

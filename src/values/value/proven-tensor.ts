import { isOperation, ofTensor, row } from '../../library/library.js';
import { TENSOR_FUNCTIONS } from '../../library/names.js';
import { initialValue } from '../../semantic/attribute-uses.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { makerOf } from '../../semantic/elsewhere.js';
import { type Definition, onlyBinding, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { once } from '../../semantic/once.js';
import { isAlwaysAfter, isAlwaysFollowed } from '../../semantic/paths.js';
import {
  argumentsOf,
  enclosingFunction,
  enclosingLoops,
  keywordArgument,
  keywordValue,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { readsOf } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { kindOf } from './tensor.js';

const MAX_DEPTH = 12;

/** More than `kindOf`: an argument counts as a tensor when the function uses it as nothing else can be used. */
export const isProvenTensor = once(provenTensor);

function provenTensor(module: PyModule, expression: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  const kind = kindOf(module, node);
  if (kind !== 'unknown') return kind !== 'number';
  if (depth > MAX_DEPTH) return false;
  const proven = (inner: PyNode | undefined): boolean =>
    inner !== undefined && isProvenTensor(module, inner, depth + 1);
  switch (node.type) {
    case 'unary_operator':
      return proven(node.argument);
    case 'binary_operator':
      return proven(node.left) || proven(node.right);
    case 'comparison_operator':
      return node.named.some(proven);
    case 'subscript':
    case 'attribute':
      return proven(carrierOf(node));
    case 'call':
      return proven(carrierOf(node)) || isTorchCall(node);
    case 'identifier': {
      const definitions = startsOf(module, node);
      return (
        (definitions.length > 0 &&
          definitions.every((found) =>
            found.kind === 'value'
              ? proven(found.value)
              : found.kind === 'parameter' && isUsedAsTensor(module, node),
          )) ||
        isTakenForTensor(module, node)
      );
    }
    default:
      return false;
  }
}

/** What is a tensor if, and only if, this part, method call or element of it is one. */
function carrierOf(node: PyNode): PyNode | undefined {
  const object = node.object;
  const value = node.value;
  switch (node.type) {
    case 'subscript':
      return value?.type === 'call' && isPaired(value) ? receiverOf(value) : value;
    case 'attribute':
      return node.attribute?.text === 'values' && object?.type === 'call' && isPaired(object)
        ? receiverOf(object)
        : undefined;
    case 'call':
      return isOperation(ofTensor(methodName(node) ?? '')) &&
        !(isPaired(node) && argumentsOf(node).length > 0)
        ? receiverOf(node)
        : undefined;
    default:
      return undefined;
  }
}

/** A method call that only a tensor takes: `x.mean(dim=0)`, and `x.abs().cpu()`, since no module has an `abs`. */
function isTorchCall(call: PyNode): boolean {
  const known = ofTensor(methodName(call) ?? '');
  const receiver = receiverOf(call);
  if (receiver === undefined || !isOperation(known)) return false;
  if (known.places) return receiver.type === 'call' && isOperation(ofTensor(methodName(receiver) ?? ''));
  return known.shape === 'one' && !known.paired && reducesAsTorch(call);
}

/** Arrays and frames say `axis` and `keepdims`. */
function reducesAsTorch(call: PyNode): boolean {
  const dim = keywordValue(call, 'dim');
  return keywordArgument(call, 'keepdim') !== undefined || (dim !== undefined && DIMENSIONS.test(dim.text));
}

const DIMENSIONS = /^[[(]?\s*-?\d+(?:\s*,\s*-?\d+)*\s*,?\s*[\])]?$/;

/** The definitions that a variable starts from: those that make a tensor of what it was, as `x = x.amin(0)`, are passed by. */
function startsOf(module: PyModule, read: PyNode): readonly Definition[] {
  const starts: Definition[] = [];
  const pending = [read];
  const seen = new Set<PyNode>();
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const definitions = reachingDefinitions(module, at);
    if (definitions === undefined) return [];
    for (const found of definitions) {
      if (seen.has(found.node)) continue;
      seen.add(found.node);
      let root: PyNode | undefined = found.kind === 'value' ? unparenthesized(found.value) : undefined;
      while (root !== undefined && root.type !== 'identifier') {
        const carrier = carrierOf(root);
        root = carrier && unparenthesized(carrier);
      }
      if (root?.text === read.text) pending.push(root);
      else starts.push(found);
    }
  }
  return starts;
}

function isPaired(call: PyNode): boolean {
  return ofTensor(methodName(call) ?? '')?.paired === true;
}

/** Somewhere in the function the parameter is given to torch or to a layer, or shows a method that only tensors have. */
function isUsedAsTensor(module: PyModule, parameter: PyNode): boolean {
  if (enclosingFunction(parameter) === undefined) return false;
  return readsOf(module, parameter).some((read) => isTensorUse(module, read));
}

/** Whenever this round comes here, torch gets the very value for a tensor: with anything else it raises. */
function isTakenForTensor(module: PyModule, variable: PyNode): boolean {
  const given = onlyBinding(module, variable);
  if (given === undefined) return false;
  const [loop] = enclosingLoops(variable);
  if (enclosingLoops(given)[0] !== loop && given.parent !== loop && given.parent?.parent !== loop)
    return false;
  return readsOf(module, variable).some((read) => {
    if (read === variable || read.start < given.start || !isTensorUse(module, read)) return false;
    if (onlyBinding(module, read) !== given || !(loop?.contains(read) ?? true)) return false;
    if (isAlwaysAfter(module, variable, [read], loop)) return true;
    const caught = variable.closest('try_statement', 'function_definition')?.type === 'try_statement';
    return !caught && isAlwaysFollowed(module, variable, [read], loop);
  });
}

function isTensorUse(module: PyModule, read: PyNode): boolean {
  const place = read.parent;
  if (place?.type === 'attribute') {
    const call = place.parent;
    const name = place.attribute?.text ?? '';
    if (call?.type !== 'call' || call.function !== place) return false;
    if (ofTensor(name)?.shape === 'one' && reducesAsTorch(call)) return true;
    // `block.norm(x)` runs a layer of that name.
    if (ofTensor(name)?.only) return argumentsOf(call).every(isPlain);
    return name === 'size' && argumentsOf(call)[0]?.type === 'integer';
  }
  if (place?.type !== 'argument_list' || place.named[0] !== read) return false;
  const call = place.parent;
  const callee = call?.function;
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined) return isTensorFunction(path);
  return call !== undefined && (isLayer(module, call) || isMadeByTorch(module, call));
}

/** `criterion(…)` of `criterion = nn.MSELoss()`. */
function isMadeByTorch(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  const made = callee?.type === 'identifier' ? row(makerOf(module, callee) ?? '')?.is : undefined;
  return made === 'map' || made === 'loss';
}

/** Numbers and settings as written. */
function isPlain(argument: PyNode): boolean {
  if (argument.type === 'keyword_argument') return argument.name?.text !== 'input';
  return /^(?:integer|float|true|false|none|string|tuple|list|unary_operator)$/.test(argument.type);
}

/** `self.layer(…)`, made by torch: it takes tensors only. */
export function isLayer(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  const name = callee && attributeOfSelf(callee)?.name;
  const made = name === undefined ? undefined : initialValue(module, call, name);
  return made !== undefined && row(calledPath(module, made) ?? '')?.is === 'map';
}

/** Its first argument is a tensor: a method of tensors as well, or a function that only layers call. */
function isTensorFunction(path: string): boolean {
  const known = row(path);
  const isMethod = isOperation(known) && ofTensor(path.split('.').at(-1) ?? '') !== undefined;
  return (isMethod && !known.numberFirst) || path.startsWith(TENSOR_FUNCTIONS);
}

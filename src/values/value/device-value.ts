import { mayShare, ofTensor } from '../../library/library.js';
import { CURRENT_DEVICE, DEVICE, TORCH } from '../../library/names.js';
import { type Answer, all } from '../../semantic/answer.js';
import { attributeValues, classValues } from '../../semantic/attributes.js';
import { type Definition, reachingDefinitions } from '../../semantic/flow.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { itemsOf } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, unparenthesized } from '../../semantic/statements.js';
import { isUnbound, readsOf, waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { heldTensor } from './held-tensor.js';
import { kindOf } from './tensor.js';

const MAX_DEPTH = 8;
/** `device`, `DEVICE`, `_execution_device`: no other argument of `.to` goes by that name. `x_device` may be `x`, moved. */
const DEVICE_NAME =
  /^_*(?:(?:\w+_)?(?:adapter|compute|cuda|current|default|dist|encoder|execution|first|generator|get|gpu|infer|inference|input|load|local|main|map|model|offload|onload|optimizer|output|param|place|processing|storage|student|target|teacher|timestep|torch|train|training|unet|vae|xla)_)?device$/i;
const BARE_NAME = /^_*(?:get_)?device$/i;
const OTHER_NAME = /(?:^|_)(?:dtype|tensor|type)(?:$|_or_)/i;
const DEVICE_TYPE = /\b(?:device|str|int)\b/;

/** What shows that something is a device: `names` that say so, or only the values that it was given. */
type Evidence = 'names' | 'values';

/**
 * Whether an argument of `.to()` is a device or `None`: not a dtype, and not a tensor to be like, which are all that it
 * takes. A name that says so counts, unless what it was given says otherwise.
 */
export function isDevice(module: PyModule, expression: PyNode): Answer {
  return judge(module, expression, 'names', 0);
}

/** Whether it surely is a device, by what it was given: not `None` either, which leaves a tensor where it is. */
export function isCertainDevice(module: PyModule, expression: PyNode): boolean {
  return judge(module, expression, 'values', 0) === 'yes';
}

function judge(module: PyModule, expression: PyNode, evidence: Evidence, depth: number): Answer {
  const node = unparenthesized(expression);
  const of = (inner: PyNode | undefined): Answer =>
    inner === undefined || depth > MAX_DEPTH ? 'unknown' : judge(module, inner, evidence, depth + 1);
  const said = judgeValue(module, node, of);
  return said === 'unknown' && evidence === 'names' && saysDevice(module, node) ? 'yes' : said;
}

/** `device`, `self.device`, `get_device()`. What a `with` gives goes by its own rules. */
function saysDevice(module: PyModule, node: PyNode): boolean {
  const named = node.type === 'call' ? node.function : node;
  const name = named?.type === 'attribute' ? named.attribute : named;
  if (name?.type !== 'identifier' || !DEVICE_NAME.test(name.text)) return false;
  return node.type !== 'identifier' || !waysReaching(module, node).some((way) => hides(module, node, way));
}

/** What a name was given that speaks louder than the name: `output_device = model(x)`. */
function hides(module: PyModule, { text }: PyNode, found: Definition): boolean {
  if (found.kind === 'with') return true;
  if (found.kind !== 'value' || BARE_NAME.test(text) || found.value.type !== 'call') return false;
  return isDeviceCall(module, found.value) !== 'yes' && !saysDevice(module, found.value);
}

function judgeValue(module: PyModule, node: PyNode, of: (inner: PyNode | undefined) => Answer): Answer {
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
    case 'integer':
      return 'yes';
    case 'none':
    case 'float':
    case 'true':
    case 'false':
      return 'no';
    case 'conditional_expression':
      return all([of(node.named[0]), of(node.named[2])]);
    case 'boolean_operator':
      return all([of(node.left), of(node.right)]);
    case 'call':
      return isDeviceCall(module, node);
    case 'attribute':
      return isDeviceAttribute(module, node, of);
    case 'identifier':
      return isDeviceVariable(module, node, of);
    default:
      return kindOf(module, node) === 'tensor' ? 'no' : 'unknown';
  }
}

/** `"cpu"` and `torch.device("cpu")`, as written or behind a name that was never given anything else. */
export function isCpu(module: PyModule, expression: PyNode, depth = 0): boolean {
  const node = unparenthesized(expression);
  if (node.type === 'string') return /^["']cpu(?::\d+)?["']$/.test(node.text);
  if (node.type === 'call') {
    const [first] = argumentsOf(node);
    return calledPath(module, node) === DEVICE && first !== undefined && isCpu(module, first, depth + 1);
  }
  if (node.type !== 'identifier' || depth > MAX_DEPTH) return false;
  const ways = waysReaching(module, node);
  return ways.length > 0 && ways.every((way) => way.kind === 'value' && isCpu(module, way.value, depth + 1));
}

function isDeviceCall(module: PyModule, call: PyNode): Answer {
  const path = calledPath(module, call);
  const callee = call.function;
  const name = methodName(call) ?? callee?.text ?? '';
  if (path === DEVICE || path === CURRENT_DEVICE) return 'yes';
  if (isUnbound(module, callee) && ['str', 'int'].includes(name)) return 'yes';
  if (callee?.type === 'attribute' && path === undefined && movesOrCasts(name)) return 'no';
  return ['tensor', 'scalar-tensor'].includes(kindOf(module, call)) ? 'no' : 'unknown';
}

/** A method of tensors and modules, never of a device. */
function movesOrCasts(name: string): boolean {
  const known = ofTensor(name);
  if (known?.makes !== undefined || name === 'clone') return true;
  return known?.shape === 'same' && mayShare(known) && !known.attribute;
}

function isDeviceAttribute(module: PyModule, node: PyNode, of: (inner: PyNode) => Answer): Answer {
  if (isDtype(module, node)) return 'no';
  const name = node.attribute?.text ?? '';
  if (OTHER_NAME.test(name) || ['parameter', 'buffer'].includes(heldTensor(module, node))) return 'no';
  const given = [...(attributeValues(module, node) ?? []), ...classValues(module, node)].map(of);
  if (given.includes('no')) return 'no';
  if (name === 'device' && isTensor(module, node.object)) return 'yes';
  return given.length > 0 ? all(given) : 'unknown';
}

/** What has a device and is computed with is a tensor. */
function isTensor(module: PyModule, object: PyNode | undefined): boolean {
  if (object === undefined) return false;
  if (['tensor', 'scalar-tensor'].includes(kindOf(module, object))) return true;
  const reaching = object.type === 'identifier' ? (reachingDefinitions(module, object) ?? []) : [];
  if (reaching.length === 0) return false;
  return readsOf(module, object).some((read) => {
    if (read.parent?.type !== 'binary_operator') return false;
    const there = reachingDefinitions(module, read);
    return (
      there?.length === reaching.length &&
      reaching.every(({ node }) => there.some((each) => each.node === node))
    );
  });
}

function isDeviceVariable(module: PyModule, identifier: PyNode, of: (inner: PyNode) => Answer): Answer {
  if (isDtype(module, identifier)) return 'no';
  if (OTHER_NAME.test(identifier.text)) return 'no';
  const answers = waysReaching(module, identifier).map((found): Answer => {
    if (found.kind === 'value') return found.value.type === 'none' ? 'unknown' : of(found.value);
    if (found.kind === 'loop') return all(itemsOf(found.iterable).map(of));
    if (found.kind !== 'parameter') return 'unknown';
    const given = found.node.parent?.value;
    const usual = given === undefined || given.type === 'none' ? 'unknown' : of(given);
    if (usual === 'no') return 'no';
    const annotation = found.node.closest('typed_parameter', 'typed_default_parameter')?.field('type')?.text;
    if (annotation === undefined) return usual;
    if (/dtype|Tensor/.test(annotation)) return 'no';
    return DEVICE_TYPE.test(annotation) && !/None|Optional/.test(annotation) ? 'yes' : 'unknown';
  });
  return answers.length > 0 ? all(answers) : 'unknown';
}

/** What `.to()` takes from torch itself, without a call, is a dtype. */
function isDtype(module: PyModule, node: PyNode): boolean {
  return qualifiedName(module, node)?.startsWith(TORCH) ?? false;
}

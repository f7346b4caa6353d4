import { builtin, cutsGraph } from '../../src/library/library.js';
import type { Answer } from '../../src/semantic/answer.js';
import { attributeValues } from '../../src/semantic/attributes.js';
import { classBehind, methodNamed } from '../../src/semantic/definitions.js';
import {
  definedElsewhere,
  type Elsewhere,
  makerOf,
  starredDefinition,
} from '../../src/semantic/elsewhere.js';
import { type Definition, definitionOf, reachingDefinitions } from '../../src/semantic/flow.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  decoratorsOf,
  methodName,
  receiverOf,
  unparenthesized,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { usesOf } from '../../src/values/index.js';
import type { Fate } from '../../src/values/uses/record-fate.js';
import { endsGraph } from '../../src/values/value/ends-graph.js';
import { recordsNoGraph } from '../../src/values/value/gradient.js';

const METER = /meter|avg|average|tracker|smooth|running/i;
const METER_CLASS = /^(?:\w+\.)*\w*(?:Meter|Average|Tracker|SmoothedValue)\w*\(/;

/** By its name, or by the class that made it. */
export function isMeter(module: PyModule, store: PyNode): boolean {
  if (METER.test(store.text)) return true;
  const scope = store.type === 'identifier' ? module.resolve(store) : undefined;
  const made = scope === undefined ? [] : module.writes(scope, store.text).map(definitionOf);
  return made.some((found) => found.kind === 'value' && METER_CLASS.test(found.value.text));
}

/** Whether the `update` of a meter holds on to the tensor that it is given first; `no`: it takes the number out of it. */
export function keepsWhatItGets(module: PyModule, store: PyNode): Answer {
  const given = updatedBy(module, store);
  const scope = given?.module.resolve(given.node);
  if (given === undefined || scope === undefined) return 'unknown';
  const answers = given.module.reads(scope, given.node.text).map((read): Answer => {
    const definitions = reachingDefinitions(given.module, read) ?? [];
    const others = definitions.filter(({ node }) => node !== given.node);
    // `if isinstance(x, Tensor): x = x.item()`: of a tensor the number is left.
    if (others.length === definitions.length || others.some(isNumberTaken)) return 'no';
    return recordsNoGraph(given.module, read) ? 'no' : isHeld(given.module, read);
  });
  if (answers.includes('yes')) return 'yes';
  return answers.includes('unknown') ? 'unknown' : 'no';
}

function isNumberTaken(definition: Definition): boolean {
  const value = definition.kind === 'value' ? unparenthesized(definition.value) : undefined;
  if (value?.type !== 'call') return false;
  const callee = value.function;
  const isBuiltin = callee?.type === 'identifier' && builtin(callee.text)?.graph === 'cut';
  return isBuiltin || cutsGraph(methodName(value) ?? '');
}

/** What becomes of a tensor that is given to a meter, wherever the project reads it again; undefined where that is not seen. */
export function fatesInMeter(module: PyModule, store: PyNode): readonly Fate[] | undefined {
  const given = updatedBy(module, store);
  return given && usesOf(given.module, given.node, 'variable');
}

/** The `update` gives the tensor to other code, which may ask it for its graph. */
export function handsOn(module: PyModule, store: PyNode): boolean {
  const given = updatedBy(module, store);
  const update = given?.node.closest('function_definition');
  if (given === undefined || update === undefined) return false;
  return usesOf(given.module, given.node, 'variable').some(
    ({ kind, node }) => kind === 'escapes' && node.type !== 'attribute' && update.contains(node),
  );
}

/** The first parameter of the `update` of the class that made a meter, in whatever file. */
function updatedBy(module: PyModule, store: PyNode): Elsewhere | undefined {
  const [made, ...others] = makersOf(module, store).map((maker) => classMade(module, maker));
  if (made?.node.type !== 'class_definition' || others.some((other) => other?.node !== made.node))
    return undefined;
  const update = methodNamed(made.module, made.node, 'update');
  if (update === undefined || decoratorsOf(update).length > 0) return undefined;
  const [, parameter] = update.parameters?.named ?? [];
  const name = parameter?.type === 'typed_parameter' ? parameter.named[0] : (parameter?.name ?? parameter);
  return name?.type === 'identifier' ? { module: made.module, node: name } : undefined;
}

/** What gives a variable, an attribute or an entry of a dictionary its meter. */
function makersOf(module: PyModule, store: PyNode): readonly PyNode[] {
  if (store.type === 'attribute') return attributeValues(module, store) ?? [];
  const root = store.type === 'subscript' ? store.value : undefined;
  if (root === undefined) return [store];
  const scope = root.type === 'identifier' ? module.resolve(root) : undefined;
  const made = scope === undefined ? [] : module.writes(scope, root.text).map(definitionOf);
  const key = store.named[1];
  return made.map((each) => (each.kind === 'value' && key ? (entryOf(each.value, key) ?? store) : store));
}

/** `Meter()` of `{"loss": Meter()}`, `Meter` of `defaultdict(Meter)`. */
function entryOf(dictionary: PyNode, key: PyNode): PyNode | undefined {
  if (dictionary.type === 'dictionary')
    return dictionary.named.find((pair) => pair.key?.text === key.text)?.value;
  const isDefault = /^(?:collections\.)?defaultdict$/.test(dictionary.function?.text ?? '');
  return isDefault ? argumentsOf(dictionary)[0] : undefined;
}

function classMade(module: PyModule, maker: PyNode): Elsewhere | undefined {
  const own = classBehind(module, maker);
  if (own !== undefined) return { module, node: own };
  const path = makerOf(module, maker) ?? qualifiedName(module, maker);
  return path === undefined ? starredMaker(module, maker) : definedElsewhere(module, path);
}

/** `from utils import *`, and the one thing that makes it is of there. */
function starredMaker(module: PyModule, maker: PyNode): Elsewhere | undefined {
  const scope = maker.type === 'identifier' ? module.resolve(maker) : undefined;
  const [only, ...others] = scope === undefined ? [] : module.writes(scope, maker.text).map(definitionOf);
  const value = only?.kind === 'value' && others.length === 0 ? only.value : maker;
  const callee = value.type === 'call' ? value.function : undefined;
  const isFree = callee?.type === 'identifier' && module.resolve(callee) === undefined;
  return isFree ? starredDefinition(module, callee.text) : undefined;
}

/** Whether a value that stands here ends in an attribute, with its graph. */
function isHeld(module: PyModule, read: PyNode): Answer {
  let node = read;
  for (let parent = node.parent; parent !== undefined; parent = node.parent) {
    switch (parent.type) {
      case 'attribute': {
        const call = parent.parent;
        const isCalled = call?.type === 'call' && call.function === parent;
        if (endsGraph(module, parent.attribute?.text ?? '')) return 'no';
        node = isCalled ? call : parent;
        continue;
      }
      case 'argument_list': {
        const call = parent.parent;
        const callee = call?.function;
        const known = callee?.type === 'identifier' && module.resolve(callee) === undefined;
        if (known && builtin(callee.text)?.graph === 'cut') return 'no';
        const isKept = call !== undefined && /^append(?:left)?$/.test(methodName(call) ?? '');
        return isKept && receiverOf(call)?.type === 'attribute' ? 'yes' : 'unknown';
      }
      case 'binary_operator':
      case 'unary_operator':
      case 'parenthesized_expression':
        break;
      case 'assignment':
      case 'augmented_assignment':
        return parent.left?.type === 'attribute' ? 'yes' : 'unknown';
      case 'comparison_operator':
      case 'if_statement':
      case 'assert_statement':
        return 'no';
      default:
        return 'unknown';
    }
    node = parent;
  }
  return 'unknown';
}

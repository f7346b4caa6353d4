import { row } from '../../src/library/library.js';
import { isModuleClass } from '../../src/library/paths.js';
import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { classBehind, methodsOf } from '../../src/semantic/definitions.js';
import {
  boundElsewhere,
  definedElsewhere,
  type Elsewhere,
  leadsInside,
} from '../../src/semantic/elsewhere.js';
import { type Definition, definitionOf } from '../../src/semantic/flow.js';
import { callOf, functionUses, isReachedByText, valuesGiven } from '../../src/semantic/function-uses.js';
import { shown } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { argumentsByParameter } from '../../src/semantic/parameters.js';
import { ask, type Question } from '../../src/semantic/question.js';
import {
  argumentsOf,
  decoratorsOf,
  enclosingClass,
  enclosingFunction,
  unparenthesized,
} from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';
import { isPlainParameter } from '../../src/values/value/parts.js';

export function ownNetwork(maker: string): Question {
  return ask('own-network')`Does ${maker} make a network of its own?`;
}

/** What an instance of a class of the project may share with other networks by what it is given. */
export function* sharedBy(made: Elsewhere, module: PyModule, call: PyNode): Generator<Question> {
  const name = made.node.name?.text ?? '';
  if (decoratorsOf(made.node).length > 0) yield ownNetwork(`each \`${name}(…)\``);
  const init = methodsOf(made.node).find((each) => each.name?.text === '__init__');
  const given = init && argumentsByParameter(module, init, call);
  for (const argument of argumentsOf(call)) {
    const value = argument.type === 'keyword_argument' ? argument.value : argument;
    if (value === undefined || isNoNetwork(module, value, 0)) continue;
    const parameter = given && [...given].find(([, each]) => each === value)?.[0];
    if (init !== undefined && parameter !== undefined && isNumberIn(made.module, init, parameter)) continue;
    yield ask(
      'shares-nothing',
    )`Is \`${shown(value)}\`, which \`${name}(…)\` gets, something other than a network that is trained?`;
  }
}

const MAX_DEPTH = 6;
const NUMBERS = /^(?:int|float|str|bool|len|max|min|sum|round|abs|range|tuple|list|sorted|dict)$/;

/** Certainly nothing with weights: a number, a text, a setting of the command line, an activation. */
export function isNoNetwork(module: PyModule, expression: PyNode, depth: number): boolean {
  const node = unparenthesized(expression);
  const none = (inner: PyNode | undefined): boolean =>
    inner !== undefined && isNoNetwork(module, inner, depth + 1);
  if (depth > MAX_DEPTH) return false;
  if (valueOf(module, node).kind === 'number') return true;
  switch (node.type) {
    case 'integer':
    case 'float':
    case 'string':
    case 'concatenated_string':
    case 'true':
    case 'false':
    case 'none':
    case 'comparison_operator':
    case 'not_operator':
    case 'unary_operator':
    case 'binary_operator':
      return true;
    case 'list':
    case 'tuple':
      return node.named.every(none);
    case 'conditional_expression':
      return none(node.named[0]) && none(node.named[2]);
    case 'subscript':
      return none(node.value);
    case 'dictionary_splat':
    case 'list_splat':
      return none(node.named[0]);
    case 'attribute':
    case 'identifier': {
      const path = qualifiedName(module, node);
      const bound = path === undefined ? undefined : boundElsewhere(module, path);
      if (bound?.node.type === 'assignment') {
        const { right } = bound.node;
        return right !== undefined && isNoNetwork(bound.module, right, depth + 1);
      }
      // A class or a function is no network yet.
      if (bound !== undefined) return true;
      if (node.type === 'attribute') return none(node.object) || isPlainAttribute(module, node, none);
      return path === undefined ? isPlainVariable(module, node, none, depth) : !leadsInside(module, path);
    }
    case 'call':
      return isPlainCall(module, node);
    default:
      return false;
  }
}

/** A parameter that every call in the project gives such. */
function isGivenPlain(module: PyModule, parameter: PyNode, depth: number): boolean {
  const owner = enclosingFunction(parameter);
  if (owner === undefined) return false;
  const isPlain = (each: Elsewhere): boolean => isNoNetwork(each.module, each.node, depth + 1);
  const given = isRest(parameter) ? undefined : valuesGiven(module, owner, parameter);
  if (given !== undefined) return given.length > 0 && given.every(isPlain);
  return valuesSpread(module, owner, parameter)?.every(isPlain) === true;
}

/**
 * What the calls of a function may give to one of its parameters where they hand on `**options`, or the function takes them:
 * also what is spread, where that may hold the parameter. Undefined where not all calls show.
 */
function valuesSpread(
  module: PyModule,
  functionNode: PyNode,
  parameter: PyNode,
): readonly Elsewhere[] | undefined {
  const { name } = functionNode;
  if (name === undefined || enclosingClass(functionNode) !== undefined) return undefined;
  if (decoratorsOf(functionNode).length > 0) return undefined;
  const { uses, unread } = usesElsewhere(module, name, { may: () => true, byName: true });
  const here = functionUses(module, functionNode).map((node) => ({ module, node }));
  const callees = [...here, ...uses].filter(({ node }) => roleOf(node) !== 'import');
  const calls = callees.map(({ module: there, node }) => ({ module: there, node: callOf(node) }));
  if (unread !== undefined || calls.some(({ node }) => node === undefined)) return undefined;
  // What nobody calls gives nothing.
  if (calls.length === 0 && isReachedByText(module, functionNode)) return undefined;
  if (isRest(parameter) && !isOnlySpread(module, functionNode, parameter)) return undefined;
  const values = calls.map(({ module: there, node }) =>
    node === undefined
      ? undefined
      : valuesOf(functionNode, parameter, node)?.map((each) => ({ module: there, node: each })),
  );
  return values.includes(undefined) ? undefined : values.flatMap((each) => each ?? []);
}

/** Of one call: nothing where the parameter keeps its default, which the caller does not change. */
function valuesOf(functionNode: PyNode, parameter: PyNode, call: PyNode): readonly PyNode[] | undefined {
  const names = (functionNode.parameters?.named ?? []).map((each) =>
    isRest(each) || each.type === 'list_splat_pattern' ? undefined : (each.name ?? each).text,
  );
  const given = argumentsOf(call);
  if (call.arguments?.type !== 'argument_list' || names.slice(0, -1).includes(undefined)) return undefined;
  if (given.some(({ type }) => type === 'list_splat')) return undefined;
  const isOther = (each: PyNode, at: number): boolean =>
    each.type === 'keyword_argument' ? !names.includes(each.name?.text) : names[at] === undefined;
  const spread = given.filter(({ type }) => type === 'dictionary_splat');
  const plain = given.filter((each) => !spread.includes(each));
  if (isRest(parameter)) return [...plain.filter(isOther).map((each) => each.value ?? each), ...spread];
  const own = plain.find((each, at) =>
    each.type === 'keyword_argument' ? each.name?.text === parameter.text : names[at] === parameter.text,
  );
  const value = own?.type === 'keyword_argument' ? own.value : own;
  return value === undefined ? undefined : [value];
}

/** `kwargs` of `**kwargs`. */
function isRest(parameter: PyNode): boolean {
  return [parameter.type, parameter.parent?.type].includes('dictionary_splat_pattern');
}

/** `f(**options)`, and nothing is put into it but what is no network either. */
function isOnlySpread(module: PyModule, functionNode: PyNode, parameter: PyNode): boolean {
  return module.occurrences(module.scopeOf(functionNode), parameter.text).every(({ parent }) => {
    if (parent?.type === 'dictionary_splat' || parent?.type === 'dictionary_splat_pattern') return true;
    const assignment = parent?.type === 'subscript' ? parent.parent : undefined;
    const value =
      assignment?.type === 'assignment' && assignment.left === parent ? assignment.right : undefined;
    return value !== undefined && isNoNetwork(module, value, 0);
  });
}

/** `self.width`, which is only given such. */
function isPlainAttribute(
  module: PyModule,
  attribute: PyNode,
  none: (inner: PyNode | undefined) => boolean,
): boolean {
  const owner = classBehind(module, attribute.object ?? attribute);
  if (owner === undefined) return false;
  const writes = attributeUses(module, owner, attribute.attribute?.text ?? '').filter(
    ({ kind }) => kind !== 'read',
  );
  return writes.length > 0 && writes.every(({ node }) => none(node.parent?.right));
}

function isPlainVariable(
  module: PyModule,
  name: PyNode,
  none: (inner: PyNode | undefined) => boolean,
  depth: number,
): boolean {
  const scope = module.resolve(name);
  const writes = scope === undefined ? [] : module.writes(scope, name.text);
  return (
    writes.length > 0 &&
    writes.every((write) => {
      const definition = definitionOf(write);
      // A class or a function is no network yet.
      if (/^(?:def|class)$/.test(roleOf(write))) return true;
      if (definition.kind === 'parameter')
        return isPlainParameter(write) || isGivenPlain(module, write, depth);
      return (definition.kind === 'value' || definition.kind === 'part') && none(definition.value);
    })
  );
}

/** `len(classes)`, `max(a, b)`, `nn.ReLU()`, a setting. */
function isPlainCall(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee !== undefined && row(qualifiedName(module, callee) ?? '')?.weights === false) return true;
  if (callee?.type === 'identifier' && module.resolve(callee) === undefined) return NUMBERS.test(callee.text);
  return isSetting(module, call);
}

/** Packages that know no tensors of torch. */
const WITHOUT_TENSORS =
  /^(?:argparse|configparser|gym|gymnasium|json|os|math|numpy|random(?!\.(?:sample|choice|choices|shuffle)$)|yaml|torch\.device)(?:\.|$)/;

export function isSettingPath(path: string): boolean {
  return WITHOUT_TENSORS.test(path);
}

/** What comes from the command line, a file of settings, an environment or numpy: it holds neither networks nor graphs. */
export function isSetting(module: PyModule, expression: PyNode, depth = 0): boolean {
  const node = unparenthesized(expression);
  if (depth > MAX_DEPTH) return false;
  const inner = (each: PyNode | undefined): boolean =>
    each !== undefined && isSetting(module, each, depth + 1);
  if (node.type === 'attribute') return inner(node.object) && !isSetHere(module, node);
  if (node.type === 'subscript') return inner(node.value);
  if (node.type === 'call') {
    const callee = node.function;
    const path = callee && qualifiedName(module, callee);
    if (path !== undefined) return WITHOUT_TENSORS.test(path) && definedElsewhere(module, path) === undefined;
    return callee?.type === 'attribute' && inner(callee.object);
  }
  if (node.type !== 'identifier') return false;
  const scope = module.resolve(node);
  const writes = scope === undefined ? [] : module.writes(scope, node.text);
  return (
    writes.length > 0 && writes.every((write) => isSettingDefined(module, definitionOf(write), inner, depth))
  );
}

/** What makes a tensor need a gradient. */
const ASKING = /requires_grad_\((?!False)|requires_grad["']?[ ]*[:=](?!=|[ ]*False)|Parameter\(/;

/** The tensors of a dataset may be trained themselves. */
export function mayTrainData(module: PyModule): boolean {
  return module.mentions(/TensorDataset/) && module.mentions(ASKING);
}

/** `args.net = Net()`: somebody puts more into it. */
function isSetHere(module: PyModule, attribute: PyNode): boolean {
  const name = attribute.attribute?.text ?? '';
  return module.wordsSet(`.${name}`).some(({ text, parent }) => {
    const assignment = parent?.parent;
    if (text !== name || assignment?.type !== 'assignment' || assignment.left !== parent) return false;
    return !/^(?:integer|float|string|true|false|none)$/.test(assignment.right?.type ?? '');
  });
}

function isSettingDefined(
  module: PyModule,
  definition: Definition,
  inner: (each: PyNode | undefined) => boolean,
  depth: number,
): boolean {
  if (definition.kind === 'value' || definition.kind === 'part') return inner(definition.value);
  if (definition.kind !== 'parameter') return false;
  const owner = enclosingFunction(definition.node);
  const given = owner && valuesGiven(module, owner, definition.node);
  return (
    given !== undefined &&
    given.length > 0 &&
    given.every((each) => isSetting(each.module, each.node, depth + 1))
  );
}

/** Functions that raise where they are given a module. */
const TAKES_NUMBERS = /^(?:torch\.[a-z]\w*|random\.\w+|numpy\.(?:\w+\.)*\w+|math\.\w+)$/;

/** A parameter of a constructor that only goes to layers of torch and into arithmetic: a module there would raise. */
function isNumberIn(module: PyModule, init: PyNode, parameter: string): boolean {
  return module.reads(module.scopeOf(init), parameter).every((read) => isNumericUse(module, read, 0));
}

function isNumericUse(module: PyModule, use: PyNode, depth: number): boolean {
  let at = use;
  while (
    /^(?:keyword_argument|subscript|parenthesized_expression|unary_operator)$/.test(at.parent?.type ?? '')
  )
    at = at.parent ?? at;
  const holder = at.parent;
  if (/^(?:binary_operator|comparison_operator|not_operator)$/.test(holder?.type ?? '')) return true;
  if (holder?.type === 'assignment') return depth === 0 && isNumericAttribute(module, holder.left);
  const callee = holder?.type === 'argument_list' ? holder.parent?.function : undefined;
  if (callee === undefined) return at !== use && at.type === 'unary_operator';
  if (callee.type === 'identifier' && module.resolve(callee) === undefined) return NUMBERS.test(callee.text);
  const path = qualifiedName(module, callee) ?? '';
  if (TAKES_NUMBERS.test(path)) return true;
  return (
    isModuleClass(path) &&
    !/(?:Sequential|ModuleList|ModuleDict|DataParallel|Transformer\w*coder)$/.test(path)
  );
}

/** `self.limit = limit`, and only numbers have such uses: `torch.tanh(x) * self.limit`. */
function isNumericAttribute(module: PyModule, target: PyNode | undefined): boolean {
  const owner = target?.type === 'attribute' ? classBehind(module, target.object ?? target) : undefined;
  const name = target?.attribute?.text;
  return (
    owner !== undefined &&
    name !== undefined &&
    attributeUses(module, owner, name).every(
      ({ kind, node }) => kind !== 'read' || isNumericUse(module, node, 1),
    )
  );
}

import { packageOf, row } from '../../src/library/library.js';
import { WRAPS_MODULE } from '../../src/library/names.js';
import { attributeValues } from '../../src/semantic/attributes.js';
import { calledDefinition, classAround, definitionBehind } from '../../src/semantic/definitions.js';
import {
  boundElsewhere,
  type Elsewhere,
  lineageOf,
  starredDefinition,
} from '../../src/semantic/elsewhere.js';
import type { Definition } from '../../src/semantic/flow.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { returnsOf } from '../../src/semantic/returns.js';
import { functionElsewhere } from '../../src/semantic/star-imports.js';
import { within } from '../../src/semantic/stars.js';
import {
  argumentsOf,
  enclosingFunction,
  methodName,
  ownNodes,
  receiverOf,
} from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isUnbound, readsOf, waysReaching } from '../../src/semantic/variables.js';
import type { PyNode } from '../../src/syntax/node.js';
import { homeOfName, importsForeign, isForeign, lacks, mayGive } from './foreign-path.js';

/** More places than this are not looked at: where so many make it, nobody knows. */
const MAX_PLACES = 300;

/** What such a node stands for is one of its parts, or holds them. */
const HOLDS =
  /^(?:await|boolean_operator|dictionary|dictionary_splat|expression_list|keyword_argument|lambda|list|list_splat|named_expression|parenthesized_expression|set|tuple|type|union_type|generic_type|type_parameter|\w+_comprehension|generator_expression)$/;
/** What stands for a number or a text. */
const IS_PLAIN = /^(?:concatenated_string|false|float|integer|none|string|true)$/;
/** Python's own that hand on what they are given, or a part of it. */
const HANDS_ON =
  /^(?:dict|enumerate|filter|getattr|iter|list|map|max|min|next|reversed|set|sorted|tuple|vars|zip)$/;
/** Python's own that give texts and numbers. */
const PLAIN = /^(?:bool|float|int|len|range|round|str)$/;
/** Methods that give one of what they are given, where the object has none. */
const TAKES_OUT = /^(?:get|pop|setdefault)$/;
/** Methods that put what they are given into the object. */
const PUTS_IN = /^(?:add|append|appendleft|extend|insert|push|put|setdefault|update)$/;

/** Where else to look, or that what made it is foreign. */
type Leads = readonly Elsewhere[] | 'foreign';

/**
 * Whether what made a value, or a base of its class, may be of a package that the library has no row of: nothing says how
 * that loads. Whatever object or container it is taken from is looked at as well; a parameter is what the project's calls give.
 */
export function mayBeForeign(module: PyModule, value: PyNode): boolean {
  const seen = new Set([value]);
  const pending: Elsewhere[] = [{ module, node: value }];
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const leads = leadsOf(at.module, at.node);
    if (leads === 'foreign' || seen.size > MAX_PLACES) return true;
    for (const lead of leads) {
      if (!seen.has(lead.node)) pending.push(lead);
      seen.add(lead.node);
    }
  }
  return false;
}

function leadsOf(module: PyModule, node: PyNode): Leads {
  if (HOLDS.test(node.type)) return among(module, node.named);
  switch (node.type) {
    case 'pair':
    case 'subscript':
      return among(module, [node.value]);
    case 'conditional_expression':
      return among(module, [node.named[0], node.named[2]]);
    case 'call':
      return ofCall(module, node);
    case 'attribute':
      return ofAttribute(module, node);
    case 'identifier':
      return ofName(module, node);
    default:
      return [];
  }
}

function among(module: PyModule, nodes: readonly (PyNode | undefined)[]): readonly Elsewhere[] {
  return nodes.flatMap((node) => (node === undefined || IS_PLAIN.test(node.type) ? [] : [{ module, node }]));
}

function ofName(module: PyModule, name: PyNode): Leads {
  const path = qualifiedName(module, name);
  if (path !== undefined) return ofPath(module, path);
  const around = classAround(name);
  if (around?.self === name.text) return ofDefinition({ module, node: around.classNode });
  const own = definitionBehind(module, name);
  if (own !== undefined) return ofDefinition({ module, node: own });
  if (isUnbound(module, name)) return ofStarred(module, name.text);
  return [
    ...waysReaching(module, name).flatMap((way) => ofWay(module, way)),
    ...among(module, readsOf(module, name).flatMap(putInto)),
  ];
}

function ofWay(module: PyModule, way: Definition): readonly Elsewhere[] {
  if (way.kind === 'loop') return among(module, [way.iterable]);
  if (way.kind === 'parameter') return ofParameter(module, way.node);
  if (way.kind === 'part') return ofPart(module, way.node, way.value);
  return 'value' in way ? among(module, [way.value]) : [];
}

/** `net` of `noise, net = train()`: of what the function returns, the same place. */
function ofPart(module: PyModule, target: PyNode, value: PyNode): readonly Elsewhere[] {
  const found = value.type === 'call' ? functionCalled(module, value) : undefined;
  const targets = target.parent?.named ?? [];
  if (found === undefined || target.parent?.parent?.right !== value) return among(module, [value]);
  const parts = returnsOf(found.node).map((returned) => {
    const given = /^(?:expression_list|tuple)$/.test(returned?.type ?? '') ? (returned?.named ?? []) : [];
    const isEven = given.length === targets.length && ![...given, ...targets].some(isSpread);
    return isEven ? given[targets.indexOf(target)] : returned;
  });
  return among(found.module, parts);
}

function isSpread({ type }: PyNode): boolean {
  return type.includes('splat');
}

function functionCalled(module: PyModule, call: PyNode): Elsewhere | undefined {
  const own = calledDefinition(module, call);
  const found =
    own === undefined ? call.function && functionElsewhere(module, call.function) : { module, node: own };
  return found?.node.type === 'function_definition' ? found : undefined;
}

function ofParameter(module: PyModule, parameter: PyNode): readonly Elsewhere[] {
  const holder = parameter.parent;
  const standard = /default/.test(holder?.type ?? '') ? holder?.value : undefined;
  const stated = /typed/.test(holder?.type ?? '') ? holder?.field('type') : undefined;
  const taker = enclosingFunction(parameter);
  const given = taker && valuesGiven(module, taker, parameter);
  return [...among(module, [standard, stated]), ...(given ?? [])];
}

function ofAttribute(module: PyModule, attribute: PyNode): Leads {
  const path = qualifiedName(module, attribute);
  const name = attribute.attribute?.text;
  if (path !== undefined) return ofPath(module, path);
  if (name === undefined || name === 'module') return among(module, [attribute.object]);
  const family = attributeValues(module, attribute);
  if (family !== undefined)
    return among(module, [...family, ...placesIn(module, name).flatMap((place) => putInto(place))]);
  return ofHeld(module, name, attribute.object);
}

/** What objects of the project hold by a name. */
function ofHeld(module: PyModule, name: string, object: PyNode | undefined): Leads {
  const files = filesSetting(module, name);
  const set = files?.flatMap((there) => among(there, valuesSet(there, name)));
  // What nobody in the project sets is what the object has by itself.
  return set?.length === 0 ? among(module, [object]) : (set ?? 'foreign');
}

function ofCall(module: PyModule, call: PyNode): Leads {
  const callee = call.function;
  const given = argumentsOf(call);
  if (callee === undefined) return [];
  const path = qualifiedName(module, callee);
  if (path !== undefined) {
    if (WRAPS_MODULE.has(path)) return among(module, given.slice(0, 1));
    const known = packageOf(path);
    const isTool = (known?.harmless ?? known?.stateless) === true && row(path)?.is === undefined;
    return isTool ? among(module, given) : ofPath(module, path);
  }
  const own = calledDefinition(module, call);
  const found = own === undefined ? functionElsewhere(module, callee) : { module, node: own };
  if (found !== undefined) return ofDefinition(found);
  if (isUnbound(module, callee) && HANDS_ON.test(callee.text))
    return callee.text === 'getattr' ? ofLookUp(module, given) : among(module, given);
  const name = methodName(call);
  if (name === undefined) return among(module, [callee]);
  return among(module, [receiverOf(call), ...(TAKES_OUT.test(name) ? given : [])]);
}

/** `getattr(nets, name)`: one of the names of a file, or what an object has. The name itself is a text. */
function ofLookUp(module: PyModule, [object, name, other]: readonly PyNode[]): Leads {
  const path = object && qualifiedName(module, object);
  const file = path === undefined ? undefined : module.around.module(path);
  const text = name && plainString(name);
  if (path === undefined && text !== undefined) {
    const held = ofHeld(module, text, object);
    return held === 'foreign' ? held : [...held, ...among(module, [other])];
  }
  if (path === undefined || file === undefined) return among(module, [object, other]);
  if (text !== undefined) return ofPath(module, within(path, text));
  return importsForeign(file) ? 'foreign' : among(module, [other]);
}

/** A class by what it inherits from, a function by what it returns. */
function ofDefinition({ module, node }: Elsewhere): Leads {
  if (node.type === 'function_definition') {
    const yielded = ownNodes(node).flatMap(({ type, named }) => (type === 'yield' ? named : []));
    return among(module, [...returnsOf(node), ...yielded]);
  }
  if (node.type !== 'class_definition') return among(module, [node.right]);
  return lineageOf(module, node).imported.some((path) => isForeign(module, path)) ? 'foreign' : [];
}

function ofPath(module: PyModule, path: string): Leads {
  const found = boundElsewhere(module, path);
  if (found !== undefined) return ofDefinition(found);
  return isForeign(module, path) ? ofFolders(module, path) : [];
}

/** A file may be beside this one, and others of its name in the folders above: whichever is imported, it is of the project. */
function ofFolders(module: PyModule, path: string): Leads {
  const owner = path.slice(0, Math.max(0, path.lastIndexOf('.')));
  const folders = module.path.split('/').map((_, index) => '.'.repeat(index + 1));
  if (owner === '' || path.startsWith('.')) return 'foreign';
  if (folders.some((dots) => lacks(module, dots, path))) return [];
  const files = folders.filter((dots) => module.around.text(dots + owner) !== undefined);
  // One that lacks the name gives an error.
  const name = path.slice(owner.length + 1);
  const leads = files
    .filter((dots) => mayGive(module, dots + owner, name))
    .map((dots) => {
      const found = boundElsewhere(module, dots + path);
      return found === undefined ? 'foreign' : ofDefinition(found);
    });
  if (leads.length === 0 || leads.includes('foreign')) return 'foreign';
  return leads.flatMap((each) => (each === 'foreign' ? [] : each));
}

function ofStarred(module: PyModule, name: string): Leads {
  const found = starredDefinition(module, name);
  if (found !== undefined) return ofDefinition(found);
  return homeOfName(module, name, 0) === 'package' && !HANDS_ON.test(name) && !PLAIN.test(name)
    ? 'foreign'
    : [];
}

/** The files that may set an attribute of this name; undefined where one cannot be read. */
function filesSetting(module: PyModule, name: string): readonly PyModule[] | undefined {
  const sets = new RegExp(`\\b${name}\\b\\s*(?:[:=\\[,]|\\.\\s*\\w+\\()`);
  const { modules, unread } = module.around.naming(
    { word: name, beside: [] },
    (text) => sets.test(text) || text.includes('setattr('),
  );
  return unread === undefined ? [module, ...modules] : undefined;
}

/** What a file gives to attributes of a name: by assignments, in the body of a class, or by a keyword of a call. */
function valuesSet(module: PyModule, name: string): readonly PyNode[] {
  const named = module.words(name).flatMap((node) => {
    const { parent } = node;
    if (parent?.type === 'keyword_argument' && parent.name === node) return parent.value ?? [];
    if (parent?.type !== 'assignment' || parent.left !== node) return [];
    const isField = parent.parent?.parent?.parent?.type === 'class_definition';
    return isField ? [parent.right, parent.field('type')].filter((each) => each !== undefined) : [];
  });
  return [
    ...named,
    ...setByText(module, name),
    ...placesIn(module, name).flatMap((place) => [...assignedTo(place), ...putInto(place)]),
  ];
}

/** `setattr(object, name, value)`. */
function setByText(module: PyModule, name: string): readonly PyNode[] {
  return module.words('setattr').flatMap(({ parent: call }) => {
    const [, text, value] = call?.type === 'call' ? argumentsOf(call) : [];
    return text !== undefined && value !== undefined && plainString(text) === name ? [value] : [];
  });
}

function placesIn(module: PyModule, name: string): readonly PyNode[] {
  return module.words(name).flatMap(({ parent, text }) => {
    const isPlace = parent?.type === 'attribute' && parent.attribute?.text === text && text === name;
    return isPlace ? [parent] : [];
  });
}

/** `value` of `place = value`, and of `place, other = value`. */
function assignedTo(place: PyNode): readonly PyNode[] {
  const target = /pattern/.test(place.parent?.type ?? '') ? (place.parent ?? place) : place;
  const holder = target.parent;
  return holder?.type === 'assignment' && holder.left === target && holder.right ? [holder.right] : [];
}

/** What is put into the object that a node names: `parts["ema"] = value`, `parts.append(value)`. */
function putInto(place: PyNode): readonly PyNode[] {
  const { parent } = place;
  if (parent?.type === 'subscript' && parent.value === place) return assignedTo(parent);
  const call = parent?.type === 'attribute' && parent.object === place ? parent.parent : undefined;
  return call?.type === 'call' && PUTS_IN.test(methodName(call) ?? '') ? argumentsOf(call) : [];
}

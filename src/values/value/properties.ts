import { attributeOfSelf } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { isOwnMember } from '../../semantic/instance.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject, mayBeSubclass } from '../../semantic/project-names.js';
import { methodElsewhere, methodsByName } from '../../semantic/reach.js';
import { remembered } from '../../semantic/remembered.js';
import { enclosingClass, isTarget } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { isProperty } from '../../torch/module/modules.js';
import { isFieldOfOutput } from './ends-graph.js';
import { mayHaveField } from './parts.js';
import { isPlainAttribute } from './plain.js';
import { kindOf } from './tensor.js';
import { mayCarryGraph, type Trace, upToWorst, worst } from './trace-kinds.js';

/**
 * What a property of the project computes that may have a graph, where reading an attribute may run one. `gives`: what one hands back,
 * given its object; `false` where that is too deep to follow.
 */
export function computedByProperty(
  module: PyModule,
  attribute: PyNode,
  traceOf: (node: PyNode) => Trace,
  gives: false | ((property: Elsewhere, self: Trace) => Trace),
): Trace | undefined {
  const object = attribute.object ?? attribute;
  const properties = propertiesRead(module, attribute);
  if (properties?.length === 0 || kindOf(module, object).endsWith('tensor')) return undefined;
  const of = traceOf(object);
  if (mayCarryGraph(of)) return undefined;
  if (properties === undefined || gives === false)
    return isPlainAttribute(attribute.attribute?.text ?? '') ? undefined : 'unknown';
  // An object that is handed in may have parameters of its own.
  const self = of === 'plain' || of === 'network' ? of : 'outside';
  const made = worst(upToWorst(properties, (property) => gives(property, self)));
  return mayCarryGraph(made) ? made : undefined;
}

/** Whether an object has, under the name of what torch gives, something of its own. */
export function mayBeField(
  module: PyModule,
  { attribute, object }: PyNode,
  traceOf: (node: PyNode) => Trace,
): boolean {
  if (attribute === undefined || object === undefined) return false;
  if (isOwnMember(module, object, attribute.text)) return true;
  if (!mayCarryGraph(traceOf(object))) return false;
  if (attribute.text === 'data' && mayHaveField(module, object)) return true;
  return !kindOf(module, object).endsWith('tensor') && isFieldOfOutput(module, attribute.text);
}

/** The properties of the project that reading an attribute may run; undefined where more may be than were looked into. */
function propertiesRead(module: PyModule, attribute: PyNode): readonly Elsewhere[] | undefined {
  const name = attribute.attribute?.text ?? '';
  if (!isMethodOfProject(module, name)) return [];
  const all = propertiesNamed(module, name);
  const own = attributeOfSelf(attribute)?.classNode.name?.text;
  if (own === undefined || !setsOnSelf(module, name)) return all;
  // What the class sets may be taken by a property of one below it, and of no other.
  return all?.filter(({ node }) => mayBeSubclass(module, enclosingClass(node)?.name?.text ?? '', own));
}

const propertiesNamed = remembered((module: PyModule, name: string): readonly Elsewhere[] | undefined => {
  const found = methodsByName(module, name).map((node): Elsewhere => ({ module, node }));
  const unread = methodElsewhere(module, name, (there, node) => {
    found.push({ module: there, node });
    return false;
  });
  return unread === undefined ? found.filter(({ node }) => isGetter(node)) : undefined;
});

/** A property of the class, without the methods that take what is set. */
function isGetter(method: PyNode): boolean {
  return isProperty(method) && method.parameters?.named.length === 1;
}

function setsOnSelf(module: PyModule, name: string): boolean {
  return module.words(name).some(({ parent }) => {
    return parent?.attribute?.text === name && isTarget(parent) && attributeOfSelf(parent) !== undefined;
  });
}

import { ofTensor } from '../../library/library.js';
import { CONTAINERS } from '../../library/names.js';
import { isModuleClass } from '../../library/paths.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, calledDefinition, methodNamed } from '../../semantic/definitions.js';
import type { Elsewhere } from '../../semantic/elsewhere.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { reachedFrom } from '../../semantic/reach.js';
import { argumentsOf, hasSplat, methodName } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../value/plain.js';
import { forwardFacts, runsGiven } from './forward-index.js';

/** Functions of Python that run none of the values that a forward gives them. */
const BUILTINS: ReadonlySet<string> = new Set(
  'abs bool dict enumerate float int isinstance len list print range repr reversed round str tuple zip'.split(
    ' ',
  ),
);

/**
 * The forward of a class runs functions of libraries, methods of tensors and layers of torch that the class makes itself:
 * nobody can hand it a function that it would run.
 */
export function runsOnlyLayers({ module, node }: Elsewhere): boolean {
  if (forwardFacts(module)?.isReplaced !== false) return false;
  const { imported, unknown } = ancestryOf(module, node);
  const forward = methodNamed(module, node, 'forward');
  if (unknown || !imported.every(isModuleClass) || forward === undefined) return false;
  if (methodNamed(module, node, '__call__') !== undefined) return false;
  return [forward, ...reachedFrom(module, forward)].every((each) =>
    [...each.walk()].every((inside) => inside.type !== 'call' || isClosed(module, inside)),
  );
}

function isClosed(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined || argumentsOf(call).some(({ type }) => type === 'lambda')) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return isOfKnownPackage(path) && !runsGiven(module, call);
  const definition = calledDefinition(module, call);
  if (definition !== undefined) return definition.type === 'function_definition';
  if (callee.type === 'identifier') return isUnbound(module, callee) && BUILTINS.has(callee.text);
  if (callee.type !== 'attribute') return false;
  const values = attributeValues(module, callee);
  const name = methodName(call) ?? '';
  if (values === undefined) return isTensorMethod(name) && !isMethodOfProject(module, name);
  return values.every((value) => isLayer(module, value)) && !isSetElsewhere(module, name);
}

/** Methods of tensors and lists that run nothing of what they are given. */
function isTensorMethod(name: string): boolean {
  if (/^(?:append|extend|items|keys|values|insert|get)$/.test(name)) return true;
  return ofTensor(name) !== undefined && !/^(?:apply_|map_|map2_|backward|register_\w+)$/.test(name);
}

/** `nn.Linear(n, m)`, `nn.Sequential(nn.Linear(n, m), nn.ReLU())` */
function isLayer(module: PyModule, value: PyNode): boolean {
  const path = value.type === 'call' && value.function ? qualifiedName(module, value.function) : undefined;
  if (path === undefined || !isModuleClass(path)) return false;
  if (!CONTAINERS.has(path)) return true;
  return !hasSplat(value) && argumentsOf(value).every((each) => isLayer(module, each));
}

/** `net.name = …` or `net.name[0] = …` in the project: what is there may be any module. */
function isSetElsewhere(module: PyModule, name: string): boolean {
  const others = module.around.summaries({ word: name, beside: [] }, setsPart);
  return others === undefined || others.includes(true) || setsPart(module.alone, name);
}

function setsPart(alone: PyModule, name: string): boolean {
  return alone.words(name).some((node) => {
    let place = node.parent;
    if (place?.type !== 'attribute' || place.attribute !== node) return false;
    if (place.object?.text === 'self' && place.parent?.type !== 'subscript') return false;
    while (place?.parent?.type === 'attribute' || place?.parent?.type === 'subscript') place = place.parent;
    return place?.parent?.type === 'assignment' && place.parent.left === place;
  });
}

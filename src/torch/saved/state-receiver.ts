import { type Answer, all } from '../../semantic/answer.js';
import { attributeValues } from '../../semantic/attributes.js';
import { ancestryOf, calledDefinition, classAround } from '../../semantic/definitions.js';
import { definedElsewhere, lineageOf } from '../../semantic/elsewhere.js';
import { definitionOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { argumentsOf, methodName, ownNodes, receiverOf, unparenthesized } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { copiesLoadedState, PLAIN_BASES } from '../catalog.js';
import { moduleKind } from '../module/modules.js';

const MAX_HOPS = 5;
/** Methods and functions that give the module, or the one inside it, back. */
const SAME = new Set(
  'bfloat16 compile cpu cuda double eval float half requires_grad_ to to_empty train unwrap_model'.split(' '),
);
const SHOWS_MODULE = new Set('eval modules named_modules named_parameters parameters train'.split(' '));
/** Things with modules in them, whose state is their own affair. */
const KEEPERS =
  /ema|avg|average|shadow|swa|polyak|tracker|meter|agent|learner|trainer|engine|runner|algo|manager|state/i;

/**
 * Whether `receiver.load_state_dict(state)` copies into tensors that are already where they belong, as torch's modules and
 * optimizers do: by the class that made it, else by being used as a module is. `no` is never proven.
 */
export function copiesState(module: PyModule, receiver: PyNode): Answer {
  const target = unparenthesized(receiver);
  const made = madeByCopier(module, target, 0);
  if (made === 'yes' || (target.type !== 'identifier' && target.type !== 'attribute')) return made;
  if (made === 'no' || KEEPERS.test(target.text)) return 'unknown';
  return isUsedAsModule(module, target) ? 'yes' : 'unknown';
}

/** `no` stands for a class that loads in its own way, or whose base from elsewhere may. */
function madeByCopier(module: PyModule, value: PyNode, hops: number): Answer {
  const target = unparenthesized(value);
  if (hops > MAX_HOPS) return 'unknown';
  switch (target.type) {
    case 'call':
      return callMakesCopier(module, target, hops);
    case 'conditional_expression':
      return all([target.named[0], target.named[2]].map((each) => madeByOptional(module, each, hops)));
    case 'attribute': {
      const object = target.field('object');
      if (target.field('attribute')?.text === 'module')
        return object ? madeByCopier(module, object, hops + 1) : 'unknown';
      return all(
        attributeValues(module, target)?.map((each) => madeByOptional(module, each, hops)) ?? ['unknown'],
      );
    }
    case 'identifier': {
      const around = classAround(target);
      if (around?.self === target.text) return isCopyingClass(module, around.classNode);
      const scope = module.resolve(target);
      const writes = scope === undefined ? [] : module.writes(scope, target.text);
      if (writes.length === 0) return 'unknown';
      return all(
        writes.map((write) => {
          const definition = definitionOf(write);
          if (definition.kind !== 'value') return 'unknown';
          return definition.value.contains(target) ? 'yes' : madeByOptional(module, definition.value, hops);
        }),
      );
    }
    default:
      return 'unknown';
  }
}

/** `None` loads nothing. */
function madeByOptional(module: PyModule, value: PyNode | undefined, hops: number): Answer {
  if (value === undefined) return 'unknown';
  return value.type === 'none' ? 'yes' : madeByCopier(module, value, hops + 1);
}

function callMakesCopier(module: PyModule, call: PyNode, hops: number): Answer {
  const callee = call.field('function');
  const path = callee && qualifiedName(module, callee);
  if (path !== undefined) {
    const wrapped = argumentsOf(call)[0];
    if (SAME.has(path.slice(path.lastIndexOf('.') + 1)) && wrapped !== undefined)
      return madeByCopier(module, wrapped, hops + 1);
    if (copiesLoadedState(path)) return 'yes';
    const other = definedElsewhere(module, path);
    return other === undefined ? 'unknown' : definitionMakesCopier(other.module, other.node, hops);
  }
  const own = calledDefinition(module, call);
  if (own !== undefined) return definitionMakesCopier(module, own, hops);
  const name = methodName(call);
  const receiver = receiverOf(call);
  if (name === undefined || receiver === undefined || !SAME.has(name)) return 'unknown';
  const inner = name === 'unwrap_model' ? argumentsOf(call)[0] : receiver;
  return inner === undefined ? 'unknown' : madeByCopier(module, inner, hops + 1);
}

function definitionMakesCopier(module: PyModule, definition: PyNode, hops: number): Answer {
  if (definition.type === 'class_definition') return isCopyingClass(module, definition);
  const returned = [...ownNodes(definition)].filter(({ type }) => type === 'return_statement');
  if (returned.length === 0) return 'unknown';
  return all(returned.map((each) => madeByOptional(module, each.named[0], hops + 1)));
}

const OWN_LOADING = ['load_state_dict', '_load_from_state_dict', 'set_extra_state'];

/** Bases that other packages give: those of torch, of those that build on it, and what holds no state at all. */
function leavesLoadingAlone(path: string): boolean {
  return (
    copiesLoadedState(path) ||
    PLAIN_BASES.has(path) ||
    /^(?:transformers|diffusers|huggingface_hub|(?:pytorch_)?lightning)\.(?:\w+\.)*\w+$/.test(path)
  );
}

function isCopyingClass(module: PyModule, classNode: PyNode): Answer {
  const here = ancestryOf(module, classNode).classes.map((node) => ({ module, node }));
  const loadsItself = [...here, ...lineageOf(module, classNode).elsewhere].some((each) =>
    OWN_LOADING.some((name) => each.module.scopeOf(each.node).has(name)),
  );
  if (loadsItself) return 'no';
  if (moduleKind(module, classNode).isModule !== 'yes') return 'unknown';
  const { imported, unknown } = lineageOf(module, classNode);
  return unknown || !imported.every(leavesLoadingAlone) ? 'no' : 'yes';
}

/** The same variable or attribute is asked for parameters, or switched between training and evaluation. */
function isUsedAsModule(module: PyModule, target: PyNode): boolean {
  const name = target.type === 'attribute' ? target.field('attribute')?.text : target.text;
  if (name === undefined) return false;
  const scope = target.type === 'identifier' ? module.resolve(target) : undefined;
  const uses =
    target.type === 'identifier'
      ? scope === undefined
        ? []
        : module.reads(scope, name)
      : module
          .at(`.${name}`)
          .flatMap(({ parent }) => (parent !== undefined && parent.text === target.text ? [parent] : []));
  return uses.some((use) => {
    const { parent } = use;
    return (
      parent?.type === 'attribute' &&
      parent.field('object') === use &&
      parent.parent?.type === 'call' &&
      SHOWS_MODULE.has(parent.field('attribute')?.text ?? '')
    );
  });
}

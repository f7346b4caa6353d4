import { isOfModule } from '../../library/library.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { ask, type Question } from '../../semantic/question.js';
import { givenTo, isCallee, isTarget } from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { ONLY_READ } from '../../torch/questions.js';
import { keepingMethod } from '../uses/escapes.js';
import { isMethodOfLibraries, isOfKnownPackage } from '../value/plain.js';
import { takenByText } from './taken-by-text.js';
import { askAbout, methodDifferentiating } from './unknown-code.js';

/**
 * `run = net.note`, `getattr(net, "note")`, `map(net.note, batches)`: a method that is taken is one that is run, with whatever
 * it may be given; a property runs on the spot, and so does what takes an assignment to one.
 */
export function takenMethod(
  module: PyModule,
  node: PyNode,
  models: ReadonlySet<string>,
): Question | undefined {
  const set = setterRun(module, node);
  const { object, name } = set ?? taken(module, node) ?? {};
  if (name === undefined) return undefined;
  const isOfNetwork = object !== undefined && models.has(object.text);
  if (isOfNetwork ? isOfModule(name) || name === 'forward' : isMethodOfLibraries(name)) return undefined;
  if (!isMethodOfProject(module, name)) return undefined;
  const suspect = methodDifferentiating(module, name);
  if (suspect !== undefined)
    return askAbout(suspect, (words) => ask('another-function')`Is \`${shown(node)}\` never ${words}?`);
  // What a setter is given is asked where it is set.
  const keeper = keepingMethod(module, name, set === undefined);
  return keeper === undefined
    ? undefined
    : ask('kept-only-read')`Is what \`${shown(node)}\` keeps${keeper} ${ONLY_READ}?`;
}

interface Taken {
  readonly object: PyNode | undefined;
  readonly name: string | undefined;
}

/** `self.last = total`, of which a class of the project makes a call: `@last.setter`. */
function setterRun(module: PyModule, node: PyNode): Taken | undefined {
  const { object, attribute: name } = node;
  if (node.type !== 'attribute' || name === undefined || !isTarget(node)) return undefined;
  if (!isMethodOfProject(module, name.text)) return undefined;
  return isAnywhere(module, name.text, hasSetter) ? { object, name: name.text } : undefined;
}

function hasSetter(alone: PyModule, name: string): boolean {
  return new RegExp(`@${name}\\.setter\\b`).test(alone.code);
}

function taken(module: PyModule, node: PyNode): Taken | undefined {
  if (node.type === 'call') {
    const { object, name } = takenByText(module, node) ?? {};
    return { object, name: name && plainString(name) };
  }
  if (node.type !== 'attribute') return undefined;
  const { object, attribute } = node;
  const instance = instanceOf(module, object);
  if (instance !== undefined) return { object: instance, name: attribute?.text };
  const isRead = !isTarget(node, true) && HANDED.test(node.parent?.type ?? '');
  if (!isRead || isCallee(node) || isOfKnownPackage(qualifiedName(module, node) ?? '')) return undefined;
  return { object, name: attribute?.text };
}

/** Where a value goes on to somebody who may call it. */
const HANDED =
  /^(?:argument_list|keyword_argument|assignment|named_expression|list|tuple|expression_list|dictionary|pair|set|conditional_expression|boolean_operator|parenthesized_expression|default_parameter|return_statement|for_statement|for_in_clause)$/;

/** `net` of `type(net).note(net, x)` and `net.__class__.note(net, x)`. */
function instanceOf(module: PyModule, receiver: PyNode | undefined): PyNode | undefined {
  if (receiver?.attribute?.text === '__class__') return receiver.object;
  const [object, ...others] = receiver?.type === 'call' ? givenTo(receiver) : [];
  const isType = receiver?.function?.text === 'type' && isUnbound(module, receiver.function);
  return isType && others.length === 0 ? object : undefined;
}

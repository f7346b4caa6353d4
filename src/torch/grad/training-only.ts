import { givesModule } from '../../library/library.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { classAround } from '../../semantic/definitions.js';
import { setsAttribute } from '../../semantic/given-away.js';
import type { PyModule } from '../../semantic/module.js';
import { methodsByName } from '../../semantic/reach.js';
import { definedAnywhere } from '../../semantic/star-imports.js';
import {
  enclosingClass,
  isCallee,
  isTarget,
  methodName,
  receiverOf,
  wholeName,
} from '../../semantic/statements.js';
import { waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { mayRunByName } from '../../values/effects/elsewhere.js';
import { moduleKind } from '../module/modules.js';
import { type Evaluation, runsInEvalMode } from './evaluation.js';
import type { Owner } from './holds.js';

/** Under `if self.training:` of the method that it is in. */
export function isOnlyInTraining(node: PyNode): boolean {
  const self = classAround(node)?.self;
  let inner = node;
  for (let at = node.parent; at !== undefined && at.type !== 'function_definition'; at = at.parent) {
    if (at.type === 'if_statement' && at.consequence === inner && impliesTraining(at.condition, self))
      return true;
    inner = at;
  }
  return false;
}

function impliesTraining(condition: PyNode | undefined, self: string | undefined): boolean {
  if (condition?.type === 'boolean_operator' && condition.operator?.text === 'and')
    return [condition.left, condition.right].some((each) => impliesTraining(each, self));
  return self !== undefined && condition?.text === `${self}.training`;
}

/** Whether a network of the project is one of this class, and in evaluation mode whenever it runs here. */
export function isEvaluated(module: PyModule, run: Evaluation, owner: Owner): boolean {
  const name = run.functionNode.name?.text;
  return (
    run.evals.length > 0 &&
    name !== undefined &&
    isMadeOf(module, run.model, owner) &&
    runsInEvalMode(module, run) === 'yes' &&
    !mayRunByName(module, 'train', [name]) &&
    !module.memo(choosesMode, module)
  );
}

/** `net = Net()`, `net = net.to(device)`: its own class, and of that nothing inside it. */
function isMadeOf(module: PyModule, network: PyNode, { owner, file }: Owner): boolean {
  const ways = network.type === 'identifier' ? waysGiven(module, network) : [];
  const isIt = (value: PyNode): boolean => {
    if (value.type !== 'call') return false;
    const receiver = receiverOf(value);
    if (receiver !== undefined && givesModule(methodName(value) ?? ''))
      return receiver.text === network.text || isIt(receiver);
    const made = value.function && definedAnywhere(module, value.function);
    if (made?.node.name?.text !== owner || made.module.path !== file) return false;
    return moduleKind(made.module, made.node).isModule === 'yes';
  };
  return (
    ways.length > 0 &&
    ways.every((way) => way.kind === 'value' && isIt(way.value)) &&
    !isAnywhere(module, owner, isMadeInClass)
  );
}

function isMadeInClass(alone: PyModule, name: string): boolean {
  return alone
    .words(name)
    .some((node) => isCallee(wholeName(node)) && node.closest('class_definition') !== undefined);
}

/** Whether somebody of the project sets the mode of a network otherwise than by torch's own `train` and `eval`. */
function choosesMode(module: PyModule): boolean {
  return (
    isAnywhere(module, 'training', setsTraining) ||
    ['train', 'eval'].some(
      (word) => isAnywhere(module, word, overridesMode) || isAnywhere(module, word, setsAttribute),
    )
  );
}

function setsTraining(alone: PyModule, word: string): boolean {
  const isByText = /\b(?:setattr|__dict__|vars)\b/.test(alone.code) && /["']training["']/.test(alone.code);
  return (
    isByText || alone.words(word).some(({ parent }) => parent?.type === 'attribute' && isTarget(parent, true))
  );
}

function overridesMode(alone: PyModule, word: string): boolean {
  return methodsByName(alone, word).some((method) => {
    const classNode = enclosingClass(method);
    return classNode !== undefined && moduleKind(alone, classNode).isModule !== 'no';
  });
}

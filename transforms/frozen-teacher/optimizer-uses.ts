import { OPTIMIZERS } from '../../src/library/names.js';
import { isAnywhere } from '../../src/semantic/anywhere.js';
import { classAround } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isCallee } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { definitionCalled, parameterGetting } from './called.js';

/** How many functions are followed that get it. */
const MAX_HOPS = 3;

/** `optimizer = torch.optim.Adam(…)` */
export function isMadeAt(module: PyModule, write: PyNode): boolean {
  const made =
    write.parent?.type === 'assignment' && write.parent.left === write ? write.parent.right : undefined;
  const path = made?.type === 'call' ? qualifiedName(module, made.function ?? made) : undefined;
  return path?.startsWith(OPTIMIZERS) === true && !path.startsWith(`${OPTIMIZERS}lr_scheduler`);
}

/** The optimizer is saved, loaded, scheduled or shown; its gradients are not read. */
export function leavesParameters(module: PyModule, optimizer: PyNode, hops = 0): boolean {
  const { parent } = optimizer;
  if (parent?.type === 'attribute' && parent.object === optimizer) {
    const name = parent.attribute?.text ?? '';
    return isCallee(parent)
      ? /^(?:load_)?state_dict$/.test(name)
      : name === 'param_groups' && isSettings(module, parent);
  }
  const argument = parent?.type === 'keyword_argument' ? parent : optimizer;
  const call = argument.parent?.type === 'argument_list' ? argument.parent.parent : undefined;
  const path = call && qualifiedName(module, call.function ?? call);
  if (path !== undefined && /^torch\.optim\.lr_scheduler\.[A-Z]\w*$/.test(path))
    return !isAnywhere(module, 'optimizer', asksAnother);
  const found = call === undefined || hops > MAX_HOPS ? undefined : definitionCalled(module, call);
  const parameter = found && call && parameterGetting(found, module, optimizer, call);
  if (found?.node.type !== 'function_definition' || parameter === undefined) return false;
  const scope = found.module.scopeOf(found.node);
  return (
    found.module.writes(scope, parameter.text).length === 1 &&
    found.module.reads(scope, parameter.text).every((each) => leavesParameters(found.module, each, hops + 1))
  );
}

/** `scheduler.optimizer`: of another object than the own one. */
function asksAnother(alone: PyModule, word: string): boolean {
  return alone.words(`.${word}`).some((node) => {
    const object = node.parent?.attribute === node ? node.parent.object : undefined;
    return object !== undefined && object.text !== classAround(node)?.self;
  });
}

/** `optimizer.param_groups[0]["lr"]`, `for group in optimizer.param_groups: group["lr"] = rate`. */
function isSettings(module: PyModule, groups: PyNode): boolean {
  const { parent } = groups;
  if (parent?.type === 'subscript' && parent.value === groups) return isSetting(parent);
  const target = parent?.type === 'for_statement' && parent.right === groups ? parent.left : undefined;
  const scope = target?.type === 'identifier' ? module.resolve(target) : undefined;
  return (
    target !== undefined &&
    scope !== undefined &&
    module.writes(scope, target.text).every(({ parent: loop }) => loop?.type === 'for_statement') &&
    module.reads(scope, target.text).every(isSetting)
  );
}

function isSetting(group: PyNode): boolean {
  const { parent } = group;
  const key = parent?.type === 'subscript' && parent.value === group ? parent.subscript : undefined;
  const name = key && plainString(key);
  return name !== undefined && name !== 'params';
}

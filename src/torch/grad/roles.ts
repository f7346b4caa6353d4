import { NN_MODULE, TORCH_COMPILE, TORCH_JIT } from '../../library/names.js';
import { ancestryOf } from '../../semantic/definitions.js';
import { functionUses } from '../../semantic/function-uses.js';
import { placeOf } from '../../semantic/gate.js';
import { getsPackage, qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { calleeOf, decoratorsOf, enclosingClass, wholeName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { usesInOtherModes } from '../../values/effects/mode.js';

/** What Lightning, the trainers of transformers and their like run with the grad mode they want. */
const HOOK =
  /^(?:(?:train|training|validation|test|predict|eval|valid)_step|\w+_epoch_(?:start|end)|on_\w+|compute_loss|configure_\w+|\w+_dataloader|forward|optimizer_\w+)$/;

export function isCalledByTraining(module: PyModule, functionNode: PyNode): boolean {
  const name = functionNode.name?.text ?? '';
  // Its grad mode is the business of whoever runs the network, or makes the object.
  if (name === 'forward' || name === '__init__') return true;
  const classNode = enclosingClass(functionNode);
  if (classNode === undefined) return false;
  const { imported, unknown } = ancestryOf(module, classNode);
  const isModule = imported.some((base) => base === NN_MODULE || /Module$/.test(base));
  if (name === '__call__') return isModule;
  const framework = unknown || imported.some((base) => base !== NN_MODULE && !/^(?:abc|typing)\./.test(base));
  return framework && HOOK.test(name);
}

/** Its name says that it trains: `train`, `train_one_epoch`, `fit`. */
export function isTrainingByName(functionNode: PyNode): boolean {
  return /^_?(?:train|fit|finetune|fine_tune|pretrain|optimize|learn)(?:$|_(?!eval|test|acc|loss))/.test(
    functionNode.name?.text ?? '',
  );
}

/** `jit`: compiled from source, which drops or breaks the decorator. `compile`: traced at run time. `foreign`: no torch code. */
export type Compiler = 'jit' | 'compile' | 'foreign';

export function compilerOf(module: PyModule, functionNode: PyNode): Compiler | undefined {
  const decorators = decoratorsOf(functionNode).map(calleeOf);
  const takers = functionUses(module, functionNode).flatMap(
    (use) => callTaking(wholeName(use))?.function ?? [],
  );
  for (const callee of [...decorators, ...takers]) {
    const path = qualifiedName(module, callee);
    if (path?.startsWith(TORCH_JIT)) return 'jit';
    if (path === TORCH_COMPILE) return 'compile';
    if (path !== undefined && /^(?:numba|jax|tensorflow|triton)\./.test(path)) return 'foreign';
  }
  return undefined;
}

/** The place in another file that gives the function to TorchScript. */
export function scriptedElsewhere(module: PyModule, functionNode: PyNode): string | undefined {
  const taken = usesInOtherModes(module, functionNode).uses.find(({ module: there, node, isCertain }) => {
    const callee = callTaking(node)?.function;
    return isCertain && callee !== undefined && qualifiedName(there, callee)?.startsWith(TORCH_JIT) === true;
  });
  return taken && placeOf(taken.module, taken.node);
}

/** The call that a value is a positional argument of. */
function callTaking(value: PyNode): PyNode | undefined {
  return value.parent?.type === 'argument_list' ? value.parent.parent : undefined;
}

/** `no`: the file has nothing to do with torch. `lazily`: only functions import it. */
export const importsTorch = remembered((module: PyModule): 'yes' | 'lazily' | 'related' | 'no' => {
  for (const { 0: line, index } of module.text.matchAll(AT_THE_START)) {
    const node = module.root.descendantAt(index + line.length - line.trimStart().length);
    const isImport =
      node.parent?.type === 'import_statement' || node.parent?.type === 'import_from_statement';
    if (isImport && node.closest('function_definition') === undefined) return 'yes';
  }
  let found: 'yes' | 'lazily' | 'related' | 'no' = 'no';
  for (const node of module.at('import')) {
    const statement = node.closest('import_statement', 'import_from_statement');
    if (statement === undefined) continue;
    const direct =
      /^(?:import|from)\s+torch\b(?!\w)/.test(statement.text) ||
      /^import\b.*[\s,]torch(?:\s|,|$)/.test(statement.text);
    if (direct && statement.closest('function_definition') === undefined) return 'yes';
    if (direct) found = 'lazily';
    else if (
      found === 'no' &&
      /^(?:import|from)\s+(?:torch(?:vision|audio|metrics|text|data|rl|_\w+)|transformers|timm|accelerate|diffusers|peft|trl|lightning|pytorch_lightning|fairseq|mmcv|mmengine)\b/.test(
        statement.text,
      )
    )
      found = 'related';
  }
  return found === 'no' && getsPackage(module, 'torch') ? 'yes' : found;
});

/** Where most files that import it do: no other import needs to be looked at. */
const AT_THE_START = /^[ \t]*(?:import|from)[ \t]+torch\b/gm;

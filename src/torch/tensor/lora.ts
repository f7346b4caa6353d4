import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

/** `LoraConfig` of peft, or unsloth's `get_peft_model`, which takes the same settings. */
export function makesLora(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  const path = (callee && qualifiedName(module, callee)) ?? '';
  return /^peft\.(?:\w+\.)*LoraConfig$|^unsloth\.\w+\.get_peft_model$/.test(path);
}

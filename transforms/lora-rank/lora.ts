import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';

/** `LoraConfig` of peft, or unsloth's `get_peft_model`, which takes the same settings. */
export function makesLora(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  const path = (callee && qualifiedName(module, callee)) ?? '';
  return /^peft\.(?:\w+\.)*LoraConfig$|^unsloth\.\w+\.get_peft_model$/.test(path);
}

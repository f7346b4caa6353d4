import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import type { PyNode } from '../../src/syntax/node.js';
import { modelLoad } from '../../src/torch/huggingface/pretrained.js';

/** A call that places the weights of a model on devices: a loader of any Hugging Face library, or accelerate's own. */
export function placesModel(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  const path = (callee && qualifiedName(module, callee)) ?? '';
  return (
    modelLoad(module, call) !== undefined ||
    /^(?:transformers|diffusers|peft)\..*\.from_pretrained$/.test(path) ||
    /^accelerate\.(?:\w+\.)*(?:infer_auto_device_map|load_checkpoint_and_dispatch)$/.test(path)
  );
}

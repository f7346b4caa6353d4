import type { Answer } from '../semantic/answer.js';
import { getsPackage, importsPackage } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { ask } from '../semantic/question.js';

/** Frameworks whose tensors are differentiated like torch's, and whose modules have an `eval()`, too. */
const OTHERS =
  /^[ \t]*(?:import|from)[ \t]+(?:autograd|chainer|flax|jax|jittor|keras|megengine|micrograd|mindspore|minitorch|mlx|mxnet|needle|oneflow|paddle|tensorflow|tinygrad)\b/m;

export function importsOtherFramework(module: PyModule): boolean {
  return module.mentions(OTHERS);
}

/** Named where `isTorchCode` is unknown. */
export const IS_TORCH = {
  no: 'its tensors are not those of torch',
  unknown: ask('torch-code')`Are the tensors of this file those of \`${'torch'}\` (it does not import it)?`,
};

/** Whether the tensors of this file are torch's: it imports torch, itself or by `import *`, or it trains as torch does and imports no other framework. */
export function isTorchCode(module: PyModule): Answer {
  if (importsPackage(module, 'torch') || getsPackage(module, 'torch')) return 'yes';
  return module.text.includes('.zero_grad(') && !importsOtherFramework(module) ? 'unknown' : 'no';
}

/** Every dotted name of torch and its neighbours that memfix knows. Nothing else in the project spells one. */

export const NO_GRAD = 'torch.no_grad';
export const EMPTY_CACHE = 'torch.cuda.empty_cache';
export const STACK = 'torch.stack';

/** Grad mode off, as a context manager or a decorator. */
export const GRAD_OFF: ReadonlySet<string> = new Set([
  'torch.no_grad',
  'torch.inference_mode',
  'torch.autograd.no_grad',
  'torch.autograd.grad_mode.no_grad',
  'torch.autograd.inference_mode',
  'torch.autograd.grad_mode.inference_mode',
]);

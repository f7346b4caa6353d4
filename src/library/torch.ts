/** Makers of tensors, grad mode, differentiation and what else stands directly in torch. */
import { type Facts, type Group, group } from './row.js';

const TORCH = 'torch.';
const METHOD = 'Tensor.';
const made = { gives: 'tensor', graph: 'cut', storage: 'new' } as const;
const sized: Facts = { ...made, shape: 'sizes', dtype: 'float', makes: 'sizes' };
const numbered: Facts = { ...made, shape: 'other', makes: 'numbers' };
const likened: Facts = { ...made, shape: 'same', dtype: 'same', makes: 'like' };

export const TORCH_ROWS: readonly Group[] = [
  group(TORCH, sized, 'ones zeros'),
  group(TORCH, { ...sized, uninitialised: true }, 'empty'),
  group(TORCH, { ...sized, random: true }, 'rand randn'),
  group(TORCH, { ...sized, dtype: 'argument' }, 'full'),
  group(TORCH, { ...numbered, dtype: 'float' }, 'eye linspace'),
  group(TORCH, { ...numbered, dtype: 'argument' }, 'arange'),
  group(TORCH, { ...numbered, dtype: 'whole', random: true }, 'randint randperm'),
  group(TORCH, { gives: 'tensor', dtype: 'float', shape: 'other', graph: 'kept', random: true }, 'normal'),
  group(TORCH, { ...made, dtype: 'argument', makes: 'data' }, 'tensor scalar_tensor'),
  group(TORCH, { ...made, storage: 'shared', dtype: 'same', makes: 'data' }, 'from_numpy'),
  // On the device of what they are given. `asarray` cuts the graph, unless it is given `requires_grad=True`.
  group(TORCH, { gives: 'arguments', storage: 'perhaps', makes: 'data' }, 'as_tensor asarray'),
  group(TORCH, likened, 'full_like ones_like zeros_like'),
  group(TORCH, { ...likened, uninitialised: true }, 'empty_like'),
  group(TORCH, { ...likened, random: true }, 'rand_like randint_like randn_like'),
  group(METHOD, { ...made, shape: 'sizes', dtype: 'same', makes: 'sizes' }, 'new_full new_ones'),
  group(METHOD, { ...made, shape: 'sizes', dtype: 'same', makes: 'sizes', uninitialised: true }, 'new_empty'),
  group(METHOD, { ...made, shape: 'sizes', dtype: 'same', makes: 'sizes', only: true }, 'new_zeros'),
  group(METHOD, { ...made, shape: 'other', dtype: 'argument', makes: 'data' }, 'new_tensor'),

  group(TORCH, { gradMode: 'off' }, 'no_grad inference_mode'),
  group(TORCH, { gradMode: 'on' }, 'enable_grad'),
  group(TORCH, { gradMode: 'flag' }, 'set_grad_enabled'),
  group(
    ['torch.autograd.', 'torch.autograd.gradcheck.'],
    { differentiates: true },
    'gradcheck gradgradcheck',
  ),
  group('torch.autograd.', { differentiates: true }, 'backward grad'),
  group(['torch.autograd.functional.', 'torch.func.'], { differentiates: true }, '*'),

  group(
    'torch.distributions.',
    { graph: 'kept', draws: 'cut' },
    `Bernoulli Beta Binomial Categorical Cauchy Dirichlet Exponential Gamma Geometric Gumbel Independent Laplace LogNormal
      MultivariateNormal Normal OneHotCategorical Poisson StudentT Uniform VonMises`,
  ),
  group(TORCH, { gives: 'nothing' }, 'save manual_seed'),
  group(TORCH, { gives: 'plain' }, 'Generator device'),
  // The value that it is given second.
  group('torch.jit.', { gives: 'arguments', harmless: true }, 'annotate'),
  group('torch.cuda.', { gives: 'number' }, 'current_device memory_allocated max_memory_allocated'),
  group(TORCH, { gives: 'arguments' }, 'compile'),
  group(TORCH, { runs: true }, 'vmap utils.checkpoint.checkpoint utils.checkpoint.checkpoint_sequential'),
];

/** Other names of the same objects, by prefix. */
export const ALIASES: readonly (readonly [RegExp, string])[] = [
  [
    /^torch\.autograd\.(?:grad_mode\.)?(?=(?:no_grad|inference_mode|enable_grad|set_grad_enabled)$)/,
    'torch.',
  ],
  [/^torch\.nn\.modules\.\w+\.(?=[A-Z])/, 'torch.nn.'],
  [/^torch\.distributions\.[a-z]\w*\.(?=[A-Z])/, 'torch.distributions.'],
  [/^torch\.optim\.(?!lr_scheduler\.)[a-z]\w*\.(?=[A-Z])/, 'torch.optim.'],
  [/^torch\.serialization\.(?=(?:load|save)$)/, 'torch.'],
  [/^functorch\./, 'torch.func.'],
  // Wherever in the package it is imported from.
  [/^(transformers|trl)\.(?:\w+\.)+(?=[A-Z]\w*$)/, '$1.'],
  [/^torch\.nn\.parameter\.(?=[A-Z])/, 'torch.nn.'],
  [/^torch\.utils\.data\.(?:dataloader|dataset|sampler|distributed)\.(?=[A-Z])/, 'torch.utils.data.'],
];

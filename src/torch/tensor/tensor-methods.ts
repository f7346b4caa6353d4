/** What functions on tensors do with shape and dtype, by the name they have as `torch.name(x)` and as `x.name()`. */

/** All elements to one, the result is floating point (or the call raises). */
export const FLOAT_REDUCTIONS: ReadonlySet<string> = new Set([
  'mean',
  'nanmean',
  'norm',
  'std',
  'var',
  'vector_norm',
]);

/** All elements to one, the dtype stays. */
export const SAME_REDUCTIONS: ReadonlySet<string> = new Set([
  'amax',
  'amin',
  'max',
  'median',
  'min',
  'nanmedian',
  'nansum',
  'prod',
  'sum',
  'trace',
]);

/** All elements to one integer or truth value. */
export const INTEGER_REDUCTIONS: ReadonlySet<string> = new Set([
  'all',
  'any',
  'argmax',
  'argmin',
  'count_nonzero',
]);

/** With a dimension these give a pair, not a tensor. */
export const PAIRED_REDUCTIONS: ReadonlySet<string> = new Set(['max', 'median', 'min', 'nanmedian']);

/** Keywords of a reduction that leave no dimension standing. */
export const DIMENSIONLESS: ReadonlySet<string> = new Set(['correction', 'dtype', 'ord', 'p', 'unbiased']);

/** Same shape, floating-point values. */
export const FLOAT_ELEMENTWISE: ReadonlySet<string> = new Set([
  'cos',
  'erf',
  'exp',
  'expm1',
  'log',
  'log10',
  'log1p',
  'log2',
  'logsigmoid',
  'reciprocal',
  'rsqrt',
  'sigmoid',
  'sin',
  'softplus',
  'sqrt',
  'tanh',
]);

/** Same shape, same dtype. */
export const SAME_ELEMENTWISE: ReadonlySet<string> = new Set([
  'abs',
  'clamp',
  'clamp_max',
  'clamp_min',
  'clip',
  'clone',
  'contiguous',
  'cpu',
  'cuda',
  'detach',
  'elu',
  'gelu',
  'leaky_relu',
  'nan_to_num',
  'neg',
  'ones_like',
  'relu',
  'requires_grad_',
  'silu',
  'square',
  'zeros_like',
]);

export const TO_FLOAT: ReadonlySet<string> = new Set(['bfloat16', 'double', 'float', 'half']);
export const TO_INTEGER: ReadonlySet<string> = new Set(['bool', 'byte', 'char', 'int', 'long', 'short']);

/** `a.add(b)`, `torch.add(a, b)`: broadcasting. */
export const BROADCASTING: ReadonlySet<string> = new Set([
  'add',
  'div',
  'maximum',
  'minimum',
  'mul',
  'multiply',
  'pow',
  'sub',
  'subtract',
  'true_divide',
]);

export const COMPARISONS: ReadonlySet<string> = new Set([
  'eq',
  'ge',
  'gt',
  'isfinite',
  'isinf',
  'isnan',
  'le',
  'lt',
  'ne',
]);

/** Tensors of some other shape, floating point. */
export const FLOAT_SHAPED: ReadonlySet<string> = new Set([
  'cdist',
  'cosine_similarity',
  'log_softmax',
  'logsumexp',
  'normalize',
  'pairwise_distance',
  'softmax',
]);

/** Tensors of some other shape, the first operand's dtype. */
export const SAME_SHAPED: ReadonlySet<string> = new Set([
  'bmm',
  'diag',
  'diagonal',
  'dot',
  'expand',
  'expand_as',
  'flatten',
  'gather',
  'index_select',
  'interpolate',
  'masked_fill',
  'masked_select',
  'matmul',
  'mm',
  'mv',
  'outer',
  'pad',
  'permute',
  'repeat',
  'reshape',
  't',
  'transpose',
  'tril',
  'triu',
  'unsqueeze',
  'view',
  'view_as',
]);

/** Makers of a tensor whose first argument is its shape. */
export const FACTORIES: ReadonlySet<string> = new Set(['empty', 'ones', 'rand', 'randn', 'zeros']);
export const FACTORY_METHODS: ReadonlySet<string> = new Set(['new_empty', 'new_ones', 'new_zeros']);

/** Makers of a tensor from data. */
export const FROM_DATA: ReadonlySet<string> = new Set(['as_tensor', 'scalar_tensor', 'tensor']);

/** Makers whose result is surely a tensor and no more is known. */
export const OTHER_TENSORS: ReadonlySet<string> = new Set([
  'arange',
  'cat',
  'einsum',
  'eye',
  'from_numpy',
  'full',
  'full_like',
  'linspace',
  'one_hot',
  'rand_like',
  'randint',
  'randn_like',
  'stack',
  'where',
]);

/** Methods that only tensors have, not arrays, frames or modules, when called with nothing but literals. */
export const ONLY_TENSORS: ReadonlySet<string> = new Set([
  'clamp',
  'clamp_max',
  'clamp_min',
  'detach',
  'exp',
  'log1p',
  'log_softmax',
  'logsumexp',
  'norm',
  'permute',
  'relu',
  'rsqrt',
  'sigmoid',
  'softmax',
  'sqrt',
  'square',
  'tanh',
  'unsqueeze',
]);

/** Methods that modules share with tensors; a module has no reductions, so `x.float().mean()` is a tensor's. */
export const MODULE_TOO: ReadonlySet<string> = new Set([
  'bfloat16',
  'cpu',
  'cuda',
  'double',
  'float',
  'half',
  'to',
]);

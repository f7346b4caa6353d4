/** Methods and attributes of tensors, and the functions of torch that do the same. */
import { type Facts, type Group, group } from './row.js';

const METHOD = 'Tensor.';
const TORCH = 'torch.';
const FUNCTIONAL = 'torch.nn.functional.';
const LINALG = 'torch.linalg.';
const BOTH = [METHOD, TORCH];
const THREE = [METHOD, TORCH, FUNCTIONAL];

const fresh = { gives: 'tensor', storage: 'new' } as const;
const view = { gives: 'tensor', dtype: 'same', storage: 'shared' } as const;
const moved = { ...view, rearranges: true } as const;
/** The tensor itself where there is nothing to do. */
const perhaps = { gives: 'tensor', shape: 'same', storage: 'perhaps' } as const;
const same: Facts = { ...fresh, dtype: 'same', shape: 'same' };
const float: Facts = { ...fresh, dtype: 'float', shape: 'same' };
const saving = { saves: true } as const;
const only = { only: true } as const;
const toOne: Facts = { ...fresh, dtype: 'same', shape: 'one' };
const floatToOne: Facts = { ...fresh, dtype: 'float', shape: 'one' };
const truth: Facts = { ...fresh, dtype: 'whole', shape: 'same' };
const compared: Facts = { ...fresh, dtype: 'whole', shape: 'broadcast' };
const together: Facts = { ...fresh, dtype: 'promoted', shape: 'broadcast' };
const reshaped: Facts = { ...fresh, dtype: 'same', shape: 'other' };
const floatShaped: Facts = { ...fresh, dtype: 'float', shape: 'other' };
const several: Facts = { gives: 'tensors', dtype: 'same', shape: 'other' };

export const TENSOR: readonly Group[] = [
  // A reduction of all elements, or of one dimension.
  group(BOTH, toOne, 'amax amin nansum sum trace'),
  group(BOTH, { ...toOne, ...saving }, 'prod'),
  group(BOTH, { ...toOne, paired: true, ...saving }, 'max median min nanmedian'),
  group(BOTH, floatToOne, 'det dist logdet mean nanmean nanquantile quantile'),
  group(BOTH, { ...floatToOne, ...saving }, 'std var'),
  group(BOTH, { ...floatToOne, ...saving, ...only }, 'norm'),
  group(LINALG, floatToOne, 'det matrix_norm norm vector_norm'),
  group(BOTH, { ...fresh, dtype: 'whole', shape: 'one' }, 'all any argmax argmin count_nonzero'),

  // Element by element.
  group(
    BOTH,
    { ...float, ...saving },
    'acos asin atan cos cosh erf expm1 log log10 log2 reciprocal sin sinh tan',
  ),
  group(BOTH, { ...float, ...saving, ...only }, 'exp log1p rsqrt sqrt'),
  group(THREE, { ...float, ...saving, ...only }, 'sigmoid tanh'),
  group(BOTH, float, 'acosh angle asinh atanh deg2rad digamma erfc erfinv exp2 i0 lgamma logit rad2deg sinc'),
  group(FUNCTIONAL, float, 'logsigmoid softplus softsign tanhshrink'),
  group(BOTH, same, 'absolute ceil clip cumsum fix flip fliplr flipud floor frac msort negative'),
  group(BOTH, same, 'nan_to_num neg roll round sgn sign tril triu trunc'),
  group(BOTH, { ...same, ...saving }, 'abs cumprod'),
  group(BOTH, { ...same, rearranges: true }, 'clone'),
  group(BOTH, { ...same, ...only }, 'clamp clamp_max clamp_min'),
  group(BOTH, { ...same, ...saving, ...only }, 'square'),
  group(THREE, { ...same, ...saving, ...only }, 'relu'),
  group([TORCH, FUNCTIONAL], same, 'celu selu threshold'),
  group(
    FUNCTIONAL,
    same,
    'elu gelu hardsigmoid hardswish hardtanh leaky_relu mish relu6 silu softmin softshrink',
  ),
  group(THREE, same, 'hardshrink prelu'),
  group(BOTH, { ...same, random: true }, 'bernoulli'),
  group(THREE, { ...float, ...saving, ...only }, 'log_softmax softmax'),
  group(FUNCTIONAL, { ...float, random: true }, 'gumbel_softmax'),
  group(FUNCTIONAL, float, 'normalize'),
  group(FUNCTIONAL, { ...perhaps, dtype: 'same', random: true }, 'dropout dropout1d dropout2d dropout3d'),
  group(BOTH, same, 'index_add index_copy scatter scatter_add slice_scatter diagonal_scatter'),

  // Two operands.
  group(BOTH, together, 'fmax fmin fmod lerp maximum minimum'),
  group(BOTH, { ...together, numberFirst: true }, 'add mul multiply remainder sub subtract'),
  group(BOTH, { ...together, ...saving, numberFirst: true }, 'pow'),
  group(BOTH, { ...together, dtype: 'float', numberFirst: true }, 'div divide true_divide xlogy'),
  group(BOTH, { ...together, dtype: 'float' }, 'atan2 copysign hypot logaddexp'),
  group(
    BOTH,
    compared,
    'eq ge greater greater_equal gt isclose le less less_equal logical_and logical_or logical_xor',
  ),
  group(BOTH, compared, 'lt ne not_equal'),
  group(BOTH, truth, 'isfinite isinf isnan isneginf isposinf isreal logical_not signbit'),
  group(TORCH, truth, 'isin bucketize'),
  group(TORCH, { ...truth, shape: 'other' }, 'searchsorted'),

  // Other dtypes and devices.
  group(METHOD, { ...perhaps, dtype: 'float' }, 'bfloat16 double float half'),
  group(METHOD, { ...perhaps, dtype: 'whole' }, 'bool byte char int long short'),
  group(METHOD, { ...perhaps, dtype: 'argument' }, 'to type type_as'),
  group(METHOD, { ...perhaps, dtype: 'same', places: true }, 'cpu cuda'),
  group(METHOD, { ...perhaps, dtype: 'same' }, 'to_dense'),
  group(BOTH, { ...perhaps, dtype: 'same' }, 'conj conj_physical positive resolve_conj resolve_neg'),
  group(BOTH, { ...view, shape: 'same', graph: 'cut', ...only }, 'detach'),
  group(METHOD, { gives: 'self', dtype: 'same', shape: 'same', graph: 'cut', changes: true }, 'detach_'),
  group(
    METHOD,
    { gives: 'self', dtype: 'same', shape: 'same', changes: true, asksGraph: true },
    'requires_grad_',
  ),

  // Other shapes of the same memory, or of a copy where the layout asks for one.
  group(BOTH, { ...view, shape: 'other' }, 'adjoint broadcast_to diagonal narrow select'),
  group(METHOD, { ...perhaps, dtype: 'same', rearranges: true }, 'contiguous'),
  group(BOTH, { ...moved, shape: 'other' }, 'moveaxis movedim swapaxes swapdims t transpose'),
  group(BOTH, { ...moved, shape: 'other', ...only }, 'permute unsqueeze'),
  group(METHOD, { ...view, shape: 'other' }, 'unfold'),
  group(METHOD, { ...view, shape: 'sizes' }, 'expand expand_as'),
  group(METHOD, { ...moved, shape: 'sizes' }, 'view view_as'),
  group(BOTH, { ...moved, shape: 'sizes', storage: 'perhaps' }, 'reshape'),
  group(BOTH, { ...moved, shape: 'other', storage: 'perhaps' }, 'flatten ravel unflatten'),
  group(METHOD, { ...moved, shape: 'sizes', storage: 'perhaps' }, 'reshape_as'),
  group(METHOD, { ...view, shape: 'other', storage: 'perhaps' }, 'sum_to_size'),
  group(TORCH, { ...view, shape: 'other', storage: 'perhaps' }, 'atleast_1d atleast_2d atleast_3d'),
  group(BOTH, { ...moved, shape: 'fewer' }, 'squeeze'),
  group(BOTH, { ...several, storage: 'shared' }, 'chunk dsplit hsplit split tensor_split unbind vsplit'),
  group(METHOD, { gives: 'tensor', storage: 'shared', shape: 'other' }, 'as_strided'),
  group(METHOD, { ...view, shape: 'same' }, 'rename'),

  // New memory of another shape.
  group(
    BOTH,
    reshaped,
    'addmm addr diag diag_embed diagflat diff gather index_select kron masked_select repeat_interleave',
  ),
  group(BOTH, reshaped, 'baddbmm masked_fill masked_scatter outer rot90 take tile unique_consecutive'),
  group(METHOD, reshaped, 'repeat'),
  group(BOTH, { ...reshaped, ...saving }, 'bmm dot matmul mm mv inner'),
  group(LINALG, { ...reshaped, ...saving }, 'matmul'),
  group(
    FUNCTIONAL,
    reshaped,
    'interpolate pad pixel_shuffle linear conv1d conv2d conv3d embedding avg_pool1d',
  ),
  group(FUNCTIONAL, reshaped, 'adaptive_avg_pool1d adaptive_avg_pool2d avg_pool2d max_pool1d max_pool2d'),
  group([TORCH, FUNCTIONAL], { ...float, storage: 'new' }, 'group_norm layer_norm'),
  group(FUNCTIONAL, float, 'rms_norm'),
  group(FUNCTIONAL, floatShaped, 'scaled_dot_product_attention'),
  group(BOTH, { ...floatShaped, ...saving, ...only }, 'logsumexp'),
  group(BOTH, floatShaped, 'corrcoef cov'),
  group([TORCH, FUNCTIONAL], floatShaped, 'cosine_similarity pairwise_distance'),
  group(TORCH, floatShaped, 'cdist'),
  group(BOTH, { ...several, paired: true, storage: 'new' }, 'cummax cummin kthvalue mode sort topk'),
  group(BOTH, { ...several, storage: 'new' }, 'aminmax'),
  group(TORCH, { ...several, dtype: 'float', storage: 'new' }, 'std_mean var_mean'),
  group(BOTH, { ...fresh, dtype: 'whole', shape: 'other' }, 'argsort argwhere bincount nonzero'),
  group(BOTH, { ...fresh, dtype: 'whole', shape: 'other', random: true }, 'multinomial'),
  group(FUNCTIONAL, { ...fresh, dtype: 'whole', shape: 'other' }, 'one_hot'),
  group(BOTH, { ...fresh, dtype: 'float', shape: 'other', graph: 'cut' }, 'histc'),
  group(
    TORCH,
    { ...fresh, dtype: 'promoted', shape: 'other', joins: true },
    'cat concat concatenate hstack stack vstack',
  ),
  group(TORCH, { ...fresh, dtype: 'promoted', shape: 'other', ...saving }, 'tensordot'),
  group(TORCH, { gives: 'tensor', dtype: 'promoted', shape: 'other', ...saving }, 'einsum'),
  group(BOTH, { ...fresh, dtype: 'promoted', shape: 'other' }, 'where'),

  // Python values.
  group(METHOD, { gives: 'number' }, 'element_size is_complex is_contiguous is_floating_point'),
  group(METHOD, { gives: 'number' }, 'item storage_offset'),
  group(METHOD, { gives: 'number', tellsDevice: true }, 'data_ptr get_device'),
  group(METHOD, { gives: 'number', ...only }, 'dim ndimension nelement numel'),
  group(BOTH, { gives: 'number' }, 'allclose equal'),
  group(TORCH, { gives: 'number' }, 'is_tensor numel is_floating_point is_complex'),
  group(METHOD, { gives: 'plain' }, 'size stride tolist'),
  group(METHOD, { gives: 'array', storage: 'shared' }, 'numpy'),
  group(METHOD, { gives: 'nothing', asksGraph: true }, 'backward retain_grad register_hook'),

  // Attributes.
  group(METHOD, { gives: 'number', attribute: true }, 'itemsize nbytes ndim'),
  group(METHOD, { gives: 'number', attribute: true, asksGraph: true }, 'is_leaf requires_grad'),
  group(METHOD, { gives: 'number', attribute: true, tellsDevice: true }, 'is_cuda'),
  group(METHOD, { gives: 'plain', attribute: true }, 'dtype layout shape'),
  group(METHOD, { gives: 'plain', attribute: true, tellsDevice: true }, 'device'),
  group(METHOD, { attribute: true, asksGraph: true }, 'grad grad_fn'),
  group(METHOD, { ...view, shape: 'same', graph: 'cut', attribute: true }, 'data'),
  group(METHOD, { ...view, shape: 'other', attribute: true }, 'H T mH mT'),
  group(
    METHOD,
    { gives: 'tensor', dtype: 'same', shape: 'same', storage: 'perhaps', attribute: true },
    'real',
  ),
];

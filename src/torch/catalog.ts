/** Every dotted name of torch and its neighbours that memfix knows. Nothing but the catalogue files spells one. */

export * from './catalog-losses.js';

export const NO_GRAD = 'torch.no_grad';
export const EMPTY_CACHE = 'torch.cuda.empty_cache';
export const COLLECT_GARBAGE = 'gc.collect';
export const SAVE = 'torch.save';
export const STACK = 'torch.stack';
export const CHECKPOINT = 'torch.utils.checkpoint.checkpoint';
export const CHECKPOINT_SEQUENTIAL = 'torch.utils.checkpoint.checkpoint_sequential';

/** Grad mode off, as a context manager or a decorator. */
export const GRAD_OFF: ReadonlySet<string> = new Set([
  'torch.no_grad',
  'torch.inference_mode',
  'torch.autograd.no_grad',
  'torch.autograd.grad_mode.no_grad',
  'torch.autograd.inference_mode',
  'torch.autograd.grad_mode.inference_mode',
]);

/** Modules that map one tensor to one tensor. */
export const TENSOR_MODULES: ReadonlySet<string> = new Set(
  [
    'BatchNorm1d',
    'BatchNorm2d',
    'BatchNorm3d',
    'Conv1d',
    'Conv2d',
    'Conv3d',
    'Dropout',
    'Embedding',
    'Flatten',
    'GELU',
    'GroupNorm',
    'LayerNorm',
    'Linear',
    'LogSoftmax',
    'ReLU',
    'Sigmoid',
    'Softmax',
    'Tanh',
  ].map((name) => `torch.nn.${name}`),
);

export const PARAMETER = 'torch.nn.Parameter';
export const NN_MODULE = 'torch.nn.Module';

/** Where functions on tensors live; what is behind the prefix is also the name of the method. */
export const TENSOR_NAMESPACES: readonly string[] = ['torch.nn.functional.', 'torch.linalg.', 'torch.'];

export const TENSOR_TYPES: ReadonlySet<string> = new Set([
  'torch.Tensor',
  'torch.FloatTensor',
  'torch.nn.Parameter',
]);

export const FLOAT_DTYPES: ReadonlySet<string> = new Set(
  ['bfloat16', 'double', 'float', 'float16', 'float32', 'float64', 'half'].map((name) => `torch.${name}`),
);
export const INTEGER_DTYPES: ReadonlySet<string> = new Set(
  ['bool', 'int', 'int16', 'int32', 'int64', 'int8', 'long', 'short', 'uint8'].map((name) => `torch.${name}`),
);

/** What they do to a tensor, they do without gradients. */
export const INITIALIZERS = 'torch.nn.init.';

/** They copy no tensor: what they are given, they give back. */
export const HANDS_BACK: ReadonlySet<string> = new Set(['torch.as_tensor', 'torch.asarray']);

/** Functions that differentiate: gradients must be on, or are switched on inside. */
export function isDifferentiation(path: string): boolean {
  return (
    /^(?:torch\.func|functorch|torch\.autograd\.functional)\.\w+$/.test(path) ||
    path === 'torch.autograd.grad' ||
    path === 'torch.autograd.backward'
  );
}

/** Classes with a forward and a backward of their own. */
export const AUTOGRAD_FUNCTIONS: ReadonlySet<string> = new Set([
  'torch.autograd.Function',
  'torch.autograd.function.Function',
  'torch.autograd.function.InplaceFunction',
]);

/** Grad mode by a flag: off where the flag is `False`. */
export const SET_GRAD: ReadonlySet<string> = new Set([
  'torch.set_grad_enabled',
  'torch.autograd.set_grad_enabled',
  'torch.autograd.grad_mode.set_grad_enabled',
]);

/** Decorators and calls that compile a function from its source. */
export const TORCH_JIT = 'torch.jit.';
export const OPTIMIZERS = 'torch.optim.';
export const TORCH_COMPILE = 'torch.compile';

const layers = (names: readonly string[]): readonly string[] => names.map((name) => `torch.nn.${name}`);

/** Members of `torch.nn` with a capital that are no modules. */
const NOT_A_MODULE: ReadonlySet<string> = new Set(
  layers(['Parameter', 'UninitializedParameter', 'Buffer', 'UninitializedBuffer']),
);

/** `nn.Module` or one of torch's own subclasses of it, such as `nn.Linear`. */
export function isModuleClass(path: string): boolean {
  return /^torch\.nn\.(?:modules\.(?:\w+\.)?)?[A-Z]\w*$/.test(path) && !NOT_A_MODULE.has(path);
}

/** Functions that only look at a tensor: its gradient and its storage stay where they are. */
export function onlyLooks(path: string): boolean {
  return /^torch\.(?:allclose|equal|is_tensor|numel|save|(?:empty|full|ones|rand|randn|zeros)_like)$/.test(
    path,
  );
}

/** Bases that make no class a module, nor keep it from being one. */
export const PLAIN_BASES: ReadonlySet<string> = new Set([
  'abc.ABC',
  'typing.Generic',
  'typing.Protocol',
  'typing.NamedTuple',
  'enum.Enum',
]);

/** Layers whose output has a last dimension given when they are made, and the argument that gives it. */
export const LAST_DIMENSION: ReadonlyMap<string, { readonly position: number; readonly keyword: string }> =
  new Map([
    ['torch.nn.Linear', { position: 1, keyword: 'out_features' }],
    ['torch.nn.Embedding', { position: 1, keyword: 'embedding_dim' }],
    ['torch.nn.LayerNorm', { position: 0, keyword: 'normalized_shape' }],
  ]);

/** Wrappers that broadcast, replicate or shard the buffers of a module. */
export const PARALLEL_WRAPPERS: readonly string[] = [
  'DistributedDataParallel',
  'DataParallel',
  'FullyShardedDataParallel',
  'fully_shard',
];
export const LERP = 'torch.lerp';
export const NUMPY = 'numpy.';
export const ENABLE_GRAD = 'torch.enable_grad';
export const IS_GRAD_ENABLED = 'torch.is_grad_enabled';

export const HALF_DTYPES: ReadonlySet<string> = new Set(
  ['half', 'float16', 'bfloat16'].map((name) => `torch.${name}`),
);

/** Makers of a tensor that does not depend on others. */
export const FILLED_FACTORIES: ReadonlySet<string> = new Set(
  ['zeros', 'ones', 'empty', 'full', 'tensor', 'scalar_tensor', 'eye', 'linspace', 'rand', 'randn'].map(
    (name) => `torch.${name}`,
  ),
);

/** Makers that put their result on the default device, whatever device the data around them are on. */
export const MADE_ON_CPU: ReadonlySet<string> = new Set([
  ...FILLED_FACTORIES,
  ...['arange', 'from_numpy', 'randint', 'randperm'].map((name) => `torch.${name}`),
]);

/** Signs that training runs in several processes, though the file does not show how the module is wrapped. */
export const DISTRIBUTED_CLUES: readonly string[] = ['distributed', 'Accelerator', 'deepspeed'];

/** `torch.load` under both its names. */
export const LOAD: ReadonlySet<string> = new Set(['torch.load', 'torch.serialization.load']);

/** peft's `prepare_model_for_kbit_training`, from wherever in the package it is imported. */
export function isKbitPreparation(path: string): boolean {
  return /^peft\.(?:\w+\.)*prepare_model_for_kbit_training$/.test(path);
}

export const TORCH = 'torch.';
export const TORCH_DISTRIBUTED = 'torch.distributed.';

/** Libraries that take a number out of a tensor, or raise. */
export const CPU_LIBRARIES = /^(?:math|numpy|sklearn|scipy|pandas|matplotlib)\./;

/** Makers of a tensor of zeros, the last one by its argument. */
export function isZeroFactory(path: string): boolean {
  return /^torch\.(?:zeros|tensor|scalar_tensor)$/.test(path);
}

export const OLD_AMP = 'torch.cuda.amp';
export const NEW_AMP = 'torch.amp';
export const FLOAT16 = 'torch.float16';

/** What moved out of the CUDA namespace: the version that first has it outside, and the arguments that come by position. */
export const AMP_NAMES: ReadonlyMap<
  string,
  { readonly since: string; readonly positional: readonly string[] }
> = new Map([
  ['autocast', { since: '1.12', positional: ['enabled', 'dtype', 'cache_enabled'] }],
  ['GradScaler', { since: '2.3', positional: [] }],
  ['custom_fwd', { since: '2.4', positional: [] }],
  ['custom_bwd', { since: '2.4', positional: [] }],
]);

/** Functions that multiply two matrices as `@` does. */
export const MATRIX_PRODUCTS: ReadonlySet<string> = new Set([
  'torch.matmul',
  'torch.mm',
  'torch.linalg.matmul',
]);
export const MATMUL = 'torch.matmul';

export const BITS_AND_BYTES_CONFIG = 'transformers.BitsAndBytesConfig';

/** What `BitsAndBytesConfig` takes; transformers 4 picks these out of the keywords of `from_pretrained`. */
export const BITS_AND_BYTES_KEYWORDS: ReadonlySet<string> = new Set([
  'load_in_8bit',
  'load_in_4bit',
  'llm_int8_threshold',
  'llm_int8_skip_modules',
  'llm_int8_enable_fp32_cpu_offload',
  'llm_int8_has_fp16_weight',
  'bnb_4bit_compute_dtype',
  'bnb_4bit_quant_type',
  'bnb_4bit_use_double_quant',
  'bnb_4bit_quant_storage',
]);

/** What puts adapters of peft into its first argument. */
export function isPeftModelMaker(path: string): boolean {
  return /^peft\.(?:\w+\.)*(?:get_peft_model|Peft(?:Mixed)?Model(?:For\w+)?\.from_pretrained)$/.test(path);
}
export const DEVICE = 'torch.device';
/** The index of the current GPU. */
export const CUDA_ORDINAL = 'torch.cuda.current_device';

export const DEEPCOPY = 'copy.deepcopy';
/** Where samples come from, one by one. */
export function isDatasetClass(path: string): boolean {
  return /^torch(?:vision)?\.(?:\w+\.)*(?:\w*Dataset|ImageFolder|DatasetFolder)$/.test(path);
}
export const MODULE_CONTAINERS: ReadonlySet<string> = new Set(['torch.nn.ModuleDict', 'torch.nn.ModuleList']);
export const PARAMETER_CONTAINERS: ReadonlySet<string> = new Set([
  'torch.nn.ParameterDict',
  'torch.nn.ParameterList',
]);

/** Makers of a tensor from numbers that stand in the code. */
export const CONSTANT_MAKERS: ReadonlySet<string> = new Set(
  ['arange', 'as_tensor', 'eye', 'full', 'linspace', 'ones', 'tensor', 'zeros'].map(
    (name) => `torch.${name}`,
  ),
);

/** Makers of the same tensor on every device. `torch.tensor` is not among them: its data come from the host either way. */
export const DEVICE_FACTORIES: ReadonlySet<string> = new Set(
  ['arange', 'empty', 'eye', 'full', 'linspace', 'ones', 'zeros'].map((name) => `torch.${name}`),
);
/** Makers whose numbers come from the generator of the device they are made on. */
export const RANDOM_FACTORIES: ReadonlySet<string> = new Set(
  ['rand', 'randint', 'randn', 'randperm', 'normal', 'bernoulli', 'multinomial'].map(
    (name) => `torch.${name}`,
  ),
);

/** The two Adam optimizers under their public and their full names. */
export const ADAM_CLASSES: ReadonlyMap<string, 'Adam' | 'AdamW'> = new Map([
  ['torch.optim.Adam', 'Adam'],
  ['torch.optim.adam.Adam', 'Adam'],
  ['torch.optim.AdamW', 'AdamW'],
  ['torch.optim.adamw.AdamW', 'AdamW'],
]);
export const ADAMW = 'torch.optim.AdamW';

export const MULTIHEAD_ATTENTION = 'torch.nn.MultiheadAttention';
/** What holds other layers and does nothing of its own. */
export const LAYER_CONTAINERS: ReadonlySet<string> = new Set(layers(['ModuleList', 'Sequential']));

/** Layers that draw no random numbers when they run. */
export function isSteadyLayer(path: string): boolean {
  return /^torch\.nn\.(?:Linear|Bilinear|Embedding|Identity|Flatten|Unflatten|(?:Transposed?)?Conv(?:Transpose)?[123]d|(?:Layer|Group|RMS)Norm|(?:Batch|Instance)Norm[123]d|(?:Leaky|P)?ReLU6?|E?LU|[CGS]ELU|SiLU|Mish|Hard(?:swish|tanh|sigmoid)|Tanh|Sigmoid|Softplus|(?:Log)?Softmax|(?:Adaptive)?(?:Max|Avg)Pool[123]d|Upsample|PixelShuffle|ZeroPad2d)$/.test(
    path,
  );
}

/** Wraps a layer so that it is checkpointed whenever it runs. */
export function isCheckpointWrapper(path: string): boolean {
  return /^torch\.distributed\.algorithms\._checkpoint\.(?:\w+\.)*(?:checkpoint_wrapper|CheckpointWrapper)$/.test(
    path,
  );
}
export const PARTIAL = 'functools.partial';

export const HALF: ReadonlySet<string> = new Set(['torch.float16', 'torch.half']);
export const BFLOAT16 = 'torch.bfloat16';

export const FLOAT32: ReadonlySet<string> = new Set(['torch.float32', 'torch.float']);

const fsdp = (name: string): readonly string[] => [
  `torch.distributed.fsdp.${name}`,
  `torch.distributed.fsdp.fully_sharded_data_parallel.${name}`,
];
export const FSDP: ReadonlySet<string> = new Set(fsdp('FullyShardedDataParallel'));
export const CPU_OFFLOAD: ReadonlySet<string> = new Set(fsdp('CPUOffload'));

/** Debugging that slows every step down, or keeps a record of every allocation, until it is switched off. */
export const DETECT_ANOMALY: ReadonlySet<string> = new Set(
  ['torch.autograd.', 'torch.autograd.anomaly_mode.'].flatMap((prefix) => [
    `${prefix}set_detect_anomaly`,
    `${prefix}detect_anomaly`,
  ]),
);
export const RECORD_HISTORY = 'torch.cuda.memory._record_memory_history';

export const VARIABLE: ReadonlySet<string> = new Set([
  'torch.autograd.Variable',
  'torch.autograd.variable.Variable',
]);

export const FSDP_NAME = 'torch.distributed.fsdp.FullyShardedDataParallel';
export const CPU_OFFLOAD_NAME = 'torch.distributed.fsdp.CPUOffload';
export const CURRENT_DEVICE = 'torch.cuda.current_device';

export const DATA_LOADER = 'torch.utils.data.DataLoader';
export const TORCH_DATA = 'torch.utils.data.';

/** Functions that make one tensor of a list of them; the elements must be tensors of one device. */
export const JOINING: ReadonlySet<string> = new Set(
  ['cat', 'concat', 'concatenate', 'hstack', 'stack', 'vstack'].map((name) => `torch.${name}`),
);

export const ENVIRONMENT = 'os.environ';

/** Where the figures of the caching allocator and the ranks of a job are asked for. */
export const CUDA = 'torch.cuda';
export const DISTRIBUTED = 'torch.distributed';

export const CONTEXT_MANAGER = 'contextlib.contextmanager';

export const TORCH_DATASETS: ReadonlySet<string> = new Set([
  'torch.utils.data.Dataset',
  'torch.utils.data.dataset.Dataset',
]);
export const LOAD_DATASET = 'datasets.load_dataset';

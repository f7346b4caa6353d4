/** Names of torch and its neighbours that questions ask for: dotted ones, which nothing outside `src/library` spells, and words of their API. */

export const NO_GRAD = 'torch.no_grad';
export const SET_GRAD_ENABLED = 'torch.set_grad_enabled';
export const EMPTY_CACHE = 'torch.cuda.empty_cache';
export const COLLECT_GARBAGE = 'gc.collect';
export const SAVE = 'torch.save';
export const TENSOR_BACKWARD = 'torch.Tensor.backward';
export const STACK = 'torch.stack';
export const CHECKPOINT = 'torch.utils.checkpoint.checkpoint';
export const CHECKPOINT_SEQUENTIAL = 'torch.utils.checkpoint.checkpoint_sequential';

export const PARAMETER = 'torch.nn.Parameter';
export const NN_MODULE = 'torch.nn.Module';

/** Functions that take tensors first. */
export const TENSOR_FUNCTIONS = 'torch.nn.functional.';

export const TENSOR_TYPES: ReadonlySet<string> = new Set([
  'torch.Tensor',
  'torch.FloatTensor',
  'torch.nn.Parameter',
]);

/** What they do to a tensor, they do without gradients. */
export const INITIALIZERS = 'torch.nn.init.';

/** Classes with a forward and a backward of their own. */
export const AUTOGRAD_FUNCTIONS: ReadonlySet<string> = new Set([
  'torch.autograd.Function',
  'torch.autograd.function.Function',
  'torch.autograd.function.InplaceFunction',
]);

/** Decorators and calls that compile a function from its source. */
export const TORCH_JIT = 'torch.jit.';
/** Types, of which nothing is computed. */
export const TYPING = /^(?:typing|typing_extensions|torch\.jit\.annotations)\./;
export const OPTIMIZERS = 'torch.optim.';
export const TORCH_COMPILE = 'torch.compile';

/** The classes of Lightning whose hooks its trainer runs. */
export const LIGHTNING = /^(?:pytorch_lightning|lightning)\.(?:\w+\.)*(?:LightningModule|Callback)$/;

/** Bases that make no class a module, nor keep it from being one. */
export const PLAIN_BASES: ReadonlySet<string> = new Set([
  'abc.ABC',
  'typing.Generic',
  'typing.Protocol',
  'typing.NamedTuple',
  'enum.Enum',
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
export const IS_GRAD_ENABLED = 'torch.is_grad_enabled';

export const HALF_DTYPES: ReadonlySet<string> = new Set(
  ['half', 'float16', 'bfloat16'].map((name) => `torch.${name}`),
);
/** Signs that training runs in several processes, though the file does not show how the module is wrapped. */
export const DISTRIBUTED_CLUES: readonly string[] = ['distributed', 'Accelerator', 'deepspeed'];

export const LOAD = 'torch.load';
/** What gives back any object that was once written. */
export const UNPICKLES: ReadonlySet<string> = new Set([
  ...[LOAD, 'pickle.load', 'pickle.loads', 'dill.load', 'dill.loads', 'joblib.load'],
  ...['cloudpickle.load', 'cloudpickle.loads'],
]);

export const TORCH = 'torch.';
export const TORCH_DISTRIBUTED = 'torch.distributed.';

/** Libraries that take a number out of a tensor, or raise. */
export const CPU_LIBRARIES = /^(?:math|numpy|sklearn|scipy|pandas|matplotlib)\./;

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

/** The function, and the module that is made once and called. */
export const CROSS_ENTROPY: readonly string[] = [
  'torch.nn.functional.cross_entropy',
  'torch.nn.CrossEntropyLoss',
];

export const BITS_AND_BYTES_CONFIG = 'transformers.BitsAndBytesConfig';

export const DEVICE = 'torch.device';
/** The index of the current GPU. */
export const CURRENT_DEVICE = 'torch.cuda.current_device';
export const CUDA_AVAILABLE = 'torch.cuda.is_available';

export const DEEPCOPY = 'copy.deepcopy';
export const MODULE_CONTAINERS: ReadonlySet<string> = new Set(['torch.nn.ModuleDict', 'torch.nn.ModuleList']);
export const PARAMETER_CONTAINERS: ReadonlySet<string> = new Set([
  'torch.nn.ParameterDict',
  'torch.nn.ParameterList',
]);

export const ADAM_CLASSES: ReadonlyMap<string, 'Adam' | 'AdamW'> = new Map([
  ['torch.optim.Adam', 'Adam'],
  ['torch.optim.AdamW', 'AdamW'],
]);
export const ADAMW = 'torch.optim.AdamW';

export const MULTIHEAD_ATTENTION = 'torch.nn.MultiheadAttention';
/** What holds other layers and does nothing of its own. */
export const LAYER_CONTAINERS: ReadonlySet<string> = new Set(['torch.nn.ModuleList', 'torch.nn.Sequential']);

export const AUTOGRAD = 'torch.autograd';
export const PARTIAL = 'functools.partial';

export const ORDERED_DICT = 'collections.OrderedDict';

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

export const DATA_LOADER = 'torch.utils.data.DataLoader';
export const TORCH_DATA = 'torch.utils.data.';
/** Bases of datasets, whose objects have no methods of tensors. */
export const DATASETS: readonly string[] = [TORCH_DATA, 'torchvision.datasets.'];

export const ENVIRONMENT = 'os.environ';

/** Where the figures of the caching allocator and the ranks of a job are asked for. */
export const CUDA = 'torch.cuda';
export const DISTRIBUTED = 'torch.distributed';

export const CONTEXT_MANAGER = 'contextlib.contextmanager';
/** Makes weights of other tensors. */
export const PARAMETRIZE = 'torch.nn.utils.parametrize';
/** Functions that write what they are handed as it is: a tensor that is read back needs gradients where it did. */
export const WRITING: ReadonlySet<string> = new Set([
  SAVE,
  'torch.serialization.save',
  'pickle.dump',
  'pickle.dumps',
  'joblib.dump',
  'cloudpickle.dump',
  'dill.dump',
]);
/** Functions that make a layer compute a parameter anew in each forward, and leave it on the layer; the second argument names it. */
export const RECOMPUTING: ReadonlySet<string> = new Set(
  [
    'weight_norm',
    'spectral_norm',
    'weight_norm.weight_norm',
    'spectral_norm.spectral_norm',
    'prune.custom_from_mask',
    'prune.identity',
    'prune.l1_unstructured',
    'prune.ln_structured',
    'prune.random_structured',
    'prune.random_unstructured',
  ].map((name) => `torch.nn.utils.${name}`),
);
/** Decorators that keep what a function gave, for the next who asks. */
export const CACHING: ReadonlySet<string> = new Set([
  'functools.cache',
  'functools.cached_property',
  'functools.lru_cache',
]);

export const TORCH_DATASETS: ReadonlySet<string> = new Set([
  'torch.utils.data.Dataset',
  'torch.utils.data.dataset.Dataset',
]);
export const LOAD_DATASET = 'datasets.load_dataset';

export const LR_SCHEDULERS = 'torch.optim.lr_scheduler.';

/** What gives its first argument, a module, back in another form. */
export const WRAPS_MODULE: ReadonlySet<string> = new Set(
  `apex.parallel.DistributedDataParallel apex.parallel.convert_syncbn_model torch.compile torch.nn.DataParallel
    torch.nn.SyncBatchNorm.convert_sync_batchnorm torch.nn.parallel.DataParallel
    torch.nn.parallel.DistributedDataParallel torch.nn.parallel.distributed.DistributedDataParallel`.split(
    /\s+/,
  ),
);

/** Methods and functions that take a wrapper, given by others, off a model again. */
export const UNWRAPS: ReadonlySet<string> = new Set(['extract_model_from_parallel', 'unwrap_model']);

export const ACCELERATOR = 'accelerate.Accelerator';

export const SEQUENTIAL = 'torch.nn.Sequential';

/** Modules that hold the modules they are given. */
export const CONTAINERS: ReadonlySet<string> = new Set(
  ['Sequential', 'ModuleList', 'ModuleDict', 'DataParallel'].flatMap((name) => [
    `torch.nn.${name}`,
    `torch.nn.modules.container.${name}`,
    `torch.nn.parallel.${name}`,
  ]),
);

/** Packages whose base classes run no training by a method that is called on `self` during an evaluation. */
export const FRAMEWORKS =
  /^(?:torch|pytorch_lightning|lightning|transformers|diffusers|unittest|timm|object)\b/;

/** Who runs the module on several devices, or casts it, without the file showing how. */
export const TRAINERS: readonly string[] = ['DDP', 'FSDP', 'Fabric', 'Trainer', 'init_process_group'];

/** What treats all buffers of a module alike: copies, averages, replaces or shares them. */
export const BUFFER_WALKERS: readonly string[] = [
  'buffers',
  'named_buffers',
  '_buffers',
  'functional_call',
  'stack_module_state',
  'AveragedModel',
  'share_memory',
  '_apply',
  'to_empty',
  'vmap',
];

/** Buffers of the normalisation layers of torch. */
export const NORM_BUFFERS: ReadonlySet<string> = new Set([
  'running_mean',
  'running_var',
  'num_batches_tracked',
]);

/** What traces code with placeholders. */
export const FX: readonly string[] = [
  'fx',
  'symbolic_trace',
  'prepare_fx',
  'prepare_qat_fx',
  'create_feature_extractor',
];

/** What registers a function that a forward runs. */
export const HOOKS: readonly string[] = [
  'register_forward_hook',
  'register_forward_pre_hook',
  'register_module_forward_hook',
  'register_module_forward_pre_hook',
];

/** What tells how much memory is in use. */
export const MEMORY = [
  'memory_allocated',
  'memory_reserved',
  'memory_stats',
  'memory_summary',
  'mem_get_info',
];

/** Modules with a faster path that runs without gradients and with `batch_first`, their argument of this number: it rounds otherwise. */
export const FAST_PATHS: Readonly<Record<string, number>> = {
  ...{ TransformerEncoderLayer: 7, TransformerDecoderLayer: 7, MultiheadAttention: 9, Transformer: 11 },
  ...{ TransformerEncoder: 99, TransformerDecoder: 99 },
};

/** Of linear algebra, what computes the vectors, too, where a graph is recorded: on the CPU, the values are then rounded otherwise. */
export const VALUES_ONLY: readonly string[] = [
  'svdvals',
  'eigvalsh',
  'lstsq',
  'matrix_norm',
  'linalg.cond',
  'linalg.norm',
];

/** Every spelling of a use of gradients contains one of these. */
export const GRADIENT_CLUES: readonly string[] = [
  'backward',
  'grad',
  'retain_graph',
  'create_graph',
  'unscale_',
  '.step(',
  '.scale(',
  'register_hook',
  'saved_tensors_hooks',
  'save_on_cpu',
  'jac',
  'hess',
  'vjp',
  'jvp',
  'hvp',
  'vhp',
  'linearize',
];

/** Every spelling of a differentiation has one of these words. */
export const DIFFERENTIATION_WORDS: readonly string[] = [
  ...['requires_grad', 'grad', 'backward', 'autograd', 'enable_grad', 'set_grad_enabled', 'requires_grad_'],
  ...['create_graph', 'register_hook', 'retain_grad', 'functorch', 'hessian', 'jacobian', 'jacrev', 'jacfwd'],
  ...['hvp', 'vhp', 'vjp', 'jvp', 'linearize', 'grad_and_value', 'value_and_grad'],
];

/** The methods that Python, numpy and torch call where no name shows. */
export const SPECIAL_METHODS =
  /^__(?:[ri]?(?:add|and|divmod|floordiv|lshift|matmul|mod|mul|or|pow|rshift|sub|truediv|xor)|a?(?:enter|exit|iter|next)|abs|array(?:_\w+)?|await|bool|buffer|bytes|call|ceil|class_getitem|complex|contains|copy|deepcopy|del|dlpack\w*|cuda_array_interface|delattr|delete|delitem|dir|eq|float|floor|format|fspath|ge|get|getattr|getattribute|getitems?|getnewargs(?:_ex)?|getstate|gt|hash|index|init|init_subclass|instancecheck|int|invert|le|len|length_hint|lt|missing|ne|neg|new|pos|post_init|prepare|reduce|reduce_ex|repr|reversed|round|set|set_name|setattr|setitem|setstate|sizeof|str|subclasscheck|subclasshook|torch_\w+|trunc)__$/;

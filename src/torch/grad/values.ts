import { HANDS_BACK, TENSOR_NAMESPACES } from '../catalog.js';

/** Which calls and attributes give values without a graph, whatever they are given. */

export const PLAIN_ATTRIBUTES: ReadonlySet<string> = new Set([
  '__name__',
  'data',
  'device',
  'dtype',
  'is_cuda',
  'itemsize',
  'ndim',
  'requires_grad',
  'shape',
  'training',
]);

/** Methods whose result is a number, a list, text, indices, truth values, an array or detached. */
export const PLAIN_METHODS: ReadonlySet<string> = new Set([
  'all',
  'any',
  'argmax',
  'argmin',
  'argsort',
  'batch_decode',
  'bool',
  'count_nonzero',
  'detach',
  'dim',
  'element_size',
  'eq',
  'equal',
  'ge',
  'get_device',
  'gt',
  'int',
  'is_contiguous',
  'isfinite',
  'isinf',
  'isnan',
  'item',
  'keys',
  'le',
  'long',
  'lt',
  'ndimension',
  'ne',
  'nelement',
  'new_empty',
  'new_full',
  'new_ones',
  'new_tensor',
  'new_zeros',
  'nonzero',
  'numel',
  'numpy',
  'size',
  'state_dict',
  'tolist',
  // Text.
  'decode_batch',
  'encode_plus',
  'format',
  'isoformat',
  'join',
  'lower',
  'splitlines',
  'startswith',
  'strftime',
  'strip',
  'upper',
]);

/** Methods that hand out what the object holds. */
export const PASSING_METHODS: ReadonlySet<string> = new Set([
  'copy',
  'get',
  'items',
  'pop',
  'popitem',
  'values',
]);

/** Methods that walk a network. What they hand out is the network's own; an operation on it records a graph. */
export const WALKS: ReadonlySet<string> = new Set([
  'buffers',
  'children',
  'modules',
  'named_buffers',
  'named_children',
  'named_modules',
  'named_parameters',
  'parameters',
]);

/** Methods that hand the network back. */
export const RETURNS_SELF: ReadonlySet<string> = new Set([
  'bfloat16',
  'cpu',
  'cuda',
  'double',
  'eval',
  'float',
  'half',
  'requires_grad_',
  'to',
  'train',
]);

/** Methods of containers, modules, optimizers and loops that any object may have: by them alone no class is known. */
const OF_MANY: ReadonlySet<string> = new Set(
  'add append backward call clear close extend fit forward init insert load log loss main parse put reset run save send setdefault sort step train update write zero_grad'.split(
    ' ',
  ),
);

export function isMethodOfLibraries(name: string): boolean {
  return [OF_MANY, PLAIN_METHODS, PASSING_METHODS, RETURNS_SELF, WALKS].some((names) => names.has(name));
}

export const PLAIN_BUILTINS: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'callable',
  'chr',
  'float',
  'format',
  'hasattr',
  'hash',
  'hex',
  'id',
  'input',
  'int',
  'isinstance',
  'len',
  'open',
  'ord',
  'print',
  'range',
  'repr',
  'str',
  'type',
  'xrange',
]);
/** `max` and `min` choose one of what they are given. */
export const PASSING_BUILTINS: ReadonlySet<string> = new Set([
  'dict',
  'enumerate',
  'filter',
  'frozenset',
  'iter',
  'list',
  'max',
  'min',
  'next',
  'reversed',
  'set',
  'sorted',
  'tuple',
  'zip',
]);
export const COMPUTING_BUILTINS: ReadonlySet<string> = new Set(['abs', 'pow', 'round', 'sum']);

/** Packages whose values never carry a graph of torch. */
const PLAIN_PACKAGES =
  /^(?:numpy|math|cmath|time|os|sys|json|re|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|rouge_score|jiwer|editdistance|argparse|string|shutil|psutil|tensorboardX|torchtext|prettytable|tabulate)(?:\.|$)/;
const PASSING_PACKAGES = /^(?:tqdm|itertools|collections|copy|more_itertools|random|rich|functools)(?:\.|$)/;
/** They join what they are given by a function. */
const JOINS = /^(?:functools\.reduce|itertools\.accumulate)$/;

/** Packages whose functions neither train a network they are handed nor differentiate what they get. */
export const KNOWN_PACKAGES =
  /^(?:torch(?!\.(?:jit|optim|func|autograd\.(?:grad|functional|backward)))|torchvision|torchaudio|torchmetrics|thop|tqdm|itertools|collections|copy|functools|contextlib|gc|warnings|typing|einops|numpy|math|time|os|sys|json|re|random|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|argparse|shutil|pycocotools|onnx|onnxruntime|transformers\.(?:AutoTokenizer|PreTrainedTokenizer\w*)|requests|tensorboardX?|tensorboard|mlflow|neptune|comet_ml|clearml|visdom|loguru|rich|absl|yaml|omegaconf|tabulate|prettytable|termcolor|colorama|psutil|pynvml|GPUtil|h5py|zarr|lmdb|subprocess|socket|signal|string|io|glob|tempfile|uuid|hashlib|traceback|inspect|pprint|statistics|bisect|heapq|threading|multiprocessing|torchsummary|torchinfo|fvcore|ptflops|timm\.utils|builtins|operator|platform|getpass|types|enum|dataclasses|abc|struct|base64|urllib|zipfile|tarfile|gzip|joblib|plotly|bokeh|jiwer|editdistance|rouge_score|bert_score|sentencepiece|tokenizers|soundfile|librosa|gym|gymnasium)(?:\.|$)/;

const PLAIN_FUNCTIONS: ReadonlySet<string> = new Set([
  'Generator',
  'all',
  'allclose',
  'any',
  'arange',
  'argmax',
  'argmin',
  'argsort',
  'bincount',
  'count_nonzero',
  'device',
  'empty',
  'empty_like',
  'eq',
  'equal',
  'eye',
  'from_numpy',
  'full',
  'full_like',
  'ge',
  'gt',
  'histc',
  'is_tensor',
  'isfinite',
  'isinf',
  'isnan',
  'le',
  'linspace',
  'logical_and',
  'logical_not',
  'logical_or',
  'lt',
  'manual_seed',
  'multinomial',
  'ne',
  'nonzero',
  'numel',
  'ones',
  'ones_like',
  'rand',
  'rand_like',
  'randint',
  'randn',
  'randn_like',
  'randperm',
  'save',
  'tensor',
  'zeros',
  'zeros_like',
]);

/** What a function of a known package hands back: nothing with a graph, what it was given, or something computed from it. */
export function resultOf(path: string): 'plain' | 'passed' | 'computed' | 'unknown' {
  if (PLAIN_PACKAGES.test(path)) return 'plain';
  if (JOINS.test(path)) return 'computed';
  if (PASSING_PACKAGES.test(path) || HANDS_BACK.has(path)) return 'passed';
  if (/^torch(?:vision|audio|metrics)?\./.test(path)) {
    const space = TENSOR_NAMESPACES.find((prefix) => path.startsWith(prefix));
    return PLAIN_FUNCTIONS.has(path.slice(space?.length ?? 0)) ? 'plain' : 'computed';
  }
  return 'unknown';
}

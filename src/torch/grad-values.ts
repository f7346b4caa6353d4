import { methodName } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { TENSOR_NAMESPACES } from './catalog.js';
import { KEEPS, METER } from './grad-names.js';

/** What a call is given; a bare generator is its only argument. */
export function givenTo(call: PyNode): readonly PyNode[] {
  const given = call.field('arguments');
  return given?.type === 'generator_expression' ? [given] : (given?.named ?? []);
}

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
  'generate',
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
  /^(?:numpy|math|cmath|time|os|sys|json|re|random|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|rouge_score|jiwer|editdistance|argparse|string|shutil|psutil|tensorboardX|torchtext|prettytable|tabulate)(?:\.|$)/;
const PASSING_PACKAGES = /^(?:tqdm|itertools|collections|copy|more_itertools|rich|functools)(?:\.|$)/;

/** Packages whose functions neither train a network they are handed nor differentiate what they get. */
export const KNOWN_PACKAGES =
  /^(?:torch(?!\.(?:jit|optim|func|autograd\.(?:grad|functional|backward)))|torchvision|torchaudio|torchmetrics|thop|tqdm|itertools|collections|copy|functools|contextlib|gc|warnings|typing|einops|numpy|math|time|os|sys|json|re|random|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|argparse|shutil|pycocotools|onnx|onnxruntime|transformers\.(?:AutoTokenizer|PreTrainedTokenizer\w*)|requests)(?:\.|$)/;

const PLAIN_FUNCTIONS: ReadonlySet<string> = new Set([
  'Generator',
  'all',
  'allclose',
  'any',
  'arange',
  'argmax',
  'argmin',
  'argsort',
  'as_tensor',
  'bernoulli',
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
  'normal',
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
  if (PASSING_PACKAGES.test(path)) return 'passed';
  if (/^torch(?:vision|audio|metrics)?\./.test(path)) {
    const space = TENSOR_NAMESPACES.find((prefix) => path.startsWith(prefix));
    return PLAIN_FUNCTIONS.has(path.slice(space?.length ?? 0)) ? 'plain' : 'computed';
  }
  return 'unknown';
}

const PAIRED: ReadonlySet<string> = new Set(['kthvalue', 'max', 'median', 'min', 'mode', 'sort', 'topk']);

/** The target takes the indices of `values, indices = x.topk(k)`. */
export function givesIndices(target: PyNode, value: PyNode): boolean {
  const name = value.type === 'call' ? methodName(value) : undefined;
  return name !== undefined && PAIRED.has(name) && (target.parent?.named.indexOf(target) ?? 0) > 0;
}

/** `tokenizer.decode(ids)` gives text; `vae.decode(z)` does not. */
export function isTextReceiver(method: string, receiver: PyNode): boolean {
  return (
    /^(?:decode|encode|convert_ids_to_tokens|tokenize)$/.test(method) &&
    /token|vocab|processor|bpe|spm/i.test(receiver.text)
  );
}

const PLAIN_TYPES =
  /^(?:int|float|str|bool|bytes|(?:Optional\[)?(?:int|float|str|bool)\]?|(?:\w+\.)?(?:DataLoader|Path|device|Namespace))\b/;

/** Its annotation or default says that it is no tensor. */
export function isPlainParameter(parameter: PyNode): boolean {
  const holder = parameter.parent;
  if (holder === undefined || !/default|typed/.test(holder.type)) return false;
  const type = holder.field('type')?.text;
  if (type !== undefined && PLAIN_TYPES.test(type)) return true;
  return ['integer', 'float', 'string', 'true', 'false'].includes(holder.field('value')?.type ?? '');
}

/** `use.method(value)`, `use[key] = value`, `use.attribute = value`, and deeper: the values that end up in the object. */
export function valuesPutInto(use: PyNode): readonly PyNode[] {
  let at: PyNode = use;
  while (at.parent !== undefined) {
    const { parent } = at;
    if (
      (parent.type === 'attribute' && parent.field('object') === at) ||
      (parent.type === 'subscript' && parent.field('value') === at)
    ) {
      at = parent;
    } else if (parent.type === 'call' && parent.field('function') === at && at.type === 'attribute') {
      const name = at.field('attribute')?.text ?? '';
      if (PLAIN_METHODS.has(name)) return [];
      // A method whose result is used computes it from what it is given; one that is called for its effect keeps it.
      const effect =
        KEEPS.has(name) || METER.test(use.text) || parent.parent?.type === 'expression_statement';
      return effect ? givenTo(parent) : [];
    } else if (/^(?:augmented_)?assignment$/.test(parent.type) && parent.field('left') === at && at !== use) {
      const value = parent.field('right');
      return value === undefined ? [] : [value];
    } else return [];
  }
  return [];
}

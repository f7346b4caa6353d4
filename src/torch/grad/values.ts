import { ofTensor, row } from '../../library/library.js';

/** Which calls and attributes give values without a graph, whatever they are given. */

/** An attribute that carries no graph. */
export function isPlainAttribute(name: string): boolean {
  return (
    /^(?:__name__|training)$/.test(name) ||
    (ofTensor(name)?.attribute === true && ofTensor(name)?.graph === 'cut')
  );
}

/** Packages whose values never carry a graph of torch. */
const PLAIN_PACKAGES =
  /^(?:numpy|math|cmath|time|os|sys|json|re|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|rouge_score|jiwer|editdistance|argparse|string|shutil|psutil|tensorboardX|torchtext|prettytable|tabulate)(?:\.|$)/;
const PASSING_PACKAGES = /^(?:tqdm|itertools|collections|copy|more_itertools|random|rich|functools)(?:\.|$)/;
/** They join what they are given by a function. */
const JOINS = /^(?:functools\.reduce|itertools\.accumulate)$/;

/** Packages whose functions neither train a network they are handed nor differentiate what they get. */
export const KNOWN_PACKAGES =
  /^(?:torch(?!\.(?:jit|optim|func|autograd\.(?:grad|functional|backward)))|torchvision|torchaudio|torchmetrics|thop|tqdm|itertools|collections|copy|functools|contextlib|gc|warnings|typing|einops|numpy|math|time|os|sys|json|re|random|datetime|logging|pathlib|pickle|csv|sklearn|scipy|pandas|PIL|cv2|skimage|imageio|matplotlib|seaborn|wandb|evaluate|datasets|sacrebleu|nltk|argparse|shutil|pycocotools|onnx|onnxruntime|transformers\.(?:AutoTokenizer|PreTrainedTokenizer\w*)|requests)(?:\.|$)/;

/** What a function of a known package hands back: nothing with a graph, what it was given, or something computed from it. */
export function resultOf(path: string): 'plain' | 'passed' | 'computed' | 'unknown' {
  if (PLAIN_PACKAGES.test(path)) return 'plain';
  if (JOINS.test(path)) return 'computed';
  if (PASSING_PACKAGES.test(path)) return 'passed';
  if (/^torch(?:vision|audio|metrics)?\./.test(path)) {
    const known = row(path);
    if (known?.graph === 'cut') return 'plain';
    return known?.gives === 'arguments' ? 'passed' : 'computed';
  }
  return 'unknown';
}

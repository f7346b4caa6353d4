import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { placeText } from '../text/place.js';
import { type Frame, isCell } from './frame.js';
import { type Option, optionsIn } from './options.js';
import type { Places, Spot, Text } from './places.js';

/** What drives the training or the evaluation that ran out. */
export type Driver = 'transformers' | 'lightning' | 'deepspeed' | 'accelerate';

interface Batch {
  readonly code: string;
  readonly size: number;
  /** `train.py:12`, or a line of a cell. */
  readonly place: string;
}

/** What is known of the program, for advice in its own terms. */
export interface Setting {
  readonly driver: Driver | undefined;
  /** It uses transformers, whoever drives it. */
  readonly isTransformer: boolean;
  readonly isGenerating: boolean;
  /** Mixed precision, or weights of 16 bits, is on somewhere. */
  readonly isHalf: boolean;
  readonly isCheckpointed: boolean;
  /** Weights are loaded in 4 or 8 bits somewhere. */
  readonly isQuantized: boolean;
  /** Its own functions on the stack speak of batches. */
  readonly hasBatch: boolean;
  /** The batch as the files write it, one that can be halved before one of a single item: `batch_size=128` and its place. */
  readonly batch: Batch | undefined;
  readonly isNotebook: boolean;
  /** Its functions on the stack give the network one item at a time. */
  readonly isSingle: boolean;
  /** Of a search for sequences; 1 where none is written. */
  readonly beams: number;
  /** How many tokens it generates, as the files write it. */
  readonly newTokens: number | undefined;
  /** Options of its command line that are about memory. */
  readonly options: readonly Option[];
}

/** The first that is on the stack: what stands before another uses it. */
const DRIVERS: readonly (readonly [Driver, RegExp])[] = [
  ['transformers', /\/(?:transformers\/trainer\w*|trl\/(?:.*\/)?\w*trainer\w*)\.py$/],
  ['lightning', /\/(?:pytorch_lightning|lightning(?:\/pytorch)?|lightning_fabric)\//],
  ['deepspeed', /\/deepspeed\//],
  ['accelerate', /\/accelerate\//],
];

const HALF =
  /\b(?:bf|fp)16\s*=\s*(?!False|None|0\b)\S|\bbfloat16\b|\bfloat16\b|\bautocast\(|\.half\(\)|\bGradScaler\(|\bmixed_precision\s*=/;
const CHECKPOINTED =
  /gradient_checkpointing\s*=\s*True|gradient_checkpointing_enable\(|use_gradient_checkpointing\s*=\s*(?!False)\S|prepare_model_for_kbit_training\(|\bcheckpoint(?:_sequential)?\(|use_checkpoint\s*=\s*True/;
const BATCH = /\b(?:(?:train|per_device_train)_)?batch_size\s*=\s*(\d+)/;
/** An option of a command line; its name is in a string. */
const BATCH_OPTION = /["'](--?(?:train[-_])?batch[-_]?size)["'].*\bdefault\s*=\s*(\d+)/;
const ONE_ITEM = /\w\[None(?:\]|, \.\.\.\])|\.unsqueeze\(0\)|\bbatch_size\s*=\s*1\b/;
const NO_TRAINING = /test|eval|infer|sample|demo|predict/i;

export function settingOf(
  frames: readonly { readonly frame: Frame; readonly spot: Spot | undefined }[],
  places: Places,
  program: ReadonlySet<string> | undefined,
): Setting {
  const paths = frames.map(({ frame }) => frame.path);
  const own = frames.flatMap(({ spot }) => spot ?? []);
  const files = [...new Set([...own.map(({ file }) => file), ...(program ?? [])])];
  const texts = files.flatMap((file) => {
    const text = places.textOf(file);
    return text === undefined
      ? []
      : [{ file, text, lines: text.codeOf({ name: '', first: 1, last: Infinity }) }];
  });
  const says = (pattern: RegExp) => texts.some(({ lines }) => lines.some((line) => pattern.test(line)));
  const around = own.flatMap(({ file, within }) =>
    within === undefined ? [] : (places.textOf(file)?.codeOf(within) ?? []),
  );
  const batches = texts
    .filter(({ file }) => !NO_TRAINING.test(file))
    .flatMap(({ file, text, lines }) =>
      batchIn(text, lines).flatMap(({ line, ...found }) =>
        isSettled(places.moduleOf(file), line, file === own[0]?.file)
          ? [{ ...found, place: placeText(file, text.told(line)) }]
          : [],
      ),
    );
  return {
    driver: DRIVERS.find(([, path]) => paths.some((each) => path.test(each)))?.[0],
    isTransformer:
      paths.some((path) => /\/(?:transformers|trl|peft)\//.test(path)) ||
      says(/^\s*(?:from|import)\s+(?:transformers|trl|peft)\b/),
    isGenerating:
      paths.some((path) => /\/transformers\//.test(path)) &&
      frames.some(({ frame }) => frame.name === 'generate' || /\.generate\(/.test(frame.source ?? '')),
    isHalf: says(HALF),
    isCheckpointed: says(CHECKPOINTED),
    isQuantized: says(/\bload_in_[48]bit\s*=\s*(?!False)\S/),
    hasBatch: around.some((line) => /batch|loader/i.test(line)),
    batch: batches.find(({ size }) => size > 1) ?? batches[0],
    isNotebook: frames.some(({ frame }) => isCell(frame)),
    isSingle: around.some((line) => ONE_ITEM.test(line)),
    beams: Number(around.flatMap((line) => /\bnum_beams\s*=\s*(\d+)/.exec(line)?.[1] ?? [])[0] ?? 1),
    newTokens: [...around, ...texts.flatMap(({ lines }) => lines)]
      .map((line) => Number(/\bmax_new_tokens\s*=\s*(\d+)/.exec(line)?.[1]))
      .find((count) => count > 0),
    options: optionsIn(files, places),
  };
}

/** No default of a parameter, which whoever calls the function may replace, and nothing that only another program runs. */
function isSettled(module: PyModule | undefined, line: number, isStarted: boolean): boolean {
  const at = module === undefined ? -1 : module.lines.content(line).search(/\S/);
  if (module === undefined || at < 0) return true;
  const start = module.lines.start(line);
  const named = module.lines.content(line).search(/\b\w*batch_size\s*=/);
  const node = module.root.descendantAt(start + Math.max(at, named));
  if (node.parent?.type === 'default_parameter') return false;
  const isMain = ({ type, condition }: PyNode) =>
    type === 'if_statement' && /\b__name__\b/.test(condition?.text ?? '');
  return isStarted || ![...node.ancestors()].some(isMain);
}

function batchIn(
  text: Text,
  lines: readonly string[],
): readonly (Omit<Batch, 'place'> & { readonly line: number })[] {
  return lines.flatMap((line, index) => {
    const set = BATCH.exec(line);
    const option = line.includes('default') ? BATCH_OPTION.exec(text.lineWith(index + 1)) : null;
    const code = set === null ? option && `${option[1]} ${option[2]}` : set[0].replace(/\s*=\s*/, '=');
    const size = Number(set?.[1] ?? option?.[2]);
    return code === null || !(size > 0) || /\bval|\beval|\btest/.test(line)
      ? []
      : [{ code, size, line: index + 1 }];
  });
}

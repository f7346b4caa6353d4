import { isRecord } from '../budget/configuration.js';
import { readYaml, type YamlScalar } from '../syntax/yaml.js';
import { Lines } from '../text/lines.js';
import { commandIn } from './command.js';
import { DTYPE_WORDS, type Found, optimizerNamed, type Reading, type Untold } from './reading.js';

/**
 * What one file of settings says about a run: YAML or JSON, of a trainer, of DeepSpeed or of accelerate, or the command of a
 * shell script that runs `script`.
 */
export function readSettings(path: string, text: string, script?: string): Reading | string {
  if (path.endsWith('.sh')) return readShell(path, text, script);
  return path.endsWith('.json') ? readJson(path, text) : readYamlFile(path, text);
}

function readShell(path: string, text: string, script: string | undefined): Reading | string {
  const command = commandIn(path, text, script);
  if (command === undefined) return 'no command in it has options (`--name value`)';
  const { options, remarks } = command;
  const scalars = new Map<string, Found<YamlScalar>>();
  const unread = new Map<string, Untold<never>>();
  for (const { name, value, line, words, isUnread } of options) {
    const place = `${path}:${line}`;
    scalars.delete(name);
    unread.delete(name);
    if (isUnread) unread.set(name, { place, why: `\`${words}\` is not read`, isGiven: true });
    else scalars.set(name, { value, place, words });
  }
  const known = new Set<string>(Object.values(NAMES).flat());
  const left = options.filter(({ name }) => MATTERS.test(name) && !known.has(name));
  const shown = left.map(({ words, line }) => `\`${words}\` (${path}:${line})`).join(', ');
  return {
    ...readingOf(scalars, unread),
    remarks,
    ...(left.length > 0 && { open: [`Options that may matter and are not read: ${shown}.`] }),
  };
}

/** Names of options, mostly of the script's own, that are likely to change what a run needs. */
const MATTERS =
  /(?:^|_)k?bits?(?:_|$)|quant|^lora_(?!alpha)|peft|^max_(?!new|gen).*len|seq_len|checkpointing|freez|trainable|modules_to_save|deepspeed|fsdp/;

type Scalars = ReadonlyMap<string, Found<YamlScalar>>;

function readYamlFile(path: string, text: string): Reading | string {
  const top = readYaml(text, []);
  if (typeof top === 'string') return top;
  const lines = new Lines(text);
  const scalars = new Map<string, Found<YamlScalar>>();
  for (const section of [undefined, ...top.others]) {
    const within = section === undefined ? top : readYaml(text, [section]);
    if (typeof within === 'string') continue;
    for (const { key, value, span } of within.entries.values()) {
      const place = `${path}:${lines.position(span.start).line}`;
      if (!scalars.has(key)) scalars.set(key, { value, place, words: `${key}: ${String(value)}` });
    }
  }
  return readingOf(scalars);
}

function readJson(path: string, text: string): Reading | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return 'it is no JSON';
  }
  if (!isRecord(parsed)) return 'it holds no object';
  const lines = new Lines(text);
  const scalars = new Map<string, Found<YamlScalar>>();
  const add = (name: string, key: string, value: unknown): void => {
    if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) return;
    const at = Math.max(0, text.indexOf(`"${key}"`));
    const place = `${path}:${lines.position(at).line}`;
    scalars.set(name, { value: value as YamlScalar, place, words: `"${key}": ${JSON.stringify(value)}` });
  };
  for (const [key, value] of Object.entries(parsed)) {
    add(key, key, value);
    if (!isRecord(value)) continue;
    for (const [inner, deep] of Object.entries(value)) {
      add(`${key}.${inner}`, inner, deep);
      if (isRecord(deep))
        for (const [last, end] of Object.entries(deep)) add(`${key}.${inner}.${last}`, last, end);
    }
  }
  return readingOf(scalars);
}

const ZERO_3 = 3;

const NAMES = {
  model: ['model_name_or_path', 'model_name', 'base_model', 'pretrained_model_name_or_path', 'model_id'],
  batch: ['per_device_train_batch_size', 'micro_batch_size', 'train_micro_batch_size_per_gpu', 'batch_size'],
  accumulation: ['gradient_accumulation_steps'],
  sequence: ['max_seq_length', 'max_length', 'sequence_len', 'cutoff_len', 'block_size'],
  checkpointing: ['gradient_checkpointing', 'activation_checkpointing'],
  optimizer: ['optim', 'optimizer', 'optimizer.type'],
  weights: ['torch_dtype', 'dtype', 'load_in_4bit', 'load_in_8bit'],
  autocast: ['bf16', 'fp16', 'mixed_precision'],
  rank: ['lora_r', 'lora_rank'],
  adapterDropout: ['lora_dropout'],
} as const satisfies Partial<Record<keyof Reading, readonly string[]>>;

function readingOf(scalars: Scalars, unread: ReadonlyMap<string, Untold<never>> = new Map()): Reading {
  const first = <T extends YamlScalar>(names: readonly string[], isIt: (value: YamlScalar) => value is T) =>
    names
      .map((name) => scalars.get(name))
      .find((found): found is Found<T> => found !== undefined && isIt(found.value));
  const mapped = <T extends YamlScalar, U>(
    found: Found<T> | undefined,
    change: (value: T) => U | undefined,
  ) => {
    const value = found === undefined ? undefined : change(found.value);
    return found === undefined || value === undefined ? undefined : { ...found, value };
  };
  const model = first(NAMES.model, isText);
  const batch = first(NAMES.batch, isCount);
  const accumulation = first(NAMES.accumulation, isCount);
  const sequence = first(NAMES.sequence, isCount);
  const checkpointing = first(NAMES.checkpointing, isFlag);
  const optimizer = mapped(first(NAMES.optimizer, isText), optimizerNamed);
  const weights = mapped(first(['torch_dtype', 'dtype'], isText), (text) => DTYPE_WORDS.get(text));
  const four = mapped(first(['load_in_4bit'], isFlag), (value) => (value ? ('int4' as const) : undefined));
  const eight = mapped(first(['load_in_8bit'], isFlag), (value) => (value ? ('int8' as const) : undefined));
  const half = ['bf16', 'fp16', 'bf16.enabled', 'fp16.enabled']
    .map((name) => scalars.get(name))
    .find((found): found is Found<true> => found?.value === true);
  const mixed = mapped(first(['mixed_precision'], isText), (text) => (text === 'no' ? undefined : true));
  const rank = first(NAMES.rank, isCount);
  const dropout = first(['lora_dropout'], isShare);
  const stage = first(['zero_optimization.stage', 'zero_stage'], isWhole);
  const kind = first(['distributed_type'], isText);
  const sharded =
    mapped(stage, (value) => value >= ZERO_3) ?? mapped(kind, (text) => (text === 'FSDP' ? true : undefined));
  const away = first(['zero_optimization.offload_optimizer.device', 'offload_optimizer_device'], isText);
  const gpus = first(['num_processes', 'n_gpus_per_node', 'nproc_per_node'], isCount);
  const offload = mapped(away, (text) => (text === 'none' ? undefined : ('optimizer' as const)));
  const chunked = first(['use_liger_kernel'], isFlag);
  const unused = first(['ddp_find_unused_parameters'], isFlag);
  const master = mapped(stage, () => true);
  const zero = mapped(stage, (value) => (value === 1 || value === 2 ? (value as 1 | 2) : undefined));
  const quantized = four ?? eight;
  const notRead = (names: readonly string[]) =>
    names.map((name) => unread.get(name)).find((each) => each !== undefined);
  const open = Object.fromEntries(
    Object.entries(NAMES).flatMap(([key, names]) => {
      const said = notRead(names);
      return said === undefined ? [] : [[key, said]];
    }),
  );
  return {
    ...open,
    ...(model !== undefined && { model }),
    ...(batch !== undefined && { batch }),
    ...(accumulation !== undefined && { accumulation }),
    ...(sequence !== undefined && { sequence }),
    ...(checkpointing !== undefined && { checkpointing }),
    ...(optimizer !== undefined && { optimizer }),
    ...(weights !== undefined && { weights }),
    ...(quantized !== undefined && { weights: quantized }),
    ...((half ?? mixed) !== undefined && { autocast: (half ?? mixed) as Found<boolean> }),
    ...(rank !== undefined && { rank }),
    ...(dropout !== undefined && { adapterDropout: dropout }),
    ...(sharded !== undefined && { sharded }),
    ...(zero !== undefined && { zero }),
    ...(master !== undefined && { masterWeights: master }),
    ...(offload !== undefined && { offload }),
    ...(gpus !== undefined && { gpus }),
    ...(unused !== undefined && { findsUnused: unused }),
    ...(chunked !== undefined && { chunkedLoss: chunked }),
  };
}

function isText(value: YamlScalar): value is string {
  return typeof value === 'string';
}

function isFlag(value: YamlScalar): value is boolean {
  return typeof value === 'boolean';
}

function isCount(value: YamlScalar): value is number {
  return isWhole(value) && value > 0;
}

function isWhole(value: YamlScalar): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function isShare(value: YamlScalar): value is number {
  return typeof value === 'number' && value >= 0 && value < 1;
}

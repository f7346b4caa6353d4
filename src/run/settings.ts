import { isRecord } from '../budget/configuration.js';
import { readYaml, type YamlScalar } from '../syntax/yaml.js';
import { Lines } from '../text/lines.js';
import { DTYPE_WORDS, type Found, optimizerNamed, type Reading } from './reading.js';

/** What one file of settings says about a run: YAML or JSON, of a trainer, of DeepSpeed or of accelerate. */
export function readSettings(path: string, text: string): Reading | string {
  if (path.endsWith('.sh')) return readYamlFile(path, optionsOfShell(text));
  return path.endsWith('.json') ? readJson(path, text) : readYamlFile(path, text);
}

/** The options that a shell script gives on lines of their own, as YAML with the same lines; a variable says nothing. */
function optionsOfShell(text: string): string {
  const seen = new Set<string>();
  const lines = text.split(/\r?\n/).map((line) => {
    const [, name = '', value = ''] = /^\s*--([\w-]+)[ =]+([^\s$`]+)\s*\\?\s*$/.exec(line) ?? [];
    const key = name.replaceAll('-', '_');
    if (key === '' || seen.has(key)) return '';
    seen.add(key);
    return `${key}: ${/^(?:true|false)$/i.test(value) ? value.toLowerCase() : value}`;
  });
  return lines.join('\n');
}

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

function readingOf(scalars: Scalars): Reading {
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
  const model = first(
    ['model_name_or_path', 'model_name', 'base_model', 'pretrained_model_name_or_path', 'model_id'],
    isText,
  );
  const batch = first(
    ['per_device_train_batch_size', 'micro_batch_size', 'train_micro_batch_size_per_gpu', 'batch_size'],
    isCount,
  );
  const accumulation = first(['gradient_accumulation_steps'], isCount);
  const sequence = first(
    ['max_seq_length', 'max_length', 'sequence_len', 'cutoff_len', 'block_size'],
    isCount,
  );
  const checkpointing = first(['gradient_checkpointing', 'activation_checkpointing'], isFlag);
  const optimizer = mapped(first(['optim', 'optimizer', 'optimizer.type'], isText), optimizerNamed);
  const weights = mapped(first(['torch_dtype', 'dtype'], isText), (text) => DTYPE_WORDS.get(text));
  const four = mapped(first(['load_in_4bit'], isFlag), (value) => (value ? ('int4' as const) : undefined));
  const eight = mapped(first(['load_in_8bit'], isFlag), (value) => (value ? ('int8' as const) : undefined));
  const half = ['bf16', 'fp16', 'bf16.enabled', 'fp16.enabled']
    .map((name) => scalars.get(name))
    .find((found): found is Found<true> => found?.value === true);
  const mixed = mapped(first(['mixed_precision'], isText), (text) => (text === 'no' ? undefined : true));
  const rank = first(['lora_r', 'lora_rank'], isCount);
  const dropout = first(['lora_dropout'], isShare);
  const stage = first(['zero_optimization.stage', 'zero_stage'], isWhole);
  const kind = first(['distributed_type'], isText);
  const sharded =
    mapped(stage, (value) => value >= ZERO_3) ?? mapped(kind, (text) => (text === 'FSDP' ? true : undefined));
  const away = first(['zero_optimization.offload_optimizer.device', 'offload_optimizer_device'], isText);
  const gpus = first(['num_processes', 'n_gpus_per_node'], isCount);
  const offload = mapped(away, (text) => (text === 'none' ? undefined : ('optimizer' as const)));
  const chunked = first(['use_liger_kernel'], isFlag);
  const unused = first(['ddp_find_unused_parameters'], isFlag);
  const master = mapped(stage, () => true);
  const zero = mapped(stage, (value) => (value === 1 || value === 2 ? (value as 1 | 2) : undefined));
  const quantized = four ?? eight;
  return {
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

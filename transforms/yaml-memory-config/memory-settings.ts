import type { PyNode } from '../../src/syntax/node.js';
import type { YamlScalar, YamlSection } from '../../src/syntax/yaml.js';
import type { SettingsReceiver } from './settings-receiver.js';

/** A setting of a file that gets another value. */
export interface SettingChange {
  readonly key: string;
  readonly to: YamlScalar;
  /** What the file says, or else the default of the class. */
  readonly from: YamlScalar | undefined;
}

type Wishes = Readonly<Record<string, boolean | number | string>>;

const HALF = /^(?:fp16|(?:torch\.)?(?:float16|half))$/;

/** What to set, among what the receiver takes; a setting that neither the file nor the class has stays out. */
export function settingChanges(
  section: YamlSection,
  receiver: SettingsReceiver,
  wishes: Wishes,
): readonly SettingChange[] {
  const now = (key: string): YamlScalar | undefined => {
    const entry = section.entries.get(key);
    return entry === undefined ? literalValue(receiver.fields?.get(key)?.default) : entry.value;
  };
  const isThere = (key: string): boolean =>
    receiver.known.has(key) &&
    (receiver.fields !== undefined || section.entries.has(key) || section.others.has(key));
  const changes: SettingChange[] = [];
  const set = (
    keys: readonly string[],
    to: YamlScalar,
    when: (from: YamlScalar | undefined) => boolean,
  ): void => {
    for (const key of keys) {
      const from = now(key);
      if (isThere(key) && from !== to && when(from)) changes.push({ key, to, from });
    }
  };
  set(['gradient_checkpointing'], true, (from) => from === false);
  if (changes.length > 0 || now('gradient_checkpointing') === true)
    set(['use_cache'], false, (from) => from === true);
  if (wishes['low-cpu-mem-usage'] === true) set(['low_cpu_mem_usage'], true, (from) => from === false);
  if (wishes['bf16'] === true) {
    for (const key of ['torch_dtype', 'dtype']) {
      const from = now(key);
      if (typeof from === 'string' && HALF.test(from)) {
        const to = from === 'fp16' ? 'bf16' : from.replace(/(?:float16|half)$/, 'bfloat16');
        set([key], to, () => true);
      }
    }
  }
  for (const [option, keys] of NUMBERS) {
    const to = wishes[option];
    if (typeof to === 'number' && to > 0) set(keys, to, (from) => typeof from === 'number');
  }
  return changes;
}

const NUMBERS: readonly (readonly [option: string, keys: readonly string[]])[] = [
  ['batch-size', ['per_device_train_batch_size', 'train_batch_size', 'batch_size', 'batch']],
  ['accumulation', ['gradient_accumulation_steps', 'accumulate_grad_batches', 'grad_accum']],
  ['workers', ['dataloader_num_workers', 'num_workers']],
];

/** What a literal of Python says, in terms of YAML. */
export function literalValue(node: PyNode | undefined): YamlScalar | undefined {
  if (node?.type === 'true' || node?.type === 'false') return node.type === 'true';
  if (node?.type === 'integer') return Number(node.text.replaceAll('_', ''));
  return node === undefined ? undefined : /^(["'])([^"'\\{}]*)\1$/.exec(node.text)?.[2];
}

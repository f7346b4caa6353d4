/*
 * # configs/model.yaml              # model.py
 * torch_dtype: float16              @dataclass
 * gradient_checkpointing: false     class ModelConfig:
 *                                       gradient_checkpointing: bool = False
 *                                   config = ModelConfig(**yaml.safe_load(open("configs/model.yaml")))
 *
 * gradient_checkpointing: true              gradient_checkpointing: bool = True
 *
 * The file and the class that takes it change together or not at all. Proves: which file it is, which mapping of it is
 * spread into the call, that every key of it is a field of the dataclass (or that the library takes it), and that the
 * value is plain text. What the settings do is up to the code that reads them, so it is never safe. Nothing is added that
 * nobody would read: a setting without a field is left alone.
 */
import type {
  NamedFile,
  PyModule,
  PyNode,
  Site,
  Transform,
  YamlScalar,
  YamlSection,
} from '../src/toolkit/index.js';
import {
  ask,
  hydraSources,
  keywordArgument,
  modelLoad,
  Proof,
  readYaml,
  roleOf,
} from '../src/toolkit/index.js';
import { literalValue, type SettingChange, settingChanges } from './yaml-memory-config/memory-settings.js';
import { type SettingsReceiver, settingsReceiver } from './yaml-memory-config/settings-receiver.js';
import { changedOnTheWay, type YamlSource, yamlSource } from './yaml-memory-config/yaml-source.js';

const SWITCH = 'gradient_checkpointing';

interface SettingsSite extends Site {
  readonly call: PyNode;
  readonly source: YamlSource;
  readonly receiver: SettingsReceiver;
  readonly file: NamedFile;
  /** What is to be set; a sentence where the file does not allow it. */
  readonly changes: readonly SettingChange[] | string;
}

export const yamlMemoryConfig: Transform<SettingsSite> = {
  meta: {
    id: 'yaml-memory-config',
    summary: 'Set what saves memory in a YAML file and in the dataclass that receives it, together',
    symptom: 'peak',
    safety: 'unsafe',
    numerics: 'rounding',
    group: 'opt-in',
    options: {
      bf16: {
        type: 'boolean',
        default: false,
        summary: 'Also turn float16 into bfloat16; changes training, and needs Ampere or newer',
      },
      'low-cpu-mem-usage': {
        type: 'boolean',
        default: false,
        summary: 'Also set low_cpu_mem_usage, which transformers ignores from 4.51 on',
      },
      'batch-size': {
        type: 'integer',
        default: 0,
        summary: 'Set the batch size of a step to this; 0 leaves it',
      },
      accumulation: {
        type: 'integer',
        default: 0,
        summary: 'Set the steps of accumulation to this; 0 leaves them',
      },
      workers: {
        type: 'integer',
        default: 0,
        summary: 'Set the number of loader workers to this; 0 leaves it',
      },
    },
    requires: {},
    docs: {
      why: 'Projects that keep their settings in YAML turn checkpointing on there, not in code. The key must be a field of the dataclass that receives the file: one without the other is a `TypeError` at start.',
      does: 'Turns `gradient_checkpointing` on and, with it, `use_cache` off. With options also `torch_dtype`, `low_cpu_mem_usage`, batch size, accumulation and loader workers. A key that the file has is changed on its own place, with its comment and its quotes; one that only the dataclass has is added. The default in the dataclass follows.',
      refuses: [
        'the YAML file does not parse, has tabs for indentation, several documents or a key twice',
        'the value is an anchor, an alias, a tag, an interpolation or several lines long',
        'the file has a key that is no field of the dataclass',
        'code changes the mapping between reading the file and spreading it',
      ],
      limits: [
        'Only where the code spells the path, reads it with PyYAML or OmegaConf, and spreads it into a dataclass, `TrainingArguments` or `from_pretrained`; or where `@hydra.main` names the configuration and a function spreads a group of it (`Config(**cfg.model)`) into a dataclass.',
        'Settings that no field receives are not added: nobody would read them. A Hydra group whose dataclass has no field for checkpointing is advised about.',
        'Hydra groups, command lines and environment variables may override the file; code that makes the dataclass without the file gets the new default too.',
      ],
    },
    evidence: {
      verdict:
        'Checkpointing is real: about half of the peak for a quarter more time. `use_cache` off saves nothing in training, bfloat16 saves nothing over float16, and `low_cpu_mem_usage` is ignored by transformers 4.51 and newer',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization changes summary (Phi4 fine-tuning)',
        section: '2',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-dataclass',
  },

  skipsTests: true,
  prefilter: [['yaml', 'OmegaConf', 'dataclass', 'Config(']],
  cue: (text) => text.includes('**') && (/\.ya?ml["']/.test(text) || /\(\s*\*\*\s*\w+\.\w/.test(text)),

  *detect(module, options) {
    for (const hit of module.at('**')) {
      const splat = hit.closest('dictionary_splat');
      const call = splat?.parent?.parent;
      const spread = splat?.named[0];
      const callee = call?.type === 'call' ? call.function : undefined;
      if (call === undefined || spread === undefined || callee === undefined) continue;
      const written = yamlSource(module, spread);
      const receiver = settingsReceiver(module, call);
      if (receiver === undefined) continue;
      const { source, file } =
        written === undefined
          ? composedSource(module, spread, receiver)
          : { source: written, file: module.around.file(written.name) };
      if (source === undefined || file === undefined) continue;
      const section = readYaml(file.text, source.keys);
      const changes =
        typeof section === 'string'
          ? section
          : settingChanges(section, receiver, options).filter(
              ({ key }) => keywordArgument(call, key) === undefined,
            );
      const isMissing = written === undefined && changes.length === 0 && lacksSwitch(module, receiver);
      if (changes.length === 0 && !isMissing) continue;
      yield {
        node: callee,
        call,
        source,
        receiver,
        file,
        changes,
        message: isMissing
          ? `\`${receiver.name}\`, which ${file.path} is spread into, has no field for gradient checkpointing, and the model that it describes keeps the activations of every layer`
          : messageFor(receiver, file, changes),
      };
    }
  },

  fix({ call, source, receiver, file, changes }, edit, module) {
    if (typeof changes === 'string') return edit.refuse(`of ${file.path}: ${changes}`);
    if (changes.length === 0)
      return edit.advise(
        `Add \`${SWITCH}: bool = True\` to \`${receiver.name}\`, call \`gradient_checkpointing_enable()\` on the model where it is set, and write \`${SWITCH}: true\` into ${file.path}: without the field, the key is a \`TypeError\``,
      );
    const section = readYaml(file.text, source.keys);
    if (typeof section === 'string') return edit.refuse(`of ${file.path}: ${section}`);
    const changed = changedOnTheWay(module, source, call);
    const unread = changes.find(({ key }) => section.others.has(key));
    const stray = receiver.fields && strayKey(section, receiver.fields);
    const proof = new Proof()
      .forbid(
        changed !== undefined,
        `the code changes \`${changed?.text}\`, or hands it on, before it is spread`,
      )
      .forbid(unread !== undefined, `\`${unread?.key}\` in ${file.path} is more than a plain value`)
      .forbid(stray !== undefined, `${file.path} has \`${stray}\`, which is no field of \`${receiver.name}\``)
      .require(
        source.isDefault ? 'unknown' : 'yes',
        ask('is-read')`Is ${file.path}, which is only the default of the path, the file that is read?`,
      )
      .require(
        'unknown',
        ask('for-training')`Is ${file.path} for training, and does the code follow what it says?`,
      );
    const added: Record<string, YamlScalar> = {};
    for (const { key, to } of changes) {
      const entry = section.entries.get(key);
      if (entry === undefined) added[key] = to;
      else edit.setInYaml(file, entry, to);
      const written = receiver.fields?.get(key)?.default;
      const said = literalValue(written);
      if (written !== undefined && said !== undefined && said !== to)
        edit.replace(written, pythonText(to, written));
    }
    if (Object.keys(added).length > 0) {
      proof.require(
        'unknown',
        ask('takes-new-keys')`Does all else that reads ${file.path} take keys that it does not know?`,
      );
      edit.addToYaml(file, section, added);
    }
    const training = changes.some(({ to }) => typeof to !== 'boolean');
    const names = changes.map(({ key, to }) => `\`${key}: ${to}\``).join(', ');
    return edit.done(`Set ${names} in ${file.path}`, proof, training ? { numerics: 'changes-training' } : {});
  },
};

/** `Config(**cfg.model)` in a Hydra program, where a function is given the settings: the file that the defaults choose. */
function composedSource(
  module: PyModule,
  spread: PyNode,
  { fields }: SettingsReceiver,
): { readonly source?: YamlSource; readonly file?: NamedFile } {
  const keys: string[] = [];
  let at: PyNode | undefined = spread;
  for (; at?.type === 'attribute'; at = at.object) keys.unshift(at.attribute?.text ?? '');
  const scope =
    at?.type === 'identifier' && keys.length > 0 && fields !== undefined ? module.resolve(at) : undefined;
  if (at === undefined || scope?.kind !== 'function') return {};
  if (!module.writes(scope, at.text).every((write) => roleOf(write) === 'parameter')) return {};
  const [file] = hydraSources(module, keys);
  return file === undefined
    ? {}
    : { source: { name: file.path, keys: file.keys, isDefault: true, holders: [] }, file };
}

/** Whether the file loads a model of transformers, and neither it nor the dataclass knows of checkpointing. */
function lacksSwitch(module: PyModule, { fields }: SettingsReceiver): boolean {
  if (fields === undefined || fields.has(SWITCH) || module.mentions(/gradient_checkpointing/)) return false;
  return module.at('from_pretrained').some(({ parent }) => {
    const call = parent?.parent;
    return call?.type === 'call' && modelLoad(module, call) !== undefined;
  });
}

function strayKey(section: YamlSection, fields: ReadonlyMap<string, unknown>): string | undefined {
  return [...section.entries.keys(), ...section.others].find((key) => !fields.has(key));
}

function pythonText(value: YamlScalar, like: PyNode): string {
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' ? like.text.charAt(0) + value + like.text.charAt(0) : String(value);
}

function messageFor(
  receiver: SettingsReceiver,
  file: NamedFile,
  changes: readonly SettingChange[] | string,
): string {
  if (typeof changes === 'string') return `the settings of ${file.path} could not be looked at`;
  const said = changes.map(({ key, from }) => `\`${key}: ${from}\``).join(', ');
  return `with ${file.path}, \`${receiver.name}\` has ${said}: a training step keeps more than it needs`;
}

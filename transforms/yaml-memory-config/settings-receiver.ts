import { ancestryOf, definitionBehind } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { decoratorsOf, keywordValue } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { argumentsCall } from '../../src/torch/huggingface/huggingface.js';
import { modelLoad } from '../../src/torch/huggingface/pretrained.js';

/** Who takes the settings that are spread into a call. */
export interface SettingsReceiver {
  readonly name: string;
  /** A dataclass of the project: a setting that is not among its fields is an error. Undefined for a library's class. */
  readonly fields: ReadonlyMap<string, Field> | undefined;
  /** The library's settings that this is about; the library takes many others. */
  readonly known: ReadonlySet<string>;
}

export interface Field {
  /** Its default where that is written in this very file. */
  readonly default: PyNode | undefined;
}

const ARGUMENTS: ReadonlySet<string> = new Set([
  'dataloader_num_workers',
  'gradient_accumulation_steps',
  'gradient_checkpointing',
  'per_device_train_batch_size',
]);
const LOADING: ReadonlySet<string> = new Set(['dtype', 'low_cpu_mem_usage', 'torch_dtype', 'use_cache']);

export function settingsReceiver(module: PyModule, call: PyNode): SettingsReceiver | undefined {
  const callee = call.function;
  if (callee === undefined) return undefined;
  const path = qualifiedName(module, callee);
  const local = path === undefined ? definitionBehind(module, callee) : undefined;
  const own = path === undefined ? local && { module, node: local } : definedElsewhere(module, path);
  if (own?.node.type === 'class_definition' && isDataclass(own)) return dataclassReceiver(module, own);
  const made = argumentsCall(module, call);
  if (made !== undefined)
    return made.own === undefined ? { name: callee.text, fields: undefined, known: ARGUMENTS } : undefined;
  const load = modelLoad(module, call);
  if (load === undefined || load.own !== undefined || load.method !== 'from_pretrained') return undefined;
  return { name: callee.text, fields: undefined, known: LOADING };
}

function isDataclass({ module, node }: Elsewhere): boolean {
  return decoratorsOf(node).some((decorator) => {
    const callee = decorator.type === 'call' ? (decorator.function ?? decorator) : decorator;
    return qualifiedName(module, callee) === 'dataclasses.dataclass';
  });
}

/** Undefined where a base is unknown, which may have fields, or where the class has an `__init__` of its own. */
function dataclassReceiver(here: PyModule, own: Elsewhere): SettingsReceiver | undefined {
  const { elsewhere, imported, unknown } = lineageOf(own.module, own.node);
  if (unknown || imported.length > 0) return undefined;
  const fields = new Map<string, Field>();
  for (const { module, node } of [own, ...elsewhere]) {
    for (const each of ancestryOf(module, node).classes) {
      if (module.scopeOf(each).has('__init__')) return undefined;
      for (const statement of each.body?.named ?? []) {
        const assignment = statement.named[0];
        const name = assignment?.type === 'assignment' ? assignment.left : undefined;
        if (name?.type !== 'identifier' || assignment?.field('type') === undefined || fields.has(name.text))
          continue;
        const value = module === here ? defaultIn(assignment.right) : undefined;
        fields.set(name.text, { default: value });
      }
    }
  }
  return { name: own.node.name?.text ?? '', fields, known: new Set(fields.keys()) };
}

/** `x: int = 3`, `x: int = field(default=3)`. */
function defaultIn(value: PyNode | undefined): PyNode | undefined {
  if (value?.type !== 'call') return value;
  return value.function?.text.endsWith('field') === true ? keywordValue(value, 'default') : undefined;
}

import type { Answer } from '../../semantic/answer.js';
import { entryOf, writtenBehind } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { plainString } from '../../semantic/strings.js';
import type { PyNode } from '../../syntax/node.js';
import { isSwitchedOff, usesDeepSpeed } from './huggingface.js';

/** What the project says about how DeepSpeed shards. */
export interface Sharding {
  /** `no` where every `deepspeed=` of the file names a configuration that leaves the parameters whole. */
  readonly isZero3: Answer;
  /** The configuration that says so, as a sentence names it. */
  readonly by: string | undefined;
}

/** Whether the trainer of a file may shard parameters by DeepSpeed's ZeRO stage 3: by the JSON file or dict that it is given. */
export function zero3(module: PyModule): Sharding {
  return module.memo(findSharding, module);
}

function findSharding(module: PyModule): Sharding {
  const used = usesDeepSpeed(module);
  const named = ['deepspeed', 'DeepSpeed', 'zero3']
    .flatMap((word) => module.at(word))
    .filter((node) => node.closest('string') === undefined && !isSwitchedOff(node));
  const stages = named.map((node) => stageGiven(module, node));
  const three = stages.find((each) => each?.stage === 3);
  if (three !== undefined) return { isZero3: 'yes', by: three.by };
  const isKnown = stages.length > 0 && stages.every((each) => each !== undefined);
  return { isZero3: isKnown ? 'no' : used, by: undefined };
}

interface Stage {
  readonly stage: number;
  readonly by: string;
}

/** Of `deepspeed="ds.json"` and `deepspeed={"zero_optimization": {"stage": 2}}`, also by a variable of the file. */
function stageGiven(module: PyModule, name: PyNode): Stage | undefined {
  const keyword = name.parent;
  const value = keyword?.type === 'keyword_argument' ? keyword.value : undefined;
  if (value === undefined || keyword?.name !== name) return undefined;
  const { node } = writtenBehind(module, value);
  const path = plainString(node);
  if (path === undefined) {
    const stage =
      node.type === 'dictionary' ? stageOf(entryOf(entryOf(node, ZERO), 'stage')?.text) : undefined;
    return stage === undefined ? undefined : { stage, by: 'its `deepspeed` dict' };
  }
  const file = path.endsWith('.json') ? module.around.file(path) : undefined;
  const stage = file && stageIn(file.text);
  return file === undefined || stage === undefined ? undefined : { stage, by: `\`${file.path}\`` };
}

const ZERO = 'zero_optimization';

/** A file that is no JSON says nothing. */
function stageIn(text: string): number | undefined {
  let config: unknown;
  try {
    config = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const zero = isRecord(config) ? config[ZERO] : undefined;
  return isRecord(zero) ? stageOf(`${zero['stage']}`) : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function stageOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-3]$/.test(text) ? Number(text) : undefined;
}

import { canonical } from '../../library/library.js';
import { ADAM_CLASSES } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

/** A call that makes one of torch's Adam optimizers. */
export interface AdamCall {
  readonly call: PyNode;
  readonly name: 'Adam' | 'AdamW';
  /** The name of the variable or attribute it goes to, as written. */
  readonly holder: string | undefined;
}

/** Found by the name in front of its parentheses, so that only calls are looked at. */
export function adamCalls(module: PyModule, wanted: readonly AdamCall['name'][]): readonly AdamCall[] {
  const seen = new Set<PyNode>();
  return module.at('Adam').flatMap((node): readonly AdamCall[] => {
    const call = node.closest('call');
    const callee = call?.function;
    if (call === undefined || !callee?.contains(node) || seen.has(call)) return [];
    seen.add(call);
    const name = ADAM_CLASSES.get(canonical(qualifiedName(module, callee) ?? ''));
    if (name === undefined || !wanted.includes(name) || call.closest('string') !== undefined) return [];
    const assignment = call.parent?.type === 'assignment' ? call.parent : undefined;
    const holder = assignment?.left;
    return [{ call, name, holder: holder && !holder.type.includes('pattern') ? holder.text : undefined }];
  });
}

/** Whether the file asks the optimizer to do something by `.method(…)`, with arguments where `given` is set. */
export function optimizerDoes(
  module: PyModule,
  { holder }: AdamCall,
  method: string,
  given = false,
): boolean {
  const ending = given ? '\\(\\s*[^)\\s]' : '\\(';
  const receiver = holder === undefined ? '\\w*optim\\w*' : holder.replace(/[^\w]/g, '\\$&');
  return module.mentions(new RegExp(`(?<![\\w.])${receiver}\\.${method}${ending}`));
}

/** What takes the optimizer's place or splits its state, by the words of the file. */
export function otherEngine(module: PyModule): string | undefined {
  return module.alone.memo(findOtherEngine, module.alone);
}

function findOtherEngine({ code }: PyModule): string | undefined {
  const found =
    /\b(?:deepspeed|FullyShardedDataParallel|fully_shard|FSDP|ZeroRedundancyOptimizer|torch_xla|tensor_parallel|Megatron\w*|megatron\w*|cpu_offload|CPUOffload)\b/.exec(
      code,
    );
  return found?.[0];
}

const MOVED =
  /\.cuda\(|\.to\(\s*(?:\w+\.)*(?:device\w*|gpu\w*|local_rank|rank|args\.gpu)\b|\.to\(\s*f?["']cuda|device_map\s*=|device\s*=\s*["']cuda/;
const OFF_GPU = /torch_xla|["'](?:mps|xla)["']|(?:device\(\s*|\.to\(\s*|device\s*=\s*)["']cpu["']/;

function isOffGpu({ code }: PyModule): boolean {
  return !/cuda|ccelerat|device_map|gpu/i.test(code) && OFF_GPU.test(code);
}

/** Whether the parameters are on a GPU when the optimizer is made, by what stands above it; `no` where the file has none. */
export function isMadeOnGpu(module: PyModule, { call }: AdamCall): Answer {
  if (module.alone.memo(isOffGpu, module.alone)) return 'no';
  const owner = call.closest('function_definition') ?? module.root;
  const above = module.code.slice(owner.start, call.start);
  return MOVED.test(above) ? 'yes' : 'unknown';
}

import type { PyModule } from '../../src/semantic/module.js';
import { statementsAbove } from '../../src/semantic/program.js';
import { statementOf } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { NamedFile } from '../../src/semantic/surroundings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { type ScriptSetting, scriptSetting } from '../../src/syntax/shell.js';

/** Both names of the variable; the old one works on every version, the new one does not. */
export const ALLOCATOR_VARIABLE = 'PYTORCH_CUDA_ALLOC_CONF';
const EITHER_NAME = /\bPYTORCH_(?:CUDA_)?ALLOC_CONF\b/;

/** The file, or text it runs, speaks of the allocator's variable. */
export function speaksOfAllocator(text: string): boolean {
  return EITHER_NAME.test(text);
}

/** A statement that sets the variable for this process: `os.environ["…"] = "…"`, `os.environ.setdefault("…", "…")`. */
export interface AllocatorSetting {
  readonly statement: PyNode;
  /** The name of the variable, as a string in the code. */
  readonly name: PyNode;
  /** The statement above it that has already allocated on the GPU. */
  readonly tooLate: PyNode | undefined;
}

export function allocatorSettings(module: PyModule): readonly AllocatorSetting[] {
  const written = /["']PYTORCH_(?:CUDA_)?ALLOC_CONF["']/g;
  return [...module.text.matchAll(written)].flatMap(({ index }): readonly AllocatorSetting[] => {
    const name = module.root.descendantAt(index + 1).closest('string');
    const statement = name && statementOf(name);
    if (name === undefined || statement?.type !== 'expression_statement') return [];
    if (plainString(name) === undefined || !/^(?:\w+\.)?environ\b/.test(statement.text)) return [];
    const tooLate = [...statementsAbove(statement)].find((above) => allocates(module, above));
    return [{ statement, name, tooLate }];
  });
}

const ALLOCATION =
  /\.cuda\(|\.to\(\s*(?:(?:\w+\.)*device\b|f?["']cuda)|\bdevice\s*=\s*["']cuda|\bdevice_map\s*=\s*["']|\bcuda\.(?:synchronize|init|current_stream)\(/;

/** Runs code that allocates on the GPU, as its text shows; a definition only describes it. */
function allocates(module: PyModule, statement: PyNode): boolean {
  if (/^(?:function_definition|class_definition|decorated_definition|import\w*)$/.test(statement.type))
    return false;
  return ALLOCATION.test(module.codeOf(statement));
}

/** What cannot live with segments that grow, by the words of the file. */
export function sharesGpuMemory(module: PyModule): string | undefined {
  return /\b(?:torch\.multiprocessing|share_memory_?|\w*vllm\w*|GRPO\w*|rmm|CUDAPluggableAllocator|cudaMallocAsync|sglang|cupy|reduce_tensor)\b/.exec(
    module.code,
  )?.[0];
}

/** The file works on a GPU: it trains or puts something there, and says a word of CUDA or of what uses it by itself. */
export function worksOnGpu(text: string): boolean {
  const works = /\.backward\(|rainer\.train\(|rainer\.fit\(|\btrain\(/.test(text) || ALLOCATION.test(text);
  return works && /\bcuda\b|Accelerator\(|Trainer\(|device_map\s*=/.test(text);
}

/** The shell script beside the program that starts it, by the names that such scripts have. */
export function startingScript(
  module: PyModule,
  value: string,
): { readonly file: NamedFile; readonly setting: ScriptSetting } | undefined {
  const program = module.path.replace(/^.*[\\/]/, '');
  const stem = program.replace(/\.py$/, '');
  const names = [stem, `run_${stem}`, 'run', 'train', 'run_train', 'launch', 'start'];
  for (const name of names.flatMap((each) => [`${each}.sh`, `scripts/${each}.sh`])) {
    const file = module.around.file(name);
    const setting = file && scriptSetting(file.text, program, ALLOCATOR_VARIABLE, value);
    if (file !== undefined && setting !== undefined) return { file, setting };
  }
  return undefined;
}

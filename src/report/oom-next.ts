import type { Diagnosis, Located } from '../oom/diagnosis.js';
import { isCell } from '../oom/frame.js';
import { shellWord } from './prose.js';

/** What a person can do whatever the findings are, by what ran out, on what, and when. */
export function nextSteps(diagnosis: Diagnosis): readonly string[] {
  const { errors, snapshot } = diagnosis;
  if (errors.length > 0 && errors.every(({ error }) => error.memory === 'host')) return hostSteps(errors);
  const isCuda = errors.every(({ error }) => !OTHER_DEVICES.has(error.who));
  // What they hold is none of this program's.
  if (errors.some(isMostlyHeldByOthers)) return ['`nvidia-smi` tells what the other processes are.'];
  return [
    ...(errors.some(isInNotebook)
      ? [
          'Restart the kernel and run it again: what earlier cells made, and what the traceback of a cell that failed refers to, stays on the device until then.',
        ]
      : []),
    ...momentSteps(errors),
    ...(errors.some(({ error }) => error.who === 'MPS')
      ? [
          'A Mac shares its memory with all that is open: `torch.mps.driver_allocated_memory()` tells what this program holds of it.',
        ]
      : []),
    ...(snapshot === undefined && isCuda
      ? [
          'See what holds the memory: call `torch.cuda.memory._record_memory_history()` at the start and `torch.cuda.memory._dump_snapshot("snapshot.pickle")` where it runs out, and add `--snapshot snapshot.pickle`.',
        ]
      : []),
    `If the model is a transformer, see whether the run can fit at all: \`memfix budget${budgetWords(errors)}\` adds up what it needs and names the gentlest changes; give it the size of the model (\`7B\`) or its config.json where the script does not say it.`,
  ];
}

/** `torch.cuda` knows nothing of them. */
const OTHER_DEVICES = new Set(['MPS', 'XPU', 'NPU', 'MUSA', 'MLU']);

function isMostlyHeldByOthers({ error: { figures } }: Located): boolean {
  const held = (figures.others ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  return held > (figures.capacity ?? Infinity) / 2;
}

function isInNotebook({ frames }: Located): boolean {
  return frames.some(({ frame }) => isCell(frame));
}

function momentSteps(errors: readonly Located[]): readonly string[] {
  const moments = new Set(errors.flatMap(({ moments: own }) => own));
  if (moments.has('evaluation'))
    return [
      'Take a smaller batch where it evaluates, and move what it collects of each batch to the CPU: nothing of the result changes.',
    ];
  if (moments.has('forward') || moments.has('backward'))
    return [
      'What a step keeps for the backward pass grows with the batch: halve it and add up the gradients of two, run the forward pass under `torch.autocast` in bfloat16, or checkpoint the largest layers, which costs time and no accuracy.',
    ];
  return [];
}

function hostSteps(errors: readonly Located[]): readonly string[] {
  const said = errors.map(({ error }) => error.message).join('\n');
  const isOfData = errors.some(({ moments }) => moments.includes('data')) || /DataLoader worker/.test(said);
  return [
    ...(/Bus error/.test(said)
      ? [
          'A bus error in a worker mostly is a full /dev/shm: give the container more of it (`--shm-size=8g`), or call `torch.multiprocessing.set_sharing_strategy("file_system")`.',
        ]
      : []),
    ...(isOfData
      ? [
          'Each worker of a `DataLoader` is a process, with a copy of its own of the Python objects of the data set: run it once with `num_workers=0`. If that goes through, take fewer workers and a smaller `prefetch_factor`, and keep the data in arrays or in files instead of lists.',
        ]
      : []),
    'See what grows: print `psutil.Process().memory_info().rss` once a step. What grows with every step is something that is kept; one jump is one thing that is too large to be held at once.',
    ...(/slurm|StepId|srun/i.test(said)
      ? [
          '`sacct -j <job> --format=JobID,MaxRSS,ReqMem` tells what the job used and what it had; `--mem` asks for more.',
        ]
      : []),
  ];
}

/** The script that was started and what its device has, as far as the log tells: `src/train.py --fit 24GB`. */
function budgetWords([error]: readonly Located[]): string {
  const top = error?.frames.find(({ spot }) => spot !== undefined)?.spot?.file;
  const capacity = error?.error.figures.capacity;
  const fit = capacity === undefined ? '' : ` --fit ${Math.floor(capacity / 1e9)}GB`;
  return top === undefined || !top.endsWith('.py') ? '' : ` ${shellWord(top)}${fit}`;
}

import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Snapshot, type SnapshotAnswer, snapshotOf } from '../oom/snapshot.js';
import { codeOf, Failure, reasonOf } from './failure.js';

/** Allocation stacks beyond these hold next to nothing. */
const MOST_STACKS = 2000;
const DEEPEST_STACK = 200;

/**
 * Reads a snapshot and adds up what is live. A pickle is a program; this reader runs none of it: it makes numbers, strings,
 * lists and dictionaries, and gives up where a file asks for anything else.
 */
const READER = `
import json, pickle, sys

class PlainData(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("it asks for %s.%s, and a snapshot is made of plain data" % (module, name))

def items(value):
    return value if isinstance(value, (list, tuple)) else []

def number(value):
    return value if isinstance(value, int) else 0

frames, numbers = [], {}

def stack_of(entry):
    # Innermost first, with C++ frames that have no file.
    found = []
    for frame in items(entry.get("frames"))[:${DEEPEST_STACK}]:
        if not isinstance(frame, dict):
            continue
        key = (str(frame.get("filename")), number(frame.get("line")), str(frame.get("name")))
        if not key[0].endswith(".py"):
            continue
        if key not in numbers:
            numbers[key] = len(frames)
            frames.append(key)
        found.append(numbers[key])
    return tuple(reversed(found))

def block_stack(block):
    history = items(block.get("history"))
    return stack_of(block) or (stack_of(history[0]) if history and isinstance(history[0], dict) else ())

def summary(data):
    segments = data.get("segments") if isinstance(data, dict) else data
    if not isinstance(segments, list) or not all(isinstance(segment, dict) for segment in segments):
        return {"refused": "it holds no list of segments"}
    reserved = live = unrecorded = 0
    stacks = {}
    for segment in segments:
        reserved += number(segment.get("total_size"))
        for block in items(segment.get("blocks")):
            if not isinstance(block, dict) or not str(block.get("state")).startswith("active"):
                continue
            size = number(block.get("size"))
            live += size
            stack = block_stack(block)
            if not stack:
                unrecorded += size
                continue
            bytes_, blocks = stacks.get(stack, (0, 0))
            stacks[stack] = (bytes_ + size, blocks + 1)
    failed = []
    traces = items(data.get("device_traces")) if isinstance(data, dict) else []
    for device, trace in enumerate(traces):
        last = [entry for entry in items(trace) if isinstance(entry, dict) and entry.get("action") == "oom"][-1:]
        for entry in last:
            free = entry.get("device_free")
            failed.append({"device": device, "tried": number(entry.get("size")),
                           "free": free if isinstance(free, int) else None, "frames": stack_of(entry)})
    largest = sorted(stacks.items(), key=lambda item: -item[1][0])[:${MOST_STACKS}]
    return {"reserved": reserved, "live": live, "unrecorded": unrecorded, "frames": frames, "failed": failed,
            "stacks": [(bytes_, blocks, stack) for stack, (bytes_, blocks) in largest]}

def answer(path):
    try:
        with open(path, "rb") as file:
            return summary(PlainData(file).load())
    except MemoryError:
        return {"refused": "it needs more memory than there is"}
    except Exception as error:
        return {"refused": str(error) or type(error).__name__}

json.dump(answer(sys.argv[1]), sys.stdout)
`;

/** A memory snapshot of PyTorch, read by the user's Python, without torch and without running what is in it. */
export async function readSnapshot(path: string, name: string, signal: AbortSignal): Promise<Snapshot> {
  const next = 'Make one with `torch.cuda.memory._dump_snapshot("snapshot.pickle")`, and give that file.';
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new Failure('Snapshot could not be read', `${name}: ${reasonOf(error)}`, next);
  }
  const answer = await pythonAnswer(path, signal);
  const found: SnapshotAnswer | { readonly refused: string } = JSON.parse(answer);
  if ('refused' in found)
    throw new Failure('Not a memory snapshot', `${name} was not read: ${found.refused}`, next);
  return snapshotOf(found);
}

async function pythonAnswer(path: string, signal: AbortSignal): Promise<string> {
  for (const python of process.platform === 'win32' ? ['python', 'py'] : ['python3', 'python']) {
    const answer = await ask(python, path, signal);
    if (answer !== undefined) return answer;
  }
  throw new Failure(
    'Python was not found',
    'a snapshot is a pickle, and reading it takes a Python of 3.6 or later; neither `python3` nor `python` is on the PATH',
    'Install Python or activate its environment; `--oom` alone needs none.',
  );
}

/** Undefined where there is no such program. Isolated: nothing of the folder or the user's packages is imported. */
async function ask(python: string, path: string, signal: AbortSignal): Promise<string | undefined> {
  const child = spawn(python, ['-I', '-S', '-c', READER, path], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | string>((resolve) => {
    child.on('error', (error) => resolve(codeOf(error) ?? error.message));
    child.on('close', (code, killedBy) => resolve(code ?? `${killedBy}`));
  });
  const [output, complaint, end] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  signal.throwIfAborted();
  if (end === 'ENOENT') return undefined;
  if (end === 0) return output;
  throw new Failure(
    'Snapshot could not be read',
    `\`${python}\` ended with ${end}${complaint.trim() === '' ? '' : `: ${complaint.trim()}`}`,
    'Run that Python by itself to see what is wrong with it.',
  );
}

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../src/oom/snapshot.js';
import { readSnapshot } from '../../src/workspace/snapshot.js';
import { folderWith } from './folders.js';

const quiet = new AbortController().signal;

/** The file that a Python program leaves, given `path`. */
function pickled(program: string, folder = folderWith()): string {
  const path = join(folder, 'snapshot.pickle');
  const answer = spawnSync('python3', ['-c', `import pickle, sys\npath = sys.argv[1]\n${program}`, path], {
    encoding: 'utf8',
  });
  if (answer.status !== 0) throw new Error(answer.stderr);
  return path;
}

const read = (path: string): Promise<Snapshot> => readSnapshot(path, 'x.pickle', quiet);

/** As \`torch.cuda.memory._dump_snapshot\` writes it. */
const DUMP = `
def frame(filename, line, name):
    return {"filename": filename, "line": line, "name": name}
def block(size, state, *frames):
    return {"address": 7, "size": size, "requested_size": size - 8, "state": state, "frames": list(frames)}
INNER = [frame("??", 0, "c10::cuda::alloc"), frame("/app/model.py", 30, "forward"), frame("/app/train.py", 12, "step")]
def segment(*blocks):
    return {"device": 0, "address": 1, "total_size": 4096, "allocated_size": 1, "active_size": 1, "stream": 0,
            "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
            "blocks": list(blocks)}
snapshot = {
    "segments": [
        segment(block(1024, "active_allocated", *INNER), block(512, "inactive", *INNER)),
        segment(block(2048, "active_allocated", *INNER), block(256, "active_pending_free", frame("/app/train.py", 9, "load")),
                block(128, "active_allocated")),
    ],
    "device_traces": [[
        {"action": "alloc", "addr": 7, "size": 1024, "stream": 0, "frames": INNER, "time_us": 1},
        {"action": "oom", "size": 8192, "stream": 0, "device_free": 100, "frames": INNER, "time_us": 2},
    ], []],
    "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "roundup_power2_divisions": {"1": 0}},
    "external_annotations": [],
}
`;

describe('a snapshot', () => {
  const EXPECTED = {
    reserved: 8192,
    live: 3456,
    unrecorded: 128,
    stacks: [
      {
        bytes: 3072,
        blocks: 2,
        frames: [
          { path: '/app/train.py', line: 12, name: 'step' },
          { path: '/app/model.py', line: 30, name: 'forward' },
        ],
      },
      { bytes: 256, blocks: 1, frames: [{ path: '/app/train.py', line: 9, name: 'load' }] },
    ],
  };

  test.each([0, 1, 2, 3, 4, 5])('of pickle protocol %i', async (protocol) => {
    const path = pickled(`${DUMP}\nwith open(path, "wb") as file: pickle.dump(snapshot, file, ${protocol})`);
    const found = await read(path);
    expect(found).toMatchObject(EXPECTED);
    expect(found.outOfMemory).toMatchObject([
      {
        memory: 'GPU',
        figures: { tried: 8192, free: 100, device: 0, allocated: 3456, unallocated: 4736 },
        frames: EXPECTED.stacks[0]?.frames,
      },
    ]);
  });

  test('of older versions: a list of segments, whose blocks have a history', async () => {
    const path = pickled(
      `${DUMP}
segments = snapshot["segments"]
for one in segments:
    for item in one["blocks"]:
        item["history"] = [{"addr": 7, "real_size": 9, "frames": item.pop("frames")}]
with open(path, "wb") as file: pickle.dump(segments, file)`,
    );
    expect(await read(path)).toMatchObject({ ...EXPECTED, outOfMemory: [] });
  });

  test('without anything live', async () => {
    const path = pickled('with open(path, "wb") as file: pickle.dump({"segments": []}, file)');
    expect(await read(path)).toEqual({ reserved: 0, live: 0, unrecorded: 0, stacks: [], outOfMemory: [] });
  });
});

describe('no code in a file is run', () => {
  const refusal = (path: string) =>
    read(path).then(
      () => 'read',
      (error: { title: string; detail: string }) => `${error.title}: ${error.detail}`,
    );

  test.each<readonly [what: string, program: string]>([
    ['reduce', 'os.system, ("touch " + mark,)'],
    ['eval', 'eval, ("open(" + repr(mark) + ", \'w\')",)'],
    ['import', '__import__, ("antigravity",)'],
  ])('%s', async (_, call) => {
    const folder = folderWith();
    const mark = join(folder, 'pwned');
    const path = pickled(
      `import os
mark = ${JSON.stringify(mark)}
class Bomb:
    def __reduce__(self):
        return (${call})
with open(path, "wb") as file: pickle.dump({"segments": [Bomb()]}, file)`,
      folder,
    );
    expect(await refusal(path)).toMatch(
      /^Not a memory snapshot: x\.pickle was not read: it asks for \w+\.\w+, and a snapshot is made of plain data$/,
    );
    expect(existsSync(mark)).toBe(false);
  });

  test.each<readonly [what: string, bytes: string]>([
    ['GLOBAL', "cposix\nsystem\n(S'touch pwned'\ntR."],
    ['INST', "(S'touch pwned'\niposix\nsystem\n."],
    ['an object of a class', '\x80\x04\x8c\x08builtins\x8c\x03int\x93)\x81.'],
    ['a persistent id', '\x80\x02X\x01\x00\x00\x00aQ.'],
    ['an extension', '\x82\x01.'],
    ['half a file', '\x80\x04}\x94\x8c\x08segm'],
    ['another file', 'PK\x03\x04 this is a checkpoint'],
    ['an empty file', ''],
    ['text', 'segments: []\n'],
  ])('%s', async (_, bytes) => {
    const folder = folderWith();
    const path = join(folder, 'snapshot.pickle');
    writeFileSync(path, bytes, 'latin1');
    expect(await refusal(path)).toMatch(/^Not a memory snapshot: x\.pickle was not read: ./);
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  test('nor of the folder it lies in', async () => {
    const folder = folderWith({ 'json.py': 'open("pwned", "w")', 'pickle.py': 'open("pwned", "w")' });
    const path = pickled(`${DUMP}\nwith open(path, "wb") as file: pickle.dump(snapshot, file)`, folder);
    const before = process.cwd();
    process.chdir(folder);
    try {
      await read(path);
    } finally {
      process.chdir(before);
    }
    expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  test.each<readonly [what: string, value: string]>([
    ['a number', '7'],
    ['segments that are none', '{"segments": 7}'],
    ['a list of numbers', '[1, 2]'],
  ])('plain data that is no snapshot: %s', async (_, value) => {
    const path = pickled(`with open(path, "wb") as file: pickle.dump(${value}, file)`);
    expect(await refusal(path)).toBe(
      'Not a memory snapshot: x.pickle was not read: it holds no list of segments',
    );
  });
});

test('blocks of odd shapes are passed over', async () => {
  const path = pickled(
    `with open(path, "wb") as file: pickle.dump({"segments": [{"blocks": [None, {"state": "active_allocated", "size": "x"},
    {"state": "active_allocated", "size": 8, "frames": [None, {"filename": None}, {"filename": "/a.py"}]}]}]}, file)`,
  );
  expect(await read(path)).toMatchObject({
    live: 8,
    stacks: [{ bytes: 8, frames: [{ path: '/a.py', line: 0, name: 'None' }] }],
  });
});

test('a file that is not there', async () => {
  await expect(read(join(folderWith(), 'none.pickle'))).rejects.toMatchObject({
    title: 'Snapshot could not be read',
    detail: 'x.pickle: it does not exist',
  });
});

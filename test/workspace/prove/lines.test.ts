import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { recordOf } from '../../../src/report/prove/record.js';
import { placeShim } from '../../../src/workspace/prove/trial.js';
import { folderWith } from '../folders.js';

/** `worker` runs in a thread, `forked` in a child, `loaded` in one that leaves as workers of data loaders do, `generate` is resumed, `never` only defined. */
const PROGRAM = `import os, threading
import helper

def worker():
    helper.touch(1)

def generate():
    yield 1
    yield 2

def forked():
    return 3

def never():
    return 4

thread = threading.Thread(target=worker)
thread.start()
thread.join()
list(generate())
for step in range(3):
    if step > 9:
        never()
    helper.touch(step)
child = os.fork()
if child == 0:
    forked()
    import sys
    sys.exit(0)
os.waitpid(child, 0)

def loaded():
    return 5

import multiprocessing
process = multiprocessing.get_context("fork").Process(target=loaded)
process.start()
process.join()
`;
const HELPER = 'def touch(value):\n    if value == 2:\n        return None\n    return value\n';
const RAN = [
  1, 2, 4, 5, 7, 8, 9, 11, 12, 14, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 32, 33, 35, 36, 37, 38,
];

/** The one on the PATH, and the first of each newer minor version that this machine has. */
const PYTHONS = [
  ...new Map(
    ['python3', 'python3.11', 'python3.12', 'python3.13', 'python3.14', ...fromPyenv()].flatMap((python) => {
      const { status, stdout } = spawnSync(
        python,
        ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
        {
          encoding: 'utf8',
        },
      );
      return status === 0 ? [[stdout.trim(), python] as const] : [];
    }),
  ),
];

function fromPyenv(): readonly string[] {
  const versions = join(homedir(), '.pyenv', 'versions');
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .filter((name) => /^3\.(?:9|1\d)\./.test(name))
    .map((name) => join(versions, name, 'bin', 'python'));
}

describe.each(PYTHONS)('Python %s notes which lines run', (version, python) => {
  test('in the files that are asked about, threads, generators and forked children included', () => {
    const folder = folderWith({ 'program.py': PROGRAM, 'helper.py': HELPER, 'other.py': 'x = 1\n' });
    const records = join(folder, 'records');
    mkdirSync(records);
    const { status, stderr } = spawnSync(python, ['program.py'], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        PYTHONWARNINGS: 'ignore',
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONPATH: placeShim(join(folder, 'shim')),
        MEMFIX_PROVE_RECORDS: records,
        MEMFIX_PROVE_COPY: folder,
        MEMFIX_PROVE_LINES: 'program.py\nsub/../helper.py',
      },
    });
    expect([status, stderr]).toEqual([0, '']);
    const lines = readdirSync(records).map(
      (name) => recordOf(readFileSync(join(records, name), 'utf8'))?.lines,
    );
    const ran = (path: string) =>
      [...new Set(lines.flatMap((each) => each?.[path] ?? []))].sort((a, b) => a - b);
    expect(ran('program.py')).toEqual(RAN);
    expect(ran('sub/../helper.py')).toEqual([1, 2, 3, 4]);
    expect(new Set(lines.flatMap((each) => Object.keys(each ?? {}))).size).toBe(2);
    const means = spawnSync(python, ['-c', 'import sys; print(hasattr(sys, "monitoring"))'], {
      encoding: 'utf8',
    });
    expect(means.stdout.trim()).toBe(Number(version.split('.')[1]) >= 12 ? 'True' : 'False');
  });
});

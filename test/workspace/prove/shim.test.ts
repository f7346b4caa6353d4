import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { type ProcessRecord, recordOf } from '../../../src/report/prove/record.js';
import { placeShim } from '../../../src/workspace/prove/trial.js';
import { type Files, folderWith } from '../folders.js';

const FAKE_TORCH = join(import.meta.dirname, '../../support/fake-torch');

interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly records: readonly ProcessRecord[];
}

function python(program: string, files: Files = {}, env: Record<string, string> = {}): Run {
  const folder = folderWith({ 'program.py': program, ...files });
  const records = join(folder, 'records');
  mkdirSync(records);
  const path = [placeShim(join(folder, 'shim')), folder, FAKE_TORCH].join(delimiter);
  const answer = spawnSync('python3', ['program.py'], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: path,
      MEMFIX_PROVE_RECORDS: records,
      ...env,
    },
  });
  const found = readdirSync(records).map((name) => recordOf(readFileSync(join(records, name), 'utf8')));
  return {
    ...answer,
    records: found.map((record) => {
      if (record === undefined) throw new Error('a record that is none');
      return record;
    }),
  };
}

const COUNTED = { MEMFIX_PROVE_COUNT: '1' };

test('a program without torch gets a record, and no torch', () => {
  const { stdout, stderr, records } = python('import sys\nprint("torch" in sys.modules)\n');
  expect([stdout, stderr]).toEqual(['False\n', '']);
  expect(records).toMatchObject([{ torch: null, steps: 0, devices: [], final: true, errors: {} }]);
  expect(records[0]?.host).toBeGreaterThan(1_000_000);
});

test('steps, and what is allocated after each', () => {
  const { records } = python(`import torch
torch.cuda.wake()
optimizer = torch.optim.SGD()
for step in range(10):
    torch.cuda.allocate(1000)
    optimizer.step()
`);
  const [record] = records;
  expect(record).toMatchObject({ torch: '0.0-fake', steps: 10, errors: {}, syncs: null, autograd: null });
  expect(record?.samples.map(({ step, devices }) => [step, devices])).toEqual(
    Array.from({ length: 10 }, (_, index) => [index + 1, [1000 * (index + 1)]]),
  );
  expect(record?.devices).toEqual([
    { index: 0, name: 'Fake GPU', id: '0', allocated: 10_000, reserved: 20_000 },
  ]);
});

test('a long run is thinned out evenly', () => {
  const [record] = python('import torch\no = torch.optim.SGD()\nfor _ in range(5000): o.step()\n').records;
  const steps = record?.samples.map(({ step }) => step) ?? [];
  expect(record?.steps).toBe(5000);
  expect(steps.length).toBeGreaterThanOrEqual(256);
  expect(steps.length).toBeLessThan(512);
  expect(new Set(steps.slice(1).map((step, index) => step - (steps[index] ?? 0))).size).toBe(1);
});

test.each([
  ['a.step(); b.step()', 6],
  ['a.step(); b.step(); b.step()', 12],
  ['torch.optim.SGD().step(); a.step()', 6],
])('several optimizers that do %j six times make %i steps', (round, steps) => {
  const program = `import torch\na, b = torch.optim.SGD(), torch.optim.SGD()\nfor _ in range(6): ${round}\n`;
  expect(python(program).records).toMatchObject([{ steps }]);
});

test('a peak survives those who reset it', () => {
  const reset = (name: string) =>
    `import torch
torch.cuda.wake()
torch.cuda.allocate(5000)
torch.cuda.allocate(-4000)
torch.cuda.${name}.reset_peak_memory_stats()
`.replace('..', '.');
  for (const name of ['', 'memory'])
    expect(python(reset(name)).records).toMatchObject([{ devices: [{ allocated: 5000 }], errors: {} }]);
});

test('what autograd keeps is counted once per storage, without parameters, and given back', () => {
  const program = `import torch
from torch.autograd.graph import save
weight = save(torch.Tensor(size=10**6, parameter=True))
big = torch.Tensor(size=3000)
kept = [save(big), save(big), save(torch.Tensor(size=500))]
del kept
optimizer = torch.optim.SGD()
optimizer.step()
again = save(torch.Tensor(size=100))
optimizer.step()
`;
  expect(python(program).records).toMatchObject([{ autograd: null }]);
  const [record] = python(program, {}, COUNTED).records;
  expect(record?.autograd).toEqual({ peak: 3500, tensors: 4, uncounted: 0 });
  expect(record?.samples.map(({ autograd }) => autograd)).toEqual([0, 100]);
});

test('with a GPU, autograd is not counted; hooks of the user above ours stay', () => {
  const program = (mine: string) => `import torch
from torch.autograd import graph
${mine}
torch.cuda.wake()
print(len(graph.hooks))
`;
  const plain = python(program(''), {}, COUNTED);
  expect(plain.stdout).toBe('0\n');
  expect(plain.records).toMatchObject([{ autograd: null, syncs: 0, errors: {} }]);
  const held = python(program('graph.saved_tensors_hooks(id, id).__enter__()'), {}, COUNTED);
  expect(held.stdout).toBe('2\n');
  expect(held.records).toMatchObject([{ autograd: { peak: 0 }, errors: {} }]);
});

test('synchronisations are counted and not printed, other warnings are', () => {
  const program = `import torch, warnings
torch.cuda.wake()
for _ in range(3):
    torch.Tensor().item()
torch.Tensor(2.5).backward()
warnings.warn("mine")
`;
  const { stderr, records } = python(program, {}, COUNTED);
  expect(stderr).toMatch(/^.*UserWarning: mine\n.*\n$/);
  expect(records).toMatchObject([{ syncs: 3, losses: [2.5], errors: {} }]);
  expect(python(program).records).toMatchObject([{ syncs: null, losses: [] }]);
});

test('synchronisations are counted where warnings are silenced, from the next step on', () => {
  const program = `import torch, warnings
torch.cuda.wake()
warnings.simplefilter("ignore")
optimizer = torch.optim.SGD()
for _ in range(4):
    torch.Tensor().item()
    optimizer.step()
warnings.warn("mine")
`;
  const { stderr, records } = python(program, {}, COUNTED);
  expect(stderr).toBe('');
  expect(records).toMatchObject([{ syncs: 3 }]);
});

test('losses as they are, also those that JSON has no word for', () => {
  const program =
    'import torch\nfor value in (0.1, float("nan"), float("inf")): torch.autograd.backward([torch.Tensor(value)])\n';
  const [record] = python(program, {}, COUNTED).records;
  expect(record?.losses).toEqual([0.1, Number.NaN, Number.POSITIVE_INFINITY]);
});

test('random numbers are those of a run without it', () => {
  const program = 'import random, torch\nrandom.seed(1)\ntorch.optim.SGD().step()\nprint(random.random())\n';
  const bare = python(program, {}, { MEMFIX_PROVE_RECORDS: '' });
  expect(bare.records).toEqual([]);
  expect(python(program, {}, COUNTED).stdout).toBe(bare.stdout);
});

test("the user's own sitecustomize runs, under its own name", () => {
  const own = { 'sitecustomize.py': 'print("mine", __name__)\nVALUE = 7\n' };
  const { stdout, records } = python(
    'import sitecustomize, sys\nprint(sitecustomize.VALUE, any("shim" in path for path in sys.path))\n',
    own,
  );
  expect(stdout).toBe('mine sitecustomize\n7 False\n');
  expect(records).toHaveLength(1);
});

test("a mistake in the user's own sitecustomize is told as Python tells it", () => {
  const { status, stderr, stdout, records } = python('print("ran")\n', { 'sitecustomize.py': 'oops\n' });
  expect([status, stdout]).toEqual([0, 'ran\n']);
  expect(stderr).toMatch(/Error in sitecustomize.*NameError: name 'oops' is not defined/s);
  expect(records).toHaveLength(1);
});

test('usercustomize runs as ever', () => {
  const folder = folderWith();
  const place = `import os, site\nos.makedirs(site.getusersitepackages())\nopen(os.path.join(site.getusersitepackages(), "usercustomize.py"), "w").write("print('user')")\n`;
  const env = { HOME: folder, PYTHONUSERBASE: folder };
  expect(python(place, {}, env).status).toBe(0);
  expect(python('', {}, env).stdout).toBe('user\n');
});

test('a part that cannot be measured is named, and the program runs', () => {
  const old = {
    'torch/__init__.py': 'from . import optim\n__version__ = "1.0"\n',
    'torch/optim/optimizer.py': '',
  };
  const { status, stdout, records } = python('import torch\nprint("ran")\n', {
    ...old,
    'torch/optim/__init__.py': 'from . import optimizer\n',
  });
  expect([status, stdout]).toEqual([0, 'ran\n']);
  expect(records[0]?.errors).toMatchObject({
    steps: 'RuntimeError: torch 1.0 has no hook for optimizer steps',
    peaks: expect.stringContaining('AttributeError'),
  });
});

test('an import of torch that fails, fails as ever', () => {
  const { status, stderr } = python('import torch\n', { 'torch.py': 'raise ImportError("no driver")\n' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/ImportError: no driver\n$/);
});

test('each process has a record; a forked one that steps too, one that does not has none', () => {
  const program = `import os, torch
optimizer = torch.optim.SGD()
optimizer.step()
for steps in (0, 4):
    child = os.fork()
    if child == 0:
        for _ in range(steps): optimizer.step()
        os._exit(0)
    os.waitpid(child, 0)
`;
  const records = [...python(program).records].sort((a, b) => a.steps - b.steps);
  expect(records.map(({ steps, forked, final }) => [steps, forked, final])).toEqual([
    [1, false, true],
    [4, true, false],
  ]);
});

test('a process that is killed leaves what it knew', () => {
  const program =
    'import os, signal, torch\ntorch.optim.SGD().step()\nos.kill(os.getpid(), signal.SIGKILL)\n';
  expect(python(program).records).toMatchObject([{ steps: 1, final: false }]);
});

test('files of the copy that were imported, run or opened are named', () => {
  const copy = folderWith({ 'imported.py': '', 'sub/ran.py': '', 'idle.py': '' });
  const program = (more: string) =>
    `import sys, runpy\nsys.path.append(${JSON.stringify(copy)})\nimport imported\n${more}`;
  const env = { MEMFIX_PROVE_COPY: copy };
  expect(python(program(''), {}, env).records[0]?.loaded).toEqual(['imported.py']);
  const run = program(`runpy.run_path(${JSON.stringify(join(copy, 'sub/ran.py'))})\n`);
  expect(python(run, {}, { ...env, ...COUNTED }).records[0]?.loaded).toEqual(['imported.py', 'sub/ran.py']);
});

test('what would come from the tree comes from the copy; what does not is named', () => {
  const tree = folderWith({
    'src/mine.py': 'where = "tree"\n',
    'src/late.py': '',
    'finder/edited.py': 'at = "tree"\n',
  });
  const copy = folderWith({ 'src/mine.py': 'where = "copy"\n', 'finder/edited.py': 'at = "copy"\n' });
  const program = `import sys
import mine, edited
sys.path.append(${JSON.stringify(join(tree, 'src'))})
import late
print(mine.where, edited.at)
`;
  // As setuptools installs a project in place.
  const finder = `import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
MAPPING = {"edited": ${JSON.stringify(join(tree, 'finder/edited.py'))}}
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location(name, MAPPING[name]) if name in MAPPING else None
sys.meta_path.append(Finder)
`;
  const site = folderWith({ 'in_place.py': finder, 'in_place.pth': 'import in_place\n' });
  const start = `import site\nsite.addsitedir(${JSON.stringify(site)})\n`;
  const env = { MEMFIX_PROVE_TREE: tree, MEMFIX_PROVE_COPY: copy };
  const folder = folderWith({ 'program.py': program });
  const records = join(folder, 'records');
  mkdirSync(records);
  const shim = placeShim(join(folder, 'shim'));
  const load = `import sys; sys.path.append(${JSON.stringify(join(tree, 'src'))})\n${start}import runpy\nsys.path.insert(0, ${JSON.stringify(shim)})\nimport sitecustomize\nrunpy.run_path("program.py")\n`;
  const answer = spawnSync('python3', ['-S', '-c', load], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], PYTHONDONTWRITEBYTECODE: '1', MEMFIX_PROVE_RECORDS: records, ...env },
  });
  expect(answer.stderr).toBe('');
  expect(answer.stdout).toBe('copy copy\n');
  const [name = ''] = readdirSync(records);
  expect(recordOf(readFileSync(join(records, name), 'utf8'))?.strayed).toEqual(['src/late.py']);
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MESSAGE, PACKAGES } from '../oom/reading.js';
import { folderWith, put } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TRAIN = `def train(model):
    for batch in loader:
        hold(batch)
        loss(batch).backward()


def evaluate(model):
    risk(model)


rare()
`;

const LOG = `epoch 1
Traceback (most recent call last):
  File "/app/src/train.py", line 51, in train
    loss(batch).backward()
  File "${PACKAGES}/torch/_tensor.py", line 648, in backward
    torch.autograd.backward(
torch.OutOfMemoryError: ${MESSAGE}
`;

const project = () =>
  folderWith({ 'src/train.py': TRAIN, 'src/other.py': 'hold()\nhint()\nfine()\n', 'run.log': LOG });

describe('a report', () => {
  test('leads with what ran out, then ranks', async () => {
    const { code, stdout, stderr } = await memfix({ cwd: project() }, 'check', '--oom', 'run.log');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Out of memory/);
    const [lead = '', ...rest] = stdout.split('\nsrc/train.py:3:9');
    expect(lead).toBe(`Out of memory: CUDA on GPU 1  run.log:7
  It tried to allocate 2.50 GiB. The device has 23.50 GiB, of which 1.00 GiB is free. Tensors hold
  20.00 GiB; 512.00 MiB is reserved but unallocated.

  frames of your code, and the one of a library; it ran out in the last:
    1  src/train.py:4        train     loss(batch).backward()
    2  torch/_tensor.py:648  backward  torch.autograd.backward(

  • It was the backward pass: activations, gradients and what it computes with are all held at once.

3 findings may explain it, the likeliest first; 2 others do not.
`);
    const blocks = `src/train.py:3:9${rest.join('')}`;
    expect(blocks.match(/^src.*\n.*/gm)).toEqual([
      'src/train.py:3:9  drop-hold  safe · leak\n  #1 in frame 1 of the traceback, `train`',
      'src/train.py:11:1  rare-word  safe · frees memory\n  #2 in the file of frame 1 of the traceback',
      'src/train.py:8:5  calm-risk  unsafe · frees memory\n  #3 in the file of frame 1 of the traceback',
    ]);
    expect(blocks).toContain('\n  3 │ -         hold(batch)\n    │ +         release(batch)\n');
    expect(blocks).toMatch(
      /\n\nOther findings here, which do not explain it:\n {2}src\/other\.py:1:1 drop-hold \(safe\): no file of the traceback imports it\n {2}and 1 finding that would free no such memory; `-v` lists it\n\n$/,
    );
    expect(stderr).toBe(
      '5 findings (3 safe, 1 unsafe, 1 advice) in 2 files: 4 free memory, 1 saves time; 1 suspicious site (1 leak) left alone (`-v`). ' +
        'Run `memfix apply -i --oom run.log` to review the 3 fixes that may explain it.\n',
    );
  });
});

test('of many places the first three are told', async () => {
  const cwd = project();
  put(cwd, { 'run.log': [1, 2, 3, 4, 5].map((line) => LOG.replace('51', `${line}`)).join('\n') });
  const { stdout } = await memfix({ cwd }, 'check', '--oom', 'run.log');
  expect(stdout.match(/^Out of memory/gm)).toHaveLength(3);
  expect(stdout).toContain('\n  and 2 other places in the log where memory ran out\n');
});

describe('output formats', () => {
  const concise = ['check', '--output-format', 'concise'] as const;

  test('concise: one line each, in order, with the reason', async () => {
    const { stdout, stderr } = await memfix({ cwd: project() }, ...concise, '--oom=run.log');
    expect(stdout.split('\n').map((line) => line.replace(/ costs memory/, ''))).toEqual([
      'src/train.py:3:9: drop-hold [safe] hold (in frame 1 of the traceback, `train`)',
      'src/train.py:11:1: rare-word [safe] rare (in the file of frame 1 of the traceback)',
      'src/train.py:8:5: calm-risk [unsafe] risk (in the file of frame 1 of the traceback)',
      'src/other.py:1:1: drop-hold [safe] hold (no file of the traceback imports it)',
      'src/other.py:2:1: hear-hint [advice] hint (frees no GPU memory: it is about speed)',
      '',
    ]);
    expect(stderr).toMatch(/^Out of memory: CUDA on GPU 1\n5 findings/);
  });

  test('json: rank, reason and the error', async () => {
    const { stdout } = await memfix({ cwd: project() }, 'check', '--output-format=json', '--oom', 'run.log');
    const { findings, oom } = JSON.parse(stdout);
    expect(findings.map((finding: { id: string; rank: unknown }) => [finding.id, finding.rank])).toEqual([
      ['drop-hold', 1],
      ['rare-word', 2],
      ['calm-risk', 3],
      ['drop-hold', 4],
      ['hear-hint', 5],
    ]);
    expect(findings[0].because).toBe('in frame 1 of the traceback, `train`');
    expect(oom).toMatchObject({
      errors: [
        {
          ...{ memory: 'GPU', source: 'run.log:7', times: 1, device: 1, tried: 2.5 * 2 ** 30 },
          ...{ moments: ['backward'], fragmented: false },
          frames: [
            {
              path: '/app/src/train.py',
              line: 51,
              function: 'train',
              found: { path: 'src/train.py', line: 4 },
            },
            { function: 'backward', found: null },
          ],
        },
      ],
      snapshot: null,
    });
  });

  test('statistics still count', async () => {
    const { stdout, stderr } = await memfix({ cwd: project() }, 'check', '--statistics', '--oom', 'run.log');
    expect(stdout).toContain('drop-hold');
    expect(stderr).toContain('Out of memory: CUDA on GPU 1\n');
  });
});

describe('which transforms', () => {
  const ids = async (cwd: string, ...words: readonly string[]) => {
    const { stdout } = await memfix({ cwd }, 'check', '--output-format=json', ...words);
    return JSON.parse(stdout).findings.map(({ id }: { id: string }) => id);
  };

  test('those that are opt-in too, unless --select says otherwise', async () => {
    const cwd = project();
    put(cwd, { 'src/told.py': 'told()\n' });
    expect(await ids(cwd)).not.toContain('rare-word');
    expect(await ids(cwd, '--oom', 'run.log')).toContain('rare-word');
    expect(await ids(cwd, '--oom', 'run.log')).not.toContain('told-tale');
    expect(await ids(cwd, '--oom', 'run.log', '--select', 'drop-hold')).toEqual(['drop-hold', 'drop-hold']);
    expect(await ids(cwd, '--oom', 'run.log', '--ignore', 'rare-word')).not.toContain('rare-word');
  });

  test('what the config ignores stays ignored', async () => {
    const cwd = project();
    put(cwd, { 'memfix.toml': 'select = ["calm-risk"]\nignore = ["drop-hold"]\n' });
    expect(await ids(cwd, '--oom', 'run.log')).toEqual(['rare-word', 'calm-risk', 'hear-hint']);
  });
});

describe('standard input', () => {
  test('for the log', async () => {
    const { code, stdout } = await memfix({ cwd: project(), stdin: LOG }, 'check', '--oom', '-');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Out of memory: CUDA on GPU 1 {2}standard input:7\n/);
  });

  test('for the code', async () => {
    const words = ['check', '-', '--stdin-filename', 'src/train.py', '--oom', 'run.log'] as const;
    const { stdout } = await memfix({ cwd: project(), stdin: TRAIN }, ...words);
    expect(stdout).toContain('#1 in frame 1 of the traceback, `train`');
  });

  test('not for both', async () => {
    const { code, stderr } = await memfix({ cwd: project(), stdin: TRAIN }, 'check', '-', '--oom', '-');
    expect(code).toBe(2);
    expect(stderr).toContain('Standard input is either the code or the log');
  });
});

describe('answers in plain words', () => {
  test('a log in which nothing ran out', async () => {
    const cwd = project();
    put(cwd, { 'run.log': 'epoch 1\nall good\n' });
    const { code, stdout, stderr } = await memfix({ cwd }, 'check', '--oom', 'run.log');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'memfix: Nothing ran out of memory\n' +
        '  run.log holds no out-of-memory error of PyTorch, neither of a GPU nor of the host\n' +
        '  Next: Give `--oom` the output of the run that failed, standard error included; without it, `memfix check` reports all findings.\n',
    );
  });

  test('a log that is not there', async () => {
    const { code, stderr } = await memfix({ cwd: project() }, 'check', '--oom', 'gone.log');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^memfix: Log could not be read\n {2}gone\.log: it does not exist\n/);
  });

  test('nothing found near it: what to do next', async () => {
    const cwd = folderWith({ 'far.py': 'hold()\n', 'run.log': LOG });
    const { code, stdout } = await memfix({ cwd }, 'check', '--oom', 'run.log');
    expect(code).toBe(1);
    expect(stdout).toContain('None of its files is among those that were checked: run memfix where');
    expect(stdout).toContain('The finding here is of another program than the one that ran out.');
    expect(stdout).toContain('torch.cuda.memory._dump_snapshot("snapshot.pickle")');
    expect(stdout).toContain('far.py:1:1 drop-hold');
  });

  test('sites there that were left alone are not forgotten', async () => {
    const cwd = folderWith({ 'src/train.py': TRAIN.replace('hold', 'fine'), 'run.log': LOG });
    expect((await memfix({ cwd }, 'check', '--oom', 'run.log')).stdout).toContain(
      '2 findings may explain it, the likeliest first. 1 site there was seen and left alone; `-v` says why.',
    );
    expect((await memfix({ cwd }, 'check', '-v', '--oom', 'run.log')).stdout).toContain(
      'src/train.py:3:9  spare-fine  left alone\n  in frame 1 of the traceback, `train`\n',
    );
  });

  test('nothing found at all', async () => {
    const cwd = folderWith({ 'clean.py': 'x = 1\n', 'run.log': LOG });
    const { code, stdout } = await memfix({ cwd }, 'check', '--oom', 'run.log');
    expect(code).toBe(0);
    expect(stdout).toContain('memfix has no finding in the files that were checked.');
    expect(stdout).toContain('What to do next:');
  });

  test('nothing in a log is obeyed by the terminal', async () => {
    const cwd = project();
    put(cwd, { 'run.log': LOG.replaceAll('/app/src', '/app/\u202e\u0007src') });
    const { stdout } = await memfix({ cwd }, 'check', '--oom', 'run.log');
    expect(stdout).not.toMatch(/[\u202e\u0007]/);
  });
});

describe('a snapshot', () => {
  const dump = (cwd: string) => {
    const frames = `[{"filename": "/app/src/train.py", "line": 8, "name": "evaluate"}]`;
    const program = `import pickle
block = {"size": 3 << 30, "state": "active_allocated", "frames": ${frames}}
pickle.dump({"segments": [{"total_size": 4 << 30, "blocks": [block]}], "device_traces": []}, open("x.pickle", "wb"))`;
    const answer = spawnSync('python3', ['-c', program], { cwd: join(cwd), encoding: 'utf8' });
    if (answer.status !== 0) throw new Error(answer.stderr);
  };

  test('alone', async () => {
    const cwd = project();
    dump(cwd);
    const { code, stdout } = await memfix({ cwd }, 'check', '--snapshot', 'x.pickle');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^Snapshot: 3\.00 GiB live of 4\.00 GiB reserved {2}x\.pickle\n {2}where it was allocated, in your code:\n {4}3\.00 GiB {2}100 % {2}src\/train\.py:8 {2}evaluate\n/,
    );
    expect(stdout).toContain('#1 3.00 GiB of what is live was allocated on its line\n  risk costs memory');
  });

  test('with a log', async () => {
    const cwd = project();
    dump(cwd);
    const words = ['check', '--oom', 'run.log', '--snapshot', 'x.pickle', '--output-format=json'];
    const { oom, findings } = JSON.parse((await memfix({ cwd }, ...words)).stdout);
    expect(
      findings.slice(0, 2).map(({ id, because }: { id: string; because: string }) => [id, because]),
    ).toEqual([
      [
        'calm-risk',
        'in the file of frame 1 of the traceback; 3.00 GiB of what is live was allocated on its line',
      ],
      [
        'drop-hold',
        'in frame 1 of the traceback, `train`; 3.00 GiB of what is live was allocated in its file',
      ],
    ]);
    expect(oom.snapshot).toEqual({
      ...{ path: 'x.pickle', live: 3 * 2 ** 30, reserved: 4 * 2 ** 30, unrecorded: 0 },
      sites: [
        {
          ...{ path: '/app/src/train.py', line: 8, function: 'evaluate', bytes: 3 * 2 ** 30 },
          found: { path: 'src/train.py', line: 8 },
        },
      ],
    });
  });

  test('that is none', async () => {
    const cwd = project();
    const { code, stderr } = await memfix({ cwd }, 'check', '--snapshot', 'run.log');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^memfix: Not a memory snapshot\n {2}run\.log was not read: /);
  });
});

test('a notebook is read as the log of its own cells', async () => {
  const traceback = [
    '\x1b[0;31mOutOfMemoryError\x1b[0m          Traceback (most recent call last)',
    'Cell \x1b[0;32mIn[5], line 1\x1b[0m\n\x1b[0;32m----> 1\x1b[0m train(model)\n',
    'Cell \x1b[0;32mIn[4], line 4\x1b[0m, in \x1b[0;36mtrain\x1b[0;34m(model)\x1b[0m\n\x1b[0;32m----> 4\x1b[0m         loss(batch).backward()\n',
    `\x1b[0;31mOutOfMemoryError\x1b[0m: ${MESSAGE}`,
  ];
  const cells = [
    { cell_type: 'markdown', source: 'hold()' },
    { cell_type: 'code', outputs: [], source: TRAIN },
    { cell_type: 'code', outputs: [{ output_type: 'error', traceback }], source: 'train(model)' },
  ];
  const cwd = folderWith({ 'a.ipynb': JSON.stringify({ cells, metadata: {}, nbformat: 4 }) });
  const { stdout } = await memfix({ cwd }, 'check', '--oom', 'a.ipynb');
  expect(stdout).toContain('Out of memory: CUDA on GPU 1  a.ipynb: cell 3\n');
  expect(stdout).toContain('    1  a.ipynb: cell 3, line 1  <module>  train(model)\n');
  expect(stdout).toContain('    2  a.ipynb: cell 2, line 4  train     loss(batch).backward()\n');
  expect(stdout).toContain(
    'a.ipynb: cell 2, line 3  drop-hold  safe · leak\n  #1 in frame 2 of the traceback, `train`\n',
  );
});

test('the log alone is enough: it is for check', async () => {
  const cwd = project();
  const checked = await memfix({ cwd }, 'check', '--oom', 'run.log');
  expect(await memfix({ cwd }, '--oom', 'run.log')).toEqual(checked);
  expect((await memfix({ cwd }, '--oom=run.log')).stdout).toBe(checked.stdout);
});

test('where a transformer ran out, the next command names the script and the device', async () => {
  const cwd = project();
  put(cwd, { 'src/train.py': 'def train(model):\n    loss(batch).backward()\n' });
  expect((await memfix({ cwd }, '--oom', 'run.log')).stdout).not.toContain('memfix budget');
  put(cwd, { 'src/train.py': 'import transformers\ndef train(model):\n    loss(batch).backward()\n' });
  const { stdout } = await memfix({ cwd }, '--oom', 'run.log');
  // The script names no model: the command would fail without one.
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    '`memfix budget src/train.py 7B --fit 23.50GiB`, with the size of your model',
  );
  const named =
    'from transformers import AutoModel\ndef train(model=AutoModel.from_pretrained("gpt2")):\n    loss(batch).backward()\n';
  put(cwd, { 'src/train.py': named });
  const ready = await memfix({ cwd }, '--oom', 'run.log');
  expect(ready.stdout).toContain('`memfix budget src/train.py --fit 23.50GiB` adds up');
});

describe('what to do next', () => {
  const nextOf = async (log: string) => {
    const cwd = project();
    put(cwd, { 'src/train.py': 'def train(model):\n    loss(batch).backward()\n', 'run.log': log });
    const { stdout } = await memfix({ cwd }, '--oom', 'run.log');
    return stdout.replace(/\s+/g, ' ');
  };
  const frame = '  File "/app/src/train.py", line 2, in train\n    loss(batch).backward()\n';

  test('after a worker of a DataLoader was killed, it is about the host', async () => {
    const library = '/opt/lib/python3.11/site-packages/torch/utils/data/dataloader.py';
    const said = await nextOf(`Traceback (most recent call last):
  File "${library}", line 1133, in _try_get_data
    data = self._data_queue.get(timeout=timeout)
RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed.

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
${frame}RuntimeError: DataLoader worker (pid(s) 71) exited unexpectedly
`);
    expect(said).toContain('src/train.py:2 train');
    expect(said).toContain('run it once with `num_workers=0`');
    expect(said).toContain('memory_info().rss');
    expect(said).not.toMatch(/torch\.cuda|memfix budget|sacct|shm/);
  });

  test('after Slurm killed a step, it names what Slurm knows', async () => {
    const said = await nextOf(
      'slurmstepd: error: Detected 1 oom_kill event in StepId=4712.0. Some of the step tasks have been OOM Killed.\n',
    );
    expect(said).toContain('`sacct -j <job> --format=JobID,MaxRSS,ReqMem`');
    expect(said).not.toMatch(/torch\.cuda|memfix budget|num_workers/);
  });

  test.each([
    'Killed',
    'run.sh: line 3: 4711 Killed                  python train.py',
    '[1]+  Killed  python x.py',
    'zsh: killed     python x.py',
  ])('all that a shell says is taken for a guess: %s', async (line) => {
    const said = await nextOf(`epoch 1\n${line}\n`);
    expect(said).toContain('Out of memory: the host');
    expect(said).toContain('A process was killed. That is mostly for want of host memory');
    expect(said).not.toContain('torch.cuda');
  });

  test('on a Mac, nothing of another machine is named', async () => {
    const said = await nextOf(
      `Traceback (most recent call last):\n${frame}RuntimeError: MPS backend out of memory (MPS allocated: 17.36 GB, other allocations: 402.31 MB, max allowed: 18.13 GB). Tried to allocate 512.00 MB on private pool.\n`,
    );
    expect(said).toContain('The limit is 18.13 GiB. Tensors hold 17.36 GiB, other allocations 402.31 MiB.');
    expect(said).toContain('`PYTORCH_MPS_HIGH_WATERMARK_RATIO` sets the limit');
    expect(said).not.toContain('torch.cuda');
  });

  test('in a notebook, the kernel comes first', async () => {
    const said = await nextOf(
      `OutOfMemoryError  Traceback (most recent call last)\nCell In[9], line 2\n----> 2 train(model)\n\nOutOfMemoryError: CUDA out of memory. Tried to allocate 98.00 MiB.\n`,
    );
    expect(said).toMatch(/What to do next: • Restart the kernel/);
  });

  test('where ranks share a card, it is said with the processes that hold it', async () => {
    const message = (rank: number) =>
      `[rank${rank}]: Traceback (most recent call last):\n[rank${rank}]:   File "/app/src/train.py", line 2, in train\n[rank${rank}]:     loss(batch).backward()\n[rank${rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 60.06 MiB is free.`;
    const shared = `${message(3)} Process 3111 has 6.10 GiB memory in use. Process 3112 has 6.10 GiB memory in use. Including non-PyTorch memory, this process has 5.20 GiB memory in use. Of the allocated memory 4.80 GiB is allocated by PyTorch, and 12.00 MiB is reserved by PyTorch but unallocated.\n`;
    const said = await nextOf(shared);
    expect(said).toContain(
      '12.20 GiB of the device is held by other processes: 3111, 3112. If they are of this run',
    );
    expect(said).toContain('torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))');
    expect(said).toContain('What to do next: • `nvidia-smi` tells what holds the card');
    expect(said).not.toContain('snapshot.pickle');
    expect(await nextOf(`${message(0)}\n${message(1)}\n`)).toContain(
      '2 ranks ran out on what each calls GPU 0',
    );
    const apart = await nextOf(`${message(0)}\n${message(1).replace('GPU 0', 'GPU 1')}\n`);
    expect(apart).toContain('CUDA on GPU 0, 1, 2 times (rank 0, rank 1)');
    expect(apart).not.toContain('each calls');
  });

  test('stands below the finding that may explain it, and above those that hardly do, of which few are named', async () => {
    const cwd = folderWith({
      'src/train.py': 'def train(model):\n    risk(model)\n    loss(batch).backward()\n',
      ...Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`src/alone${at}.py`, 'hold()\n'])),
      'run.log': LOG,
    });
    const { stdout } = await memfix({ cwd }, '--oom', 'run.log');
    const places = ['src/train.py:2:5', 'What to do next:', 'Other findings here'].map((words) =>
      stdout.indexOf(words),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'and 8 more drop-hold (safe): no file of the traceback imports it',
    );
    const all = await memfix({ cwd }, 'check', '-v', '--oom', 'run.log');
    expect(all.stdout.match(/src\/alone\d+\.py:1:1/g)).toHaveLength(11);
  });

  test('of another program than the one that ran out, nothing is offered', async () => {
    const cwd = project();
    put(cwd, { 'run.log': LOG.replaceAll('/app/src/train.py', '/app/elsewhere/fit.py') });
    const { stdout } = await memfix({ cwd }, '--oom', 'run.log');
    expect(stdout).toContain('None of its files is among those that were checked');
    expect(stdout).toContain('The 5 findings here are of another program than the one that ran out.\n');
    expect(stdout).not.toContain('may explain it');
    expect(stdout).not.toContain('#1');
    const { stderr } = await memfix({ cwd }, 'apply', '--allow-no-vcs', '--oom', 'run.log');
    expect(stderr).toContain('Nothing was changed.');
  });

  test('a log that is packed, or given as code, is told so', async () => {
    const cwd = folderWith({
      'a.py': 'x = 1\n',
      'run.log.gz': Buffer.from('1f8b0800', 'hex'),
      'run.log': LOG,
    });
    expect((await memfix({ cwd }, '--oom', 'run.log.gz')).stderr).toContain(
      '`zcat run.log.gz | memfix --oom -`',
    );
    expect((await memfix({ cwd }, 'check', 'run.log')).stdout).toContain(
      'run.log: skipped: it is not Python; if it is the log of a run that ran out of memory: `memfix --oom run.log`',
    );
  });

  test('is always told, also with a safe finding', async () => {
    const cwd = project();
    expect((await memfix({ cwd }, '--oom', 'run.log')).stdout).toContain('What to do next');
    const said = await nextOf(
      `Traceback (most recent call last):\n${frame}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB.\n`,
    );
    expect(said).toContain('halve it and add up the gradients of two');
    expect(said).not.toContain('memfix budget');
  });
});

import { describe, expect, test } from 'vitest';
import { MESSAGE, PACKAGES, reading, TRACEBACK } from './reading.js';

/** The frames as `file:line name | source`, without where torch is installed. */
function trail(log: string): readonly string[] {
  const [first] = reading(log);
  if (first === undefined) throw new Error('nothing ran out of memory');
  return first.frames.map(
    ({ path, line, name, source }) => `${path.replace(PACKAGES, '…')}:${line} ${name} | ${source ?? ''}`,
  );
}

const TRAIL = [
  '/app/src/train.py:40 main | step(model, batch)',
  '/app/src/train.py:12 step | out = model(batch)',
  '…/torch/nn/modules/module.py:1751 _call_impl | return forward_call(*args, **kwargs)',
];

const each = (log: string, change: (line: string, index: number) => string) =>
  log.split('\n').map(change).join('\n');

describe('the same traceback, however it is logged', () => {
  test.each<readonly [how: string, log: string]>([
    ['plain', TRACEBACK],
    ['with output around it', `epoch 1\nloss: 2.3\n${TRACEBACK}\nwandb: done\n`],
    ['by torchrun', each(TRACEBACK, (line) => `[rank3]: ${line}`)],
    ['by torchrun with a tee', each(TRACEBACK, (line) => `[default3]:${line}`)],
    ['by srun', each(TRACEBACK, (line) => `3: ${line}`)],
    ['by Ray', each(TRACEBACK, (line) => `\x1b[36m(Worker pid=71, ip=10.0.0.4)\x1b[0m ${line}`)],
    ['by vLLM-like workers', each(TRACEBACK, (line) => `(Worker rank=3 pid=254) ${line}`)],
    ['by docker compose', each(TRACEBACK, (line) => `trainer-1  | ${line}`)],
    [
      'by kubernetes, with the time of each line',
      each(TRACEBACK, (line, index) => `2026-01-02T03:04:${10 + index}.123456789Z stderr F ${line}`),
    ],
    [
      'by a logger that dates each line',
      each(TRACEBACK, (line, index) => `2026-01-02 03:04:${10 + index},123 [ERROR] train: ${line}`),
    ],
    [
      'by a logger that dates the first line only',
      `2026-01-02 03:04:05,678 - train - ERROR - step failed\n${TRACEBACK}`,
    ],
    ['after the logger’s words on the same line', `ERROR 03:04:05 ${TRACEBACK}`],
    ['by syslog', each(TRACEBACK, (line, index) => `Jan  2 03:04:${10 + index} node7 python[71]: ${line}`)],
    [
      'in the colours of Python 3.13',
      TRACEBACK.replaceAll(
        /File "([^"]+)", line (\d+), in (\w+)/g,
        'File \x1b[35m"$1"\x1b[0m, line \x1b[35m$2\x1b[0m, in \x1b[35m$3\x1b[0m',
      ),
    ],
    [
      'with a clock that counts seconds',
      each(TRACEBACK, (line, index) => `[17000000${10 + index}.25] node7 ${line}`),
    ],
    [
      'in the files of docker',
      each(TRACEBACK, (line) => JSON.stringify({ log: `${line}\n`, stream: 'stderr' })),
    ],
    [
      'in one line of JSON',
      JSON.stringify({ level: 'error', exc_info: `\x1b[31m${TRACEBACK}\x1b[0m`, run: 7 }),
    ],
    ['as a string', `worker failed: '${TRACEBACK.replaceAll('\n', '\\n')}'`],
    [
      'in the table of torchrun',
      `Root Cause (first observed failure):\n[0]:\n  exitcode  : 1 (pid: 71)\n  traceback : ${each(TRACEBACK, (line, index) => (index === 0 ? line : `  ${line}`))}`,
    ],
    ['in an exception group', each(TRACEBACK, (line) => `  | ${line}`)],
    ['of an older PyTorch', TRACEBACK.replace('torch.OutOfMemoryError', 'torch.cuda.OutOfMemoryError')],
    [
      'with a statement of several lines',
      TRACEBACK.replace(
        '    out = model(batch)\n          ^^^^^^^^^^^^\n',
        '    out = model(batch)\n    ...<2 lines>...\n    )\n    ^\n',
      ),
    ],
    [
      'with a recursion cut short',
      TRACEBACK.replace('torch.OutOf', '  [Previous line repeated 12 more times]\ntorch.OutOf'),
    ],
  ])('%s', (_, log) => {
    expect(trail(log)).toEqual(TRAIL);
    expect(reading(log)).toHaveLength(1);
    expect(reading(log)[0]).toMatchObject({ memory: 'GPU', who: 'CUDA', times: 1 });
    expect(reading(log)[0]?.figures.tried).toBe(2.5 * 2 ** 30);
  });

  test('Windows paths', () => {
    const log = TRACEBACK.replaceAll('/app/src/train.py', 'D:\\code\\src\\train.py');
    expect(trail(log)[1]).toBe('D:/code/src/train.py:12 step | out = model(batch)');
  });

  test('IPython', () => {
    const log = `---------------------------------------------------------------------------
OutOfMemoryError                          Traceback (most recent call last)
Cell In[7], line 3
      1 for batch in loader:
----> 3     step(model, batch)

File ~/work/train.py:12, in step(model, batch)
     10 def step(model, batch):
     11     model.train()
---> 12     out = model(batch)
     13     return out.loss

OutOfMemoryError: ${MESSAGE}`;
    expect(trail(log)).toEqual([
      'In[7]:3 <module> | step(model, batch)',
      '~/work/train.py:12 step | out = model(batch)',
    ]);
  });

  test.each<readonly [how: string, frame: string]>([
    ['IPython', 'Cell In[7], line 12, in step(model, batch)'],
    ['IPython 8.0', 'Input In [7], in step(model, batch)'],
    ['IPython 7', '<ipython-input-7-5a9b3f2c> in step(model, batch)'],
    ['Colab', '/tmp/ipython-input-7-3417.py in step(model, batch)'],
    ['IPython in colours', 'Cell \x1b[0;32mIn[7], line 12\x1b[0m, in \x1b[0;36mstep\x1b[0;34m(model)\x1b[0m'],
  ])('a cell of a notebook, by %s', (_, frame) => {
    const log = `${frame}\n     11     model.train()\n---> 12     out = model(batch)\n\nOutOfMemoryError: ${MESSAGE}`;
    expect(trail(log)).toEqual(['In[7]:12 step | out = model(batch)']);
  });

  test.each<readonly [how: string, frame: string, path: string]>([
    ['IPython 8.0', 'Input In [7], in <cell line: 12>()', 'In[7]'],
    ['IPython 7', '<ipython-input-7-5a9b3f2c> in <module>', 'In[7]'],
    ['ipykernel', '/tmp/ipykernel_71/3417.py in <module>', 'In[]'],
    ['a script of a notebook', '  File "/tmp/ipykernel_71/3417.py", line 12, in <module>', 'In[]'],
  ])('the top of a cell, by %s', (_, frame, path) => {
    const log = `${frame}\n---> 12 out = model(batch)\n\nOutOfMemoryError: ${MESSAGE}`;
    expect(trail(log)).toEqual([`${path}:12 <module> | out = model(batch)`]);
  });

  test('an older IPython', () => {
    const log = `/work/train.py in step(model, batch)
     10 def step(model, batch):
     11     model.train()
---> 12     out = model(batch)
     13     return out.loss

OutOfMemoryError: ${MESSAGE}`;
    expect(trail(log)).toEqual(['/work/train.py:12 step | out = model(batch)']);
  });

  test('Rich, which breaks the message in lines', () => {
    const log = `╭───────────── Traceback (most recent call last) ─────────────╮
│ /app/src/train.py:12 in step                                │
│                                                             │
│    11     model.train()                                     │
│ ❱  12     out = model(batch)                                │
│    13     return out.loss                                   │
╰─────────────────────────────────────────────────────────────╯
${MESSAGE.replace('CUDA', 'OutOfMemoryError: CUDA').replaceAll('GiB ', 'GiB\n')}`;
    expect(trail(log)).toEqual(['/app/src/train.py:12 step | out = model(batch)']);
    expect(reading(log)[0]?.figures).toEqual({
      tried: 2.5 * 2 ** 30,
      capacity: 23.5 * 2 ** 30,
      free: 2 ** 30,
      allocated: 20 * 2 ** 30,
      unallocated: 2 ** 29,
      device: 1,
    });
  });
});

describe('several', () => {
  test('ranks whose lines are mixed up are told apart, and told once', () => {
    const ranks = [0, 1, 2, 3].map((rank) => TRACEBACK.split('\n').map((line) => `[rank${rank}]: ${line}`));
    const mixed = (ranks[0] ?? []).flatMap((_, index) => ranks.map((lines) => lines[index]));
    const found = reading(mixed.join('\n'));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ times: 4, ranks: ['rank 0', 'rank 1', 'rank 2', 'rank 3'] });
    expect(trail(mixed.join('\n'))).toEqual(TRAIL);
  });

  test('a frame behind the statement of another process', () => {
    const log = TRACEBACK.replace('step(model, batch)\n  File', 'step(model, batch)  File');
    expect(reading(log)[0]?.frames.map(({ name }) => name)).toEqual(['main', 'step', '_call_impl']);
  });

  test('places are told apart, the most frequent first', () => {
    const other = TRACEBACK.replaceAll('step', 'evaluate');
    const found = reading([TRACEBACK, other, 'again', other].join('\n'));
    expect(found.map(({ times, frames }) => [times, frames[1]?.name])).toEqual([
      [2, 'evaluate'],
      [1, 'step'],
    ]);
  });

  test('a traceback of something else is not taken for it', () => {
    const broken =
      'Traceback (most recent call last):\n  File "/app/io.py", line 3, in read\n    open(path)\n';
    expect(trail(`${broken}FileNotFoundError: [Errno 2] no such file\n${TRACEBACK}`)).toEqual(TRAIL);
    expect(reading(`${broken}KeyError: 'memory'\n`)).toEqual([]);
  });

  test('a traceback that was cut off does not lend its frames to the next', () => {
    const cut = 'Traceback (most recent call last):\n  File "/app/io.py", line 3, in read\n    open(path)\n';
    expect(trail(cut + TRACEBACK)).toEqual(TRAIL);
  });
});

describe('chained errors', () => {
  const cause = `Traceback (most recent call last):
  File "/app/train.py", line 30, in run_epoch
    step(model, batch)
  File "/app/train.py", line 12, in step
    out = model(batch)
torch.OutOfMemoryError: ${MESSAGE}
`;
  const outer = `Traceback (most recent call last):
  File "/app/train.py", line 90, in <module>
    main()
  File "/app/train.py", line 80, in main
    run_epoch(model)
  File "/app/train.py", line 32, in run_epoch
    raise RuntimeError("epoch failed") from error
RuntimeError: epoch failed`;

  test.each([
    'The above exception was the direct cause of the following exception:',
    'During handling of the above exception, another exception occurred:',
  ])('%s', (words) => {
    const found = reading(`${cause}\n${words}\n\n${outer}`);
    expect(found).toHaveLength(1);
    expect(found[0]?.frames.map(({ name }) => name)).toEqual(['<module>', 'main', 'run_epoch', 'step']);
    expect(found[0]?.line).toBe(6);
  });

  test.each(['torch.OutOfMemoryError: Caught OutOfMemoryError', 'RuntimeError: Caught RuntimeError'])(
    'in a worker or a replica: %s',
    (error) => {
      const log = `Traceback (most recent call last):
  File "/app/main.py", line 9, in run
    out = parallel(batch)
  File "${PACKAGES}/torch/_utils.py", line 733, in reraise
    raise exception
${error} in replica 0 on device 0.
Original ${TRACEBACK}
`;
      const found = reading(log);
      expect(found).toHaveLength(1);
      expect(found[0]?.frames.map(({ name }) => name)).toEqual([
        'run',
        'reraise',
        'main',
        'step',
        '_call_impl',
      ]);
      expect(found[0]?.figures.tried).toBe(2.5 * 2 ** 30);
    },
  );

  test('memory that ran out while another error was handled', () => {
    const first =
      'Traceback (most recent call last):\n  File "/app/a.py", line 1, in load\n    x[1]\nKeyError: 1\n';
    const log = `${first}\nDuring handling of the above exception, another exception occurred:\n\n${TRACEBACK}`;
    expect(trail(log)).toEqual(TRAIL);
  });
});

describe('messages', () => {
  const under = (error: string) => TRACEBACK.replace(/torch\.OutOfMemoryError.*/, error);

  test.each<readonly [error: string, memory: string, who: string, tried: number | undefined]>([
    [
      'RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 6.00 GiB already allocated; 10.00 MiB free; 6.50 GiB reserved in total by PyTorch)',
      'GPU',
      'CUDA',
      20 * 2 ** 20,
    ],
    ['RuntimeError: CUDA error: out of memory', 'GPU', 'CUDA', undefined],
    ['torch.AcceleratorError: CUDA error: out of memory', 'GPU', 'CUDA', undefined],
    [
      'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 63.98 GiB of which 1.00 GiB is free.',
      'GPU',
      'HIP',
      2 ** 31,
    ],
    [
      'torch.OutOfMemoryError: XPU out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 15.91 GiB.',
      'GPU',
      'XPU',
      2 ** 30,
    ],
    [
      'RuntimeError: NPU out of memory. Tried to allocate 1.00 GiB (NPU 0; 60.00 GiB total capacity)',
      'GPU',
      'NPU',
      2 ** 30,
    ],
    [
      'RuntimeError: MPS backend out of memory (MPS allocated: 18.05 GB, other allocations: 64.00 KB, max allowed: 18.13 GB). Tried to allocate 256 bytes on shared pool.',
      'GPU',
      'MPS',
      256,
    ],
    [
      'RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`',
      'GPU',
      'cuBLAS',
      undefined,
    ],
    ['RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED', 'GPU', 'cuDNN', undefined],
    ['RuntimeError: CUDA out of memory.', 'GPU', 'CUDA', undefined],
    [
      "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 137438953472 bytes. Error code 12 (Cannot allocate memory)",
      'host',
      'the host',
      2 ** 37,
    ],
    [
      'RuntimeError: [enforce fail at alloc_cpu.cpp:80] data. DefaultCPUAllocator: not enough memory: you tried to allocate 1024 bytes.',
      'host',
      'the host',
      1024,
    ],
    [
      'numpy.core._exceptions._ArrayMemoryError: Unable to allocate 2.00 GiB for an array with shape (16384, 16384)',
      'host',
      'the host',
      2 ** 31,
    ],
    ['MemoryError', 'host', 'the host', undefined],
    ['RuntimeError: DataLoader worker (pid 71) is killed by signal: Killed. ', 'host', 'the host', undefined],
  ])('%s', (error, memory, who, tried) => {
    const [found, ...others] = reading(under(error));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ memory, who });
    expect(found?.figures.tried).toBe(tried);
    expect(found?.frames).toHaveLength(3);
  });

  test('NCCL tells it lines later', () => {
    const [found, ...others] = reading(
      under(
        'torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/NCCLUtils.cpp:94, unhandled cuda error\n' +
          'ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\n' +
          "Cuda failure 2 'out of memory'\nException raised from create at NCCLUtils.cpp:94",
      ),
    );
    expect(others).toEqual([]);
    expect(found).toMatchObject({ memory: 'GPU', who: 'NCCL' });
    expect(found?.frames).toHaveLength(3);
  });

  test('a message without a traceback still counts', () => {
    expect(reading(`WARNING: skipping a batch: ${MESSAGE}\n`)).toMatchObject([
      { frames: [], line: 1, times: 1 },
    ]);
    expect(reading('slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n')).toMatchObject([
      { memory: 'host', frames: [] },
    ]);
  });

  test('an error that is told again without its traceback is the same', () => {
    const later = 'step 7\n'.repeat(100);
    expect(reading(`${TRACEBACK}\n${later}ERROR: ${MESSAGE}\n`)).toMatchObject([{ line: 9, times: 1 }]);
    const other = MESSAGE.replace('2.50 GiB', '9.00 GiB');
    expect(reading(`${TRACEBACK}\n${later}ERROR: ${other}\n`)).toHaveLength(2);
  });

  test('a process that was killed counts where nothing says more', () => {
    const killed = '  exitcode  : -9 (pid: 71)\n  traceback : Signal 9 (SIGKILL) received by PID 71\n';
    expect(reading(killed)).toMatchObject([{ memory: 'host', isGuess: true, times: 2 }]);
    expect(reading(`${TRACEBACK}\n${killed}`)).toMatchObject([{ memory: 'GPU' }]);
  });

  test.each([
    'npm ERR! Killed',
    'npm error Killed',
    'npm ERR! errno 137',
    'make: *** [Makefile:3: train] Killed',
    'make: *** [Makefile:3: train] Error 137',
    'error Command failed with signal "SIGKILL".',
    'Command terminated by signal 9',
    'Process finished with exit code 137 (interrupted by signal 9: SIGKILL)',
    'my-container exited with code 137',
  ])('“%s” is how whoever started it says that it was killed', (line) => {
    expect(reading(`epoch 3\n${line}\n`)).toMatchObject([{ memory: 'host', isGuess: true }]);
  });

  test.each([
    'Killed 3 stale workers',
    'step 137: loss 0.9',
    'errno 13',
    'signal 95 received',
    'Error 137 in sample',
  ])('“%s” is no process that was killed', (line) => expect(reading(`${line}\n`)).toEqual([]));

  test.each([
    'If you see CUDA out of memory, lower the batch size.',
    'catching torch.OutOfMemoryError is on',
    'OutOfResources: out of resource: shared memory, Required: 131072',
    'GPU memory: 23 GiB, exit code -1',
  ])('words that are no error: %s', (line) => {
    expect(reading(`${line}\n`)).toEqual([]);
  });

  test('the source of a frame is not an error', () => {
    const log = `Traceback (most recent call last):
  File "/app/train.py", line 3, in step
    raise RuntimeError("CUDA out of memory. Tried to allocate 1.00 GiB")
ValueError: no`;
    expect(reading(log)).toEqual([]);
  });
});

test('a sea of progress lines hides nothing', () => {
  const noise = Array.from({ length: 200_000 }, (_, step) => `step ${step} loss 2.31 memory 20.1 GiB`).join(
    '\n',
  );
  expect(trail(`${noise}\n${TRACEBACK}\n${noise}`)).toEqual(TRAIL);
});

describe('hostile logs take no time', () => {
  const long = 60_000;
  test.each<readonly [what: string, line: string]>([
    ['dashes', '-'.repeat(long)],
    ['digits', `MemoryError: Tried to allocate ${'9'.repeat(long)}`],
    ['files', 'File a.py '.repeat(long / 10)],
    ['quotes', 'File "'.repeat(long / 6)],
    ['escapes', '\x1b]'.repeat(long / 2)],
    ['blanks', `x${' '.repeat(long)}y memory`],
  ])('%s', (_, line) => {
    const start = process.cpuUsage();
    reading(`${TRACEBACK.split('\n').slice(0, 4).join('\n')}\n${`${line}\n`.repeat(5)}`);
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(2);
  });

  test('as many processes as lines', () => {
    const log = Array.from({ length: 20_000 }, (_, index) => `<${index}>   File "/app/a.py", line 3, in f`);
    const start = process.cpuUsage();
    expect(reading([...log, TRACEBACK].join('\n'))).toHaveLength(1);
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(10);
  });
});

describe('tracebacks of several processes without a label', () => {
  const lines = (gpu: number) => [
    'Traceback (most recent call last):',
    '  File "/app/train.py", line 9, in <module>',
    '    main()',
    '  File "/app/train.py", line 5, in main',
    '    loss.backward()',
    `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU ${gpu} has a total capacity of 24.00 GiB of which 1.00 GiB is free.`,
  ];
  const told = (log: readonly string[]) =>
    reading(`${log.join('\n')}\n`).map(({ frames, times, devices, isMixed }) => [
      frames.map(({ line, name }) => `${name} ${line}`).join(' '),
      ...[times, [...devices].sort().join(), isMixed === true],
    ]);

  test('line by line', () => {
    const both = lines(0).flatMap((line, at) => [line, lines(1)[at] ?? '']);
    expect(told(both)).toEqual([['<module> 9 main 5', 2, '0,1', true]]);
  });

  test('one begins while the other has not ended', () => {
    const [first, second] = [lines(0), lines(1)];
    const both = [...first.slice(0, 2), ...second.slice(0, 3), ...first.slice(2), ...second.slice(3)];
    expect(told(both)).toEqual([['<module> 9 main 5', 2, '0,1', true]]);
  });

  test('one after the other is none', () => {
    expect(told([...lines(0), ...lines(1)])).toEqual([['<module> 9 main 5', 2, '0,1', false]]);
  });

  test('nor is a function that calls itself', () => {
    const deep = lines(0).toSpliced(5, 0, ...lines(0).slice(3, 5));
    expect(told(deep)).toEqual([['<module> 9 main 5 main 5', 1, '0', false]]);
  });
});

test('a box of Rich: the lines of its indentation are no code, and a name may stand below a long path', () => {
  const [error] = reading(`╭──── Traceback (most recent call last) ────╮
│ /app/train.py:12 in main                  │
│                                           │
│   11 │   for x in loader:                 │
│ ❱ 12 │   │   loss = model(x)              │
│                                           │
│ /app/a/rather/long/path/net.py:7 in       │
│ forward                                   │
│                                           │
│ ❱  7 │   │   return self.inner(x)         │
╰───────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.
`);
  expect(error?.frames).toEqual([
    { path: '/app/train.py', line: 12, name: 'main', source: 'loss = model(x)' },
    { path: '/app/a/rather/long/path/net.py', line: 7, name: 'forward', source: 'return self.inner(x)' },
  ]);
});

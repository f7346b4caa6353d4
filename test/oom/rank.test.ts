import { describe, expect, test } from 'vitest';
import { type Diagnosis, diagnose, type Evidence } from '../../src/oom/diagnosis.js';
import { snapshotOf } from '../../src/oom/snapshot.js';
import type { TransformMeta } from '../../src/toolkit/contract.js';
import { findingAt, scanOf } from '../report/sample.js';
import { metaOf } from '../support/toy.js';
import { PACKAGES, reading } from './reading.js';

const TRAIN = `import torch, other

setup()


def train(model, loader):
    for batch in loader:
        keep(model(batch))
        loss(batch).backward()
    save(model)


def evaluate(model, loader):
    for batch in loader:
        collect(model(batch))


def unused():
    waste()


train(model, loader)
`;
const OTHER = 'def other():\n    far()\n';
/** Another program, which neither of them imports. */
const APART = 'alone()\n';

const METAS: readonly TransformMeta[] = [
  metaOf('leaky'),
  metaOf('peaky', { symptom: 'peak' }),
  metaOf('in-evaluation', { symptom: 'peak', moments: ['evaluation'] }),
  metaOf('in-backward', { symptom: 'peak', moments: ['backward'] }),
  metaOf('in-optimizer', { symptom: 'peak', moments: ['optimizer'] }),
  metaOf('allocator', { symptom: 'fragmentation' }),
  metaOf('slow', { symptom: 'sync' }),
  metaOf('on-the-host', { symptom: 'host-memory' }),
  metaOf('not-on-a-mac', { symptom: 'peak', notOn: ['MPS'] }),
  metaOf('in-state', { symptom: 'peak', moments: ['state'] }),
  metaOf('in-a-statement', { symptom: 'peak', lasts: 'statement' }),
  metaOf('in-a-call', { symptom: 'peak', lasts: 'call' }),
  metaOf('to-the-host', { symptom: 'peak', movesTo: 'host' }),
  metaOf('measures', { symptom: 'peak', moments: [] }),
];

type Place = readonly [id: string, snippet: string, file?: 'train.py' | 'other.py' | 'apart.py'];

function diagnosisOf(places: readonly Place[], evidence: Evidence): Diagnosis {
  const texts = { 'train.py': TRAIN, 'other.py': OTHER, 'apart.py': APART };
  const scans = (['train.py', 'other.py', 'apart.py'] as const).map((path) =>
    scanOf(
      path,
      texts[path],
      places
        .filter(([, , file = 'train.py']) => file === path)
        .map(([id, snippet]) =>
          findingAt(texts[path], snippet, {
            id,
            message: 'm',
            ...(snippet === 'waste()' && { refusal: 'it is fine' }),
          }),
        ),
    ),
  );
  return diagnose(
    evidence,
    {
      paths: new Map([
        ['train.py', '/home/me/train.py'],
        ['other.py', '/home/me/other.py'],
        ['apart.py', '/home/me/apart.py'],
      ]),
      text: (name) => new Map(Object.entries(texts)).get(name),
    },
    scans,
    (id) => METAS.find((meta) => meta.id === id) ?? metaOf(id),
  );
}

const order = ({ ranked }: Diagnosis) =>
  ranked.map(({ finding, because }) => `${finding.transform}: ${because}`);

const IN_TORCH = `  File "${PACKAGES}/torch/autograd/__init__.py", line 347, in backward\n    _engine_run_backward(`;
const figures = (unallocated = '0.10 GiB') =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 1.00 GiB is free. Of the allocated memory 16.00 GiB is allocated by PyTorch, and ${unallocated} is reserved by PyTorch but unallocated.`;

const logged = (log: string): Evidence => ({ log: { name: 'run.log', outOfMemory: reading(log) } });

const BACKWARD = `Traceback (most recent call last):
  File "/app/train.py", line 22, in <module>
    train(model, loader)
  File "/app/train.py", line 9, in train
    loss(batch).backward()
${IN_TORCH}
${figures()}`;

describe('by a traceback', () => {
  test('what does nothing on the device that ran out explains nothing', () => {
    const places: readonly Place[] = [
      ['not-on-a-mac', 'backward'],
      ['peaky', 'setup()'],
    ];
    const mac = BACKWARD.replace(
      /torch\.OutOfMemoryError.*/,
      'RuntimeError: MPS backend out of memory (MPS allocated: 17.36 GB, other allocations: 402.31 MB, max allowed: 18.13 GB). Tried to allocate 512.00 MB on private pool.',
    );
    expect(order(diagnosisOf(places, logged(mac)))).toEqual([
      'peaky: in frame 1 of the traceback, the top of the file',
      'not-on-a-mac: does nothing on MPS',
    ]);
    expect(order(diagnosisOf(places, logged(BACKWARD)))[0]).toBe(
      'not-on-a-mac: on the line of frame 2 of the traceback, `train`',
    );
  });

  test('what another program does explains nothing', () => {
    const found = diagnosisOf(
      [
        ['in-backward', 'alone()', 'apart.py'],
        ['in-backward', 'far()', 'other.py'],
      ],
      logged(BACKWARD),
    );
    expect(order(found)).toEqual([
      'in-backward: memory ran out in the backward pass',
      'in-backward: no file of the traceback imports it',
    ]);
    expect([...found.related].map(({ scan }) => scan.file.path)).toEqual(['other.py']);
  });

  test('same line, same function, on the stack, same file, of the program, not run yet, of no use, left alone', () => {
    const places: readonly Place[] = [
      ['slow', 'loss(batch)'],
      ['leaky', 'far()', 'other.py'],
      ['leaky', 'waste()'],
      ['leaky', 'collect'],
      ['leaky', 'save'],
      ['leaky', 'setup()'],
      ['leaky', 'keep'],
      ['leaky', 'backward'],
      ['on-the-host', 'model(batch)'],
      ['measures', 'keep'],
    ];
    expect(order(diagnosisOf(places, logged(BACKWARD)))).toEqual([
      'leaky: on the line of frame 2 of the traceback, `train`',
      'leaky: in frame 2 of the traceback, `train`',
      'leaky: in frame 1 of the traceback, the top of the file',
      'leaky: in the file of frame 2 of the traceback',
      'leaky: what it leaves behind stays from step to step',
      'leaky: it had not run yet',
      'measures: frees no memory itself',
      'on-the-host: frees no GPU memory: it is about host memory',
      'slow: frees no GPU memory: it is about speed',
      'leaky: in the file of frame 2 of the traceback',
    ]);
  });

  test('ranks count findings, and sites that were left alone have none', () => {
    const { ranked, related } = diagnosisOf(
      [
        ['leaky', 'waste()'],
        ['leaky', 'far()', 'other.py'],
        ['leaky', 'keep'],
      ],
      logged(BACKWARD),
    );
    expect(ranked.map(({ rank }) => rank)).toEqual([1, 2, undefined]);
    expect([...related].map(({ rank }) => rank)).toEqual([1, 2, undefined]);
  });

  test('what is about the moment comes first among equals; what is about another is not taken for near', () => {
    const places: readonly Place[] = [
      ['in-optimizer', 'backward'],
      ['in-optimizer', 'evaluate'],
      ['leaky', 'keep'],
      ['in-backward', 'model(batch)'],
      ['in-backward', 'far()', 'other.py'],
      ['leaky', 'collect'],
    ];
    expect(order(diagnosisOf(places, logged(BACKWARD)))).toEqual([
      'in-backward: in frame 2 of the traceback, `train`',
      'leaky: in frame 2 of the traceback, `train`',
      'leaky: in the file of frame 2 of the traceback',
      'in-backward: memory ran out in the backward pass',
      'in-optimizer: it frees memory in the step of the optimizer, and the run ended in the backward pass',
      'in-optimizer: it frees memory in the step of the optimizer, and the run ended in the backward pass',
    ]);
  });

  test('fragmentation leads where the memory was there', () => {
    const places: readonly Place[] = [
      ['leaky', 'backward'],
      ['allocator', 'setup()'],
      ['allocator', 'far()', 'other.py'],
    ];
    const fragmented = diagnosisOf(places, logged(BACKWARD.replace('0.10 GiB', '5.00 GiB')));
    expect(order(fragmented)).toEqual([
      'allocator: much of the memory is reserved but unallocated; in frame 1 of the traceback, the top of the file',
      'leaky: on the line of frame 2 of the traceback, `train`',
      'allocator: its file is not in the traceback',
    ]);
    expect(fragmented.errors[0]?.hints[0]).toBe(
      '5.00 GiB is reserved but unallocated, and would have held the 2.00 GiB that was asked for: the memory is fragmented. See whether `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` in the environment helps (torch 2.1 or newer).',
    );
    expect(order(diagnosisOf(places, logged(BACKWARD)))).toEqual([
      'leaky: on the line of frame 2 of the traceback, `train`',
      'allocator: little of the memory is reserved and unallocated',
      'allocator: little of the memory is reserved and unallocated',
    ]);
    expect(order(diagnosisOf(places, logged(BACKWARD.replace(/ Tried.*/, '')))).slice(0, 2)).toEqual([
      'leaky: on the line of frame 2 of the traceback, `train`',
      'allocator: nothing says that the memory is fragmented',
    ]);
  });

  test('an evaluation', () => {
    const log = `Traceback (most recent call last):
  File "/app/train.py", line 15, in evaluate
    collect(model(batch))
  File "${PACKAGES}/torch/nn/modules/module.py", line 1751, in _call_impl
    return forward_call(*args, **kwargs)
${figures()}`;
    const found = diagnosisOf(
      [
        ['in-backward', 'collect'],
        ['peaky', 'evaluate'],
        ['in-evaluation', 'far()', 'other.py'],
      ],
      logged(log),
    );
    expect(found.errors[0]?.moments).toEqual(['evaluation']);
    expect(order(found)).toEqual([
      'peaky: in frame 1 of the traceback, `evaluate`',
      'in-evaluation: memory ran out in an evaluation',
      'in-backward: it frees memory in the backward pass, and the run ended in an evaluation',
    ]);
  });

  test('of two tracebacks, each is named', () => {
    const log = `${BACKWARD}\n${BACKWARD}\nTraceback (most recent call last):\n  File "/app/train.py", line 15, in evaluate\n    collect(model(batch))\n${figures()}`;
    expect(order(diagnosisOf([['leaky', 'collect']], logged(log)))).toEqual([
      'leaky: on the line of frame 1 of traceback 2, `evaluate`',
    ]);
  });

  test('host memory', () => {
    const found = diagnosisOf(
      [
        ['peaky', 'keep'],
        ['on-the-host', 'far()', 'other.py'],
      ],
      logged('slurmstepd: Detected 1 oom_kill event\n'),
    );
    expect(order(found)).toEqual([
      'on-the-host: it was host memory that ran out',
      'peaky: frees no host memory: it is about GPU memory',
    ]);
  });

  test('tensors in host memory', () => {
    const error =
      "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.";
    const found = diagnosisOf(
      [
        ['peaky', 'keep'],
        ['allocator', 'keep'],
      ],
      logged(BACKWARD.replace(/torch\.OutOfMemoryError.*/, error)),
    );
    expect(order(found)).toEqual([
      'peaky: in frame 2 of the traceback, `train`',
      'allocator: frees no host memory: it is about GPU memory',
    ]);
  });

  test('besides what stands there, what is about the moment, and what a step leaves behind', () => {
    const found = diagnosisOf(
      [
        ['in-backward', 'far()', 'other.py'],
        ['leaky', 'far()', 'other.py'],
      ],
      logged(BACKWARD),
    );
    expect([...found.related].map(({ finding }) => finding.transform)).toEqual(['in-backward', 'leaky']);
  });

  const AT = (line: number, source: string, ...library: readonly string[]) =>
    `Traceback (most recent call last):
  File "/app/train.py", line 22, in <module>
    train(model, loader)
  File "/app/train.py", line ${line}, in train
    ${source}
${library.map((each) => `  File "${PACKAGES}/${each}\n    pass\n`).join('')}${figures()}`;

  test('what is held only while its statement runs, or its function, is gone afterwards', () => {
    const places: readonly Place[] = [
      ['in-a-statement', 'keep'],
      ['in-a-call', 'keep'],
      ['in-a-call', 'collect'],
    ];
    expect(order(diagnosisOf(places, logged(BACKWARD)))).toEqual([
      'in-a-call: in frame 2 of the traceback, `train`',
      'in-a-statement: what it frees is gone when its statement is done',
      'in-a-call: what it frees is gone when its function returns',
    ]);
    const there = diagnosisOf(places, logged(AT(8, 'keep(model(batch))')));
    expect(order(there).slice(0, 2).sort()).toEqual([
      'in-a-call: on the line of frame 2 of the traceback, `train`',
      'in-a-statement: on the line of frame 2 of the traceback, `train`',
    ]);
  });

  test('state that is being made: neither what the step computes with nor what steps leave behind', () => {
    const found = diagnosisOf(
      [
        ['in-optimizer', 'keep'],
        ['leaky', 'keep'],
        ['in-state', 'keep'],
      ],
      logged(AT(9, 'loss(batch).backward()', 'torch/optim/adam.py", line 96, in _init_group')),
    );
    expect(found.errors[0]?.moments).toEqual(['state']);
    expect(order(found)).toEqual([
      'in-state: in frame 2 of the traceback, `train`',
      'leaky: no step had run yet that could have left something behind',
      'in-optimizer: it frees memory in the step of the optimizer, and the run ended where the optimizer makes its state',
    ]);
  });

  test('where no frame says what was done, it was nothing that has frames of its own', () => {
    const found = diagnosisOf(
      [
        ['in-optimizer', 'keep'],
        ['in-evaluation', 'keep'],
      ],
      logged(AT(8, 'keep(model(batch))')),
    );
    expect(order(found)).toEqual([
      'in-evaluation: on the line of frame 2 of the traceback, `train`',
      'in-optimizer: it frees memory in the step of the optimizer, which no frame shows',
    ]);
  });

  test('what moves memory to the host is no cure for the host', () => {
    const error =
      "RuntimeError: [enforce fail at alloc_cpu.cpp:114] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.";
    const places: readonly Place[] = [['to-the-host', 'keep']];
    expect(order(diagnosisOf(places, logged(BACKWARD.replace(/torch\.OutOfMemoryError.*/, error))))).toEqual([
      'to-the-host: puts more into host memory, which ran out',
    ]);
    expect(diagnosisOf(places, logged(BACKWARD)).related.size).toBe(1);
  });

  test('what a loop further out may have run before has run', () => {
    const twice = BACKWARD.replace(
      'File "/app/train.py", line 22, in <module>\n    train(model, loader)',
      `File "${PACKAGES}/torch/multi/loop.py", line 3, in forever\n    call()`,
    );
    expect(order(diagnosisOf([['leaky', 'save']], logged(BACKWARD)))).toEqual(['leaky: it had not run yet']);
    expect(order(diagnosisOf([['leaky', 'save']], logged(twice)))).toEqual([
      'leaky: in frame 2 of the traceback, `train`',
    ]);
    // But what a call before this one made is gone with it.
    expect(order(diagnosisOf([['in-a-call', 'save']], logged(twice)))).toEqual([
      'in-a-call: this call had not come to it, and what it frees is gone when its function returns',
    ]);
    expect(order(diagnosisOf([['in-a-call', 'keep']], logged(twice)))).toEqual([
      'in-a-call: in frame 2 of the traceback, `train`',
    ]);
  });

  test('frames that are in none of the files', () => {
    const found = diagnosisOf(
      [['leaky', 'keep']],
      logged(BACKWARD.replaceAll('/app/train.py', '/app/elsewhere.py')),
    );
    expect(order(found)).toEqual(['leaky: no frame is in the files that were checked']);
    expect(found.related.size).toBe(0);
    expect(found.errors[0]?.hints.at(-1)).toBe(
      'None of its files is among those that were checked: run memfix where `/app/elsewhere.py` is.',
    );
  });
});

describe('hints', () => {
  const NO_TRACEBACK = expect.stringMatching(/^The log has no traceback of it/);
  const hintsOf = (message: string) => diagnosisOf([], logged(`RuntimeError: ${message}`)).errors[0]?.hints;

  test('a tensor that no device of that kind could hold', () => {
    expect(
      hintsOf(
        'CUDA out of memory. Tried to allocate 96.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 12.00 GiB is free.',
      ),
    ).toEqual([
      expect.stringMatching(/^One tensor of 96\.00 GiB is more than the whole device has/),
      NO_TRACEBACK,
    ]);
  });

  test('memory that others hold', () => {
    expect(
      hintsOf(
        'CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 24.00 GiB of which 0.50 GiB is free. Of the allocated memory 4.00 GiB is allocated by PyTorch, and 0.50 GiB is reserved by PyTorch but unallocated.',
      ),
    ).toEqual([expect.stringMatching(/^19\.00 GiB is in use outside of PyTorch's allocator/), NO_TRACEBACK]);
  });

  test('compiled code', () => {
    const log = BACKWARD.replace(
      IN_TORCH,
      '  File "/tmp/torchinductor_me/ab/cab.py", line 70, in call\n    buf0 = empty()',
    );
    const [error] = diagnosisOf([], logged(log)).errors;
    expect(error?.hints).toContain('It was in compiled code, whose frames stand for no line of yours.');
    expect(error?.frames.map(({ isLibrary }) => isLibrary)).toEqual([false, false, true]);
  });

  test('only that, where there is nothing to say', () => {
    expect(hintsOf('CUDA out of memory. Tried to allocate 20.00 MiB')).toEqual([NO_TRACEBACK]);
  });
});

describe('by a snapshot', () => {
  const GIB = 2 ** 30;
  const content = snapshotOf({
    reserved: 20 * GIB,
    live: 16 * GIB,
    unrecorded: 0,
    frames: [
      ['/app/train.py', 22, '<module>'],
      ['/app/train.py', 8, 'train'],
      ['/app/train.py', 15, 'evaluate'],
      [`${PACKAGES}/torch/nn/functional.py`, 10, 'linear'],
      ['/app/other.py', 2, 'other'],
    ],
    stacks: [
      [12 * GIB, 96, [0, 1, 3]],
      [3.95 * GIB, 10, [0, 2, 3]],
      [0.05 * GIB, 1, [4]],
    ],
    failed: [{ device: 0, tried: GIB, free: 0, frames: [0, 1, 3] }],
  });
  const snapshot = { name: 'x.pickle', content };

  test('the more was allocated, the nearer; crumbs say nothing', () => {
    const quiet = { name: 'x.pickle', content: { ...content, outOfMemory: [] } };
    const found = diagnosisOf(
      [
        ['leaky', 'collect'],
        ['leaky', 'far()', 'other.py'],
        ['leaky', 'backward'],
        ['leaky', 'keep'],
        ['leaky', 'setup()'],
      ],
      { snapshot: quiet },
    );
    expect(order(found)).toEqual([
      'leaky: 12.00 GiB of what is live was allocated on its line',
      'leaky: 3.95 GiB of what is live was allocated on its line',
      'leaky: 12.00 GiB of what is live was allocated in `train`',
      'leaky: 15.95 GiB of what is live was allocated below the top of the file',
      'leaky: hardly anything that is live was allocated there',
    ]);
    expect(found.snapshot?.sites.map(({ frame, bytes }) => [frame.name, bytes / GIB])).toEqual([
      ['train', 12],
      ['evaluate', 3.95],
      ['other', 0.05],
    ]);
  });

  test('the allocation that failed is in it', () => {
    const found = diagnosisOf([['leaky', 'keep']], { snapshot });
    expect(order(found)).toEqual([
      'leaky: on the line of frame 2 of the traceback, `train`; 12.00 GiB of what is live was allocated on its line',
    ]);
    expect(found.errors[0]).toMatchObject({
      source: 'x.pickle',
      error: { figures: { tried: GIB, free: 0 } },
    });
  });
});

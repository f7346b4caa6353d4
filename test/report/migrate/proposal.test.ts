import { expect, test } from 'vitest';
import {
  DEFAULT_BODY,
  DEFAULT_TITLE,
  type ProposalFacts,
  proposalProblem,
  proposalText,
} from '../../../src/report/migrate/proposal.js';
import type { Left, Planned } from '../../../src/report/migrate/record.js';
import { metaOf } from '../../support/toy.js';

const PLANNED: Planned = {
  ...{ key: '', at: '', checked: 9, files: 2, remaining: 1, refused: 40, skipped: [], bugs: [], steps: [] },
  fixes: [
    {
      transform: 'one',
      findings: 3,
      files: ['a.py', 'b`c.py'],
      numerics: 'rounding',
      unsafe: 2,
      questions: ['Is `x` only read?'],
    },
    { transform: 'two', findings: 1, files: ['a.py'], numerics: 'bit-identical' },
  ],
  left: [
    { transform: 'two', path: 'x.py', line: 7, kind: 'refused', because: 'it is returned' },
    { transform: 'one', path: 'y.py', line: 8, kind: 'unsafe', because: 'nobody else reads it' },
  ],
};

function factsWith(planned: Partial<Planned> = {}): ProposalFacts {
  return {
    record: {
      ...{ version: 1, id: 'id', name: 'acme/one', url: 'https://github.com/acme/one' },
      base: { commit: 'b4se', branch: 'main' },
      planned: { ...PLANNED, ...planned },
      pushed: { branch: 'memfix/fixes', commit: 'c0mmit' },
    },
    metas: [
      metaOf('one', {
        docs: { why: 'Because\nof @that and `@this`', does: '', refuses: [], limits: [] },
        evidence: { verdict: 'Halves the peak', measurements: [] },
      }),
    ],
    version: '1.2.3',
    choice: { select: ['one', 'two'], extendSelect: [], ignore: ['three'], unsafeFixes: true },
  };
}

const bodyOf = (planned: Partial<Planned> = {}, limit = 65_536) =>
  proposalText(DEFAULT_BODY, factsWith(planned), limit);

test('says what changes, why, how safe, what was measured, what was left, and how to do it again', () => {
  expect(proposalText(DEFAULT_TITLE, factsWith(), 256)).toBe('Fix GPU memory waste: 4 fixes in 2 files');
  const body = bodyOf();
  for (const words of [
    '4 fixes in 2 files: 3 free memory, 1 tidies up. Made by memfix 1.2.3 upon b4se.',
    '- **`one`**, 3 fixes: A toy called one. In `a.py`, `` b`c.py ``.',
    '- `one`: Because of @\u200bthat and `@this`.',
    '- `one`: results may differ by rounding (rounding); 2 of 3 rest on what the code does not prove, and are right where you can answer yes:\n  - **Is `x` only read?**',
    '- `two`: results stay the same to the last bit (bit-identical); the code proves every precondition.',
    '- `one`: Halves the peak.',
    '40 places where a fix would not be right, and was refused:\n\n- `x.py:7`, `two`: left alone because it is returned.\n- and 39 more',
    '1 place for a person to decide; `memfix check` shows them in full:\n\n- `y.py:8`, `one`: nobody else reads it.',
    'git checkout b4se\nnpx memfix@1.2.3 apply --strict-config --select one,two --ignore three --unsafe-fixes .\n',
  ])
    expect(body).toContain(words);
  expect(body).not.toMatch(/\{\w+\}/);
  expect(body).toContain('git diff c0mmit  # shows no difference\n');
  expect(bodyOf({ rejected: 2 })).toContain('# shows what was rejected for this branch: 2 fixes\n');
  expect(bodyOf({ left: [], refused: 0, remaining: 0 })).toContain('left as it is\nNothing.\n');
});

test('is cut where a forge takes no more, between lines and never within a fence', () => {
  const long = (because: string): Left => ({
    transform: 'two',
    path: 'x.py',
    line: 1,
    kind: 'refused',
    because,
  });
  const left = Array.from({ length: 30 }, () => long('x'.repeat(4000)));
  const body = bodyOf({ left });
  expect(body.length).toBeLessThanOrEqual(65_536);
  expect(body).toMatch(/x\.\n\n\(Cut here: .*\)\n$/);
  const facts = factsWith();
  for (let limit = 150; limit < bodyOf().length; limit += 7) {
    const text = proposalText(DEFAULT_BODY, facts, limit);
    expect(text.length).toBeLessThanOrEqual(limit);
    expect((text.match(/^```/gm) ?? []).length % 2).toBe(0);
  }
  expect(proposalText('é'.repeat(300), facts, 256)).toBe(`${'é'.repeat(255)}…`);
  expect(proposalText('😀'.repeat(200), facts, 256).isWellFormed()).toBe(true);
});

test('knows its placeholders', () => {
  expect(proposalProblem('{count} {reproduce} { x }')).toBeUndefined();
  expect(proposalProblem('{wat}')).toContain('`{wat}`');
});

const FIX = { path: 'train.py', line: 9, transform: 'one', verdict: 'verified', because: null } as const;

test.each([
  [[FIX], ['Verified: the fix was executed']],
  [[FIX, { ...FIX, line: 12 }], ['Verified: all 2 fixes were executed']],
  [
    [FIX, { ...FIX, line: 12, verdict: 'idle', because: 'line 12 was not executed' }],
    [
      '1 of 2 fixes verified: they were executed',
      '`train.py:12`, `one`: rests on the code alone, since line 12 was not executed.',
    ],
  ],
] as const)(
  'a proof says which fixes are verified, with versions, machine and figures: %#',
  (fixes, [tier, open]) => {
    const facts = factsWith();
    const setup = {
      ...{ python: '3.12.3', torch: '2.11.0', transformers: '5.17.0', platform: 'linux', cpu: null },
      devices: ['NVIDIA H200'],
    };
    const figures = [{ label: 'GPU 0 peak allocated', unit: 'bytes', before: 4096, after: 1024 } as const];
    const proof = { setup, figures, compared: ['losses', 'gradients', 'the trained state'], runs: 4, fixes };
    const verified = { commit: 'c', command: 'prove: x', seconds: 61, proof };
    const body = proposalText(DEFAULT_BODY, { ...facts, record: { ...facts.record, verified } }, 65_536);
    expect(body).toContain(
      `- \`prove: x\`: 4 runs without and with the fixes, in 61 s.
  - ${tier}, and the run agrees with two runs without them (losses, gradients, the trained state, exit code, memory).
  - GPU 0 peak allocated 4.00 KiB → 1.00 KiB.
  - Python 3.12.3, torch 2.11.0, transformers 5.17.0, NVIDIA H200.
${open === undefined ? '' : `  - ${open}\n`}`,
    );
  },
);

import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/engine/outcome.js';
import { renderConcise } from '../../src/report/concise.js';
import { renderFull } from '../../src/report/full.js';
import { renderJson, toJson } from '../../src/report/json.js';
import { inColor, noColor } from '../../src/report/paint.js';
import type { Report, View } from '../../src/report/report.js';
import { renderStatistics } from '../../src/report/statistics.js';
import { summarize } from '../../src/report/summary.js';
import { forTerminal } from '../../src/report/terminal.js';
import { findingAt, replaceIn, SAMPLE, scanOf, TRAIN } from './sample.js';

const view: View = { paint: noColor, width: 80, verbose: false };
const NOTHING: Report = { scans: [], skipped: [], checked: 3 };

describe('full', () => {
  test('place, standing, reason, source, fix, gates, change; then notes and skipped files', () => {
    expect(renderFull(SAMPLE, view)).toBe(`\
src/train.py:11:9  detach-accumulated-loss  safe · bit-identical
  \`total_loss\` keeps every step's autograd graph alive until the epoch ends

   9 │         loss.backward()
  10 │         optimizer.step()
  11 │         total_loss += loss
     │         ^^^^^^^^^^^^^^^^^^
  12 │     return total_loss / len(loader)

  fix: Detach the loss before adding it

  @@ -8,7 +8,7 @@
           loss = model(batch).loss
           loss.backward()
           optimizer.step()
  -        total_loss += loss
  +        total_loss += loss.detach()
       return total_loss / len(loader)

src/train.py:15:1  no-grad  unsafe · bit-identical
  \`validate\` records a graph for every batch that nothing differentiates
  ? Is what \`validate\` returns only read and never differentiated?
  ? Do the hooks of \`model\` work without the graph?

  15 │ def validate(model, loader):
     │ ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  16 │     model.eval()
  17 │     for batch in loader:

  fix: Run \`validate\` without recording gradients

  @@ -12,6 +12,7 @@
       return total_loss / len(loader)


  +@torch.no_grad()
   def validate(model, loader):
       model.eval()
       for batch in loader:

src/train.py:3:1: note: unused suppression of \`no-grad\`
old/py2.py:7:12: skipped: it does not parse

`);
  });

  test('in 60 columns the heading breaks after the place and prose is wrapped', () => {
    const lines = renderFull(SAMPLE, { ...view, width: 60 }).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'src/train.py:11:9',
      '  detach-accumulated-loss  safe · bit-identical',
      "  `total_loss` keeps every step's autograd graph alive until",
      '  the epoch ends',
      '',
    ]);
    expect(lines).toContain('  ? Is what `validate` returns only read and never');
    expect(lines).toContain('    differentiated?');
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
  });

  test('sites that were left alone are shown on request', () => {
    expect(renderFull(SAMPLE, { ...view, verbose: true })).toContain(`
src/train.py:12:12  stack-losses  left alone
  \`total_loss\` sums graphs of all steps

  10 │         optimizer.step()
  11 │         total_loss += loss
  12 │     return total_loss / len(loader)
     │            ^^^^^^^^^^^^^^^^^^^^^^^^

  left alone because \`total_loss\` is returned and may be differentiated by the
  caller

`);
  });

  test('advice without a change ends with its source', () => {
    const advice = findingAt('x = 1\n', 'x', { id: 'debug-left-on', message: 'slow', safety: 'advice' });
    expect(renderFull({ ...NOTHING, scans: [scanOf('a.py', 'x = 1\n', [advice])] }, view)).toBe(
      'a.py:1:1  debug-left-on  advice · bit-identical\n  slow\n\n  1 │ x = 1\n    │ ^\n\n',
    );
  });

  test('advice without a change says what to do', () => {
    const advice = findingAt('x = 1\n', 'x', {
      id: 'debug-left-on',
      message: 'slow',
      safety: 'advice',
      advice: 'Take `x` out',
    });
    const report = { ...NOTHING, scans: [scanOf('a.py', 'x = 1\n', [advice])] };
    expect(renderFull(report, view)).toContain('    │ ^\n\n  advice: Take `x` out\n');
    expect(renderConcise(report, view)).toBe('a.py:1:1: debug-left-on [advice] slow; Take `x` out\n');
    expect(toJson(report).findings[0]).toMatchObject({ fix: null, refusal: null, advice: 'Take `x` out' });
    expect(summarize(report)).toBe('1 advice finding in 1 file: 1 frees memory.');
  });

  test('the change of a fix includes its imports, and CRLF looks like any newline', () => {
    const text = 'import os\r\nf()\r\n';
    const finding = findingAt(text, 'f()', {
      id: 'no-grad',
      message: 'm',
      fix: {
        title: 'T',
        edits: [replaceIn(text, 'f()', 'g()')],
        importEdits: [{ start: 11, end: 11, text: 'import torch\r\n' }],
      },
    });
    const shown = renderFull({ ...NOTHING, scans: [scanOf('a.py', text, [finding])] }, view);
    expect(shown.split('\n').slice(-7)).toEqual([
      '  @@ -1,2 +1,3 @@',
      '   import os',
      '  -f()',
      '  +import torch',
      '  +g()',
      '',
      '',
    ]);
  });

  test('a changed line is never cut, unchanged ones are', () => {
    const text = `${'a'.repeat(90)}\n${'b'.repeat(90)}\n`;
    const finding = findingAt(text, 'b', {
      id: 'no-grad',
      message: 'm',
      fix: { title: 'T', edits: [{ start: 181, end: 181, text: 'c' }], importEdits: [] },
    });
    const shown = renderFull({ ...NOTHING, scans: [scanOf('a.py', text, [finding])] }, view);
    expect(shown).toContain(`\n   ${'a'.repeat(76)}…\n`);
    expect(shown).toContain(`\n  +${'b'.repeat(90)}c\n`);
  });

  test('a path or message cannot drive the terminal', () => {
    const finding = findingAt('x\n', 'x', { id: 'no-grad', message: 'm\x1b[2J' });
    const report = { ...NOTHING, scans: [scanOf('\x1b[31m.py', 'x\n', [finding])] };
    expect(renderFull(report, view)).not.toContain('\x1b');
    expect(renderConcise(report, view)).toBe('␛[31m.py:1:1: no-grad [safe] m␛[2J\n');
  });

  test('colour changes nothing but colour', () => {
    const painted = forTerminal(renderFull(SAMPLE, { ...view, paint: inColor, verbose: true }));
    expect(painted).toContain('\x1b[1msrc/train.py\x1b[22m\x1b[38;5;243m:11:9\x1b[39m  ');
    expect(painted).toContain('  \x1b[91m-        total_loss += loss\x1b[39m\n');
    expect(painted.replace(/\x1b\[[\d;]*m/g, '')).toBe(renderFull(SAMPLE, { ...view, verbose: true }));
  });

  test('nothing to say is the empty text', () => {
    expect(renderFull(NOTHING, view)).toBe('');
    expect(renderConcise(NOTHING, view)).toBe('');
  });
});

describe('concise', () => {
  test('one line each', () => {
    expect(renderConcise(SAMPLE, view)).toBe(`\
src/train.py:11:9: detach-accumulated-loss [safe] \`total_loss\` keeps every step's autograd graph alive until the epoch ends
src/train.py:15:1: no-grad [unsafe] \`validate\` records a graph for every batch that nothing differentiates
src/train.py:3:1: note: unused suppression of \`no-grad\`
old/py2.py:7:12: skipped: it does not parse
`);
  });

  test.each(['', 'because ', 'left alone because '])(
    'a refusal that starts with %j reads the same',
    (start) => {
      const finding = findingAt('x\n', 'x', {
        id: 'no-grad',
        message: 'm',
        refusal: `${start}\`x\` is read`,
      });
      const report = { ...NOTHING, scans: [scanOf('a.py', 'x\n', [finding])] };
      expect(renderConcise(report, view)).toBe('');
      expect(renderConcise(report, { ...view, verbose: true })).toBe(
        'a.py:1:1: no-grad [left alone] m; left alone because `x` is read\n',
      );
    },
  );
});

test('what frees memory comes before what does not, file by file; as JSON, all in order of place', () => {
  const timely = findingAt('x\ny\n', 'x', { id: 'factory-device', effect: 'saves-time', message: 'm' });
  const freeing = findingAt('x\ny\n', 'y', { id: 'no-grad', message: 'm' });
  const scans = ['a.py', 'b.py'].map((path) => scanOf(path, 'x\ny\n', [timely, freeing]));
  expect(renderConcise({ ...NOTHING, scans }, view)).toBe(`\
a.py:2:1: no-grad [safe] m
b.py:2:1: no-grad [safe] m
a.py:1:1: factory-device [safe] m
b.py:1:1: factory-device [safe] m
`);
  const { findings } = toJson({ ...NOTHING, scans });
  expect(findings.map(({ path, line, effect }) => `${path}:${line} ${effect}`)).toEqual([
    'a.py:1 saves-time',
    'a.py:2 frees-memory',
    'b.py:1 saves-time',
    'b.py:2 frees-memory',
  ]);
});

describe('json', () => {
  test('the whole document', () => {
    const text = "s = '😀'; keep(loss)\n";
    const finding = findingAt(text, 'keep(loss)', {
      id: 'detach-accumulated-loss',
      message: 'held',
      safety: 'unsafe',
      questions: [{ kind: 'only-read', subject: 'loss', text: 'Is `loss` only read?' }],
      fix: {
        title: 'Detach it',
        edits: [replaceIn(text, 'loss', 'loss.detach()')],
        importEdits: [{ start: 0, end: 0, text: 'import torch\n' }],
      },
    });
    const report: Report = {
      scans: [
        scanOf('a.py', text, [finding], { notes: [{ at: { line: 1, column: 2 }, message: 'unused' }] }),
      ],
      skipped: [
        { kind: 'skipped', path: 'b.py', reason: 'it contains NUL bytes' },
        { kind: 'skipped', path: 'c.py', reason: 'it does not parse', at: { line: 2, column: 5 } },
      ],
      checked: 3,
    };
    expect(JSON.parse(renderJson(report))).toEqual({
      version: 2,
      findings: [
        {
          path: 'a.py',
          cell: null,
          line: 1,
          column: 10,
          endLine: 1,
          endColumn: 20,
          id: 'detach-accumulated-loss',
          symptom: 'leak',
          level: 'error',
          key: 'detach-accumulated-loss:keep(loss):0',
          effect: 'frees-memory',
          safety: 'unsafe',
          numerics: 'bit-identical',
          message: 'held',
          question: 'Is `loss` only read?',
          questions: [{ text: 'Is `loss` only read?', key: 'detach-accumulated-loss/only-read(loss)' }],
          unproven: ['Is `loss` only read?'],
          verified: null,
          assumed: [],
          alternatives: [],
          alternativeTo: [],
          premises: [],
          reasons: [],
          answered: [],
          refusal: null,
          fix: {
            title: 'Detach it',
            edits: [
              {
                cell: null,
                line: 1,
                column: 1,
                endLine: 1,
                endColumn: 1,
                start: 0,
                end: 0,
                text: 'import torch\n',
              },
              {
                cell: null,
                line: 1,
                column: 15,
                endLine: 1,
                endColumn: 19,
                start: 15,
                end: 19,
                text: 'loss.detach()',
              },
            ],
            files: [],
          },
          advice: null,
          rank: null,
          because: null,
          measured: null,
        },
      ],
      leftAlone: [],
      applied: null,
      skipped: [
        { path: 'b.py', cell: null, line: null, column: null, reason: 'it contains NUL bytes' },
        { path: 'c.py', cell: null, line: 2, column: 5, reason: 'it does not parse' },
      ],
      notes: [{ path: 'a.py', cell: null, line: 1, column: 2, message: 'unused' }],
      assumed: [],
      oom: null,
      proven: null,
      runs: null,
      summary: {
        checked: 3,
        findings: 1,
        files: 1,
        safe: 0,
        unsafe: 1,
        advice: 0,
        effects: { 'frees-memory': 1, 'saves-time': 0, 'future-proof': 0, tidy: 0 },
        refused: 0,
        suppressed: 0,
        skipped: 2,
        notes: 1,
        baseline: null,
        fixed: null,
      },
    });
    expect(renderJson(report)).toMatch(/^\{\n {2}"version": 2,\n {2}"findings": \[\n[\s\S]*\}\n$/);
  });

  test('an import that lands where the fix begins comes first', () => {
    const fix = {
      title: 'T',
      edits: [{ start: 0, end: 1, text: 'y' }],
      importEdits: [{ start: 0, end: 0, text: 'import torch\n' }],
    };
    const finding = findingAt('x\n', 'x', { id: 'no-grad', message: 'm', fix });
    const report = { ...NOTHING, scans: [scanOf('a.py', 'x\n', [finding])] };
    expect(toJson(report).findings[0]?.fix?.edits.map(({ text }) => text)).toEqual(['import torch\n', 'y']);
    expect(renderFull(report, view)).toContain('  @@ -1 +1,2 @@\n  -x\n  +import torch\n  +y\n');
  });

  test('refused sites are always there and count apart', () => {
    const json = toJson({ ...SAMPLE, fixed: { findings: 2, suppressed: 0, files: 1 } });
    const told = (all: typeof json.findings) =>
      all.map(({ id, refusal, fix }) => [id, refusal !== null, fix !== null]);
    expect(told(json.findings)).toEqual([
      ['detach-accumulated-loss', false, true],
      ['no-grad', false, true],
    ]);
    expect(told(json.leftAlone)).toEqual([['stack-losses', true, false]]);
    expect(json.summary).toMatchObject({
      findings: 2,
      refused: 1,
      fixed: { findings: 2, suppressed: 0, files: 1 },
    });
  });

  test('nothing found is a document too', () => {
    expect(toJson(NOTHING)).toMatchObject({
      version: 2,
      findings: [],
      leftAlone: [],
      applied: null,
      skipped: [],
      notes: [],
    });
  });
});

describe('statistics', () => {
  test('what frees memory first, then the most frequent; columns without counts left out', () => {
    expect(renderStatistics(SAMPLE, view)).toBe(`\
total  safe  unsafe  left alone  transform                effect
    1     1       ·           ·  detach-accumulated-loss  frees memory
    1     ·       1           ·  no-grad                  frees memory
    ·     ·       ·           1  stack-losses             tidy
`);
    const twelve = Array.from({ length: 12 }, () =>
      findingAt(TRAIN, 'loss', { id: 'factory-device', effect: 'saves-time', message: 'm' }),
    );
    const one = findingAt(TRAIN, 'loss', { id: 'no-grad', message: 'm' });
    expect(renderStatistics({ ...NOTHING, scans: [scanOf('a.py', TRAIN, [one, ...twelve])] }, view)).toBe(`\
total  safe  transform       effect
    1     1  no-grad         frees memory
   12    12  factory-device  saves time
`);
  });

  test('no findings, no table', () => {
    expect(renderStatistics(NOTHING, view)).toBe('');
  });
});

describe('summary', () => {
  const some = (safety: Finding['safety'], count: number, fixable = true) =>
    Array.from({ length: count }, () =>
      findingAt('x\n', 'x', {
        id: 'no-grad',
        message: 'm',
        safety,
        ...(fixable ? { fix: { title: 'T', edits: [], importEdits: [] } } : {}),
      }),
    );
  const of = (...files: Finding[][]): Report => ({
    scans: files.map((findings, index) => scanOf(`${index}.py`, 'x\n', findings)),
    skipped: [],
    checked: 9,
  });
  const skipped = { kind: 'skipped', path: 'z.py', reason: 'it does not parse' } as const;
  const refused = findingAt('x\n', 'x', { id: 'no-grad', message: 'm', refusal: 'r' });
  const fixed = { findings: 3, suppressed: 0, files: 2 };
  const timely = some('safe', 12, false).map((each) => ({ ...each, effect: 'saves-time' as const }));

  test.each<[expected: string, report: Report]>([
    ['No findings in 3 files.', NOTHING],
    ['No findings in 1 file.', { ...NOTHING, checked: 1 }],
    ['No fixes. 1 suspicious site was left alone: `memfix check -v` says why.', of([refused])],
    [
      'No fixes. 3 suspicious sites were left alone, 2 of them leaks: `memfix check -v` says why.',
      of([refused, { ...refused, symptom: 'leak' }, { ...refused, symptom: 'leak' }]),
    ],
    ['There were no Python files to look at.', { ...NOTHING, checked: 0 }],
    ['No findings in 3 files; 2 files skipped.', { ...NOTHING, skipped: [skipped, skipped] }],
    ['1 safe finding in 1 file: 1 frees memory. Run `memfix apply` to fix 1.', of(some('safe', 1))],
    [
      '2 safe findings in 2 files: 2 free memory; 1 suspicious site left alone (`-v`). Run `memfix apply` to fix 2.',
      of(some('safe', 1), some('safe', 1), [refused]),
    ],
    [
      '4 findings (3 safe, 1 unsafe) in 2 files: 4 free memory; 1 file skipped. Run `memfix apply` to fix 3; with `-i` it asks about 1 more.',
      { ...of(some('safe', 3), some('unsafe', 1)), skipped: [skipped] },
    ],
    [
      '4 findings (3 safe, 1 unsafe) in 1 file: 4 free memory. Run `memfix apply` to fix 3.',
      of([...some('safe', 3), ...some('unsafe', 1, false)]),
    ],
    [
      '1 unsafe finding in 1 file: 1 frees memory. Run `memfix apply -i` to be asked about it.',
      of(some('unsafe', 1)),
    ],
    ['2 advice findings in 1 file: 2 free memory.', of(some('advice', 2, false))],
    [
      '1 advice finding in 1 file: 1 frees memory. Run `memfix apply -i` to be asked about it.',
      of(some('advice', 1)),
    ],
    ['Fixed 3 findings in 2 files. No findings remain.', { ...of([]), fixed }],
    [
      'Fixed 3 findings in 2 files: 1 frees memory, 2 save time. No findings remain.',
      {
        ...of([]),
        fixed,
        taken: [...timely.slice(0, 2), ...some('safe', 1)].map((finding) => ({ path: 'a.py', finding })),
      },
    ],
    [
      '15 safe findings in 2 files: 3 free memory, 12 save time. Run `memfix apply` to fix 3.',
      of(timely, some('safe', 3)),
    ],
    [
      'Fixed 1 finding and suppressed 1 finding in 1 file. 1 unsafe finding remains in 1 file: 1 frees memory. Run `memfix apply -i` to be asked about it.',
      { ...of(some('unsafe', 1)), fixed: { findings: 1, suppressed: 1, files: 1 } },
    ],
    [
      'Suppressed 2 findings in 1 file. 2 findings (1 unsafe, 1 advice) remain in 1 file: 2 free memory.',
      {
        ...of([...some('unsafe', 1, false), ...some('advice', 1, false)]),
        fixed: { findings: 0, suppressed: 2, files: 1 },
      },
    ],
    [
      'Nothing was changed. No findings remain.',
      { ...of([]), fixed: { findings: 0, suppressed: 0, files: 0 } },
    ],
  ])('%s', (expected, report) => {
    expect(summarize(report)).toBe(expected);
  });
});

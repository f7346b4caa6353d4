import { describe, expect, it } from 'vitest';
import type { Scan, Skipped } from '../../src/engine/outcome.js';
import { engineOf, fileOf, toy } from '../support/toy.js';

const engine = engineOf(
  toy('ab', 'aaa', (edit, node) => void edit.replace(node, 'b')),
  toy('no', 'nnn', (edit) => edit.refuse('it is deliberate')),
  toy('say', 'sss', (edit) => edit.advise('Write it once'), { safety: 'advice' }),
);

function scanOf(text: string): Scan {
  const scan: Scan | Skipped = engine.scan(fileOf(text));
  if (scan.kind === 'skipped') throw new Error(`skipped: ${scan.reason}`);
  return scan;
}

describe('scan', () => {
  it('reports in source order, with refusals', () => {
    const { findings } = scanOf('nnn\n  \naaa\n');
    expect(findings.map(({ transform, at, refusal }) => [transform, at.line, refusal])).toEqual([
      ['no', 1, 'it is deliberate'],
      ['ab', 3, undefined],
    ]);
  });

  it('reports advice without a diff, which is no refusal and is never applied', async () => {
    const { findings } = scanOf('sss\n');
    expect(findings).toEqual([
      expect.objectContaining({ safety: 'advice', advice: 'Write it once', message: 'sss costs memory' }),
    ]);
    expect(findings[0]).not.toHaveProperty('refusal');
    expect(findings[0]).not.toHaveProperty('fix');
    const outcome = await engine.repair(fileOf('sss\naaa\n'), () => ({ kind: 'apply' }));
    expect(outcome.kind === 'outcome' && outcome.after).toBe('sss\nb\n');
  });

  it('keeps a finding’s key when lines move, and tells equals apart', () => {
    const keys = scanOf('def f():\n    aaa\n    aaa\n').findings.map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    expect(
      scanOf('import os\n\n\ndef f():\n    x = 1\n    aaa\n    aaa\n').findings.map(({ key }) => key),
    ).toEqual(keys);
  });

  it.each([
    ['an unexpected indent', 'aaa\n    x = 1\n'],
    ['an empty suite', 'def f():\n    aaa\n\n\nif f:\nx = 1\n'],
    ['arguments in the wrong order', 'f(a=1, aaa)\n'],
  ])('offers nothing that apply would not do: %s', async (_, text) => {
    const scan = engine.scan(fileOf(text));
    expect(scan).toMatchObject({ kind: 'skipped', reason: expect.stringContaining('not valid Python 3') });
    expect(await engine.repair(fileOf(text), () => ({ kind: 'apply' }))).toEqual(scan);
  });

  it('refuses a fix whose changes overlap', () => {
    const clashing = engineOf(
      toy('twice', 'aaa', (edit, node, statement) => {
        edit.replaceStatement(statement, ['b']);
        edit.replace(node, 'c');
        return undefined;
      }),
    );
    const scan = clashing.scan(fileOf('aaa\n'));
    expect(scan.kind === 'scan' && scan.findings[0]?.refusal).toBe(
      'two of its changes would fall on the same code',
    );
  });

  it('sees no words in strings and comments', () => {
    expect(scanOf('"""aaa"""\n# aaa\nx = f"aaa {y}"\n').findings).toEqual([]);
    expect(scanOf('x = f"{aaa}"\n').findings).toHaveLength(1);
  });

  it.each([
    [
      'print "x", aaa\n',
      'not valid Python 3: Simple statements must be separated by newlines or semicolons',
      1,
    ],
    ['aaa\n<<<<<<< HEAD\nx = 1\n=======\n>>>>>>> b\n', 'it holds a merge conflict', 2],
    [
      'print "nothing to find here"\n',
      'not valid Python 3: Simple statements must be separated by newlines or semicolons',
      1,
    ],
    ['aaa.cuda(async=True)\n', 'not valid Python 3: Expected `)`, found `async`', 1],
    ['aaa\ndef f(:\n', 'not valid Python 3: Expected a parameter or the end of the parameter list', 2],
  ])('skips %j with the reason and the place', (text, reason, line) => {
    const scan = engine.scan({ ...fileOf(text), named: true });
    expect(scan.kind).toBe('skipped');
    if (scan.kind !== 'skipped') return;
    expect([scan.reason.split('\n')[0], scan.at?.line]).toEqual([reason, line]);
  });

  it('does not parse what no transform could look at, unless it is named', () => {
    expect(scanOf('def f(:\n').findings).toEqual([]);
  });

  it('takes a right shift of the print function for what it is', () => {
    expect(scanOf('print >>out, x\n').findings).toEqual([]);
  });

  it('skips nesting that is too deep for it', () => {
    const scan = engine.scan(fileOf(`aaa = ${'('.repeat(10_000)}1${')'.repeat(10_000)}\n`));
    expect(scan.kind === 'skipped' && scan.reason).toContain('nested too deeply');
  });

  it('skips matching calls that nest deeper than Python takes, in no time', () => {
    const scan = engine.scan(fileOf(`x = ${'aaa('.repeat(10_000)}1${')'.repeat(10_000)}\n`));
    expect(scan.kind === 'skipped' && scan.reason).toContain('nested too deeply');
    expect(scanOf(`x = aaa  # ${':('.repeat(300)}\n`).findings).toHaveLength(1);
  });

  it('looks at the prefilter on bytes', () => {
    expect(engine.among(Buffer.from('x = aaa')).transforms).toHaveLength(1);
    expect(engine.among(Buffer.from('x = 1')).transforms).toEqual([]);
  });
});

describe('suppression', () => {
  it('silences the named transform on the line or in the file, and nothing else', () => {
    expect(scanOf('aaa  # memfix: ignore[ab] reason\naaa\n').findings.map(({ at }) => at.line)).toEqual([2]);
    expect(scanOf('aaa  # memfix: ignore[no]\n').findings).toHaveLength(1);
    expect(scanOf('# memfix: file-ignore[ab, no]\naaa\nnnn\n').findings).toEqual([]);
    expect(scanOf('f(\n    aaa,\n)  # memfix: ignore[ab]\n').findings).toEqual([]);
    expect(scanOf('x = "# memfix: ignore[ab]"; aaa\n').findings).toHaveLength(1);
  });

  it('silences a transform by a former id, too', () => {
    const renamed = engineOf(toy('ab', 'aaa', (edit) => edit.refuse('it is kept'), { aliases: ['old-ab'] }));
    const scan = renamed.scan(fileOf('aaa  # memfix: ignore[old-ab]\nx = 1  # memfix: ignore[old-ab]\n'));
    expect(scan).toMatchObject({
      findings: [],
      suppressed: [{ transform: 'ab' }],
      notes: [{ at: { line: 2 }, message: 'unused `# memfix: ignore[ab]`: nothing to silence here' }],
    });
  });

  it('reports comments that silence nothing', () => {
    const text = 'x = 1  # memfix: ignore[ab]\n# memfix: file-ignore[nope]\ny = 2  # memfix: ignore\n';
    expect(scanOf(text).notes).toEqual([
      { at: { line: 1, column: 8 }, message: 'unused `# memfix: ignore[ab]`: nothing to silence here' },
      {
        at: { line: 2, column: 1 },
        message:
          '`# memfix: file-ignore[nope]` names no transform that exists; `memfix list` shows their ids',
      },
      {
        at: { line: 3, column: 8 },
        message: '`# memfix: ignore` silences nothing here; write `# memfix: ignore[id]`',
      },
    ]);
  });
});

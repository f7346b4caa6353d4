import { describe, expect, test } from 'vitest';
import { renderGithub } from '../../../src/report/formats/github.js';
import { renderGitlab } from '../../../src/report/formats/gitlab.js';
import { renderJsonLines } from '../../../src/report/formats/json-lines.js';
import { renderJunit } from '../../../src/report/formats/junit.js';
import { renderMarkdown } from '../../../src/report/formats/markdown.js';
import type { About } from '../../../src/report/formats/publication.js';
import type { Report } from '../../../src/report/report.js';
import { inPython } from '../../support/python-tools.js';
import { findingAt, replaceIn, SAMPLE, scanOf } from '../sample.js';
import { META } from '../sample-meta.js';

const about: About = {
  version: '1.2.3',
  metas: [{ ...META, id: 'detach-accumulated-loss', symptom: 'leak' }],
  page: () => undefined,
  fromRoot: (path) => `repo/${path}`,
  inWords: (text) => text,
};

const EMPTY: Report = { scans: [], skipped: [], checked: 4 };

/** A file whose name and words try to be more than words. */
const HOSTILE_PATH = 'a\n::error::x,y:%0A|`<b>.py';
const HOSTILE_TEXT = '```\nhold()\n````\n';
const hostile = findingAt(HOSTILE_TEXT, 'hold()', {
  id: 'detach-accumulated-loss',
  message: 'held\r\n::set-output name=a::b %41 `<script>` <img> @someone #1 | \x1b[31m\0 "q"',
  questions: [{ kind: 'one', subject: 'two', text: 'one\n::two?' }],
  fix: { title: 'Release <it>', edits: [replaceIn(HOSTILE_TEXT, 'hold', 'release')], importEdits: [] },
});
const HOSTILE: Report = { scans: [scanOf(HOSTILE_PATH, HOSTILE_TEXT, [hostile])], skipped: [], checked: 1 };

describe('github', () => {
  test('annotates findings, notes and skipped files, at their level', () => {
    expect(renderGithub(SAMPLE, about).split('\n')).toEqual([
      "::error title=memfix%3A detach-accumulated-loss,file=repo/src/train.py,line=11,endLine=11,col=9,endColumn=27::`total_loss` keeps every step's autograd graph alive until the epoch ends%0Asafe fix: Detach the loss before adding it",
      '::warning title=memfix%3A no-grad,file=repo/src/train.py,line=15,endLine=15,col=1,endColumn=29::`validate` records a graph for every batch that nothing differentiates%0Aunsafe fix: Run `validate` without recording gradients%0Aonly if yes: Is what `validate` returns only read and never differentiated?%0Aonly if yes: Do the hooks of `model` work without the graph?',
      '::notice title=memfix,file=repo/src/train.py,line=3,col=1::unused suppression of `no-grad`',
      '::warning title=memfix%3A skipped,file=repo/old/py2.py,line=7,col=12::This file was not looked into: it does not parse',
      '',
    ]);
  });

  test('nothing in a file can become a command or a property', () => {
    const lines = renderGithub(HOSTILE, about).trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^::error title=[^,]*,file=repo\/a%0A%3A%3Aerror%3A%3Ax%2Cy%3A%250A\|`<b>\.py,line=2,endLine=2,col=1,endColumn=7::held%0D%0A::set-output/,
    );
  });
});

describe('gitlab', () => {
  test('is a list of issues with fingerprints of their own', () => {
    const issues: { fingerprint: string }[] = JSON.parse(renderGitlab(SAMPLE, about));
    expect(issues).toMatchObject([
      {
        check_name: 'detach-accumulated-loss',
        severity: 'major',
        location: { path: 'repo/src/train.py', lines: { begin: 11, end: 11 } },
      },
      { check_name: 'no-grad', severity: 'minor' },
    ]);
    expect(new Set(issues.map(({ fingerprint }) => fingerprint)).size).toBe(2);
    expect(issues.every(({ fingerprint }) => /^[0-9a-f]{64}$/.test(fingerprint))).toBe(true);
    expect(renderGitlab(EMPTY, about)).toBe('[]\n');
  });
});

describe('junit', () => {
  const read = (xml: string): unknown =>
    JSON.parse(
      inPython(
        'import json, sys\n' +
          'from junitparser import JUnitXml\n' +
          'xml = JUnitXml.fromstring(sys.stdin.buffer.read())\n' +
          'print(json.dumps([xml.tests, xml.failures, xml.skipped, [[s.name, [[c.name, c.classname, [r.message for r in c.result]] for c in s]] for s in xml]]))',
        xml,
      ),
    );

  test('a reader of JUnit reports counts and names the same', () => {
    expect(read(renderJunit(SAMPLE, about))).toEqual([
      3,
      2,
      1,
      [
        [
          'repo/src/train.py',
          [
            [
              'detach-accumulated-loss at 11:9',
              'repo/src/train.py',
              ["`total_loss` keeps every step's autograd graph alive until the epoch ends"],
            ],
            [
              'no-grad at 15:1',
              'repo/src/train.py',
              ['`validate` records a graph for every batch that nothing differentiates'],
            ],
          ],
        ],
        ['repo/old/py2.py', [['skipped', 'repo/old/py2.py', ['it does not parse']]]],
      ],
    ]);
    expect(read(renderJunit(EMPTY, about))).toEqual([1, 0, 0, [['memfix', [['no findings', 'memfix', []]]]]]);
    expect(read(renderJunit(HOSTILE, about))).toMatchObject([1, 1, 0, [[`repo/${HOSTILE_PATH}`, [{}]]]]);
  });

  test('advice fails nothing', () => {
    const text = 'hint()\n';
    const advice = findingAt(text, 'hint()', { id: 'x', message: 'hm', safety: 'advice', advice: 'Do it' });
    const report = { scans: [scanOf('a.py', text, [advice])], skipped: [], checked: 1 };
    expect(renderJunit(report, about)).toContain('tests="1" failures="0"');
  });
});

test('json-lines: each line is an object of its own, the summary last', () => {
  const lines = renderJsonLines(SAMPLE)
    .trimEnd()
    .split('\n')
    .map((line): { kind: string } => JSON.parse(line));
  expect(lines.map(({ kind }) => kind)).toEqual([
    'finding',
    'finding',
    'left-alone',
    'note',
    'skipped',
    'summary',
  ]);
  expect(lines.at(-1)).toMatchObject({ version: 2, findings: 2, refused: 1, checked: 12 });
});

describe('markdown', () => {
  test('a table, and the change of each finding to unfold', () => {
    const text = renderMarkdown(SAMPLE, about);
    expect(text).toMatch(/^## memfix\n\n2 findings \(1 safe, 1 unsafe\) in 1 file/);
    expect(text).toContain('| `repo/src/train.py:11` | `detach-accumulated-loss` | safe | frees memory |');
    expect(text).toContain('+        total\\_loss'.replace('\\', ''));
    expect(text.match(/<details>/g)).toHaveLength(2);
    expect(text).toContain('- only if yes: Is what `validate` returns only read and never differentiated?');
    expect(text).toContain('| `repo/old/py2.py:7` | it does not parse |');
  });

  test('words of others are no markup, and close no fence', () => {
    const text = renderMarkdown(HOSTILE, about);
    const bare = text.replace(/^(`{3,})diff$[\s\S]*?^\1$/gm, '').replace(/(`+)[\s\S]*?\1/g, '');
    expect(bare.match(/<[^>]*>/g)).toEqual(['<details>', '<summary>', '</summary>', '</details>']);
    expect(text).toContain('&lt;img&gt; \\@someone \\#1');
    expect(text.match(/^`{5}(?:diff)?$/gm)).toEqual(['`````diff', '`````']);
    expect(text.match(/^\| /gm)).toHaveLength(2);
  });

  test('stays short: forges refuse what is long', () => {
    const source = 'hold()\n'.repeat(1000);
    const finding = findingAt(source, 'hold()', { ...hostile, id: 'x' });
    const many = Array.from({ length: 1000 }, () => finding);
    const text = renderMarkdown({ scans: [scanOf('a.py', source, many)], skipped: [], checked: 1 }, about);
    expect(text).toContain('and 800 more findings');
    expect(text).toContain('`memfix diff` shows 980 more changes.');
    const wide = `x = "${'a'.repeat(9000)}"\n`;
    const long = `${wide}hold()\n${wide}`;
    const few = Array.from({ length: 20 }, () =>
      findingAt(long, 'hold()', {
        ...hostile,
        id: 'x',
        fix: { title: 'Let go', edits: [replaceIn(long, 'hold', 'release')], importEdits: [] },
      }),
    );
    const cut = renderMarkdown({ scans: [scanOf('a.py', long, few)], skipped: [], checked: 1 }, about);
    expect(cut.match(/<details>/g)).toHaveLength(3);
    expect(cut.length).toBeLessThan(65_000);
    expect(text.length).toBeLessThan(65_000);
  });
});

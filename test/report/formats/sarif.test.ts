import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Ajv from 'ajv-draft-04';
import formats from 'ajv-formats';
import { expect, test } from 'vitest';
import { casesOf } from '../../../src/dev/fixtures.js';
import { root } from '../../../src/dev/project.js';
import { createEngine } from '../../../src/engine/engine.js';
import { Neighbours } from '../../../src/engine/neighbours.js';
import type { Scan } from '../../../src/engine/outcome.js';
import { previewOf } from '../../../src/engine/preview.js';
import type { About } from '../../../src/report/formats/publication.js';
import { renderSarif } from '../../../src/report/formats/sarif.js';
import { isRefused, type Report } from '../../../src/report/report.js';
import { loadParser } from '../../../src/syntax/parser.js';
import { defaultsOf } from '../../../src/testing/defaults.js';
import { doorOf, type FixtureCase } from '../../../src/testing/fixtures.js';
import { VARIANTS } from '../../../src/testing/variants.js';
import { decode } from '../../../src/text/decode.js';
import type { Transform } from '../../../src/toolkit/contract.js';
import { transforms } from '../../../transforms/index.js';
import { findingAt, replaceIn, SAMPLE, scanOf } from '../sample.js';

interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

interface Log {
  readonly runs: readonly {
    readonly tool: {
      readonly driver: { readonly rules: readonly { id: string; help: { markdown: string } }[] };
    };
    readonly newlineSequences: readonly string[];
    readonly invocations: readonly { readonly toolExecutionNotifications: readonly unknown[] }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly partialFingerprints: Readonly<Record<string, string>>;
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: Region;
        };
      }[];
      readonly fixes?: readonly {
        readonly description: { readonly text: string };
        readonly artifactChanges: readonly {
          readonly artifactLocation: { readonly uri: string };
          readonly replacements: readonly {
            readonly deletedRegion: Region;
            readonly insertedContent: { readonly text: string };
          }[];
        }[];
      }[];
    }[];
  }[];
}

const require = createRequire(import.meta.url);
const schema: object = JSON.parse(
  readFileSync(require.resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json'), 'utf8'),
);
const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false });
formats.default(ajv);
const isSarif = ajv.compile(schema);

const about: About = {
  version: '0.1.0',
  metas: transforms.map(({ meta }) => meta),
  page: (id) => readFileSync(join(root, 'transforms', `${id}.md`), 'utf8'),
  fromRoot: (path) => path,
  inWords: (text) => text,
};

function sarif(report: Report, given: Partial<About> = {}): Log {
  const log: Log = JSON.parse(renderSarif(report, { ...about, ...given }));
  isSarif(log);
  expect(isSarif.errors ?? []).toEqual([]);
  return log;
}

const parser = await loadParser();

function scanned(transform: Transform, fixture: FixtureCase, bytes: Buffer): Scan {
  const neighbours = new Neighbours(parser, doorOf(fixture));
  const engine = createEngine({
    parser,
    transforms: [transform],
    knownIds: new Set(transforms.map(({ meta }) => meta.id)),
    optionsFor: () => ({ ...defaultsOf(transform, true), ...fixture.options }),
    around: (...asked) => neighbours.around(...asked),
  });
  const decoded = decode(bytes);
  if (!decoded.ok) throw new Error(decoded.reason);
  const scan = engine.scan({ path: 'input.py', source: decoded.source });
  if (scan.kind === 'skipped') throw new Error(scan.reason);
  return scan;
}

/** As a reader of SARIF would: by its own line ends and code points, knowing nothing of memfix. */
function withReplacements(
  text: string,
  changes: readonly { deletedRegion: Region; insertedContent: { text: string } }[],
) {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const offset = (line: number, column: number) =>
    lines.slice(0, line - 1).join('').length +
    [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
  let changed = text;
  for (const { deletedRegion: at, insertedContent } of changes.toReversed()) {
    const [from, to] = [offset(at.startLine, at.startColumn), offset(at.endLine, at.endColumn)];
    changed = changed.slice(0, from) + insertedContent.text + changed.slice(to);
  }
  return changed;
}

function holds(scan: Scan, log: Log): number {
  const findings = scan.findings.filter((finding) => !isRefused(finding));
  const results = log.runs[0]?.results ?? [];
  expect(results).toHaveLength(findings.length);
  let fixes = 0;
  for (const [index, finding] of findings.entries()) {
    const result = results[index];
    expect(log.runs[0]?.tool.driver.rules[result?.ruleIndex ?? -1]?.id).toBe(finding.transform);
    const preview = previewOf(scan.file, finding);
    for (const { artifactLocation, replacements } of result?.fixes?.[0]?.artifactChanges ?? []) {
      const other = preview.beside?.find(({ path }) => path === decodeURIComponent(artifactLocation.uri));
      const { before, after } = other ?? preview;
      expect(withReplacements(before, replacements)).toBe(after);
      fixes += 1;
    }
  }
  return fixes;
}

test('the example of every transform is valid, and its fixes are exact in every kind of file', () => {
  let fixes = 0;
  for (const transform of transforms) {
    const fixture = casesOf(transform.meta.id).find(({ name }) => name === transform.meta.example);
    if (fixture === undefined) throw new Error(transform.meta.id);
    const inputs = [
      fixture.input,
      ...VARIANTS.filter(({ fits }) => fits(fixture.input)).map(({ vary }) => vary(fixture.input)),
    ];
    for (const input of inputs) {
      const scan = scanned(transform, fixture, input);
      fixes += holds(scan, sarif({ scans: [scan], skipped: [], checked: 1 }));
    }
  }
  expect(fixes).toBeGreaterThan(transforms.length);
});

test('columns count code points, and lone carriage returns end lines', () => {
  const text = 'a = 1\r"\u{1f525}\u{1f525}"; hold()\r\nb = 2\n';
  const finding = findingAt(text, 'hold()', {
    id: 'no-grad',
    message: 'held',
    fix: { title: 'Release it', edits: [replaceIn(text, 'hold', 'release')], importEdits: [] },
  });
  const scan = scanOf('src/with space & ümlaut.py', text, [finding]);
  const log = sarif({ scans: [scan], skipped: [], checked: 1 });
  const location = log.runs[0]?.results[0]?.locations[0]?.physicalLocation;
  expect(location?.region).toEqual({ startLine: 2, startColumn: 7, endLine: 2, endColumn: 13 });
  expect(location?.artifactLocation.uri).toBe('src/with%20space%20%26%20%C3%BCmlaut.py');
  expect(holds(scan, log)).toBe(1);
});

test('an import and an edit at one place are one replacement', () => {
  const text = 'hold()\n';
  const finding = findingAt(text, 'hold()', {
    id: 'no-grad',
    message: 'held',
    fix: {
      title: 'Release it',
      edits: [replaceIn(text, 'hold', 'torch.release')],
      importEdits: [{ start: 0, end: 0, text: 'import torch\n' }],
    },
  });
  const log = sarif({ scans: [scanOf('a.py', text, [finding])], skipped: [], checked: 1 });
  const replacements = log.runs[0]?.results[0]?.fixes?.[0]?.artifactChanges[0]?.replacements ?? [];
  expect(replacements).toHaveLength(1);
  expect(withReplacements(text, replacements)).toBe('import torch\ntorch.release()\n');
});

test('rules bring the page, skipped files and idle comments are notifications, refusals are no results', () => {
  const [run] = sarif(SAMPLE).runs;
  expect(run?.results.map(({ ruleId }) => ruleId)).toEqual(['detach-accumulated-loss', 'no-grad']);
  expect(run?.tool.driver.rules.map(({ help }) => help.markdown.includes('## Why'))).toEqual([true, true]);
  expect(run?.invocations[0]?.toolExecutionNotifications).toMatchObject([
    { level: 'warning', message: { text: 'it does not parse' } },
    { level: 'note', message: { text: 'unused suppression of `no-grad`' } },
  ]);
});

test('a fix says what has to be asked first, since who applies it from there is not', () => {
  const [run] = sarif(SAMPLE).runs;
  expect(run?.results.map(({ fixes }) => fixes?.[0]?.description.text)).toEqual([
    'Detach the loss before adding it',
    'Run `validate` without recording gradients (unsafe); only if yes: Is what `validate` returns only read and never differentiated?; only if yes: Do the hooks of `model` work without the graph?',
  ]);
});

test('an empty report is valid', () => {
  expect(sarif({ scans: [], skipped: [], checked: 3 }).runs[0]?.results).toEqual([]);
});

test('fingerprints survive moved lines, and tell equals apart', () => {
  const transform = transforms.find(({ meta }) => meta.id === 'no-grad');
  const fixture = casesOf('no-grad').find(({ name }) => name === transform?.meta.example);
  if (transform === undefined || fixture === undefined) throw new Error('no-grad');
  const prints = (bytes: Buffer) =>
    sarif({ scans: [scanned(transform, fixture, bytes)], skipped: [], checked: 1 }).runs[0]?.results.map(
      ({ partialFingerprints }) => partialFingerprints['memfix/v1'],
    );
  const moved = Buffer.concat([Buffer.from('# one\n\n# two\nX = 1\n'), fixture.input]);
  expect(prints(moved)).toEqual(prints(fixture.input));
  expect(new Set(prints(fixture.input)).size).toBe(prints(fixture.input)?.length);
});

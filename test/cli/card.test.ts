/** The card of the session for every finding of the fixtures, in the three sizes that people complain about. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Card, cardText, promptText } from '../../src/cli/screen.js';
import { engineWithDefaults, readSource } from '../../src/dev/engines.js';
import { casesOf, fixturesFolder } from '../../src/dev/fixtures.js';
import { createEngine, type Engine } from '../../src/engine/engine.js';
import { Neighbours } from '../../src/engine/neighbours.js';
import type { Finding, SourceFile } from '../../src/engine/outcome.js';
import { widthOf } from '../../src/report/cells.js';
import { measuredEffect } from '../../src/report/evidence.js';
import { noColor } from '../../src/report/paint.js';
import { askedTogether } from '../../src/report/questions.js';
import { loadParser, type PythonParser } from '../../src/syntax/parser.js';
import { defaultsOf } from '../../src/testing/defaults.js';
import { doorOf } from '../../src/testing/fixtures.js';
import { decode } from '../../src/text/decode.js';
import { transforms } from '../../transforms/index.js';

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;
const CHANGED = /^ *(?:\d+ [-→]|\+) /;
const ADDED = /^ *\+ /;

let parser: PythonParser;
let cards: readonly Card[] = [];
beforeAll(async () => {
  parser = await loadParser();
  const demo = ofTheDemo();
  expect(demo.length).toBeGreaterThan(5);
  cards = [...demo, ...ofTheFixtures()];
  expect(cards.length).toBeGreaterThan(700);
}, 120_000);

function cardOf(engine: Engine, file: SourceFile, finding: Finding): Card {
  return {
    ...{
      position: 137,
      total: 240,
      answered: 136,
      kin: 12,
      reach: 12,
      row: 3,
      path: file.path,
      source: file.source,
      finding,
    },
    meta: transforms.find(({ meta }) => meta.id === finding.transform)?.meta,
    preview: engine.preview(file, finding),
    ...{ answer: undefined, isEdited: false, hasDraft: false, twins: [] },
    ...{ standing: undefined, alternatives: [] },
  };
}

/** Lines that stay as they are have more rows than tell where the change is, while changed ones are out of view. */
function showsContextForChange(lines: readonly string[]): boolean {
  const isCut = lines.some((line) => /⋮ \d+ more rows?, \d+ of them changed/.test(line));
  const isContext = (line: string | undefined) => /^ *\d+(?: {3}|$)/.test(line ?? '');
  return isCut && lines.some((_, at) => lines.slice(at, at + 3).every(isContext) && at + 3 <= lines.length);
}

/** A line that stays is left out without a mark, or lines are added nobody can tell where. */
function leavesOutUnmarked(lines: readonly string[]): boolean {
  const change = lines.slice(
    3,
    lines.findIndex((line) => /^(?:why|#1) /.test(line)),
  );
  let last: number | undefined;
  let isAdded = false;
  for (const line of [...change, '⋮']) {
    const number = /^ *(\d+)(?: [-→]| {3}|$)/.exec(line)?.[1];
    if (/^ *⋮/.test(line) || /^\S+ in /.test(line)) {
      if (isAdded && last === undefined && !line.includes('more row')) return true;
      last = undefined;
      isAdded = false;
    } else if (number !== undefined) {
      if (last !== undefined && Number(number) !== last + 1) return true;
      last = Number(number);
    } else isAdded ||= /^ +\+/.test(line);
  }
  return false;
}

function adds(card: Card): boolean {
  const { text } = cardText(card, { width: 200, height: Infinity, paint: noColor });
  return text.split('\n').some((line) => ADDED.test(line));
}

/** Why a card is not one that a person can answer in a terminal of this size. */
function faultsOf(card: Card, width: number, height: number): readonly string[] {
  const look = { width, height, paint: noColor };
  const lines = `${cardText(card, look).text}${promptText(card, look)}`.split('\n');
  const rows = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line.trimEnd()) / width)), 0);
  const [question] = askedTogether(card.finding.questions, card.path);
  const text = lines.join(' ').replace(/\s+/g, ' ');
  return [
    ...(rows > height ? [`takes ${rows} rows of ${height}`] : []),
    ...(lines.some((line) => CHANGED.test(line)) ? [] : ['shows no changed line']),
    ...(lines.some((line) => ADDED.test(line)) || !adds(card) ? [] : ['shows no added line']),
    ...(showsContextForChange(lines) ? ['shows what is around the change, and not all of it'] : []),
    ...(leavesOutUnmarked(lines) ? ['leaves out a line without a mark'] : []),
    ...(question === undefined || text.includes(question.replace(/\s+/g, ' ')) ? [] : ['asks in part']),
    ...(text.includes('why ') ? [] : ['does not say why']),
  ].map(
    (fault) => `${card.finding.transform} ${card.path}:${card.finding.at.line} ${fault}\n${lines.join('\n')}`,
  );
}

function cardsIn(engine: Engine, file: SourceFile): readonly Card[] {
  const scan = engine.scan(file);
  const findings = scan.kind === 'scan' ? scan.findings.filter(({ fix }) => fix !== undefined) : [];
  return findings.map((finding) => cardOf(engine, file, finding));
}

function ofTheDemo(): readonly Card[] {
  const engine = engineWithDefaults(parser, transforms, transforms);
  const folder = join(fixturesFolder, '_demo');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.py'))
    .flatMap((name) => {
      const file = readSource(join(folder, name), name);
      if (typeof file === 'string') throw new Error(file);
      return cardsIn(engine, file);
    });
}

function ofTheFixtures(): readonly Card[] {
  return transforms.flatMap((transform) =>
    casesOf(transform.meta.id)
      .filter(({ kind }) => kind === 'fix')
      .flatMap((each) => {
        const neighbours = new Neighbours(parser, doorOf(each));
        const engine = createEngine({
          parser,
          transforms: [transform],
          knownIds: new Set(transforms.map(({ meta }) => meta.id)),
          optionsFor: () => ({ ...defaultsOf(transform, true), ...each.options }),
          around: (...asked) => neighbours.around(...asked),
        });
        const decoded = decode(each.input);
        if (!decoded.ok) throw new Error(`${each.name}: ${decoded.reason}`);
        return cardsIn(engine, { path: 'input.py', source: decoded.source });
      }),
  );
}

describe.each(SIZES)('in %i columns and %i rows', (width, height) => {
  it('shows the change, the reason and the question of every finding', () => {
    expect(cards.flatMap((card) => faultsOf(card, width, height))).toEqual([]);
  });
});

it('says what was measured of this case, not of another', () => {
  const effects = cards.flatMap(({ finding, meta }) => meta && [measuredEffect(meta, finding.measuredAs)]);
  expect(effects.filter((effect) => effect === undefined || effect.includes('undefined'))).toEqual([]);
  // A figure is quoted alone, so none leans on the one above it in the table; one of another case says so.
  expect(effects.filter((effect) => /\(the same\b|^at most/.test(effect ?? ''))).toEqual([]);
  for (const { finding, meta } of cards) {
    if (finding.measuredAs === undefined || meta === undefined) continue;
    const gpu = meta.evidence.gpu;
    const figures = gpu === undefined || 'notMeasured' in gpu ? [] : gpu.figures;
    const named = figures.filter(({ what }) => what.startsWith(finding.measuredAs ?? ''));
    expect(named.length, `${finding.transform}: ${finding.measuredAs}`).toBe(1);
  }
});

it('a card tells what the own run has shown, in the tier and in words, and still fits', () => {
  const setup = { python: '3.12.3', torch: '2.11.0', transformers: null, platform: 'linux', cpu: null };
  const run = {
    ...{ command: 'python train.py', at: '', memfix: '', compared: [], runs: 4, seconds: 9, figures: [] },
    ...{ setup: { ...setup, devices: ['NVIDIA H200'] }, code: [], findings: [] },
  };
  const words = '`python train.py` (Python 3.12.3, torch 2.11.0, NVIDIA H200)';
  const standing = { kind: 'verified', label: 'verified by your run: ', words, run } as const;
  const unsafe = cards.filter(({ finding }) => finding.safety === 'unsafe').slice(0, 40);
  expect(unsafe.length).toBe(40);
  for (const card of unsafe) {
    expect(faultsOf({ ...card, standing }, 80, 30)).toEqual([]);
    const look = { width: 200, height: 80, paint: noColor };
    expect(cardText({ ...card, standing }, look).text).toMatch(
      / · verified · [\s\S]*run +verified by your run: `python/,
    );
    expect(cardText(card, look).text).toContain(' · unsafe · ');
  }
});

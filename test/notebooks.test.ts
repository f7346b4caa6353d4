import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../src/dev/project.js';
import { createEngine, policy } from '../src/engine/engine.js';
import type { Finding, SourceFile } from '../src/engine/outcome.js';
import { loadParser } from '../src/syntax/parser.js';
import { encode } from '../src/text/decode.js';
import { shownCells } from '../src/text/notebook/shown.js';
import { placeMark } from '../src/text/place.js';
import { interpret } from '../src/workspace/read.js';
import { transforms } from '../transforms/index.js';
import { toolsPython } from './support/python-tools.js';

/** `fix-` is changed to `output.ipynb` by what is safe; `keep-` stays, to the last byte. Both say why in `findings.json`. */
const FOLDER = join(root, 'fixtures/_notebooks');
const RECORDS = process.env['MEMFIX_RECORD'] === '1';
const cases = readdirSync(FOLDER);
const parser = await loadParser();

function engineFor(folder: string) {
  const path = join(folder, 'options.json');
  const { select } = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { select: undefined };
  const chosen = transforms.filter(({ meta }) =>
    select === undefined ? meta.group === 'default' : select.includes(meta.id),
  );
  const knownIds = new Set(transforms.map(({ meta }) => meta.id));
  const optionsFor = (id: string) =>
    Object.fromEntries(
      Object.entries(transforms.find(({ meta }) => meta.id === id)?.meta.options ?? {}).map(
        ([name, option]) => [name, option.default],
      ),
    );
  return createEngine({ parser, transforms: chosen, knownIds, optionsFor });
}

function told({ transform, at, safety, message, questions, refusal }: Finding) {
  return {
    at: placeMark(at).slice(2),
    transform,
    safety,
    message,
    questions: questions.map(({ text }) => text),
    refusal,
  };
}

const VALIDATE = `
import sys, warnings, nbformat
warnings.simplefilter("ignore")
nbformat.validate(nbformat.reads(sys.stdin.buffer.read().decode("utf-8-sig"), as_version=nbformat.NO_CONVERT))
`;

describe.each(cases)('%s', (name) => {
  const folder = join(FOLDER, name);
  const bytes = readFileSync(join(folder, 'input.ipynb'));
  const read = interpret({ path: 'input.ipynb', explicit: true }, bytes);
  const engine = engineFor(folder);

  async function outcomeOf(file: SourceFile, unsafe: boolean) {
    const outcome = await engine.repair(file, policy({ unsafe }));
    if (outcome.kind === 'skipped') throw new Error(outcome.reason);
    expect(outcome.bugs).toEqual([]);
    const after = encode(file.source, outcome.after);
    if (after === undefined) throw new Error('it cannot be written');
    return { ...outcome, bytes: after };
  }

  test('is found and fixed as recorded', async () => {
    const scan = read.kind === 'file' ? engine.scan(read.file) : read;
    const findings = scan.kind === 'scan' ? scan.findings.map(told) : [{ skipped: scan.reason }];
    const after = read.kind === 'file' ? (await outcomeOf(read.file, false)).bytes : bytes;
    if (RECORDS) {
      writeFileSync(join(folder, 'findings.json'), `${JSON.stringify(findings, undefined, 2)}\n`);
      if (name.startsWith('fix-')) writeFileSync(join(folder, 'output.ipynb'), after);
    }
    const recorded = JSON.parse(readFileSync(join(folder, 'findings.json'), 'utf8'));
    expect(JSON.parse(JSON.stringify(findings))).toEqual(recorded);
    const expected = name.startsWith('fix-') ? readFileSync(join(folder, 'output.ipynb')) : bytes;
    expect(after.equals(expected)).toBe(true);
    expect(after.equals(bytes)).toBe(name.startsWith('keep-'));
  });

  test('has the same outputs, counts and other cells afterwards, also with what is unsafe', async () => {
    if (read.kind !== 'file') return expect(name).toMatch(/^keep-/);
    const { bytes: after } = await outcomeOf(read.file, true);
    const again = interpret({ path: 'input.ipynb', explicit: true }, after);
    if (again.kind !== 'file') throw new Error(again.reason);
    const [old, now] = [read.file.source.notebook, again.file.source.notebook];
    const outside = (notebook: typeof old) => {
      let rest = notebook?.json ?? '';
      for (const { place } of [...(notebook?.cells ?? [])].reverse())
        rest = rest.slice(0, place.start) + rest.slice(place.end);
      return rest;
    };
    expect(outside(now)).toBe(outside(old));
    const magics = ({ source }: SourceFile) =>
      shownCells(source, source.text).flatMap(({ text }) => text.match(/^\s*[%!].*|.*\?$|.*= !.*/gm) ?? []);
    expect(magics(again.file)).toEqual(magics(read.file));
    const { bytes: twice } = await outcomeOf(again.file, true);
    expect(twice.equals(after)).toBe(true);
  });

  test('is a notebook for nbformat afterwards', { timeout: 180_000 }, async () => {
    const after = read.kind === 'file' ? (await outcomeOf(read.file, true)).bytes : bytes;
    const checked = spawnSync(toolsPython(), ['-c', VALIDATE], { input: after, encoding: 'utf8' });
    expect(checked.stderr).toBe('');
  });
});

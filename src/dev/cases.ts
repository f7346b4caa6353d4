/** `npm run cases -- <folder>`: scores worked cases, each a Python file and what should become of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transforms } from '../../transforms/index.js';
import { policy } from '../engine/engine.js';
import { complaints } from '../testing/cpython.js';
import { encode } from '../text/decode.js';
import type { Transform } from '../toolkit/contract.js';
import { chosenParser } from '../workspace/parser-choice.js';
import { engineWithDefaults, readSource } from './engines.js';

/** One entry of the folder's `index.json`. */
interface WorkedCase {
  readonly file: string;
  readonly transform: string;
  /** `fix`: a fix is offered. `no-fix`: nothing changes by itself. `advice`: said, not done. `either`: sound whatever happens. */
  readonly expected: 'fix' | 'no-fix' | 'advice' | 'either';
  readonly contains?: readonly string[];
  readonly absent?: readonly string[];
}

interface Score {
  readonly row: readonly [file: string, transform: string, expected: string, got: string];
  /** Why the case fails; empty when it passes. */
  readonly faults: readonly string[];
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write(
    'No folder given\n  Cases are Python files with an index.json.\n  Next: npm run cases -- <folder>\n',
  );
  process.exit(2);
}

const cases = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as readonly WorkedCase[];
const parser = await chosenParser(process.env['MEMFIX_PARSER']);
const scores: Score[] = [];
const notBuilt = new Map<string, number>();
for (const each of cases) {
  const transform = transforms.find(({ meta }) => meta.id === each.transform);
  if (transform === undefined) notBuilt.set(each.transform, (notBuilt.get(each.transform) ?? 0) + 1);
  else scores.push(await score(folder, each, transform));
}
process.stdout.write(table(scores, notBuilt));
process.exitCode = scores.some(({ faults }) => faults.length > 0) ? 1 : 0;

async function score(at: string, worked: WorkedCase, transform: Transform): Promise<Score> {
  const file = readSource(join(at, worked.file), worked.file);
  if (typeof file === 'string')
    return verdict(worked, `skipped: ${file}`, ['a worked case must be readable']);
  const engine = engineWithDefaults(parser, [transform], transforms);
  const scan = engine.scan(file);
  const run = async (unsafe: boolean): Promise<string> => {
    const outcome = await engine.repair(file, policy({ unsafe }));
    if (outcome.kind === 'skipped') return file.source.text;
    bugs.push(...outcome.bugs);
    return outcome.after;
  };
  const bugs: string[] = [];
  const before = file.source.text;
  const byDefault = await run(false);
  const offered = await run(true);
  // What runs by itself; opt-in and documented transforms are only ever asked for, with their unsafe fixes.
  const applied = transform.meta.group === 'default' ? byDefault : offered;
  const result = worked.expected === 'no-fix' || worked.expected === 'advice' ? applied : offered;
  const changed = result !== before;
  const faults = [...bugs];
  if (worked.expected === 'fix' && !changed) faults.push('nothing is offered');
  if (worked.expected === 'no-fix' && changed) faults.push('it is changed');
  if (worked.expected === 'advice') {
    if (changed) faults.push('it is changed');
    if (scan.kind === 'skipped' || scan.findings.length === 0) faults.push('nothing is said');
  }
  if (changed || worked.expected === 'fix') {
    for (const text of worked.contains ?? [])
      if (!has(result, text)) faults.push(`lacks ${JSON.stringify(text)}`);
  }
  for (const text of worked.absent ?? []) if (has(result, text)) faults.push(`has ${JSON.stringify(text)}`);
  if (offered !== before) {
    const [complaint] = complaints([encode(file.source, offered) ?? Buffer.from(offered)]);
    if (complaint !== undefined) faults.push(complaint);
  }
  const got = byDefault !== before ? 'safe fix' : offered !== before ? 'unsafe fix' : said(scan);
  return verdict(worked, got, faults);
}

function said(scan: ReturnType<ReturnType<typeof engineWithDefaults>['scan']>): string {
  if (scan.kind === 'skipped') return `skipped: ${scan.reason}`;
  const [first] = scan.findings;
  if (first === undefined) return 'silent';
  return first.refusal === undefined ? first.safety : `refused: ${first.refusal}`;
}

/** Cases are written with `\n`, whatever the file has. */
function has(result: string, text: string): boolean {
  return result.replace(/\r\n?/g, '\n').includes(text);
}

function verdict(worked: WorkedCase, got: string, faults: readonly string[]): Score {
  return { row: [worked.file, worked.transform, worked.expected, got], faults };
}

function table(rows: readonly Score[], missing: ReadonlyMap<string, number>): string {
  const width = (column: 0 | 1 | 2): number => Math.max(0, ...rows.map(({ row }) => row[column].length));
  const lines = rows.map(({ row: [file, id, expected, got], faults }) => {
    const mark = faults.length === 0 ? 'ok  ' : 'FAIL';
    const cells = [file.padEnd(width(0)), id.padEnd(width(1)), expected.padEnd(width(2)), got];
    return `${mark}  ${cells.join('  ')}${faults.map((fault) => `\n      ${fault}`).join('')}\n`;
  });
  const failed = rows.filter(({ faults }) => faults.length > 0).length;
  const unbuilt = [...missing].map(([id, count]) => `${id} (${count})`).sort();
  return [
    ...lines,
    unbuilt.length === 0 ? '' : `\nnot built: ${unbuilt.join(', ')}\n`,
    `\n${rows.length - failed} of ${rows.length} cases pass\n`,
  ].join('');
}

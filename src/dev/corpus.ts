/**
 * `npm run corpus -- <folder> [--transform id] [--show safe|unsafe|advice|refused] [--alone] [--whole]`: every transform
 * over a folder of checkouts, read only. Crashes, results that CPython refuses and results that change again are failures.
 * `--alone` keeps each file from seeing its project. `--whole` also looks at every file without cues and with all of it
 * parsed: other findings than in pieces are failures too.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { transforms } from '../../transforms/index.js';
import { type Engine, policy } from '../engine/engine.js';
import type { Finding, SourceFile } from '../engine/outcome.js';
import { formatHunk, hunksBetween } from '../report/diff.js';
import { complaints } from '../testing/cpython.js';
import { decode, encode } from '../text/decode.js';
import { Neighbourhood } from '../workspace/neighbourhood.js';
import { chosenParser } from '../workspace/parser-choice.js';
import { engineWithDefaults } from './engines.js';

type Show = 'safe' | 'unsafe' | 'advice' | 'refused';

interface Result {
  readonly file: SourceFile;
  readonly unsafe: boolean;
  readonly after: string;
}

/** What happened in one checkout. */
class Ledger {
  files = 0;
  matched = 0;
  readonly findings: Finding[] = [];
  readonly skipped: string[] = [];
  readonly failures: string[] = [];
  readonly results: Result[] = [];

  constructor(readonly name: string) {}
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    show: { type: 'string' },
    transform: { type: 'string', multiple: true },
    alone: { type: 'boolean' },
    whole: { type: 'boolean' },
  },
});
const [folder] = positionals;
const wanted =
  values.transform ?? transforms.filter(({ meta }) => meta.group === 'default').map(({ meta }) => meta.id);
const unknown = wanted.filter((id) => !transforms.some(({ meta }) => meta.id === id));
if (folder === undefined || unknown.length > 0 || !isShow(values.show)) {
  process.stderr.write(
    `Cannot run over the corpus\n  ${folder === undefined ? 'No folder of checkouts given.' : `Unknown: ${[...unknown, values.show].join(' ')}`}\n` +
      '  Next: npm run corpus -- <folder> [--transform id] [--show safe|unsafe|advice|refused]\n',
  );
  process.exit(2);
}

const chosen = transforms.filter(({ meta }) => wanted.includes(meta.id));
const parser = await chosenParser(process.env['MEMFIX_PARSER']);
const ledgers: Ledger[] = [];
for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (entry.isDirectory() && !entry.name.startsWith('.'))
    ledgers.push(await survey(entry.name, join(folder, entry.name)));
}
process.stdout.write(summary(ledgers));
process.exitCode = ledgers.some(({ failures }) => failures.length > 0) ? 1 : 0;

async function survey(name: string, at: string): Promise<Ledger> {
  const ledger = new Ledger(name);
  const started = performance.now();
  const door =
    values.alone === true
      ? undefined
      : new Neighbourhood(resolve(at), resolve(at), { configured: new Map() });
  const engine = engineWithDefaults(parser, chosen, transforms, door);
  const cueless = chosen.map((transform) => ({ ...transform, cue: () => true }));
  const whole = values.whole === true ? engineWithDefaults(parser, cueless, transforms, door) : undefined;
  for (const path of pythonFiles(at)) {
    ledger.files++;
    const label = relative(at, path);
    try {
      const bytes = readFileSync(path);
      await examine(ledger, engine, label, bytes);
      if (whole !== undefined) compare(ledger, engine, whole, label, bytes);
    } catch (error) {
      ledger.failures.push(
        `${label}: crashed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
  }
  compileAll(ledger);
  const count = (test: (finding: Finding) => boolean): number => ledger.findings.filter(test).length;
  const tiers = (['safe', 'unsafe', 'advice'] as const).map(
    (tier) => `${count(({ safety, refusal }) => refusal === undefined && safety === tier)} ${tier}`,
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(
    `${name}: ${ledger.files} files, ${ledger.matched} parsed, ${ledger.skipped.length} skipped, ${tiers.join(', ')}, ` +
      `${count(({ refusal }) => refusal !== undefined)} refused, ${ledger.failures.length} failures, ${seconds} s\n`,
  );
  for (const failure of ledger.failures) process.stdout.write(`  ${failure}\n`);
  return ledger;
}

async function examine(ledger: Ledger, engine: Engine, label: string, bytes: Buffer): Promise<void> {
  const among = engine.among(bytes);
  if (among.transforms.length === 0) return;
  const decoded = decode(bytes);
  if (!decoded.ok) {
    ledger.skipped.push(decoded.reason);
    return;
  }
  const file: SourceFile = { path: label, source: decoded.source };
  const scan = engine.scan(file, among);
  if (scan.kind === 'skipped') {
    ledger.skipped.push(scan.reason);
    return;
  }
  ledger.matched++;
  ledger.findings.push(...scan.findings);
  for (const finding of scan.findings) if (isShown(finding)) show(ledger.name, engine, file, finding);
  for (const unsafe of [false, true]) await settle(ledger, engine, file, unsafe);
}

/** What is found in pieces must be what is found in the whole. */
function compare(ledger: Ledger, engine: Engine, whole: Engine, label: string, bytes: Buffer): void {
  const decoded = decode(bytes);
  if (!decoded.ok || engine.among(bytes).transforms.length === 0) return;
  const file: SourceFile = { path: label, source: decoded.source };
  const [found, wanted] = [engine.scan(file), whole.scan({ ...file, named: true })];
  // A part that is not looked into may be broken: then only a look at the whole can tell.
  if (found.kind === 'skipped' || wanted.kind === 'skipped') return;
  const words = ({ at, transform, safety, refusal }: Finding): string =>
    `${at.line} ${transform} ${safety} ${refusal ?? ''}`;
  const [ours, theirs] = [found, wanted].map(({ findings }) => findings.map(words).join('; '));
  if (ours !== theirs)
    ledger.failures.push(`${label}: in pieces ${ours || 'nothing'}, in the whole ${theirs || 'nothing'}`);
}

/** Repairs the file and, if that changed it, once more: the second time must change nothing. */
async function settle(ledger: Ledger, engine: Engine, file: SourceFile, unsafe: boolean): Promise<void> {
  const after = await repairedText(ledger, engine, file, unsafe);
  if (after === file.source.text) return;
  ledger.results.push({ file, unsafe, after });
  const again = await repairedText(
    ledger,
    engine,
    { ...file, source: { ...file.source, text: after } },
    unsafe,
  );
  if (again !== after) ledger.failures.push(`${file.path}: changes again on the second run`);
}

async function repairedText(ledger: Ledger, by: Engine, file: SourceFile, unsafe: boolean): Promise<string> {
  const outcome = await by.repair(file, policy({ unsafe }));
  if (outcome.kind === 'skipped') {
    ledger.failures.push(`${file.path}: skipped although it was scanned: ${outcome.reason}`);
    return file.source.text;
  }
  ledger.failures.push(...outcome.bugs.map((bug) => `${file.path}: ${bug}`));
  return outcome.after;
}

/** Files that CPython refused before are not held against us. */
function compileAll(ledger: Ledger): void {
  const bytes = (file: SourceFile, text: string): Buffer => encode(file.source, text) ?? Buffer.from(text);
  const before = complaints(ledger.results.map(({ file }) => bytes(file, file.source.text)));
  const now = complaints(ledger.results.map(({ file, after }) => bytes(file, after)));
  for (const [index, { file, unsafe }] of ledger.results.entries()) {
    if (before[index] !== undefined || now[index] === undefined) continue;
    ledger.failures.push(
      `${file.path}: no longer compiles${unsafe ? ' with unsafe fixes' : ''}: ${now[index]}`,
    );
  }
}

function isShow(value: string | undefined): value is Show | undefined {
  return (
    value === undefined || value === 'safe' || value === 'unsafe' || value === 'advice' || value === 'refused'
  );
}

function isShown({ safety, refusal }: Finding): boolean {
  return values.show === 'refused' ? refusal !== undefined : refusal === undefined && safety === values.show;
}

function show(repository: string, engine: Engine, file: SourceFile, finding: Finding): void {
  const { before, after } = engine.preview(file, finding);
  const words =
    finding.refusal ??
    [
      finding.message,
      ...finding.questions.map(({ text }) => `asks: ${text}`),
      ...(finding.advice === undefined ? [] : [`advice: ${finding.advice}`]),
    ].join('\n  ');
  const line = before.split(/\r\n|\r|\n/)[finding.at.line - 1] ?? '';
  const diff =
    after === before
      ? `  ${finding.at.line} | ${line}\n`
      : hunksBetween(before, after).map(formatHunk).join('');
  process.stdout.write(
    `\n${repository}/${file.path}:${finding.at.line} ${finding.transform}\n  ${words}\n${diff}`,
  );
}

function* pythonFiles(at: string): Generator<string> {
  for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(at, entry.name);
    if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules')
      yield* pythonFiles(path);
    else if (entry.isFile() && entry.name.endsWith('.py') && lstatSync(path).size > 0) yield path;
  }
}

function summary(all: readonly Ledger[]): string {
  const findings = all.flatMap((ledger) => ledger.findings);
  const tiers = findings.map(
    ({ transform, safety, refusal }) => `${transform}: ${refusal === undefined ? safety : 'refused'}`,
  );
  const refusals = findings.flatMap(({ transform, refusal }) =>
    refusal === undefined ? [] : [`${transform}: ${withoutNames(refusal)}`],
  );
  const gates = findings.flatMap(({ transform, questions }) =>
    questions.map(({ text }) => `${transform}: ${withoutNames(text)}`),
  );
  return [
    tallied('findings', tiers),
    tallied('questions', gates),
    tallied('refusals', refusals),
    tallied('skipped files', all.flatMap(({ skipped }) => skipped).map(withoutNames)),
    `\n${all.length} checkouts, ${all.reduce((sum, { files }) => sum + files, 0)} files, `,
    `${all.reduce((sum, { failures }) => sum + failures.length, 0)} failures\n`,
  ].join('');
}

/** The same reason for two names is one reason. */
function withoutNames(sentence: string): string {
  return sentence.replace(/`[^`]*`/g, '`…`').replace(/\d+/g, 'N');
}

function tallied(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  const rows = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([item, count]) => `${`${count}`.padStart(6)}  ${item}\n`);
  return `\n${title}\n${rows.join('')}`;
}

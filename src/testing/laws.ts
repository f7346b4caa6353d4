import { strict as assert } from 'node:assert';
import type { ProjectDoor } from '../engine/door.js';
import { createEngine, type Engine, policy } from '../engine/engine.js';
import { Neighbours } from '../engine/neighbours.js';
import type { Decide, Finding, Outcome, Scan, SourceFile } from '../engine/outcome.js';
import type { PythonParser } from '../syntax/parser.js';
import { decode, encode } from '../text/decode.js';
import { Lines } from '../text/lines.js';
import type { Options, Transform } from '../toolkit/contract.js';
import { defaultsOf } from './defaults.js';
import {
  allowsUnsafe,
  doorOf,
  type FixtureCase,
  record,
  writeOutput,
  writeProjectOutput,
  writeRecord,
} from './fixtures.js';
import { VARIANTS } from './variants.js';

/** One law, for one case: `check` throws where it is broken. */
export interface Law {
  readonly name: string;
  check(): void | Promise<void>;
}

/** What the laws need to judge a case: the transforms under test, and all that exist. */
export interface Court {
  readonly parser: PythonParser;
  readonly transforms: readonly Transform[];
  readonly all: readonly Transform[];
  /** Where several transforms meet, a record says whose finding it is; each runs as if by name. */
  readonly withId: boolean;
  /** Whether `findings.json` is written anew, and `output.py` where there is none. */
  readonly records: boolean;
  /** Hands a result to CPython, which judges all of them at once in the end. */
  compiles(label: string, bytes: Buffer): void;
}

const SAFE = policy({ unsafe: false });
const UNSAFE = policy({ unsafe: true });

export function caseLaws(court: Court, fixture: FixtureCase): readonly Law[] {
  const laws: Law[] = [];
  const law = (name: string, check: Law['check']) => void laws.push({ name, check });
  const file = sourceFile(fixture.input);
  const { options } = fixture;
  const door = doorOf(fixture);
  const engine = engineFor(court, court.transforms, options, door);
  const { withId, records } = court;
  const recordOf = ({ findings }: Scan) => findings.map((finding) => record(finding, withId));
  const decide = allowsUnsafe(fixture.kind, records ? recordOf(scanned(engine, file)) : fixture.recorded)
    ? UNSAFE
    : SAFE;
  const expected = fixture.kind === 'fix' ? fixture.output : fixture.input;

  /** What the case gives: computed once, and compared with each law's own computation. */
  const scan = once(() => scanned(engine, file));
  const result = once(async () => bytesOf((await repaired(engine, file, decide, scan())).after, file));

  law('is found as recorded', () => {
    const found = recordOf(scanned(engine, file));
    if (records) writeRecord(fixture.folder, found);
    else assert.deepEqual(found, fixture.recorded);
  });

  law(fixture.kind === 'fix' ? 'becomes its output, byte for byte' : 'keeps its bytes', async () => {
    const outcome = await repaired(engine, file, fixture.kind === 'report' ? UNSAFE : decide);
    const after = bytesOf(outcome.after, file);
    if (records && expected === undefined) writeOutput(fixture.folder, after);
    else assert.equal(after.toString('latin1'), expected?.toString('latin1'));
    if (records) {
      for (const { path, after: text } of outcome.beside) writeProjectOutput(fixture.folder, path, text);
    } else {
      const beside = new Map(outcome.beside.map((change) => [change.path, change.after]));
      assert.deepEqual(beside, fixture.projectOutput);
    }
    const isKept = after.equals(fixture.input) && outcome.beside.length === 0;
    assert.equal(isKept, fixture.kind !== 'fix', isKept ? 'nothing was changed' : 'something was changed');
    court.compiles(fixture.name, after);
  });

  if (fixture.kind === 'report') {
    law('is advice', () => {
      const said = scan().findings.filter(({ refusal }) => refusal === undefined);
      assert.ok(said.some(({ safety }) => safety === 'advice'));
    });
  }

  law('does not change a second time', async () => {
    const isStable = async (judge: Engine, answer: Decide, label: string, known?: Scan) => {
      const first = await repaired(judge, file, answer, known);
      // A second run on the same bytes would repeat the first.
      if (first.after === file.source.text && first.beside.length === 0) return;
      const newer = new Map(first.beside.map(({ path, after }) => [path, after]));
      const changed = { ...file, source: { ...file.source, text: first.after }, newer };
      const second = await repaired(judge, changed, answer);
      assert.equal(second.after, first.after);
      assert.deepEqual(second.beside, []);
      court.compiles(`${fixture.name}, ${label}`, bytesOf(first.after, file));
    };
    let isAskedForMore = false;
    const safe: Decide = (finding, ...more) => {
      isAskedForMore ||= finding.safety === 'unsafe';
      return SAFE(finding, ...more);
    };
    await isStable(engine, safe, 'alone', scan());
    // Where no finding of any pass was unsafe, both answers are the same.
    if (isAskedForMore) await isStable(engine, UNSAFE, 'alone', scan());
    await isStable(engineFor(court, court.all, {}, door), UNSAFE, 'with every transform');
  });

  law('is sound with each fix alone, each pair and all of them', async () => {
    const fixable = scan().findings.filter(({ fix }) => fix !== undefined);
    for (const chosen of subsets(fixable.map(({ key }) => key))) {
      const decideOn: Decide = ({ key }) => ({ kind: chosen.has(key) ? 'apply' : 'skip' });
      const outcome = await repaired(engine, file, decideOn, scan());
      expectSound(court, outcome.after);
      court.compiles(`${fixture.name}, ${[...chosen].join(' + ')}`, bytesOf(outcome.after, file));
    }
  });

  law('touches only what its edits cover, and no comment', () => {
    for (const finding of scan().findings) {
      if (finding.fix === undefined) continue;
      const { before, after } = engine.preview(file, finding);
      const edits = [...finding.fix.edits, ...finding.fix.importEdits];
      assert.equal(before, file.source.text);
      assert.equal(after, spliced(before, edits));
      const removed = (start: number, end: number): boolean =>
        edits.some((edit) => edit.start <= start && end <= edit.end && edit.text.trim() === '');
      const lost = lostComments(court, before, after).filter(({ start, end }) => !removed(start, end));
      assert.deepEqual(lost, []);
    }
  });

  for (const variant of VARIANTS.filter(({ fits }) => fits(fixture.input))) {
    law(`is the same with ${variant.name}`, async () => {
      const varied = sourceFile(variant.vary(fixture.input));
      const seen = scanned(engine, varied);
      const moved = recordOf(scan()).map((each) => ({ ...each, line: each.line + variant.linesAbove }));
      assert.deepEqual(recordOf(seen), moved);
      const after = bytesOf((await repaired(engine, varied, decide, seen)).after, varied);
      assert.equal(after.toString('latin1'), variant.vary(await result()).toString('latin1'));
      court.compiles(`${fixture.name}, ${variant.name}`, after);
    });
  }

  law('passes the prefilter where there is a finding', () => {
    for (const { transform: id } of scan().findings) {
      const transform = court.transforms.find(({ meta }) => meta.id === id);
      assert.ok(transform);
      assert.ok(engineFor(court, [transform], options).among(fixture.input).transforms.includes(transform));
      for (const literal of transform.prefilter) {
        assert.ok([literal].flat().some((one) => file.source.text.includes(one)));
      }
    }
  });

  law('has the same findings when all of it is parsed, without prefilter and cue', () => {
    const open = court.transforms.map((transform) => ({ ...transform, prefilter: [], cue: () => true }));
    const seen = scanned(engineFor(court, open, options, door), { ...file, named: true });
    assert.deepEqual(seen.findings, scan().findings);
  });

  law('is silenced by an ignore comment, and only there', () => {
    const { findings, suppressed, notes } = scan();
    for (const finding of findings) {
      const hushed = withIgnore(court, file, finding);
      if (hushed === undefined) continue;
      const silent = (each: Finding): boolean =>
        each.at.line === finding.at.line && each.transform === finding.transform;
      const after = scanned(engine, hushed);
      assert.deepEqual(after.findings.map(identity), findings.filter((each) => !silent(each)).map(identity));
      assert.deepEqual(
        after.suppressed.map(identity),
        [...suppressed, ...findings.filter(silent)].map(identity),
      );
      assert.deepEqual(after.notes, notes);
    }
  });

  law('reports an ignore comment that silences nothing', () => {
    const [first] = court.transforms;
    const text = `${file.source.text.replace(/[^\n\r]$/, '$&\n')}# memfix: ignore[${first?.meta.id}]`;
    const idle = scanned(engine, { ...file, source: { ...file.source, text } });
    assert.ok(idle.notes.some(({ at }) => at.line === new Lines(text).count));
    assert.deepEqual(idle.findings.map(identity), scan().findings.map(identity));
  });
  return laws;
}

export function engineFor(
  court: Court,
  transforms: readonly Transform[],
  options: Options,
  door?: ProjectDoor,
): Engine {
  const neighbours = door && new Neighbours(court.parser, door);
  return createEngine({
    parser: court.parser,
    transforms,
    knownIds: new Set(court.all.map(({ meta }) => meta.id)),
    optionsFor: (id) => ({
      ...defaultsOf(
        court.all.find(({ meta }) => meta.id === id),
        transforms.length === 1 || court.withId,
      ),
      ...options,
    }),
    ...(neighbours && {
      around: (...asked: Parameters<Neighbours['around']>) => neighbours.around(...asked),
    }),
  });
}

export function sourceFile(bytes: Buffer): SourceFile {
  const decoded = decode(bytes);
  if (!decoded.ok) throw new Error(`the fixture cannot be read because ${decoded.reason}`);
  return { path: 'input.py', source: decoded.source };
}

export function bytesOf(text: string, file: SourceFile): Buffer {
  const bytes = encode(file.source, text);
  if (bytes === undefined) throw new Error(`the result cannot be written as ${file.source.encoding}`);
  return bytes;
}

function scanned(engine: Engine, file: SourceFile): Scan {
  const scan = engine.scan(file);
  if (scan.kind === 'skipped') throw new Error(`skipped because ${scan.reason}`);
  const [fault] = scan.faults ?? [];
  if (fault !== undefined) throw new Error(fault.details);
  return scan;
}

/** `known` is what a scan of the file has found. */
export async function repaired(
  engine: Engine,
  file: SourceFile,
  decide: Decide,
  known?: Scan,
): Promise<Outcome> {
  const outcome = await engine.repair(file, decide, known);
  if (outcome.kind === 'skipped') throw new Error(`skipped because ${outcome.reason}`);
  assert.deepEqual(outcome.bugs, []);
  return outcome;
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}

function expectSound({ parser }: Court, text: string): void {
  const tree = parser.parse(text);
  assert.equal(tree.hasError, false);
  tree.dispose();
}

/** Each alone, each pair, and all. */
function subsets(keys: readonly string[]): ReadonlySet<string>[] {
  const pairs = keys.flatMap((a, index) => keys.slice(index + 1).map((b) => new Set([a, b])));
  return [...keys.map((key) => new Set([key])), ...pairs, ...(keys.length > 2 ? [new Set(keys)] : [])];
}

/** Written apart from `applyEdits` on purpose: the two must agree. */
function spliced(text: string, edits: readonly { start: number; end: number; text: string }[]): string {
  let result = text;
  for (const edit of [...edits].sort((a, b) => b.start - a.start || b.end - a.end)) {
    result = result.slice(0, edit.start) + edit.text + result.slice(edit.end);
  }
  return result;
}

interface Comment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function lostComments(court: Court, before: string, after: string): Comment[] {
  const left = commentsIn(court, after).map(({ text }) => text);
  return commentsIn(court, before).filter(({ text }) => {
    const at = left.indexOf(text);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

function commentsIn({ parser }: Court, text: string): Comment[] {
  const tree = parser.parse(text);
  const comments: Comment[] = [];
  for (const node of tree.root.walk()) {
    if (node.type === 'comment') comments.push({ text: node.text, start: node.start, end: node.end });
  }
  tree.dispose();
  return comments;
}

/** Undefined where the line cannot hold a comment: it goes on in a string or behind a backslash. */
function withIgnore(court: Court, file: SourceFile, finding: Finding): SourceFile | undefined {
  const { text } = file.source;
  const end = new Lines(text).end(finding.at.line);
  if (text[end - 1] === '\\') return undefined;
  const comment = `# memfix: ignore[${finding.transform}]`;
  const hushed = `${text.slice(0, end)}  ${comment}${text.slice(end)}`;
  const isComment = commentsIn(court, hushed).some((each) => each.text.endsWith(comment));
  return isComment ? { ...file, source: { ...file.source, text: hushed } } : undefined;
}

function identity({ transform, at, message, refusal }: Finding): string {
  return `${at.line} ${transform}: ${refusal ?? message}`;
}

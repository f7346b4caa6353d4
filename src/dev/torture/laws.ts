import { transforms } from '../../../transforms/index.js';
import { createEngine, type Engine, policy } from '../../engine/engine.js';
import { Neighbours } from '../../engine/neighbours.js';
import type { Decide, Finding, Scan, SourceFile } from '../../engine/outcome.js';
import type { PythonParser } from '../../syntax/parser.js';
import { firstError, pythonProblem } from '../../syntax/soundness.js';
import { defaultsOf } from '../../testing/defaults.js';
import { doorOf } from '../../testing/fixtures.js';
import { decode, encode } from '../../text/decode.js';
import { Random } from './random.js';
import { KEPT } from './rewrites.js';
import type { Subject } from './subject.js';

export type Answers = 'safe' | 'unsafe' | 'all' | 'mixed';

export interface Judged {
  /** What is not kept, if anything. */
  readonly broken?: { readonly law: string; readonly detail: string };
  readonly fixes: number;
  readonly isSkipped: boolean;
  /** It offered fixes, and `apply` finds that the file is no Python. */
  readonly isRefused?: boolean;
  /** Bytes before and after, where something was changed: CPython judges them. */
  readonly result?: { readonly before: Buffer; readonly after: Buffer };
}

/** Of so many files one is looked at in other ways too, which must give the same findings. */
const COMPARED = 8;

const ids = new Set(transforms.map(({ meta }) => meta.id));

export function engineOf({ fixture, engines }: Subject, parser: PythonParser): Engine {
  let engine = engines.get(parser);
  if (engine === undefined) {
    const neighbours = new Neighbours(parser, doorOf(fixture));
    engine = createEngine({
      parser,
      transforms,
      knownIds: ids,
      optionsFor: (id) => ({
        ...defaultsOf(transforms.find(({ meta }) => meta.id === id)),
        ...fixture.options,
      }),
      around: (...asked: Parameters<Neighbours['around']>) => neighbours.around(...asked),
    });
    engines.set(parser, engine);
  }
  return engine;
}

function decideBy(answers: Answers, seed: number): Decide {
  if (answers === 'all') return () => ({ kind: 'apply' });
  const random = new Random(seed);
  if (answers === 'mixed') return () => ({ kind: random.oneOf('apply', 'skip', 'suppress') });
  return policy({ unsafe: answers === 'unsafe' });
}

/** What memfix promises for any text, whatever is in it. */
export async function judge(
  text: string,
  engine: Engine,
  other: { readonly engine: Engine; readonly parser: PythonParser },
  answers: Answers,
  seed: number,
): Promise<Judged> {
  let seen = { fixes: 0, isSkipped: false };
  try {
    const bytes = Buffer.from(text);
    const decoded = decode(bytes);
    if (!decoded.ok) return { ...seen, isSkipped: true };
    const file: SourceFile = { path: 'input.py', source: decoded.source };
    const wrong = (law: string, detail: string): Judged => ({ ...seen, broken: { law, detail } });
    if (encode(file.source, file.source.text)?.equals(bytes) !== true)
      return wrong('bytes', 'decoding and encoding changes bytes');
    const scan = engine.scan(file);
    if (seed % COMPARED === 0) {
      const whole = engine.scan({ ...file, named: true });
      const across = other.engine.scan(file);
      // What nobody looks into may be broken: only a look at the whole can tell.
      if (whole.kind !== 'skipped' && words(whole) !== words(scan))
        return wrong('in pieces as in the whole', `${words(scan)} | ${words(whole)}`);
      if (words(across) !== words(scan))
        return wrong('both parsers alike', `${words(scan)} | ${words(across)}`);
    }
    if (scan.kind === 'skipped') return { fixes: 0, isSkipped: true };
    const offered = scan.findings.filter(({ fix }) => fix !== undefined);
    seen = { fixes: offered.length, isSkipped: false };
    for (const finding of offered) {
      const { after } = engine.preview(file, finding);
      if (after !== spliced(file.source.text, finding)) return wrong('preview', finding.transform);
    }
    const outcome = await engine.repair(file, decideBy(answers, seed), scan);
    if (outcome.kind === 'skipped') {
      // Only a second parser sees it, which a report does not wait for.
      if (/^not valid Python 3/.test(outcome.reason)) return { ...seen, isRefused: true };
      const names = offered.map(({ transform }) => transform).join(', ');
      return wrong('apply does what check offers', `${outcome.reason} [${names}]`);
    }
    // A person asked for a comment where none can be.
    const [bug] = outcome.bugs.filter((words) => !words.endsWith('no comment can stand on that line'));
    if (bug !== undefined) return wrong('no bug', bug);
    if (outcome.after === file.source.text) return seen;
    if (file.source.text.includes(KEPT) && !outcome.after.includes(KEPT))
      return wrong(
        'no assignment is lost',
        outcome.settled.map(({ finding }) => finding.transform).join(', '),
      );
    const problem = pythonProblem(outcome.after);
    if (problem !== undefined) return wrong('the result is Python', problem.message);
    const tree = other.parser.parse(outcome.after);
    const error = firstError(tree);
    tree.dispose();
    if (error !== undefined) return wrong('the result parses', `at ${error.start}`);
    if (answers !== 'mixed') {
      const newer = new Map(outcome.beside.map(({ path, after }) => [path, after]));
      const once = { ...file, source: { ...file.source, text: outcome.after }, newer };
      const again = await engine.repair(once, decideBy(answers, seed));
      if (again.kind === 'skipped') return wrong('a second run changes nothing', again.reason);
      const [second] = again.bugs;
      if (second !== undefined) return wrong('no bug in a second run', second);
      if (again.after !== outcome.after || again.beside.length > 0)
        return wrong(
          'a second run changes nothing',
          again.settled.map(({ finding, fate }) => `${finding.transform} ${fate}`).join(', '),
        );
    }
    const after = encode(file.source, outcome.after);
    if (after === undefined) return seen;
    return { ...seen, result: { before: bytes, after } };
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...seen, broken: { law: 'no crash', detail } };
  }
}

function words(scan: Scan | { readonly kind: 'skipped'; readonly reason: string }): string {
  if (scan.kind === 'skipped') return 'skipped';
  return scan.findings
    .map(({ at, transform, safety, refusal }) => `${at.line} ${transform} ${safety} ${refusal ?? ''}`)
    .join('; ');
}

/** Written apart from `applyEdits` on purpose: the two must agree. */
function spliced(text: string, { fix }: Finding): string {
  let result = text;
  const edits = [...(fix?.edits ?? []), ...(fix?.importEdits ?? [])];
  for (const edit of edits.sort((a, b) => b.start - a.start || b.end - a.end))
    result = result.slice(0, edit.start) + edit.text + result.slice(edit.end);
  return result;
}

import { applyEdits } from '../edit/apply.js';
import type { Edit, FileEdits } from '../edit/edit.js';
import { plan } from '../edit/plan.js';
import type { PyModule } from '../semantic/module.js';
import { firstError, pythonProblem, type SyntaxProblem, tokensOutside } from '../syntax/soundness.js';
import { yamlProblem } from '../syntax/yaml.js';
import { placeText } from '../text/place.js';
import { agreeing } from './agreement.js';
import { problemInCells } from './cells.js';
import type { EngineSetup } from './engine.js';
import { movedBy, written } from './moved.js';
import type {
  BesideChange,
  Decide,
  Decision,
  Finding,
  Outcome,
  Scan,
  Settled,
  Skipped,
  SourceFile,
} from './outcome.js';
import { changeOf, previewOf, withNeeded } from './preview.js';
import { claimed, editableLines } from './region.js';
import { lookAt, notPython, scanOf, withWhole } from './scan.js';
import { suppressionEdit } from './suppression.js';

/** Fixes that enable each other take a pass each; more than this many is not convergence. */
const MAX_PASSES = 10;

interface Choice {
  readonly finding: Finding;
  readonly decision: Decision;
  readonly edits: readonly Edit[];
}

/** An answer, and the finding as it was when it was asked about. */
interface Answered {
  readonly decision: Decision;
  readonly finding: Finding;
}

/**
 * Decides, applies and verifies until nothing is left to do. A file that does not come to rest keeps its bytes. `known` is
 * what a scan of the file has just found. `isLast`: `decide` says no to all that shows up later, so that the
 * last scan can wait until somebody wants to know what is left.
 */
export async function repair(
  setup: EngineSetup,
  file: SourceFile,
  decide: Decide,
  known?: Scan,
  isLast = false,
): Promise<Outcome | Skipped> {
  const seen = new Set([file.source.text]);
  const settled: Settled[] = [];
  const bugs: string[] = [];
  /** Answers given and not yet carried out, by place in the current text. */
  let standing = new Map<string, Answered>();
  let current = file;
  /** Other files as they have become, with what they were. */
  const beside = new Map<string, BesideChange>();
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const scanned = (current === file ? known : undefined) ?? scanOf(setup, lookAt(setup, current));
    if (scanned.kind === 'skipped') {
      if (current === file) return scanned;
      return untouched(setup, file, [...bugs, `a fix made ${file.path} unreadable: ${scanned.reason}`]);
    }
    for (const finding of scanned.findings) {
      const place = placeOf(finding, finding.span.start);
      if (finding.fix === undefined) continue;
      const answered = standing.get(place);
      const riskier = answered && declinedRisk(file.source.notebook ? [] : settled, answered, finding);
      if (answered !== undefined && riskier === undefined) continue;
      if (riskier !== undefined) settled.splice(settled.indexOf(riskier), 1);
      const decision = await decide(finding, previewOf(current, finding), riskier?.finding);
      standing.set(place, { decision, finding });
      if (decision.kind === 'skip') settled.push({ finding, fate: 'declined' });
    }
    if ([...standing.values()].every(({ decision }) => decision.kind === 'skip'))
      return outcomeOf(file, scanned, beside, withRemains(settled, scanned, standing), bugs);
    const objection = current === file ? notPython(file) : undefined;
    if (objection !== undefined) return objection;
    const step = withWhole(setup, current, (module) => applyOnce(scanned, module, setup, standing));
    if ('kind' in step)
      return untouched(setup, file, [...bugs, `${file.path} could not be read twice: ${step.reason}`]);
    settled.push(...step.settled);
    bugs.push(...step.bugs);
    if (step.after === current.source.text && step.beside.length === 0)
      return outcomeOf(file, scanned, beside, withRemains(settled, scanned, standing), bugs);
    for (const change of step.beside) {
      beside.set(change.path, { ...change, before: beside.get(change.path)?.before ?? change.before });
    }
    const newer = new Map(file.newer);
    for (const { path, after } of beside.values()) newer.set(path, after);
    const state = [step.after, ...[...newer].flat()].join('\0');
    if (seen.has(state)) return untouched(setup, file, [...bugs, `fixes undo each other in ${file.path}`]);
    seen.add(state);
    standing = step.standing;
    current = {
      ...file,
      source: { ...file.source, text: step.after },
      ...(newer.size > 0 && { newer }),
    };
    if (isLast && [...standing.values()].every(({ decision }) => decision.kind === 'skip'))
      return unscanned(setup, file, current, beside, settled, bugs);
  }
  return untouched(setup, file, [
    ...bugs,
    `fixes of ${file.path} did not come to rest after ${MAX_PASSES} passes`,
  ]);
}

/** Declined findings with what is left of them: they were asked about as they were before other fixes. */
function withRemains(
  settled: readonly Settled[],
  { findings }: Scan,
  standing: ReadonlyMap<string, Answered>,
): readonly Settled[] {
  const left = new Map(
    findings.map((finding) => [standing.get(placeOf(finding, finding.span.start))?.finding, finding]),
  );
  return settled.map((each) => {
    const remains = each.fate === 'declined' ? left.get(each.finding) : undefined;
    return remains === undefined ? each : { ...each, remains };
  });
}

/** The no to a finding that an earlier fix has made safe since: it is asked about again, once; in notebooks not, where the cell of that fix may have run. */
function declinedRisk(settled: readonly Settled[], asked: Answered, now: Finding): Settled | undefined {
  if (asked.finding.safety === 'safe' || now.safety !== 'safe') return undefined;
  return settled.find(({ finding, fate }) => finding === asked.finding && fate === 'declined');
}

interface Step {
  readonly after: string;
  readonly beside: readonly BesideChange[];
  readonly settled: readonly Settled[];
  readonly bugs: readonly string[];
  readonly standing: Map<string, Answered>;
}

function applyOnce(
  scan: Scan,
  module: PyModule,
  setup: EngineSetup,
  standing: ReadonlyMap<string, Answered>,
): Step {
  const settled: Settled[] = [];
  const bugs: string[] = [];
  const choices: Choice[] = [];
  for (const finding of scan.findings) {
    const decision = standing.get(placeOf(finding, finding.span.start))?.decision;
    if (decision === undefined || decision.kind === 'skip' || finding.fix === undefined) continue;
    const edits = editsFor(module, finding, decision);
    if (edits === undefined) {
      bugs.push(`${finding.transform} at ${where(scan, finding)}: no comment can stand on that line`);
      settled.push({ finding, fate: 'dropped' });
    } else choices.push({ finding, decision, edits });
  }
  const planned = onePerFile(plan(choices, ({ finding, edits }) => claimed(finding, edits)).taken);
  const stands = sound(planned, module, setup, scan.file, (choice, problem) => {
    const place = where(scan, choice.finding);
    const who =
      choice.decision.kind === 'edited' ? 'the edited text' : `the fix of ${choice.finding.transform}`;
    bugs.push(`${who} at ${place} was dropped because the result is not sound: ${problem.message}`);
    settled.push({ finding: choice.finding, fate: 'dropped' });
  });
  const { kept: taken, excluded } = agreeing(setup, stands, (some) => plannedBy(scan.file, module, some));
  for (const { choice, because } of excluded)
    if (because !== undefined) settled.push({ finding: choice.finding, fate: 'excluded', because });
  const doubtful = new Set(excluded.map(({ choice }) => choice.finding));
  for (const { finding, decision } of taken) {
    settled.push({
      finding,
      fate: decision.kind === 'edited' ? 'edited' : decision.kind === 'suppress' ? 'suppressed' : 'applied',
    });
  }
  const edits = allEdits(module, taken);
  const landed = new Set(taken.map(({ finding }) => finding));
  const done = new Set(settled.map(({ finding }) => placeOf(finding, finding.span.start)));
  const moved = movedBy(edits);
  const waiting = new Map<string, Answered>();
  for (const finding of scan.findings) {
    const place = placeOf(finding, finding.span.start);
    const answered = standing.get(place);
    if (answered === undefined || landed.has(finding)) continue;
    // Less certain now than when it was asked about.
    if (doubtful.has(finding) && !done.has(place)) continue;
    // A dropped fix must not be tried again.
    const decision: Decision = done.has(place) ? { kind: 'skip' } : answered.decision;
    waiting.set(placeOf(finding, moved(finding.span.start)), { ...answered, decision });
  }
  const beside = taken.flatMap((choice) => besideOf(choice).map(changeOf));
  return { after: applyEdits(module.text, edits), beside, settled, bugs, standing: waiting };
}

/** The file and those beside it with some of the choices in them. */
function plannedBy(file: SourceFile, module: PyModule, choices: readonly Choice[]) {
  const edits = allEdits(module, choices);
  const newer = new Map(file.newer);
  for (const { path, after } of choices.flatMap(besideOf).map(changeOf)) newer.set(path, after);
  const source = { ...file.source, text: applyEdits(module.text, edits) };
  return { file: { ...file, source, newer }, moved: movedBy(edits) };
}

/** Of fixes that change the same other file, one at a time: the next is planned on what that made of it. */
function onePerFile(choices: readonly Choice[]): readonly Choice[] {
  const changed = new Set<string>();
  return choices.filter((choice) => {
    const paths = besideOf(choice).map(({ path }) => path);
    if (paths.some((path) => changed.has(path))) return false;
    for (const path of paths) changed.add(path);
    return true;
  });
}

function besideOf({ finding, decision }: Choice): readonly FileEdits[] {
  return decision.kind === 'suppress' ? [] : (finding.fix?.beside ?? []);
}

function editsFor(module: PyModule, finding: Finding, decision: Decision): readonly Edit[] | undefined {
  if (decision.kind === 'suppress') {
    const edit = suppressionEdit(module, finding, decision.reason);
    return edit && [edit];
  }
  if (decision.kind === 'edited') return [{ ...editableLines(module.lines, finding), text: decision.text }];
  return finding.fix?.edits;
}

/**
 * The choices that give sound code together. One that breaks the file by itself is dropped; one that does so together with
 * others, such as the last statement of a block that another fix empties, waits for the next pass. The others still land.
 */
function sound(
  choices: readonly Choice[],
  module: PyModule,
  setup: EngineSetup,
  file: SourceFile,
  drop: (choice: Choice, problem: SyntaxProblem) => void,
): readonly Choice[] {
  const problemOf = (some: readonly Choice[]) => problemAfter(some, module, setup, file);
  /** Halves what is not sound until one choice is left: most are. */
  const added = (kept: readonly Choice[], more: readonly Choice[]): readonly Choice[] => {
    const together = [...kept, ...more];
    if (more.length === 0 || problemOf(together) === undefined) return together;
    const [only] = more;
    if (more.length > 1) {
      const half = more.length >>> 1;
      return added(added(kept, more.slice(0, half)), more.slice(half));
    }
    const problem = only && problemOf([only]);
    if (only !== undefined && problem !== undefined) drop(only, problem);
    return kept;
  };
  return added([], choices);
}

/** What is wrong with the text once these edits are in: its syntax, or a token changed outside them. */
function problemAfter(
  choices: readonly Choice[],
  module: PyModule,
  setup: EngineSetup,
  file: SourceFile,
): SyntaxProblem | undefined {
  for (const { path, after } of choices.flatMap(besideOf).map(changeOf)) {
    const problem = /\.ya?ml$/i.test(path) ? yamlProblem(after) : undefined;
    if (problem !== undefined) return { message: `${path}: ${problem}` };
  }
  const edits = allEdits(module, choices);
  if (edits.length === 0) return undefined;
  const after = applyEdits(module.text, edits);
  const problem = pythonProblem(after) ?? problemInCells(file.source, after);
  if (problem !== undefined) return problem;
  const tree = setup.parser.parse(after);
  try {
    if (firstError(tree) !== undefined) return { message: 'the result does not parse' };
    const before = tokensOutside(module.root, edits);
    const now = tokensOutside(tree.root, written(edits));
    const same = before.length === now.length && before.every((token, index) => token === now[index]);
    return same ? undefined : { message: 'code outside the edit would be read differently' };
  } finally {
    tree.dispose();
  }
}

/** The edits of the choices and one merged edit for their imports. */
function allEdits(module: PyModule, choices: readonly Choice[]): readonly Edit[] {
  const edits = choices.flatMap((choice) => choice.edits);
  const needs = choices.map(({ finding, decision }) => ({
    at: (finding.fix?.edits[0] ?? finding.span).start,
    imports: decision.kind === 'suppress' ? [] : (finding.fix?.imports ?? []),
  }));
  return withNeeded(module, edits, needs);
}

/** Two ways to fix one place are two findings there, each with an answer of its own. */
function placeOf({ transform, fix }: Finding, start: number): string {
  return `${transform}@${start} ${fix?.title}`;
}

function where(scan: Scan, finding: Finding): string {
  return placeText(scan.file.path, finding.at);
}

function outcomeOf(
  file: SourceFile,
  remaining: Scan,
  beside: ReadonlyMap<string, BesideChange>,
  settled: readonly Settled[],
  bugs: readonly string[],
): Outcome {
  return {
    kind: 'outcome',
    file,
    after: remaining.file.source.text,
    beside: [...beside.values()],
    settled,
    remaining,
    bugs,
  };
}

/** An outcome whose last scan is made when it is asked for. */
function unscanned(
  setup: EngineSetup,
  file: SourceFile,
  now: SourceFile,
  beside: ReadonlyMap<string, BesideChange>,
  settled: readonly Settled[],
  bugs: readonly string[],
): Outcome {
  let remaining: Scan | undefined;
  return {
    ...{ kind: 'outcome', file, after: now.source.text, beside: [...beside.values()], settled, bugs },
    get remaining(): Scan {
      if (remaining !== undefined) return remaining;
      const scan = scanOf(setup, lookAt(setup, now));
      const nothing: Scan = { kind: 'scan', file: now, findings: [], suppressed: [], notes: [] };
      remaining = scan.kind === 'scan' ? scan : nothing;
      return remaining;
    },
  };
}

/** Our bug, not the user's loss: the file keeps its text and the bug is told. */
function untouched(setup: EngineSetup, file: SourceFile, bugs: readonly string[]): Outcome | Skipped {
  const scan = scanOf(setup, lookAt(setup, file));
  return scan.kind === 'skipped' ? scan : outcomeOf(file, scan, new Map(), [], bugs);
}

import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import type { Engine } from '../../engine/engine.js';
import type { Decide, Finding, Outcome, Scan, Skipped, SourceFile } from '../../engine/outcome.js';
import type { Offer } from '../../report/migrate/offer.js';
import type { Left, Planned } from '../../report/migrate/record.js';
import { type FileChange, patchOf } from '../../report/patch.js';
import type { FixCount } from '../../report/prove/report.js';
import { isRefused } from '../../report/report.js';
import type { SourceText } from '../../text/decode.js';
import type { Catalogue } from '../catalogue.js';
import { changesOf, eachBesideOnce, fixCounts, isChanged } from '../changes.js';
import type { CrewSetting } from '../crew.js';
import { Examiner, leftAsIs, takesAny } from '../examine.js';
import type { ParserOnDemand, ParserStock } from '../parser-choice.js';
import { slashed } from '../places.js';
import { Project, type Request } from '../project.js';
import { Tools } from '../tools.js';
import { visit } from '../visit.js';
import { type PlanChoice, requestIn } from './campaign.js';
import type { Decisions } from './decisions.js';
import { OfferTable } from './offers.js';

/** What planning works with: the same for every repository. */
export interface PlanMeans {
  readonly catalogue: Catalogue;
  readonly parsers: ParserStock;
  readonly signal: AbortSignal;
  threads(request: Request): CrewSetting | undefined;
}

/** Milliseconds. Other repositories keep the cores busy; only a large one is worth threads of its own. */
const WORTH_A_THREAD = 2000;
/** Of each kind; the rest is counted. */
const MOST_LEFT = 30;

/** What is to be done in a work tree. */
export interface Findings extends Omit<Planned, 'key' | 'at' | 'steps'> {
  readonly patch: Buffer;
  readonly offers: readonly Offer[];
  readonly steps: readonly { readonly patch: Buffer; readonly fixes: readonly FixCount[] }[];
}

export function lookInto(
  tree: string,
  choice: PlanChoice,
  decisions: Decisions,
  means: PlanMeans,
): Promise<Findings> {
  return means.parsers.lend((parser) => findings(tree, choice, decisions, means, parser));
}

async function findings(
  tree: string,
  choice: PlanChoice,
  decisions: Decisions,
  means: PlanMeans,
  parser: ParserOnDemand,
): Promise<Findings> {
  const root = realpathSync.native(tree);
  const request = requestIn(root, choice);
  const project = new Project(request, means.catalogue);
  const tools = new Tools(project, parser);
  const engine = await tools.engine();
  const decide = await project.policy();
  const discovery = project.discover();
  const targets = new Map(discovery.candidates.map((candidate) => [candidate.path, candidate]));
  const threads = means.threads(request);
  const seen = await visit(
    discovery,
    {
      isTextWanted: true,
      examiner: new Examiner(tools, undefined, false),
      targets,
      stampOf: (target) => project.ground.stamp(target),
      refusals: project.ground,
      isUndisturbed: () => false,
      isAsBefore: () => false,
      ...(threads && { threads: { ...threads, worth: WORTH_A_THREAD } }),
    },
    { signal: means.signal, progress: () => undefined },
  );
  const table = new OfferTable(decide, decisions);
  const scans: Scan[] = [];
  const reviewed: Outcome[] = [];
  const skipped: Skipped[] = [...seen.skipped];
  for (const scan of seen.scans) {
    const isToBeRepaired = takesAny(scan, decide);
    let outcome = isToBeRepaired
      ? await engine.repair(scan.file, table.offering(scan.file), scan)
      : leftAsIs(scan);
    if (isToBeRepaired && table.isToBeRepeated(scan.file))
      outcome = await engine.repair(scan.file, table.offering(scan.file), scan);
    if (outcome.kind === 'skipped') skipped.push(outcome);
    else {
      scans.push(scan);
      reviewed.push(outcome);
    }
  }
  const outcomes = eachBesideOnce({ scans, outcomes: reviewed });
  const offers = table.of(outcomes.filter((outcome, index) => outcome === reviewed[index]));
  const rejected = offers.filter(({ fate }) => fate === 'rejected');
  const held = offers.filter(({ fate }) => fate === 'held');
  const changed = outcomes.filter(isChanged);
  const textsOf = (some: readonly Outcome[]) => textsAfter(root, targets, some);
  const all = { fixes: fixCounts(changed), texts: textsOf(changed) };
  const patch = patchBetween(new Map(), all.texts);
  const remaining = outcomes.flatMap((outcome) => {
    const unwanted = table.unwanted(outcome);
    const others = outcome.remaining.findings.filter((finding) => !unwanted.has(finding));
    return others.map((finding) => ({ ...finding, path: outcome.file.path }));
  });
  const steps =
    choice.commits === 'repository' || all.fixes.length < 2
      ? [{ patch, fixes: all.fixes }]
      : await stepByStep(changed, all, engine, (file, isWhole) => table.answering(file, isWhole), textsOf);
  return {
    checked: seen.files,
    files: [...all.texts.values()].filter(({ source, after }) => source.text !== after).length,
    fixes: all.fixes,
    remaining: remaining.filter((finding) => !isRefused(finding)).length,
    refused: remaining.filter(isRefused).length,
    left: [
      ...[
        ...firstOf(remaining.filter(isRefused)),
        ...firstOf(remaining.filter((each) => !isRefused(each))),
      ].map(leftAlone),
      ...firstOf(rejected).map((offer) => unwantedAs('rejected', offer)),
      ...firstOf(held).map((offer) => unwantedAs('held', offer)),
    ],
    skipped: skipped.map(({ path, reason }) => ({ path, reason })),
    bugs: [
      ...seen.crashes.map(({ path, message }) => `${path}: ${message}`),
      ...outcomes.flatMap(({ bugs }) => bugs),
    ],
    ...(rejected.length > 0 && { rejected: rejected.length }),
    ...(held.length > 0 && { held: held.length }),
    offers,
    patch,
    steps: patch.length === 0 ? [] : steps,
  };
}

function firstOf<T>(all: readonly T[]): readonly T[] {
  return all.slice(0, MOST_LEFT);
}

function unwantedAs(kind: 'rejected' | 'held', { transform, path, line, cell, title }: Offer): Left {
  return { transform, path, line, ...(cell !== undefined && { cell }), kind, because: title };
}

function leftAlone(finding: Finding & { readonly path: string }): Left {
  const { transform, path, at, safety, refusal, questions, advice, message } = finding;
  const place = { transform, path, line: at.line, ...(at.cell !== undefined && { cell: at.cell }) };
  if (refusal !== undefined) return { ...place, kind: 'refused', because: refusal };
  if (safety === 'advice') return { ...place, kind: 'advice', because: advice ?? message };
  // Its settings keep the repository from being fixed there, or another fix was in the way.
  if (safety === 'safe') return { ...place, kind: 'unfixed', because: message };
  return { ...place, kind: 'unsafe', because: questions.map(({ text }) => text).join(' ') || message };
}

/** What can be repaired once can be repaired again, with other answers. */
async function repaired(engine: Engine, file: SourceFile, decide: Decide): Promise<Outcome> {
  const outcome = await engine.repair(file, decide);
  if (outcome.kind === 'skipped') throw new Error(`${file.path} was repaired before: ${outcome.reason}`);
  return outcome;
}

type Texts = ReadonlyMap<string, { readonly source: SourceText; readonly after: string }>;

/** The files that change, by their paths in the repository. */
function textsAfter(
  root: string,
  targets: Parameters<typeof changesOf>[1]['targets'],
  outcomes: readonly Outcome[],
): Texts {
  const changes = outcomes.flatMap((outcome) => changesOf(root, { targets }, outcome));
  return new Map(
    changes.map(({ target, source, after }) => [slashed(relative(root, target)), { source, after }]),
  );
}

function patchBetween(before: Texts, after: Texts): Buffer {
  const changes: FileChange[] = [];
  for (const [path, { source }] of [...before, ...[...after].filter(([name]) => !before.has(name))]) {
    const textIn = (texts: Texts) => texts.get(path)?.after ?? source.text;
    changes.push({ path, source: { ...source, text: textIn(before) }, after: textIn(after) });
  }
  return patchOf(changes);
}

/** The fixes of one transform after the other, each upon what those before it left. */
async function stepByStep(
  changed: readonly Outcome[],
  whole: { readonly fixes: readonly FixCount[]; readonly texts: Texts },
  engine: Engine,
  answering: (file: SourceFile, isWhole: boolean) => Decide,
  textsOf: (outcomes: readonly Outcome[]) => Texts,
): Promise<Findings['steps']> {
  const steps: { readonly patch: Buffer; readonly fixes: readonly FixCount[] }[] = [];
  const taken = new Set<string>();
  let before: Texts = new Map();
  for (const { transform } of whole.fixes) {
    taken.add(transform);
    const outcomes: Outcome[] = [];
    for (const { file } of changed) {
      const answer = answering(file, taken.size === whole.fixes.length);
      const only: Decide = (finding, preview, earlier) =>
        taken.has(finding.transform) ? answer(finding, preview, earlier) : { kind: 'skip' };
      outcomes.push(await repaired(engine, file, only));
    }
    const scans = outcomes.map(({ remaining }) => remaining);
    const kept = eachBesideOnce({ scans, outcomes });
    const after = textsOf(kept);
    const patch = patchBetween(before, after);
    const own = fixCounts(kept).filter((count) => count.transform === transform);
    if (patch.length > 0) steps.push({ patch, fixes: own });
    before = after;
  }
  if (patchBetween(before, whole.texts).length > 0) throw new Error('the steps are not the whole');
  return steps;
}

import type { Numerics, Transform } from '../toolkit/contract.js';
import { byEffect } from '../toolkit/effect.js';
import { isCovered, SAFETIES } from './alternatives.js';
import type { EngineSetup } from './engine.js';
import type { Decision, Finding, SourceFile } from './outcome.js';
import { lookAt, plainScanOf } from './scan.js';

/** A fix that is about to be taken, or what a person wrote in its place. */
interface Chosen {
  readonly finding: Finding;
  readonly decision: Decision;
}

/** What some of the choices make of the file. */
interface Planned {
  readonly file: SourceFile;
  /** Where a place of the text as it is now lies then. */
  moved(offset: number): number;
}

/** A fix that does not go with those that are taken. */
interface Excluded<C extends Chosen> {
  readonly choice: C;
  /** A because-clause; undefined where it is only less certain beside them, so that it is asked about again. */
  readonly because: string | undefined;
}

interface Agreement<C extends Chosen> {
  readonly kept: readonly C[];
  readonly excluded: readonly Excluded<C>[];
}

const NOTHING_LEFT = 'another fix leaves nothing for it to do';
const NUMERICS: readonly Numerics[] = ['bit-identical', 'rounding', 'changes-training'];

/**
 * The fixes that hold beside one another. Each transform is asked again about the text that all others leave: a fix that it
 * no longer offers there, or offers with more doubts, rests on what another fix takes away, and gives way to it. Where two
 * exclude one another, the one stays that is measured to work, then what frees memory, is safer, counts for the other,
 * changes numbers less.
 */
export function agreeing<C extends Chosen>(
  setup: EngineSetup,
  choices: readonly C[],
  planned: (some: readonly C[]) => Planned,
): Agreement<C> {
  const ids = [...new Set(choices.filter(isTaken).map(({ finding }) => finding.transform))];
  const objectionsIn = (some: readonly C[]) =>
    ids.flatMap((id): readonly Excluded<C>[] => {
      const isOwn = (choice: C) => isTaken(choice) && choice.finding.transform === id;
      const others = some.filter((choice) => !isOwn(choice));
      return others.length === 0 ? [] : objectionsTo(setup, some.filter(isOwn), planned(others));
    });
  const settled = (some: readonly C[]): Agreement<C> => {
    let kept = some;
    let excluded: readonly Excluded<C>[] = [];
    for (let found = objectionsIn(kept); found.length > 0; found = objectionsIn(kept)) {
      const id = byPreference(setup, found).at(-1)?.choice.finding.transform;
      const out = found.filter(({ choice }) => choice.finding.transform === id);
      kept = kept.filter((choice) => !out.some((each) => each.choice === choice));
      excluded = [...excluded, ...out];
    }
    return { kept, excluded };
  };
  let { kept, excluded } = settled(choices);
  // What gave way to a fix that has given way itself would be offered in a second run: better in this one.
  for (const each of excluded.length < 2 ? [] : byPreference(setup, excluded)) {
    const more = choices.filter((choice) => kept.includes(choice) || choice === each.choice);
    if (objectionsIn(more).some(({ choice }) => choice === each.choice)) continue;
    const others = settled(more);
    excluded = [...excluded.filter((other) => other !== each), ...others.excluded];
    kept = others.kept;
  }
  return { kept, excluded: excluded.map((each) => withNames(each, kept)) };
}

/** Where nothing is left for a fix to do: because of which other ones. */
function withNames<C extends Chosen>(excluded: Excluded<C>, kept: readonly C[]): Excluded<C> {
  if (excluded.because !== NOTHING_LEFT) return excluded;
  const { alternatives = [] } = excluded.choice.finding;
  const others = kept.filter(({ finding }) => alternatives.includes(finding.key));
  const ids = [...new Set(others.map(({ finding }) => `\`${finding.transform}\``))].join(' and ');
  if (others.length === 0) return excluded;
  const who = others.length === 1 ? `${ids} leaves` : `${others.length} fixes of ${ids} leave`;
  return { ...excluded, because: `${who} nothing for it to do` };
}

function byPreference<C extends Chosen>(
  setup: EngineSetup,
  excluded: readonly Excluded<C>[],
): readonly Excluded<C>[] {
  return [...excluded].sort((a, b) => preference(setup, a.choice.finding, b.choice.finding));
}

function isTaken({ decision }: Chosen): boolean {
  return decision.kind === 'apply';
}

/** What a transform has against its own fixes in a text that other fixes have changed. */
function objectionsTo<C extends Chosen>(
  setup: EngineSetup,
  choices: readonly C[],
  { file, moved }: Planned,
): readonly Excluded<C>[] {
  const [first] = choices;
  const transform = setup.transforms.find(({ meta }) => meta.id === first?.finding.transform);
  if (transform === undefined) return [];
  const now = findingsIn(setup, transform, file);
  return choices.flatMap((choice) => {
    const { finding } = choice;
    const at = moved(finding.span.start);
    const there = now.filter(({ span }) => span.start === at);
    const found =
      there.find(({ fix }) => fix?.title === finding.fix?.title) ??
      there[0] ??
      now.find(({ key }) => key === finding.key);
    return isAsSafe(finding, found) ? [] : [{ choice, because: objection(found) }];
  });
}

function findingsIn(setup: EngineSetup, transform: Transform, file: SourceFile): readonly Finding[] {
  const scan = plainScanOf(setup, lookAt(setup, file, { transforms: [transform], isAddressed: false }));
  return scan.kind === 'scan' ? scan.findings : [];
}

function isAsSafe(before: Finding, now: Finding | undefined): boolean {
  return now?.fix !== undefined && SAFETIES.indexOf(now.safety) <= SAFETIES.indexOf(before.safety);
}

function objection(now: Finding | undefined): string | undefined {
  if (now === undefined) return NOTHING_LEFT;
  if (now.refusal !== undefined) return now.refusal;
  return now.fix === undefined ? 'there is only advice for it beside another fix' : undefined;
}

/** Of two fixes that exclude one another, which comes first: last what only documents recommend. */
function preference({ transforms }: EngineSetup, a: Finding, b: Finding): number {
  const isDocumented = ({ transform }: Finding) =>
    transforms.some(({ meta }) => meta.id === transform && meta.group === 'documented');
  return (
    Number(isDocumented(a)) - Number(isDocumented(b)) ||
    byEffect(a.effect, b.effect) ||
    SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety) ||
    Number(isCovered(b, a)) - Number(isCovered(a, b)) ||
    NUMERICS.indexOf(a.numerics) - NUMERICS.indexOf(b.numerics) ||
    a.transform.localeCompare(b.transform) ||
    a.span.start - b.span.start
  );
}

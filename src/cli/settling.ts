import { resolve } from 'node:path';
import type { Decide, Finding, Outcome } from '../engine/outcome.js';
import type { CheckedFiles } from '../oom/places.js';
import { isNotebookName, readNotebook } from '../text/notebook/notebook.js';
import { textOf } from '../workspace/bounded.js';
import { eachBesideOnce } from '../workspace/changes.js';
import { leftAsIs } from '../workspace/examine.js';
import { slashed } from '../workspace/places.js';
import type { Visit } from '../workspace/visit.js';
import { refuseLooseFile, withoutKnown } from './baseline.js';
import type { Context } from './context.js';
import { type Look, lookThrough } from './looking.js';
import { evidenceOf, withDiagnosis } from './oom.js';
import { type Reasons, refOf } from './session-files.js';
import type { Decided } from './verifying.js';

/** A text on standard input comes back alone: a fix that needs another file to change is not for it. */
export function withoutBeside(decide: Decide): Decide {
  return (finding, preview) =>
    finding.fix?.beside === undefined ? decide(finding, preview) : { kind: 'skip' };
}

/** What was seen in the files of a look, and what becomes of each; of a run out of memory, by the fixes that explain it. */
export async function settle(
  context: Context,
  look: Look,
): Promise<{ readonly seen: Visit; readonly outcomes: readonly Outcome[] }> {
  const evidence = await evidenceOf(context);
  refuseLooseFile(context);
  if (evidence === undefined && context.args.text('baseline') === undefined) {
    const seen = await lookThrough(context, look, 'fix');
    return { seen, outcomes: await settledOutcomes(look, seen) };
  }
  const found: Visit & { readonly known?: Recorded } =
    evidence === undefined ? await newIn(context, look) : await related(context, look, evidence);
  const engine = await look.tools.engine();
  const decide = await look.project.policy();
  const outcomes: Outcome[] = [];
  const scans: Visit['scans'][number][] = [];
  const skipped = [...found.skipped];
  for (const scan of found.scans) {
    const keys = new Set(scan.findings.map(({ key }) => key));
    const recorded = found.known?.get(scan.file.path);
    const isAbout = ({ key }: Finding) => (found.known === undefined ? keys.has(key) : !recorded?.has(key));
    const outcome =
      keys.size === 0
        ? leftAsIs(scan)
        : await engine.repair(scan.file, (finding, preview) =>
            isAbout(finding) ? decide(finding, preview) : { kind: 'skip' },
          );
    if (outcome.kind === 'skipped') skipped.push(outcome);
    else {
      scans.push(scan);
      const findings = outcome.remaining.findings.filter(isAbout);
      outcomes.push({ ...outcome, remaining: { ...outcome.remaining, findings } });
    }
  }
  const seen = { ...found, scans, outcomes, skipped };
  return { seen, outcomes: await settledOutcomes(look, seen) };
}

/** Keys of findings that a baseline knows, by path. */
type Recorded = ReadonlyMap<string, ReadonlySet<string>>;

/** What was seen, without what the baseline of `--baseline` knows. */
export async function newIn(context: Context, look: Look): Promise<Visit & { readonly known: Recorded }> {
  const seen = await lookThrough(context, look, 'report');
  const { scans } = withoutKnown(context, look, {
    scans: seen.scans,
    skipped: seen.skipped,
    checked: seen.files,
  });
  const left = new Set(
    scans.flatMap(({ file, findings }) => findings.map(({ key }) => `${file.path}\n${key}`)),
  );
  const known = seen.scans.map(({ file: { path }, findings }) => {
    const keys = findings.map(({ key }) => key).filter((key) => !left.has(`${path}\n${key}`));
    return [path, new Set(keys)] as const;
  });
  return { ...seen, scans, known: new Map(known) };
}

/** As the policy says, or as a run of the user's command does. */
export async function decided(context: Context, look: Look, outcomes: readonly Outcome[]): Promise<Decided> {
  const { isDecidedByRun, verifiedOutcomes } = await import('./verifying.js');
  return isDecidedByRun(context) ? verifiedOutcomes(context, look, outcomes) : { outcomes };
}

/** The findings that explain why memory ran out, the file of the likeliest first. */
export async function related(
  context: Context,
  look: Look,
  evidence: NonNullable<Awaited<ReturnType<typeof evidenceOf>>>,
): Promise<Visit & { readonly reasons: Reasons }> {
  const seen = await newIn(context, look);
  const { oom } = await withDiagnosis(
    { scans: seen.scans, skipped: seen.skipped, checked: seen.files },
    evidence,
    checkedFiles(context, look),
    look.project,
  );
  const ranked = [...(oom?.related ?? [])];
  const { headline } = await import('../report/oom.js');
  for (const error of oom?.errors ?? []) context.say(headline(error));
  const first = (scan: Visit['scans'][number]) => {
    const at = ranked.findIndex((each) => each.scan === scan);
    return at === -1 ? ranked.length : at;
  };
  const scans = seen.scans
    .map((scan) => {
      const own = new Set(ranked.filter((each) => each.scan === scan).map(({ finding }) => finding));
      return { at: first(scan), scan: { ...scan, findings: scan.findings.filter((each) => own.has(each)) } };
    })
    .sort((a, b) => a.at - b.at)
    .map(({ scan }) => scan);
  const reasons = new Map(
    (oom?.ranked ?? []).flatMap(({ scan, finding, rank, because }) =>
      rank === undefined ? [] : [[refOf(scan.file.path, finding), { rank, because }] as const],
    ),
  );
  return { ...seen, scans, reasons };
}

export function checkedFiles({ io }: Context, { targets }: Look): CheckedFiles {
  return {
    paths: new Map([...targets.keys()].map((path) => [path, slashed(resolve(io.cwd, path))])),
    text: (path) => {
      const text = textOf(targets.get(path)?.target ?? path);
      if (text === undefined || !isNotebookName(path)) return text;
      const notebook = readNotebook(text);
      return 'program' in notebook ? notebook.program : undefined;
    },
  };
}

/**
 * What becomes of the files of a look. Another file, such as a shell script that starts two programs, is changed by the first that
 * asks for it; the others get the fixes that do without, so that a second run finds nothing left to do.
 */
export async function settledOutcomes({ tools, project }: Look, seen: Visit): Promise<readonly Outcome[]> {
  const once = eachBesideOnce(seen);
  if (once.every((outcome, index) => outcome === seen.outcomes[index])) return once;
  const engine = await tools.engine();
  const decide = withoutBeside(await project.policy());
  const settled: Outcome[] = [];
  for (const [index, outcome] of once.entries()) {
    const again = outcome === seen.outcomes[index] ? outcome : await engine.repair(outcome.file, decide);
    settled.push(again.kind === 'outcome' ? again : outcome);
  }
  return settled;
}

import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Decide, Finding, Outcome, Scan } from '../engine/outcome.js';
import type { Diagnosis, Evidence } from '../oom/diagnosis.js';
import { isLibrary } from '../oom/frame.js';
import type { CheckedFiles } from '../oom/places.js';
import { wrap } from '../report/prose.js';
import { isNotebookName, readNotebook } from '../text/notebook/notebook.js';
import { textOf } from '../workspace/bounded.js';
import { eachBesideOnce } from '../workspace/changes.js';
import { leftAsIs } from '../workspace/examine.js';
import { isInside, realPath, repositoryRoot, slashed } from '../workspace/places.js';
import type { Visit } from '../workspace/visit.js';
import { refuseLooseFile, withoutKnown } from './baseline.js';
import type { Context } from './context.js';
import { widthOf } from './io.js';
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
): Promise<{ readonly seen: Visit; readonly outcomes: readonly Outcome[]; readonly oom?: Diagnosis }> {
  const evidence = await evidenceOf(context);
  refuseLooseFile(context);
  if (evidence === undefined && context.args.text('baseline') === undefined) {
    const seen = await lookThrough(context, look, 'fix');
    return { seen, outcomes: await settledOutcomes(look, seen) };
  }
  const found: Visit & { readonly known?: Recorded; readonly oom?: Diagnosis } =
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
      const findings =
        found.oom === undefined ? outcome.remaining.findings.filter(isAbout) : leftOf(scan, outcome);
      const settled = outcome.settled.filter(({ finding }) => isAbout(finding));
      outcomes.push({ ...outcome, settled, remaining: { ...outcome.remaining, findings } });
    }
  }
  const seen = { ...found, scans, outcomes, skipped };
  const { oom } = found;
  return { seen, outcomes: await settledOutcomes(look, seen), ...(oom && { oom }) };
}

/** The findings of a scan that are still there. A key counts equals, so what was fixed gives its own to the next: lines tell. */
function leftOf(scan: Scan, { settled, remaining }: Outcome): readonly Finding[] {
  const taken = new Set(settled.flatMap(({ finding, fate }) => (fate === 'applied' ? [finding.key] : [])));
  const open = scan.findings.filter(({ key }) => !taken.has(key));
  const lines = new Set(open.map((finding) => `${finding.transform} ${lineWith(scan, finding)}`));
  return remaining.findings.filter((finding) =>
    lines.has(`${finding.transform} ${lineWith(remaining, finding)}`),
  );
}

/** The line of the text that a finding begins on. */
function lineWith({ file }: Scan, { span: { start } }: Finding): string {
  const { text } = file.source;
  const end = text.indexOf('\n', start);
  return text.slice(text.lastIndexOf('\n', start - 1) + 1, end === -1 ? text.length : end).trim();
}

/** Keys of findings that a baseline knows, by path. */
type Recorded = ReadonlyMap<string, ReadonlySet<string>>;

/** What was seen, without what the baseline of `--baseline` knows. */
export async function newIn(context: Context, look: Look): Promise<Visit & { readonly known: Recorded }> {
  const seen = await lookThrough(context, look, 'report');
  const { skipped, crashes, files: checked } = seen;
  const { scans } = withoutKnown(context, look, { scans: seen.scans, skipped, checked }, crashes);
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

/** What of a run out of memory is said before anything is done: all that is known about it, or who ran out and what explains it. */
export async function sayDiagnosis(context: Context, oom: Diagnosis, isWhole: boolean): Promise<void> {
  const { headline, hintLines, verdictOf } = await import('../report/oom.js');
  const width = widthOf(context.io.stderr);
  for (const error of oom.errors) {
    context.say(headline(error));
    if (isWhole) for (const line of hintLines(error, width)) context.say(line);
  }
  for (const line of wrap(verdictOf(oom), width, { first: '', rest: '' })) context.say(line);
}

/** What to do about it where no fix is at hand. */
export async function sayNextSteps(context: Context, oom: Diagnosis): Promise<void> {
  const { renderNextSteps } = await import('../report/oom.js');
  const style = { paint: context.errorPaint, width: widthOf(context.io.stderr) };
  for (const line of renderNextSteps(oom, style)) context.say(line);
}

/** The findings that explain why memory ran out, the file of the likeliest first. */
export async function related(
  context: Context,
  look: Look,
  evidence: Evidence,
): Promise<Visit & { readonly reasons: Reasons; readonly oom?: Diagnosis }> {
  // What the baseline knows is left out already: only what explains it is kept.
  const { known: _, ...seen } = await newIn(context, look);
  const { oom } = await withDiagnosis(
    { scans: seen.scans, skipped: seen.skipped, checked: seen.files },
    evidence,
    checkedFiles(context, look, evidence),
    look.project,
  );
  const ranked = [...(oom?.related ?? [])];
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
  return { ...seen, scans, reasons, ...(oom && { oom }) };
}

export function checkedFiles({ io }: Context, { targets }: Look, evidence: Evidence): CheckedFiles {
  const paths = new Map([...targets.keys()].map((path) => [path, slashed(resolve(io.cwd, path))]));
  const beyond = new Map(
    filesBeyond(io.cwd, evidence, new Set(paths.values())).map((path) => [
      slashed(relative(io.cwd, path)),
      path,
    ]),
  );
  return {
    paths: new Map([...paths, ...[...beyond].map(([name, path]) => [name, slashed(path)] as const)]),
    beyond: new Set(beyond.keys()),
    text: (path) => {
      const text = textOf(targets.get(path)?.target ?? beyond.get(path) ?? path);
      if (text === undefined || !isNotebookName(path)) return text;
      const notebook = readNotebook(text);
      return 'program' in notebook ? notebook.program : undefined;
    },
  };
}

/** Files of the repository that the tracebacks name and that were not asked for: they tell what was running. */
function filesBeyond(cwd: string, { log }: Evidence, known: ReadonlySet<string>): readonly string[] {
  const root = repositoryRoot(cwd);
  if (root === undefined) return [];
  const named = (log?.outOfMemory ?? []).flatMap(({ frames }) =>
    frames.flatMap((frame) => (isLibrary(frame) ? [] : frame.path)),
  );
  return [...new Set(named)].flatMap((path) => {
    const parts = path.split('/').filter((part) => part !== '');
    const ends = parts.map((_, at) => join(root, ...parts.slice(at)));
    const found = path.endsWith('.py') ? ends.find((end) => existsSync(end)) : undefined;
    if (found === undefined || parts.includes('..') || known.has(slashed(found))) return [];
    return isInside(realPath(found), realPath(root)) ? [found] : [];
  });
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

import { join, relative } from 'node:path';
import type { Finding, Outcome, SourceFile } from '../engine/outcome.js';
import { printable } from '../report/cells.js';
import { plural } from '../report/prose.js';
import { memoryBetween } from '../report/prove/agreement.js';
import { setupOf } from '../report/prove/assemble.js';
import { figurePhrases, fixDigest, setupPhrase, type VerifiedRun } from '../report/prove/verified.js';
import type { PythonParser } from '../syntax/parser.js';
import { encode } from '../text/decode.js';
import { placeText } from '../text/place.js';
import { bytesAt } from '../workspace/bounded.js';
import { slashed } from '../workspace/places.js';
import { codeDigest } from '../workspace/prove/code-digest.js';
import type { Change } from '../workspace/prove/fixes.js';
import type { Tree } from '../workspace/prove/tree.js';
import type { Candidate, Verdict, Verified } from '../workspace/prove/verify.js';
import { ownVersion } from './package.js';

/** A fix that is offered to the run. */
export interface Offered extends Candidate {
  readonly file: SourceFile;
  readonly finding: Finding;
}

/** Whether a fix is written, by what the run has said of it. */
export function isTaken({ safety }: Finding, verdict: Verdict | undefined): boolean {
  return verdict?.kind === 'verified' || (verdict?.kind !== 'rejected' && safety === 'safe');
}

const WORDS: Readonly<Record<Verdict['kind'], string>> = {
  verified: 'verified',
  rejected: 'rejected',
  idle: 'not run',
  undecided: 'undecided',
};

const UNTRIED: Verdict = { kind: 'undecided', because: 'it was not tried' };

/** What the run has said of each fix, for the terminal. */
export function tableOf(offered: readonly Offered[], verified: Verified, command: string): readonly string[] {
  const { verdicts, before, compared, runs, seconds } = verified;
  const where = `${setupPhrase(setupOf([before]))}, ${plural(runs, 'run')} in ${Math.round(seconds)} s`;
  return [
    `By \`${printable(command)}\` (${where}); compared: ${compared.join(', ')}, exit code, memory:`,
    ...offered.map(({ id, file, finding }) => {
      const verdict = verdicts.get(id) ?? UNTRIED;
      const fate = isTaken(finding, verdict) ? 'taken' : 'left';
      const because = becauseOf(verdict);
      const line = verdict.kind === 'idle' ? `, line ${verdict.line}` : '';
      const why = because === null ? '' : `: ${printable(because)}${line}`;
      return `  ${WORDS[verdict.kind].padEnd(9)} ${fate.padEnd(5)} ${placeText(printable(file.path), finding.at)} ${finding.transform}${why}`;
    }),
    ...figurePhrases({ figures: memoryBetween(verified.before, verified.after) }).map(
      (phrase) => `  ${phrase}`,
    ),
  ];
}

function becauseOf(verdict: Verdict): string | null {
  if (verdict.kind === 'verified') return null;
  return verdict.kind === 'idle' ? 'a part of its change was not executed' : verdict.because;
}

/** What became of the files. */
interface Result {
  readonly command: string;
  readonly outcomes: readonly Outcome[];
  readonly changes: readonly Change[];
}

/** What is kept of a verification. */
export function runOf(
  parser: PythonParser,
  tree: Tree,
  offered: readonly Offered[],
  verified: Verified,
  { command, outcomes, changes }: Result,
): VerifiedRun {
  const { verdicts, before, after, compared, runs, seconds } = verified;
  const records = [before, ...(after === undefined ? [] : [after])].flatMap((trial) => trial.records);
  const paths = new Set([...records.flatMap(({ loaded }) => loaded), ...offered.map(({ path }) => path)]);
  const changed = new Map(changes.map((change) => [slashed(relative(tree.root, change.target)), change]));
  return {
    command,
    at: new Date().toISOString(),
    memfix: ownVersion(),
    setup: setupOf([before]),
    compared,
    runs,
    seconds: Math.round(seconds),
    figures: memoryBetween(verified.before, verified.after),
    code: [...paths].sort().flatMap((path) => {
      const bytes = bytesAt(join(tree.root, path));
      // What the command wrote itself is in its copy alone.
      if (bytes === undefined) return [];
      const before = codeDigest(parser, path, bytes);
      const after = bytesAfter(changed.get(path));
      return [{ path, before, after: after === undefined ? before : codeDigest(parser, path, after) }];
    }),
    findings: offered.map(({ id, path, file, finding }) => {
      const verdict = verdicts.get(id) ?? UNTRIED;
      const settled = outcomes.find((outcome) => outcome.file.path === file.path)?.settled ?? [];
      const left = settled.find(
        (each) => each.finding.transform === finding.transform && each.finding.key === finding.key,
      );
      return {
        path,
        id: finding.transform,
        key: finding.key,
        after: left?.fate === 'declined' ? (left.remains?.key ?? null) : null,
        fix: fixDigest(finding),
        verdict: verdict.kind,
        because: becauseOf(verdict),
      };
    }),
  };
}

function bytesAfter(change: Change | undefined): Buffer | undefined {
  return change && encode(change.source, change.after);
}

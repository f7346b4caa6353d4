import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Proof, ProvenFix, Verified } from '../../report/migrate/record.js';
import { plural } from '../../report/prose.js';
import { memoryBetween } from '../../report/prove/agreement.js';
import { setupOf } from '../../report/prove/assemble.js';
import { figurePhrases, setupPhrase } from '../../report/prove/verified.js';
import { type Decoded, decode } from '../../text/decode.js';
import { placeText } from '../../text/place.js';
import { bytesOf } from '../bounded.js';
import { Failure } from '../failure.js';
import { chosenParser } from '../parser-choice.js';
import type { Enclose } from '../prove/child.js';
import { OwnRuns } from '../prove/own-runs.js';
import { treeOf } from '../prove/tree.js';
import { Undecidable, type Verdict, type VerifyTask, verify } from '../prove/verify.js';
import { Workshop } from '../prove/workshop.js';
import { redacted } from '../secrets.js';
import { type PlannedCandidate, type PlannedFile, PlannedFixes } from './candidates.js';
import { MARK } from './git.js';
import { Unverifiable } from './setback.js';
import type { Trying } from './verify.js';

/** The same verification as `apply --verify` does: by each fix, in copies, against two runs without any. */
export async function proven(trying: Trying, command: string, heading: string): Promise<Verified> {
  const { words, commit, offers, mirror, log, timeout, enclosure, mark, signal } = trying;
  const changes = await changesOf(trying);
  const root = realpathSync.native(trying.tree);
  const tree = treeOf(root, { link: [], copy: [] });
  const workshop = new Workshop(tree);
  const env = { ...enclosure.env, [MARK]: mark };
  const enclose: Enclose = (inner, places) =>
    enclosure.enclose(inner, { ...places, readable: [...places.readable, mirror.objects] });
  try {
    const parser = await chosenParser(process.env['MEMFIX_PARSER']);
    const fixes = new PlannedFixes(parser, changes, offers);
    const runner = new OwnRuns(
      { words: ['sh', '-c', command], tree, cwd: root, env, enclose, metric: undefined, signal },
      { timeout, budget: undefined, starting: () => undefined },
      workshop,
    );
    const task: VerifyTask = {
      candidates: fixes.candidates,
      changesFor: async (ids) => fixes.changesFor(ids),
      memory: new Map(),
      metric: undefined,
    };
    const { verdicts, before, after, compared, runs, seconds } = await verify(task, runner);
    const told = fixes.candidates.flatMap((candidate) => provenFixes(candidate, verdicts.get(candidate.id)));
    const proof: Proof = {
      setup: setupOf([before]),
      figures: memoryBetween(before, after),
      ...{ compared, runs, fixes: told },
    };
    writeFileSync(log, redacted([heading, ...linesOf(proof), ''].join('\n')));
    refuse(trying, proof);
    return { commit, command: words, seconds, proof };
  } catch (error) {
    if (!(error instanceof Undecidable)) throw error;
    const detail = `\`${words}\`: ${error.detail}`;
    writeFileSync(log, redacted(`${heading}\n${error.title}: ${detail}\n`));
    const next = 'Give a command that ends well by itself, trains a few steps, and does the same each time.';
    throw new Unverifiable(error.title, detail, `${next} See ${log}.${enclosure.hint}`);
  } finally {
    workshop.close();
  }
}

function provenFixes({ fixes }: PlannedCandidate, verdict: Verdict | undefined): readonly ProvenFix[] {
  const kind = verdict?.kind ?? 'undecided';
  const because =
    verdict === undefined || verdict.kind === 'verified'
      ? null
      : verdict.kind === 'idle'
        ? `line ${verdict.line} was not executed`
        : verdict.because;
  return fixes.map(({ path, line, cell, transform }) => ({
    ...{ path, line, transform, verdict: kind, because },
    ...(cell !== undefined && { cell }),
  }));
}

const WORDS = {
  verified: 'verified',
  rejected: 'rejected',
  idle: 'not run',
  undecided: 'undecided',
} as const;

function linesOf({ setup, figures, compared, runs, fixes }: Proof): readonly string[] {
  return [
    `${setupPhrase(setup)}, ${plural(runs, 'run')}; compared: ${compared.join(', ')}, exit code, memory`,
    ...fixes.map(({ path, transform, verdict, because, ...at }) => {
      const why = because === null ? '' : `: ${because}`;
      return `${WORDS[verdict].padEnd(9)} ${placeText(path, at)} ${transform}${why}`;
    }),
    ...figurePhrases({ figures }),
  ];
}

/** What the runs show to be wrong is not committed; nor is what they say nothing about. */
function refuse({ words, log, enclosure }: Trying, proof: Proof): void {
  const of = (kind: ProvenFix['verdict']) => proof.fixes.filter(({ verdict }) => verdict === kind);
  const detail = `\`${words}\`:\n${linesOf(proof).join('\n')}`;
  if (of('rejected').length > 0)
    throw new Failure(
      'The run shows fixes to be wrong',
      detail,
      `Reject ${of('rejected').length === 1 ? 'it' : 'them'} with \`memfix review\`. See ${log}.${enclosure.hint}`,
    );
  if (of('verified').length > 0) return;
  if (of('idle').length === proof.fixes.length)
    throw new Failure(
      'The command never runs what the fixes change, so that nothing is proven',
      detail,
      `Give a command that does. See ${log}.${enclosure.hint}`,
    );
  throw new Unverifiable('The runs decide nothing', detail, `See ${log}.${enclosure.hint}`);
}

/** Leaves the work tree with the files of the base. */
async function changesOf({ base, commit, tree, mirror }: Trying): Promise<readonly PlannedFile[]> {
  const paths = await mirror.changed(base, commit);
  const bytesIn = (path: string) => bytesOf(join(tree, path));
  await mirror.lend(commit, tree);
  const after = paths.map(bytesIn);
  await mirror.lend(base, tree);
  const root = realpathSync.native(tree);
  return paths.map((path, index) => {
    const [before, now] = [bytesIn(path), after[index] ?? Buffer.alloc(0)].map((bytes) => ({
      decoded: decode(bytes),
      bytes,
    })) as [Read, Read];
    return { path, target: join(root, path), ...textsOf(before, now) };
  });
}

interface Read {
  readonly decoded: Decoded;
  readonly bytes: Buffer;
}

/** As latin-1, bytes that are no text stay what they are. */
function textsOf(before: Read, after: Read): Pick<PlannedFile, 'source' | 'after'> {
  if (
    before.decoded.ok &&
    after.decoded.ok &&
    before.decoded.source.encoding === after.decoded.source.encoding &&
    before.decoded.source.bom === after.decoded.source.bom
  )
    return { source: before.decoded.source, after: after.decoded.source.text };
  return {
    source: { text: before.bytes.toString('latin1'), encoding: 'latin-1', bom: false },
    after: after.bytes.toString('latin1'),
  };
}

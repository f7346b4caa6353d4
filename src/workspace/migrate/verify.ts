import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Verified } from '../../report/migrate/record.js';
import { noColor } from '../../report/paint.js';
import { type Plan, reportOf } from '../../report/prove/assemble.js';
import type { Verdict } from '../../report/prove/compare.js';
import { endingWords } from '../../report/prove/record.js';
import { renderProve } from '../../report/prove/render.js';
import type { FixCount } from '../../report/prove/report.js';
import { bytesOf } from '../bounded.js';
import { Failure } from '../failure.js';
import { runToEnd } from '../prove/child.js';
import type { Change } from '../prove/fixes.js';
import { readOutput, redactOutput } from '../prove/output.js';
import { runAll } from '../prove/runs.js';
import { treeOf } from '../prove/tree.js';
import { Workshop } from '../prove/workshop.js';
import { redacted } from '../secrets.js';
import type { Enclosure } from './enclosure.js';
import { MARK } from './git.js';
import type { Mirror } from './mirror.js';
import { quoted } from './shell.js';

/** How the fixes of a repository are tried before they are committed; `verify` says it in words. */
type Check =
  | { readonly kind: 'command'; readonly command: string }
  /** Python compiles the files that change. */
  | { readonly kind: 'compileall' }
  /** The command runs with and without the fixes, and what it does is compared. */
  | { readonly kind: 'proof'; readonly command: string };

const PROVE = /^memfix\s+prove\b/;
const PROOF = /^memfix\s+prove\s+--\s+(\S.*)$/s;

/** What is wrong with the words of a check, as the end of a sentence. */
export function verifyProblem(words: string): string | undefined {
  if (!PROVE.test(words) || PROOF.test(words)) return undefined;
  return 'starts with `memfix prove`, which is followed by ` -- ` and a command here, and takes no options';
}

function checkIn(words: string): Check {
  if (words === 'compileall') return { kind: 'compileall' };
  const [, command] = PROOF.exec(words) ?? [];
  return command === undefined ? { kind: 'command', command: words } : { kind: 'proof', command };
}

/** What is tried, on what, and with what. */
export interface Trying {
  readonly words: string;
  readonly base: string;
  readonly commit: string;
  readonly fixes: readonly FixCount[];
  readonly tree: string;
  readonly mirror: Mirror;
  readonly log: string;
  /** Seconds that the command may take. */
  readonly timeout: number;
  readonly enclosure: Enclosure;
  /** Names the processes that work for this repository. */
  readonly mark: string;
  readonly signal: AbortSignal;
}

/** Tries the fixes; a failure says why they may not be committed. */
export async function verified(trying: Trying): Promise<Verified> {
  mkdirSync(dirname(trying.log), { recursive: true });
  const check = checkIn(trying.words);
  try {
    if (check.kind === 'proof') return await proven(trying, check.command);
    const command = check.kind === 'command' ? check.command : await compiling(trying);
    return await succeeded(trying, command);
  } finally {
    trying.mirror.takeBack(trying.tree);
  }
}

async function succeeded(trying: Trying, command: string): Promise<Verified> {
  const { words, base, commit, tree, mirror, log, timeout, signal, enclosure } = trying;
  await mirror.lend(commit, tree, base);
  const { ending, seconds } = await runToEnd({
    command: enclosure.enclose(['sh', '-c', command], {
      cwd: tree,
      readable: [mirror.objects],
      writable: [tree],
    }),
    cwd: tree,
    env: { ...enclosure.env, [MARK]: trying.mark },
    mark: MARK,
    log,
    heading: headingOf(trying),
    timeout,
    signal,
  }).finally(() => redactOutput(log));
  if (ending.kind === 'exited' && ending.code === 0) return { commit, command: words, seconds };
  const tail = lastWords(trying);
  throw new Failure(
    'The verify command fails with the fixes',
    `\`${words}\`: exit ${endingWords(ending)}${tail === '' ? '' : `\n${tail}`}`,
    `See ${log}. It may fail without the fixes, too: try it on a clean checkout.${enclosure.hint}`,
  );
}

/** Of the command itself. */
function lastWords(trying: Trying): string {
  const lines = readOutput(trying.log).tail.split('\n');
  return lines.filter((line) => line !== headingOf(trying)).join('\n');
}

/** The first line of a log: in what surroundings the command ran. */
function headingOf({ words, enclosure }: Trying): string {
  return `# memfix: \`${words.replaceAll(/\s+/g, ' ')}\` ${enclosure.words}`;
}

/** What was broken before is none of our business: only what changes is compiled. */
async function compiling({ base, commit, mirror }: Trying): Promise<string> {
  const files = (await mirror.changed(base, commit)).filter((path) => path.endsWith('.py'));
  const python = '"$(command -v python3 || command -v python || echo python3)"';
  // Isolated: a module of the repository with the name of a standard one is not run.
  return `${python} -I -m compileall -q -- ${files.map(quoted).join(' ')}`;
}

async function proven(trying: Trying, command: string): Promise<Verified> {
  const { words, base, commit, fixes, mirror, log, timeout, enclosure, mark, signal } = trying;
  const began = performance.now();
  const changes = await changesOf(trying);
  const root = realpathSync.native(trying.tree);
  const plan: Plan = {
    command: ['sh', '-c', command],
    fixes,
    changed: await mirror.changed(base, commit),
    repeats: 1,
    counts: true,
    perFix: false,
    metric: undefined,
  };
  const tree = treeOf(root, { link: [], copy: [] });
  const workshop = new Workshop(tree);
  try {
    const runs = await runAll(
      {
        ...{ plan, tree, cwd: root, timeout, signal, metric: undefined },
        changes: new Map([['after', changes]]),
        env: { ...enclosure.env, [MARK]: mark },
        enclose: (inner, places) =>
          enclosure.enclose(inner, { ...places, readable: [...places.readable, mirror.objects] }),
        starting: () => undefined,
        ended: () => undefined,
      },
      workshop,
    );
    const report = reportOf(plan, runs);
    const { verdict } = report.comparison;
    const text = renderProve(report, { paint: noColor, width: 110 });
    writeFileSync(log, redacted(`${headingOf(trying)}\n${text}`));
    const why = REJECTED[verdict];
    if (why !== undefined)
      throw new Failure(why, `\`${words}\`:\n${text.trimEnd()}`, `See ${log}.${enclosure.hint}`);
    return { commit, command: words, seconds: (performance.now() - began) / 1000, verdict };
  } finally {
    workshop.close();
  }
}

const REJECTED: Readonly<Partial<Record<Verdict, string>>> = {
  worse: 'The command needs more memory with the fixes',
  different: 'The command gives other results with the fixes',
  broken: 'The command fails with the fixes, and only with them',
  unproven: 'The command fails without the fixes, so that nothing is proven',
  idle: 'The command never loads what the fixes change, so that nothing is proven',
};

/** Leaves the work tree with the files of the base. As latin-1, bytes stay what they are. */
async function changesOf({ base, commit, tree, mirror }: Trying): Promise<readonly Change[]> {
  const paths = await mirror.changed(base, commit);
  const textOf = (path: string) => bytesOf(join(tree, path)).toString('latin1');
  await mirror.lend(commit, tree);
  const after = paths.map(textOf);
  await mirror.lend(base, tree);
  const root = realpathSync.native(tree);
  return paths.map((path, index) => ({
    target: join(root, path),
    source: { text: textOf(path), encoding: 'latin-1', bom: false },
    after: after[index] ?? '',
  }));
}

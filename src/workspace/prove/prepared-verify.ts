import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hunksBetween } from '../../report/diff.js';
import type { Ending, Trial } from '../../report/prove/record.js';
import { encode } from '../../text/decode.js';
import { bytesAt, textOf } from '../bounded.js';
import { Failure } from '../failure.js';
import { isInside, slashed } from '../places.js';
import { fill } from './copy.js';
import type { Change } from './fixes.js';
import { emptyFolder, signalEnding } from './prepared.js';
import type { Tree } from './tree.js';
import { DETERMINISTIC, placeShim, readTrial } from './trial.js';
import type { Candidate, NeededRun, Runner } from './verify.js';

const PLAN = 'verify.json';
const WANTED = 'wanted.json';
const SCRIPT = 'verify.py';
const TREE = 'tree';

/** What a prepared verification is about. */
export interface VerifyPlan {
  readonly command: readonly string[];
  /** The command as a person wrote it. */
  readonly text: string;
  /** Where it runs, from the root of the tree. */
  readonly cwd: string;
  readonly metric: string | undefined;
  readonly deterministic: boolean;
  readonly timeout: number | undefined;
  readonly budget: number | undefined;
  /** The options that memfix was called with, for whoever reads it with others. */
  readonly options: readonly string[];
  readonly candidates: readonly Candidate[];
  readonly clusters: readonly Cluster[];
}

/** Fixes that meet somewhere; what some of them make together is not the sum of what each makes alone. */
interface Cluster {
  /** Numbers of candidates. */
  readonly members: readonly number[];
  /** What becomes of files with some of them, by their numbers joined with commas. */
  readonly subsets: Readonly<Record<string, readonly FileEdits[]>>;
}

interface FileEdits {
  readonly path: string;
  readonly edits: readonly ByteEdit[];
}

/** Bytes of a file from `start` to `end` become `text`, which is latin-1 for bytes. */
interface ByteEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A folder to take to a machine without memfix: the tree, the shim, the fixes, and one script that runs what is needed to decide. */
export async function prepareVerification(
  folder: string,
  plan: Omit<VerifyPlan, 'candidates' | 'clusters' | 'cwd'>,
  tree: Tree,
  cwd: string,
  candidates: readonly Candidate[],
  changesFor: (ids: readonly string[]) => Promise<readonly Change[]>,
): Promise<void> {
  emptyFolder(folder);
  mkdirSync(folder, { recursive: true });
  placeShim(join(folder, 'shim'));
  fill(tree, join(folder, TREE));
  const place = slashed(relative(tree.root, realpathSync.native(cwd)));
  const told = candidates.map(({ id, path, numerics, places }) => ({ id, path, numerics, places }));
  const editsWith = async (members: readonly number[]) =>
    (await changesFor(members.flatMap((index) => candidates[index]?.id ?? [])))
      .map((change) => editsOf(tree.root, change))
      .filter(({ edits }) => edits.length > 0);
  const clusters = await clustersOf(candidates.length, editsWith);
  const env = plan.deterministic ? DETERMINISTIC : {};
  const document = { version: 1, ...plan, env, cwd: place, candidates: told, clusters };
  writeFileSync(join(folder, PLAN), `${JSON.stringify(document, undefined, 2)}\n`);
  copyFileSync(fileURLToPath(new URL('./verify.py', import.meta.url)), join(folder, SCRIPT));
}

/** Of larger clusters only single fixes are told; the reading asks for what they make together. */
const LARGEST_CLUSTER = 5;

async function clustersOf(
  count: number,
  editsWith: (members: readonly number[]) => Promise<readonly FileEdits[]>,
): Promise<readonly Cluster[]> {
  const alone: (readonly FileEdits[])[] = [];
  for (let index = 0; index < count; index++) alone.push(await editsWith([index]));
  const clusters: number[][] = [];
  for (const [index, files] of alone.entries()) {
    const met = clusters.filter((members) => members.some((other) => meet(files, alone[other] ?? [])));
    for (const members of met) clusters.splice(clusters.indexOf(members), 1);
    clusters.push([...met.flat(), index].sort((a, b) => a - b));
  }
  const told: Cluster[] = [];
  for (const members of clusters) {
    const subsets: Record<string, readonly FileEdits[]> = {};
    for (const some of subsetsOf(members))
      subsets[some.join(',')] = some.length === 1 ? (alone[some[0] ?? 0] ?? []) : await editsWith(some);
    told.push({ members, subsets });
  }
  return told;
}

function subsetsOf(members: readonly number[]): readonly (readonly number[])[] {
  if (members.length > LARGEST_CLUSTER) return members.map((index) => [index]);
  const subsets: (readonly number[])[] = [];
  for (const index of members) subsets.push(...subsets.map((some) => [...some, index]), [index]);
  return subsets;
}

/** Whether two fixes change or insert at one place of a file. */
function meet(one: readonly FileEdits[], other: readonly FileEdits[]): boolean {
  return one.some(({ path, edits }) =>
    other.some(
      (file) =>
        file.path === path && edits.some((a) => file.edits.some((b) => a.start <= b.end && b.start <= a.end)),
    ),
  );
}

function bytesIn({ source, after, target }: Change): readonly [Buffer, Buffer] {
  const [old, now] = [encode(source, source.text), encode(source, after)];
  if (old === undefined || now === undefined) throw new RangeError(`${target} cannot be encoded`);
  return [old, now];
}

/** The fewest bytes of each changed stretch of lines, so that fixes of one line go together. */
function editsOf(root: string, change: Change): FileEdits {
  const [before, after] = bytesIn(change).map((bytes) => bytes.toString('latin1')) as [string, string];
  const starts = lineStarts(before);
  const edits = hunksBetween(before, after, 0).map(({ oldStart, oldLines, lines }) => {
    const first = oldLines === 0 ? oldStart : oldStart - 1;
    const start = starts[first] ?? before.length;
    const old = before.slice(start, starts[first + oldLines] ?? before.length);
    const text = lines.flatMap(({ kind, text }) => (kind === '+' ? [text] : [])).join('');
    const head = commonLength(old, text, (line, at) => line[at]);
    const tail = commonLength(old.slice(head), text.slice(head), (line, at) => line[line.length - 1 - at]);
    return {
      start: start + head,
      end: start + old.length - tail,
      text: text.slice(head, text.length - tail),
    };
  });
  return { path: slashed(relative(root, change.target)), edits };
}

function commonLength(
  one: string,
  other: string,
  at: (text: string, index: number) => string | undefined,
): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && at(one, length) === at(other, length)) length++;
  return length;
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

export function verifyPlanIn(folder: string): VerifyPlan {
  const text = textOf(join(folder, PLAN));
  try {
    const plan: Partial<VerifyPlan> | null = JSON.parse(text ?? 'null');
    if (Array.isArray(plan?.candidates) && Array.isArray(plan?.command)) return plan as VerifyPlan;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure(
    'Nothing to read',
    `${folder} has no ${PLAN} of \`memfix apply --verify … --prepare\``,
    `Name the folder that \`--prepare\` filled, after its ${SCRIPT} has run.`,
  );
}

/** Names what becomes of a tree by the bytes of the files that change, as the script does. */
function digestOf(root: string, changes: readonly Change[]): string {
  const lines = changes.flatMap((change) => {
    const [before, after] = bytesIn(change);
    const sum = createHash('sha256').update(after).digest('hex');
    return before.equals(after) ? [] : [`${sum} ${slashed(relative(root, change.target))}\n`];
  });
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
}

interface Status {
  readonly code: number;
  readonly seconds: number;
  readonly timedOut: boolean;
}

/** Runs of a verification that the script of a prepared folder made, wherever that was. What it did not run is asked of it. */
export class PreparedRuns implements Runner {
  readonly #used = new Map<string, number>();
  #baselines = 0;

  constructor(
    private readonly folder: string,
    private readonly tree: Tree,
    private readonly metric: RegExp | undefined,
  ) {}

  get runs(): number {
    return this.#used.size;
  }

  get seconds(): number {
    return [...this.#used.values()].reduce((sum, seconds) => sum + seconds, 0);
  }

  hasTime(): boolean {
    return true;
  }

  async run({ kind, changes }: NeededRun): Promise<Trial> {
    const digest = changes.length === 0 ? undefined : digestOf(this.tree.root, changes);
    if (digest === undefined && kind !== 'traced') this.#baselines++;
    const name = digest ?? (kind === 'traced' ? 'lines' : `as-it-is-${this.#baselines}`);
    const place = join(this.folder, 'runs', name);
    const status = statusIn(join(place, 'status.json'));
    if (status === undefined) throw this.#missing(digest, changes);
    this.#used.set(name, status.seconds);
    return { ...readTrial(place, endingOf(status), this.metric), seconds: status.seconds };
  }

  /** The script is told what to run, in whole files, so that nothing is left to how it puts fixes together. */
  #missing(digest: string | undefined, changes: readonly Change[]): Failure {
    if (digest !== undefined) {
      const files = changes.map((change) => ({
        path: slashed(relative(this.tree.root, change.target)),
        content: bytesIn(change)[1].toString('base64'),
      }));
      const text = textOf(join(this.folder, WANTED));
      const known: readonly { readonly digest: string }[] = text === undefined ? [] : JSON.parse(text);
      const wanted = [...known.filter((each) => each.digest !== digest), { digest, files }];
      const draft = join(this.folder, `${WANTED}.${process.pid}.tmp`);
      writeFileSync(draft, `${JSON.stringify(wanted, undefined, 2)}\n`);
      renameSync(draft, join(this.folder, WANTED));
    }
    return new Failure(
      'The runs are not complete',
      digest === undefined
        ? `${join(this.folder, 'runs')} lacks a run of the unchanged command`
        : 'One more set of fixes has to run before all can be decided; it is in the folder now. Nothing was changed',
      `Run \`python3 ${SCRIPT}\` in that folder, where the command can run; it goes on where it was. Then read it again.`,
    );
  }
}

/** The first file that the runs loaded and that is another one in the tree now. */
export function changedSincePrepared(
  folder: string,
  tree: Tree,
  trials: readonly Trial[],
): string | undefined {
  const loaded = new Set(trials.flatMap(({ records }) => records.flatMap((record) => record.loaded)));
  const copy = realpathSync.native(join(folder, TREE));
  return [...loaded].sort().find((path) => {
    // What the command made itself is in no tree.
    if (!isInside(join(copy, path), copy)) return true;
    const prepared = bytesAt(join(copy, path));
    return prepared !== undefined && bytesAt(join(tree.root, path))?.equals(prepared) !== true;
  });
}

function statusIn(path: string): Status | undefined {
  const text = textOf(path);
  return text === undefined ? undefined : (JSON.parse(text) as Status);
}

function endingOf({ code, seconds, timedOut }: Status): Ending {
  return timedOut ? { kind: 'timed out', seconds } : signalEnding(code < 0 ? 128 - code : code);
}

import { createHash } from 'node:crypto';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Mention, questionFor } from '../semantic/surroundings.js';
import { hashOf, Signature } from '../text/words.js';
import type { Candidate, Discovery } from './discover.js';
import type { Folders } from './folders.js';
import type { Ground } from './ground.js';
import { Islands } from './islands.js';
import { slashed } from './places.js';
import { isSettled, Reader } from './read.js';

/** Files and folders beyond which a project is not searched. */
const MOST = 20_000;
/** Questions that are answered by reading all files again; for more, it pays to remember which words each of them has. */
const FEW = 3;

/** Which files below a folder mention a word. Nothing is read before the first question, and no text is kept. */
export class Mentions {
  readonly #known = new Map<string, readonly Candidate[]>();
  #all: Shelf | undefined;
  /** Of the files that matter, by what they need to. */
  readonly #mattering = new Map<string, Shelf>();
  #stamp: string | undefined;

  #islands: Islands | undefined;

  constructor(
    private readonly folder: string,
    private readonly cwd: string,
    private readonly ground: Ground,
    private readonly folders: Folders,
  ) {}

  /** Whether two files, by the names that they go by, never run in one program. */
  areApart(path: string, other: string): boolean {
    if (dirname(path) === dirname(other)) return false;
    return this.#parts.areApart(this.#within(path), this.#within(other));
  }

  get #parts(): Islands {
    this.#islands ??= new Islands(
      this.#walk.candidates.map((candidate) => ({ path: this.#within(candidate.path), candidate })),
      (folder) => this.folders.names(join(this.folder, folder)),
    );
    return this.#islands;
  }

  #within(path: string): string {
    return slashed(relative(this.folder, resolve(this.cwd, path)));
  }

  /** Those that mention it, and some that only seem to; undefined where the project is too large to look. */
  of(mention: Mention): readonly Candidate[] | undefined {
    const { candidates } = this.#walk;
    if (this.#isTooLarge) return undefined;
    const question = questionFor(mention);
    const known = this.#known.get(question) ?? this.#shelfFor(candidates, mention.needs).with(mention);
    this.#known.set(question, known);
    return known;
  }

  #shelfFor(candidates: readonly Candidate[], needs: readonly string[] | undefined): Shelf {
    this.#all ??= new Shelf(candidates);
    if (needs === undefined) return this.#all;
    const name = needs.join(' ');
    const known = this.#mattering.get(name);
    if (known !== undefined) return known;
    // Who asks about such files asks about many words: they are read once.
    const matters = ({ path }: Candidate, bytes: Buffer) =>
      basename(path) === '__init__.py' || needs.some((each) => bytes.includes(each));
    const shelf = new Shelf(candidates, signaturesOf(candidates, matters));
    this.#mattering.set(name, shelf);
    return shelf;
  }

  /** The same where all files are as they were, and notebooks where they were; empty where their times do not tell. */
  get stamp(): string {
    this.#stamp ??= stampOf(
      this.#walk,
      `${this.#isTooLarge || this.#parts.notebooks.join('\0')}`,
      this.ground,
    );
    return this.#stamp;
  }

  /** What is ignored is someone else's; what the configuration leaves out of a check still calls. */
  get #walk(): Discovery {
    return this.ground.walk(this.folder, MOST);
  }

  get #isTooLarge(): boolean {
    const { candidates, folders, isCut } = this.#walk;
    return isCut || candidates.length + folders > MOST;
  }
}

/** Files that are asked for words again and again. */
class Shelf {
  #questions = 0;
  #signatures: Signatures | undefined;

  constructor(
    private readonly candidates: readonly Candidate[],
    signatures?: Signatures,
  ) {
    this.#signatures = signatures;
  }

  with({ word, beside }: Mention): readonly Candidate[] {
    if (this.#signatures === undefined && this.#questions++ < FEW)
      return searched(
        this.candidates,
        (bytes) => bytes.includes(word) && isOneOf(beside, (other) => bytes.includes(other)),
      );
    this.#signatures ??= signaturesOf(this.candidates);
    const hash = hashOf(word);
    const others = beside.map(hashOf);
    return this.#signatures.flatMap(([candidate, signature]) =>
      signature.mayHave(hash) && isOneOf(others, (other) => signature.mayHave(other)) ? [candidate] : [],
    );
  }
}

function searched(
  candidates: readonly Candidate[],
  matters: (bytes: Buffer) => boolean,
): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const [candidate, bytes] of opened(candidates)) if (matters(bytes)) found.push(candidate);
  return found;
}

type Signatures = readonly (readonly [Candidate, Signature])[];

function signaturesOf(
  candidates: readonly Candidate[],
  matters: (candidate: Candidate, bytes: Buffer) => boolean = () => true,
): Signatures {
  const found: (readonly [Candidate, Signature])[] = [];
  for (const [candidate, bytes] of opened(candidates))
    if (matters(candidate, bytes)) found.push([candidate, new Signature(bytes)]);
  return found;
}

/** What cannot be read cannot be run. The bytes hold until the next file. */
function* opened(candidates: readonly Candidate[]): Generator<readonly [Candidate, Buffer]> {
  const reader = new Reader();
  for (const candidate of candidates) {
    const found = reader.open(candidate);
    if (found.kind === 'opened') yield [candidate, found.bytes];
  }
}

/** Of nothing, nothing is wanted. */
export function isOneOf<T>(wanted: readonly T[], has: (each: T) => boolean): boolean {
  return wanted.length === 0 || wanted.some(has);
}

/** Stamps are taken once in a run, by whoever first needs them. */
function stampOf({ candidates }: Discovery, more: string, ground: Ground): string {
  const now = Date.now();
  const stamps = new Float64Array(candidates.length * 4);
  for (let index = 0; index < candidates.length; index++) {
    const stamp = ground.stamp((candidates[index] as Candidate).target);
    if (stamp === undefined || !isSettled(stamp, now)) return '';
    stamps.set(stamp, index * 4);
  }
  const hash = createHash('sha1').update(more);
  hash.update(candidates.map(({ path }) => path).join('\0'));
  return hash.update(stamps).digest('base64');
}

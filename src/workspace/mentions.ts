import { createHash } from 'node:crypto';
import type { Mention } from '../semantic/surroundings.js';
import { hashOf, Signature } from '../text/words.js';
import { type Candidate, type Discovery, discover } from './discover.js';
import { isSettled, Reader, stampAt } from './read.js';

/** Files and folders beyond which a project is not searched. */
const MOST = 20_000;
/** A word that more files have says little about any of them. */
const COMMON = 200;

/** Which files below a folder mention a word. They are read once, when the first word is asked for, and not kept. */
export class Mentions {
  #walk: Discovery | undefined;
  #signatures: readonly (readonly [Candidate, Signature])[] | undefined;
  #stamp: string | undefined;

  constructor(
    private readonly folder: string,
    private readonly cwd: string,
  ) {}

  /**
   * Those that seem to have it, and one of the words `beside` it; undefined where they are very many, or where the project
   * is too large to look.
   */
  having({ word, beside }: Mention): readonly Candidate[] | undefined {
    const { candidates, isCut } = this.#walked();
    if (isCut) return undefined;
    this.#signatures ??= signaturesOf(candidates);
    const hash = hashOf(word);
    const others = beside.map(hashOf);
    const found = this.#signatures.filter(
      ([, signature]) =>
        signature.mayHave(hash) && (others.length === 0 || others.some((other) => signature.mayHave(other))),
    );
    return found.length > COMMON ? undefined : found.map(([candidate]) => candidate);
  }

  /** The same where all files are as they were; empty where their times do not tell. */
  get stamp(): string {
    this.#stamp ??= stampOf(this.#walked());
    return this.#stamp;
  }

  /** What is ignored is someone else's; what the configuration leaves out of a check still calls. */
  #walked(): Discovery {
    this.#walk ??= discover([this.folder], { cwd: this.cwd, most: MOST, excludes: () => false });
    return this.#walk;
  }
}

function signaturesOf(candidates: readonly Candidate[]): readonly (readonly [Candidate, Signature])[] {
  const reader = new Reader();
  return candidates.flatMap((candidate) => {
    const opened = reader.open(candidate);
    // What cannot be read cannot be run.
    return opened.kind === 'opened' ? [[candidate, new Signature(opened.bytes)] as const] : [];
  });
}

function stampOf({ candidates, isCut }: Discovery): string {
  const now = Date.now();
  const hash = createHash('sha1').update(`${isCut}`);
  for (const { path, target } of candidates) {
    const stamp = stampAt(target);
    if (stamp === undefined || !isSettled(stamp, now)) return '';
    hash.update(`${path} ${stamp.join()}\n`);
  }
  return hash.digest('base64');
}

import { createHash } from 'node:crypto';
import type { Mention } from '../semantic/surroundings.js';
import { hashOf, Signature } from '../text/words.js';
import type { Candidate, Discovery } from './discover.js';
import type { Ground } from './ground.js';
import { isSettled, Reader } from './read.js';

/** Files and folders beyond which a project is not searched. */
const MOST = 20_000;
/** A word that more files have says little about any of them. */
const COMMON = 200;

/** Which files below a folder mention a word. They are read once, when the first word is asked for, and not kept. */
export class Mentions {
  #signatures: readonly (readonly [Candidate, Signature])[] | undefined;
  #stamp: string | undefined;

  constructor(
    private readonly folder: string,
    private readonly ground: Ground,
  ) {}

  /**
   * Those that seem to have it, and one of the words `beside` it; undefined where they are very many, or where the project
   * is too large to look.
   */
  having({ word, beside }: Mention): readonly Candidate[] | undefined {
    const { candidates } = this.#walk;
    if (this.#isTooLarge) return undefined;
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
    this.#stamp ??= stampOf(this.#walk, this.#isTooLarge, this.ground);
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

function signaturesOf(candidates: readonly Candidate[]): readonly (readonly [Candidate, Signature])[] {
  const reader = new Reader();
  return candidates.flatMap((candidate) => {
    const opened = reader.open(candidate);
    // What cannot be read cannot be run.
    return opened.kind === 'opened' ? [[candidate, new Signature(opened.bytes)] as const] : [];
  });
}

/** Stamps are taken once in a run, by whoever first needs them. */
function stampOf({ candidates }: Discovery, isTooLarge: boolean, ground: Ground): string {
  const now = Date.now();
  const stamps = new Float64Array(candidates.length * 4);
  for (let index = 0; index < candidates.length; index++) {
    const stamp = ground.stamp((candidates[index] as Candidate).target);
    if (stamp === undefined || !isSettled(stamp, now)) return '';
    stamps.set(stamp, index * 4);
  }
  const hash = createHash('sha1').update(`${isTooLarge}`);
  hash.update(candidates.map(({ path }) => path).join('\0'));
  return hash.update(stamps).digest('base64');
}

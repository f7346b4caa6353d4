import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Asked } from '../answers.js';
import { bytesOf } from '../bounded.js';
import { Failure, reasonOf } from '../failure.js';
import { syncFolder } from '../write.js';
import { sha256 } from './hash.js';

export type Verdict = 'accept' | 'reject';

/** What a decision is about: a finding of a file with exactly these bytes, and what it has in common with its likes. */
export interface Matter extends Asked {
  readonly likeness: string;
}

/** One line of the journal; `null` takes a decision back. */
export interface Decided extends Matter {
  readonly verdict: Verdict | null;
}

/**
 * What people said to the fixes of one repository, in the order they said it; later lines win. A decision holds for a
 * file with the same bytes. Where the file is another, a fix of the same words as a rejected one is held back until
 * someone looks again: nobody can tell which of its likes was meant.
 */
export class Decisions {
  readonly #standing = new Map<string, Decided>();

  constructor(lines: readonly Decided[] = []) {
    for (const line of lines) {
      if (line.verdict === null) this.#standing.delete(nameOf(line));
      else this.#standing.set(nameOf(line), line);
    }
  }

  static read(file: string): Decisions {
    return new Decisions(textOf(file).split('\n').flatMap(parsed));
  }

  get all(): readonly Decided[] {
    return [...this.#standing.values()];
  }

  about(matter: Matter): Verdict | 'hold' | undefined {
    return this.verdict(matter) ?? (this.#isDoubtful(matter) ? 'hold' : undefined);
  }

  /** What was said to this very finding in these very bytes. */
  verdict(matter: Asked): Verdict | undefined {
    return this.#standing.get(nameOf(matter))?.verdict ?? undefined;
  }

  #isDoubtful({ path, hash, likeness }: Matter): boolean {
    return this.all.some(
      (other) =>
        other.verdict === 'reject' &&
        other.path === path &&
        other.likeness === likeness &&
        other.hash !== hash,
    );
  }

  /** Tells decisions with which a plan would come out differently; nothing where nobody rejected anything. */
  get digest(): string {
    const telling = this.all.filter((each) => each.verdict === 'reject' || this.#isDoubtful(each));
    return telling.length === 0
      ? ''
      : sha256(
          telling
            .map((each) => nameOf(each) + each.verdict)
            .sort()
            .join('\n'),
        );
  }
}

/** Appends whole lines, on disk when this returns. A torn line of a killed process stays by itself. */
export function writeDown(file: string, decided: readonly Decided[]): void {
  const lines = decided.map((each) => `${JSON.stringify(each)}\n`).join('');
  const text = textOf(file);
  const start = text === '' || text.endsWith('\n') ? '' : '\n';
  try {
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, start + lines, { flush: true });
    if (text === '') syncFolder(dirname(file));
  } catch (error) {
    throw new Failure(
      'The decision cannot be saved',
      `${file}: ${reasonOf(error)}`,
      'Remove the cause, then decide again.',
    );
  }
}

function nameOf({ path, hash, key }: Asked): string {
  return JSON.stringify([path, hash, key]);
}

function textOf(file: string): string {
  try {
    // There mostly is none: to be told so by an error would take longer.
    return statSync(file, { throwIfNoEntry: false }) === undefined ? '' : bytesOf(file).toString('utf8');
  } catch (error) {
    throw new Failure(
      'Decisions cannot be read',
      `${file}: ${reasonOf(error)}`,
      'Make the file readable: what was rejected must not be committed.',
    );
  }
}

function parsed(line: string): readonly Decided[] {
  try {
    const value: Partial<Decided> | null = JSON.parse(line);
    const { path, hash, key, likeness, verdict } = value ?? {};
    const isWhole = [path, hash, key, likeness].every((word) => typeof word === 'string');
    const isKnown = verdict === null || verdict === 'accept' || verdict === 'reject';
    return isWhole && isKnown ? [value as Decided] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

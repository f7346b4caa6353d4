import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Asked } from '../answers.js';
import { bytesOf } from '../bounded.js';
import { Failure, reasonOf } from '../failure.js';
import { syncFolder } from '../write.js';
import { sha256 } from './hash.js';

export type Verdict = 'accept' | 'reject';

/**
 * What a decision is about: a finding in a text with exactly these bytes, and what it has in common with its likes. The
 * text is that of the file, or what other fixes have left of it.
 */
export interface Matter extends Asked {
  readonly likeness: string;
  /** Hash of the file that the text comes from; the same as `hash` where it is the file itself. */
  readonly file?: string;
}

/** One line of the journal; `null` takes a decision back. */
export interface Decided extends Matter {
  readonly verdict: Verdict | null;
}

/**
 * What people said to the fixes of one repository, in the order they said it; later lines win. A decision holds for a
 * text with the same bytes. Where the file is another, or other fixes have left another text of it, a fix of the same words
 * as a rejected one is held back until someone looks again: nobody can tell which of its likes was meant.
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

  /** `isSame`: every text of the file is known to be as it was when it was decided about. */
  about(matter: Matter, isSame = false): Verdict | 'hold' | undefined {
    return this.verdict(matter) ?? (this.#isDoubtful(matter, isSame) ? 'hold' : undefined);
  }

  /** What was rejected in the texts that other fixes leave of a file. */
  rejectedAfterOthers(path: string, file: string): readonly Asked[] {
    return this.all.filter(
      (each) =>
        each.verdict === 'reject' && each.path === path && fileOf(each) === file && isBroughtAbout(each),
    );
  }

  /** What was said to this very finding in these very bytes. */
  verdict(matter: Asked): Verdict | undefined {
    return this.#standing.get(nameOf(matter))?.verdict ?? undefined;
  }

  #isDoubtful(matter: Matter, isSame: boolean): boolean {
    return this.all.some(
      (other) =>
        other.verdict === 'reject' &&
        other.path === matter.path &&
        other.likeness === matter.likeness &&
        isOfAnotherText(other, matter, isSame),
    );
  }

  /** Tells decisions with which a plan would come out differently; nothing where nobody rejected anything. */
  get digest(): string {
    const telling = this.all.filter((each) => each.verdict === 'reject' || this.#isDoubtful(each, false));
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

/** A finding of the file itself is never one of those that only other fixes have brought about. */
function isOfAnotherText(one: Matter, other: Matter, isSame: boolean): boolean {
  if (fileOf(one) !== fileOf(other)) return true;
  return !isSame && isBroughtAbout(one) && isBroughtAbout(other) && one.hash !== other.hash;
}

function isBroughtAbout(matter: Matter): boolean {
  return fileOf(matter) !== matter.hash;
}

function fileOf({ file, hash }: Matter): string {
  return file ?? hash;
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

export function nameOf({ path, hash, key }: Asked): string {
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
    const { path, hash, key, likeness, file = hash, verdict } = value ?? {};
    const isWhole = [path, hash, key, likeness, file].every((word) => typeof word === 'string');
    const isKnown = verdict === null || verdict === 'accept' || verdict === 'reject';
    return isWhole && isKnown ? [value as Decided] : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

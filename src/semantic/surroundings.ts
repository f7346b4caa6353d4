import type { PyModule } from './module.js';
import { Versions } from './versions.js';

/** What a file can learn of the project around it. Nothing is read before it is asked for. */
export interface Surroundings {
  /** Of the packages that the file's project asks for. */
  readonly versions: Versions;
  /** The text of the project's file that an import from here names: `models.base`, `.base`. Undefined where that is not certain. */
  text(dotted: string): string | undefined;
  /** The same, parsed. Also undefined where it does not parse, is very large, or where a scan has asked for very many. */
  module(dotted: string): PyModule | undefined;
  /** The file of the project that code names by this path, whatever it holds. Undefined where that is not certain. */
  file(name: string): NamedFile | undefined;
  /**
   * The other files of the project whose code has a word: who calls a function, reads an attribute. `may` looks at a text
   * and is false only where the file does not matter. Ask only where an answer would change a finding: the first question
   * of a run reads the whole project.
   */
  naming(mention: Mention, may: (text: string, path: string) => boolean): Naming;
  /**
   * What each of the other files of the project whose code has a word says by itself. Computed once for the text of a file,
   * however many scans ask; `look` must be a module-level function that gives plain data, and one that takes no word is computed once for all words.
   * Undefined where very many files have the word, or one that cannot be read. `may`: which files are asked.
   */
  summaries<T>(
    mention: Mention,
    look: (alone: PyModule, word: string) => T,
    may?: (path: string) => boolean,
  ): readonly T[] | undefined;
  /** The first file that a summary was wanted of and that cannot be read, in words: `` `nets.py:12` cannot be read ``. */
  readonly unread: string | undefined;
  /** The file that is scanned, whichever file asks on its behalf. */
  home(): PyModule | undefined;
  /** What was asked so far, for telling whether the same answers would be given later. */
  readonly relied: Relied;
}

/** An identifier; where there are words beside it, in files that have one of them too. */
export interface Mention {
  readonly word: string;
  readonly beside: readonly string[];
  /**
   * One of these a file must have too, unless it is a package, which may only pass the word on. In `def name`, `class Name`
   * and `self.name` any space counts.
   */
  readonly needs?: readonly string[];
}

export interface Naming {
  readonly modules: readonly PyModule[];
  /** Those that could not be looked into, as a sentence names them. */
  readonly unread: string | undefined;
}

/** Any file of a project. */
export interface NamedFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Each question once: who asked, for which module (where empty: for versions; behind a colon: for a file; behind a question
 * mark: for the files that mention words), and a name for the content of the answer. Plain data: it is kept with results, and travels between threads.
 */
export type Relied = readonly (readonly [from: string, what: string, answer: string])[];

/** A file by itself. */
export const ALONE: Surroundings = {
  versions: new Versions(),
  text: () => undefined,
  module: () => undefined,
  file: () => undefined,
  naming: () => ({ modules: [], unread: undefined }),
  summaries: () => [],
  unread: undefined,
  home: () => undefined,
  relied: [],
};

/** How a question for the files that mention something is remembered. */
export function questionFor({ word, beside, needs }: Mention): string {
  return `?${[word, ...beside, ...(needs === undefined ? [] : [`+${needs.map(encodeURIComponent).join('+')}`])].join(' ')}`;
}

export function mentionIn(question: string): Mention {
  const [word = '', ...others] = question.slice(1).split(' ');
  const needs = others
    .find((other) => other.startsWith('+'))
    ?.slice(1)
    .split('+')
    .map(decodeURIComponent);
  const beside = others.filter((other) => !other.startsWith('+'));
  return { word, beside, ...(needs !== undefined && { needs }) };
}

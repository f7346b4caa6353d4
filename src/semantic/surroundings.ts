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
  /** What was asked so far, for telling whether the same answers would be given later. */
  readonly relied: Relied;
}

/**
 * Each question once: who asked, for which module (or, where empty, for versions), and a name for the content of the
 * answer. Plain data: it is kept with results, and travels between threads.
 */
export type Relied = readonly (readonly [from: string, what: string, answer: string])[];

/** A file by itself. */
export const ALONE: Surroundings = {
  versions: new Versions(),
  text: () => undefined,
  module: () => undefined,
  relied: [],
};

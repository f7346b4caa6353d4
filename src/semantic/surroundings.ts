import { Versions } from './versions.js';

/** What a file can learn of the project around it. Nothing is read before it is asked for. */
export interface Surroundings {
  /** Of the packages that the file's project asks for. */
  readonly versions: Versions;
  /** What was asked so far, for telling whether the same answers would be given later. */
  readonly relied: Relied;
}

/** Plain data: it is kept with results, and travels between threads. */
export interface Relied {
  /** The versions that were found. */
  readonly versions?: string;
}

/** A file by itself. */
export const ALONE: Surroundings = { versions: new Versions(), relied: {} };

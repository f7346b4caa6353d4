/** Where a fact is from. A name is no source: it finds candidates, and what rests on it becomes a question. */
export type Source = 'code' | 'library' | 'stated';

/** One step of why a fix is safe. */
export interface Reason {
  readonly source: Source;
  /** A sentence without its full stop, with the places it is about. */
  readonly text: string;
}

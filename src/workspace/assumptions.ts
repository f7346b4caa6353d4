import { aboutWhat, type Question } from '../semantic/question.js';
import { PathPatterns } from './gitignore.js';

/**
 * A yes that a person has given once and for all: `transform/kind(subject)@file`, as in
 * `no-grad/returned-only-read(out)@src/eval.py`. Without `@file` it holds in all files, without `(subject)` for all of
 * whom the transform asks that.
 */
export interface Assumption {
  /** As it is written. */
  readonly text: string;
  readonly transform: string;
  readonly kind: string;
  readonly subject?: string;
  readonly files?: PathPatterns;
}

const FORM = /^([a-z0-9-]+)\/([a-z0-9-]+)(?:\((.+)\))?(?:@(.+))?$/s;

/** What an entry of `assume` says; a sentence about what is wrong with it where it says nothing. */
export function assumptionIn(text: string, folder: string): Assumption | string {
  const [whole, transform = '', kind = '', subject, path] = FORM.exec(text) ?? [];
  if (whole === undefined) return 'it is not of the form `transform/kind(subject)@file`';
  const files = path === undefined ? undefined : new PathPatterns(folder, [`/${path}`]);
  if (files?.problem !== undefined) return files.problem;
  return {
    ...{ text, transform, kind },
    ...(subject !== undefined && { subject }),
    ...(files && { files }),
  };
}

/** `path` is absolute. */
export function isCovered(
  assumptions: readonly Assumption[],
  transform: string,
  { kind, subject }: Question,
  path: string,
): boolean {
  return assumptions.some(
    (each) =>
      each.transform === transform &&
      each.kind === kind &&
      (each.subject === undefined || each.subject === subject) &&
      (each.files === undefined || each.files.matches(path)),
  );
}

/** A path that means itself, whatever characters it has. */
function literal(path: string): string {
  return path.replace(/[\\*?[\]!#]/g, '\\$&');
}

/** How far a yes reaches: this question alone, all of its kind in the file, or in all files. */
export type Reach = 'here' | 'file' | 'everywhere';

/** The entry for a yes; `path` is relative to the folder of the config. */
export function entryFor(transform: string, question: Question, path: string, reach: Reach): string {
  switch (reach) {
    case 'here':
      return `${transform}/${aboutWhat(question)}@${literal(path)}`;
    case 'file':
      return `${transform}/${question.kind}@${literal(path)}`;
    case 'everywhere':
      return `${transform}/${question.kind}`;
  }
}

import { aboutWhat, implies, isAboutVersion, type Question } from '../semantic/question.js';
import { PathPatterns } from './gitignore.js';

/**
 * A yes that a person has given once and for all: `transform/kind(subject)@file`, as in
 * `no-grad/returned-only-read(out)@src/eval.py`. Without `@file` it holds in all files, without `(subject)` for all of
 * whom the transform asks that. A version is the same for every transform.
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
  question: Question,
  path: string,
): boolean {
  return assumptions.some(
    ({ transform: id, kind, subject, files }) =>
      (subject === undefined
        ? id === transform && kind === question.kind
        : answers(id, { kind, subject }, transform, question)) &&
      (files === undefined || files.matches(path)),
  );
}

/** Whether a yes to what one transform asks is a yes to what another, or the same, asks. */
export function answers(
  id: string,
  yes: Pick<Question, 'kind' | 'subject'>,
  transform: string,
  question: Question,
): boolean {
  return (id === transform || isAboutVersion(yes)) && implies(yes, question);
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
      return `${transform}/${likeIt(question)}@${literal(path)}`;
    case 'everywhere':
      return `${transform}/${likeIt(question)}`;
  }
}

/** A yes to torch 1.0 is none to torch 2.3: questions about versions are alike only where the version is. */
function likeIt(question: Question): string {
  return isAboutVersion(question) ? aboutWhat(question) : question.kind;
}

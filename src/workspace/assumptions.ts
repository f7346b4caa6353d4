import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { aboutWhat, implies, isAboutVersion, type Question } from '../semantic/question.js';
import { PathPatterns } from './gitignore.js';
import { slashed } from './places.js';

/**
 * A yes that a person has given once and for all: `transform/kind(subject)@file:function`, as in
 * `no-grad/returned-only-read(out)@src/eval.py:evaluate`. Without `:function` it holds in the whole file, without `@file`
 * in all files, without `(subject)` for all of whom the transform asks that. A version is the same for every transform.
 */
export interface Assumption {
  /** As it is written. */
  readonly text: string;
  readonly transform: string;
  readonly kind: string;
  readonly subject?: string;
  readonly files?: PathPatterns;
  /** The function or class right around the finding: what is defined inside of it is another. */
  readonly within?: string;
}

// A file may have a colon in its name.
const FORM =
  /^([a-z0-9-]+)\/([a-z0-9-]+)(?:\((.+)\))?(?:@(.+?)(?::(?!.*\.(?:pyi?|ipynb)$)([\p{XID_Start}_][\p{XID_Continue}.]*))?)?$/su;

/** What an entry of `assume` says; a sentence about what is wrong with it where it says nothing. */
export function assumptionIn(text: string, folder: string): Assumption | string {
  const [whole, transform = '', kind = '', subject, path, within] = FORM.exec(text) ?? [];
  if (whole === undefined) return 'it is not of the form `transform/kind(subject)@file:function`';
  const files = path === undefined ? undefined : new PathPatterns(folder, [`/${path}`]);
  if (files?.problem !== undefined) return files.problem;
  return {
    ...{ text, transform, kind },
    ...(subject !== undefined && { subject }),
    ...(files && { files }),
    ...(within !== undefined && { within }),
  };
}

/** `path` is absolute. */
export function isCovered(
  assumptions: readonly Assumption[],
  transform: string,
  question: Question,
  path: string,
  around?: string,
): boolean {
  return assumptions.some(
    ({ transform: id, kind, subject, files, within }) =>
      (subject === undefined
        ? id === transform && kind === question.kind
        : answers(id, { kind, subject }, transform, question)) &&
      (files === undefined || files.matches(path)) &&
      (within === undefined || within === around),
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

/** How far a yes reaches: this question in its function, all of its kind in the file, or in all files. */
export type Reach = 'here' | 'file' | 'everywhere';

/** Where a question is asked: the file, and the function or class in it; without one, at the level of the module. */
export interface Place {
  readonly path: string;
  readonly within?: string;
}

/** The entry for a yes; the path is relative to the folder of the config. */
export function entryFor(
  transform: string,
  question: Question,
  { path, within }: Place,
  reach: Reach,
): string {
  switch (reach) {
    case 'here':
      return `${transform}/${aboutWhat(question)}@${literal(path)}${within === undefined ? '' : `:${within}`}`;
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

/**
 * Calls the files in a text as from `root`, whatever the working folder is and wherever the project lies. A question and its
 * subject have them relative inside the working folder, whole outside it.
 */
export function filesFrom(root: string, cwd: string): (text: string) => string {
  const top = `${slashed(root)}/`.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const names = new RegExp(`(?<=^|[\\s(\`])(?:${top})?[^\\s()'"\`,]+\\.\\w+(?=$|[\\s),:\`])`, 'g');
  return (text) =>
    text.replace(names, (name) => {
      const file = resolve(cwd, name);
      // No two files may be called the same: also one outside is called as from there.
      return existsSync(file) ? slashed(relative(root, file)) : name;
    });
}

import type { EngineSetup } from '../engine/engine.js';
import type { Question } from '../semantic/question.js';
import type { Reach } from '../workspace/assumptions.js';
import { CTRL_C } from './keys.js';

/** Writes a yes to these questions down; `note` says what was written, or why nothing was. */
export type Remember = (
  transform: string,
  questions: readonly Question[],
  path: string,
  reach: Reach,
) => {
  readonly note: string;
  /** The file it was written to, if it was. */
  readonly file?: string;
  /** Whether what was written counts for a file; without it, it counts for all. */
  isFor?(path: string): boolean;
  /** Takes it out of the file again; false where the file has changed since. */
  takeBack?(): boolean;
};

/** Whom else the yes answers. */
export function covers(
  transform: string,
  questions: readonly Question[],
  path: string,
  reach: Reach,
  isFor: (path: string) => boolean = () => true,
): NonNullable<EngineSetup['assumes']> {
  return (other, { kind, subject }, at) =>
    other === transform &&
    (reach === 'everywhere' ? isFor(at) : at === path) &&
    questions.some((each) => each.kind === kind && (reach !== 'here' || each.subject === subject));
}

export function reachQuestion(count: number, file = 'the configuration'): string {
  const what = count === 1 ? 'The yes to this question' : `The yes to these ${count} questions`;
  return `${what} is written into ${file}. For this place only (t), for like questions in this file (f), or for like questions in all files (a)? Esc cancels.`;
}

const REACHES: Readonly<Record<string, Reach>> = { t: 'here', f: 'file', a: 'everywhere' };

/** What a person means by a key; undefined where that is nothing known. */
export function reachMeant(key: string): Reach | undefined {
  return REACHES[key.toLowerCase()];
}

export function nothingRemembered(key: string): string {
  const nothing = 'Nothing was remembered, and nothing answered.';
  if (key === CTRL_C) return `${nothing} Ctrl-C once more ends the review.`;
  return key === '\x1b' ? nothing : `${nothing} t, f or a says how far the yes reaches.`;
}

/** What a review says at its end of a yes that was written down. */
export function keptNote(file: string): string {
  return `What you answered for good is in \`assume\` of ${file}; \`memfix undo\` takes it back too.`;
}

/** After `u`: what became of the yes that was written into a file. */
export function takenBackNote(file: string, isTakenBack: boolean): string {
  return isTakenBack
    ? `The yes was taken out of ${file} too.`
    : `The yes stays in \`assume\` of ${file}, which has changed since: take it out there to be asked again.`;
}

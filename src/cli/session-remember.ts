import type { EngineSetup } from '../engine/engine.js';
import type { Question } from '../semantic/question.js';
import type { Reach } from '../workspace/assumptions.js';

/** Writes a yes to these questions down; `note` says what was written, or why nothing was. */
export type Remember = (
  transform: string,
  questions: readonly Question[],
  path: string,
  reach: Reach,
) => { readonly isWritten: boolean; readonly note: string };

/** Whom else the yes answers. */
export function covers(
  transform: string,
  questions: readonly Question[],
  path: string,
  reach: Reach,
): NonNullable<EngineSetup['assumes']> {
  return (other, { kind, subject }, at) =>
    other === transform &&
    (reach === 'everywhere' || at === path) &&
    questions.some((each) => each.kind === kind && (reach !== 'here' || each.subject === subject));
}

export function reachQuestion(count: number): string {
  const what = count === 1 ? 'The yes to this question' : `The yes to these ${count} questions`;
  return `${what} is written into the configuration. For this place only (t, Enter), for like questions in this file (f), or for like questions in all files (a)? Esc cancels.`;
}

const REACHES: Readonly<Record<string, Reach>> = { '': 'here', t: 'here', f: 'file', a: 'everywhere' };

/** What a person means by a letter or a word; undefined where that is nothing known. */
export function reachMeant(typed: string): Reach | undefined {
  return REACHES[typed.trim().toLowerCase().slice(0, 1)];
}

import type { EngineSetup } from '../engine/engine.js';
import { askedTogether } from '../report/questions.js';
import { forTerminal } from '../report/terminal.js';
import { isAboutVersion, type Question } from '../semantic/question.js';
import { answers, type Place, type Reach } from '../workspace/assumptions.js';
import { type Ask, dropTyped, REDRAW, type Terminal } from './ask.js';
import { CTRL_C } from './keys.js';
import { hung, type Look, lookOf, noteText } from './screen.js';

/** Writes a yes to these questions down; `note` says what was written, or why nothing was. */
export type Remember = (
  transform: string,
  questions: readonly Question[],
  place: Place,
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
  { path, within }: Place,
  reach: Reach,
  isFor: (path: string) => boolean = () => true,
): NonNullable<EngineSetup['assumes']> {
  return (other, question, at, around) =>
    (reach === 'everywhere' ? isFor(at) : at === path) &&
    (reach !== 'here' || within === undefined || around === within) &&
    questions.some((each) =>
      reach === 'here' || isAboutVersion(each)
        ? answers(transform, each, other, question)
        : other === transform && each.kind === question.kind,
    );
}

/** All that is asked, each in full. */
function questionsText(asked: readonly string[], { paint, width }: Look): string {
  const lines = asked.flatMap((text) => hung('?', text, width, paint.yellow, paint.bold));
  return lines.map((line) => `${line}\n`).join('');
}

function reachQuestion(count: number, { within }: Place, file = 'the configuration'): string {
  const what = count === 1 ? 'The yes to this question' : `The yes to these ${count} questions`;
  const same = count === 1 ? 'this question' : 'these questions';
  const where = within === undefined ? 'anywhere in this file' : `in \`${within}\` of this file only`;
  return `${what} is written into ${file}. For ${same} ${where} (t), for like questions in this file (f), or for like questions in all files (a)? Esc cancels.`;
}

const ESCAPE = '\x1b';

/**
 * Asks how far a yes to the questions of a finding reaches until that is said, or a key leaves the question;
 * `file`: where the yes goes.
 */
export async function reachAsked(
  ask: Ask,
  terminal: Terminal,
  {
    questions,
    place,
    file,
  }: { readonly questions: readonly Question[]; readonly place: Place; readonly file: string | undefined },
): Promise<{ readonly key: string; readonly reach: Reach | undefined }> {
  const look = lookOf(terminal);
  const asked = askedTogether(questions, place.path);
  // The card may have room for some of them only.
  if (asked.length > 1) terminal.output.write(forTerminal(questionsText(asked, look)));
  terminal.output.write(forTerminal(noteText(reachQuestion(asked.length, place, file), look)));
  for (;;) {
    const key = await ask.key(look.paint.bold('[t]his, [f]ile or [a]ll? '), true);
    // The rest of a word; and the next card is not on the screen yet.
    if (key !== CTRL_C) await dropTyped(terminal);
    const reach = REACHES[key.toLowerCase()];
    if (reach !== undefined || key === CTRL_C || key === ESCAPE || ask.isInterrupted) return { key, reach };
    const what = /^[!-~]$/.test(key) ? `“${key}”` : 'That';
    if (key !== REDRAW)
      terminal.output.write(
        forTerminal(noteText(`${what} answers nothing here: t, f or a; Esc cancels.`, look)),
      );
  }
}

const REACHES: Readonly<Record<string, Reach>> = { t: 'here', f: 'file', a: 'everywhere' };

export function nothingRemembered(key: string): string {
  const nothing = 'Nothing was remembered, and nothing answered.';
  return key === CTRL_C ? `${nothing} Ctrl-C once more writes what was accepted, and ends.` : nothing;
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

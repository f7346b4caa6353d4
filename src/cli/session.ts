import type { Decision } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
import { ERASE_LINE, forTerminal } from '../report/terminal.js';
import { Ask, dropTyped, REDRAW, SCROLL_KEYS } from './ask.js';
import { editText } from './editor.js';
import {
  CTRL_C,
  current,
  type Item,
  press,
  type Review,
  rescanned,
  resume,
  rewrite,
  suppress,
  take,
} from './keys.js';
import {
  boldText,
  type Card,
  cardText,
  type Look,
  listText,
  lookOf,
  noteText,
  promptText,
  questionsText,
} from './screen.js';
import { cardOf, explanation, helpPages, scrolled } from './session-card.js';
import { forEditor, fromEditor, type Trial, tryOut } from './session-edit.js';
import { changeNote, ReviewedFiles } from './session-files.js';
import { goTo } from './session-find.js';
import type { ReviewInput, ReviewResult } from './session-input.js';
import { Memory } from './session-memory.js';
import { covers, keptNote, reachMeant, reachQuestion, withKept } from './session-remember.js';
import { farewell, type Landed, land, leftOpen, pathsToWrite, totals } from './session-write.js';

/**
 * Asks about each finding that has a fix, then writes each file once. Nothing is written before the review ends,
 * so that every answer can be changed until then; the answers themselves are on disk as they are given.
 */
export async function review(input: ReviewInput): Promise<ReviewResult> {
  const session = new Session(input);
  try {
    await session.ask();
    return await session.write();
  } finally {
    session.close();
  }
}

class Session {
  readonly #files: ReviewedFiles;
  readonly #memory: Memory;
  readonly #ask: Ask;
  readonly #failed: { path: string; reason: string }[] = [];
  #review: Review;
  /** What the terminal shows, so that a question is printed once. */
  #onScreen: string | undefined;
  /** The files that a yes to these findings was written to. */
  readonly #remembered = new Map<string, string>();
  /** The row of its change that is the first in view, where the person has scrolled. */
  #from: number | undefined;

  constructor(private readonly input: ReviewInput) {
    const { engine, scans, reread, metas, reasons } = input;
    this.#files = new ReviewedFiles(engine, scans, reread, metas, reasons);
    this.#memory = new Memory(input.state, input.resume, this.#files);
    this.#review = this.#memory.begin();
    this.#ask = new Ask(input.terminal);
  }

  close(): void {
    this.#ask.close();
  }

  async ask(): Promise<void> {
    while (this.#review.mode !== 'quit' && this.#review.mode !== 'interrupted') {
      if (this.#review.mode !== 'finished') await this.#step();
      // The last look before writing: a file that changed meanwhile is asked about again.
      else if (!pathsToWrite(this.#review).some((path) => this.#refresh(path))) return;
    }
  }

  async write(): Promise<ReviewResult> {
    this.#ask.relax();
    const wasInterrupted = this.#review.mode === 'interrupted';
    const landed: Landed[] = [];
    const paths = pathsToWrite(this.#review);
    if (paths.length > 1) this.#print(`\nWriting ${paths.length} files…\n`);
    for (const path of paths) {
      if (this.#ask.isInterrupted && !wasInterrupted) break;
      this.#refresh(path);
      if (!pathsToWrite(this.#review).includes(path)) continue;
      this.#print(`${ERASE_LINE}writing file ${landed.length + 1} …`);
      landed.push(await land(path, this.#review, this.#files, this.input.engine, this.input.write));
    }
    this.#print(ERASE_LINE);
    return this.#conclude(landed, this.#ask.isInterrupted || wasInterrupted);
  }

  async #step(): Promise<void> {
    const { mode } = this.#review;
    if (mode === 'edit') return this.#edit();
    if (mode === 'suppress') return this.#suppress();
    if (mode === 'remember') return this.#remember();
    if (mode === 'find') return this.#find();
    if (mode === 'asking') return this.#question();
    const look = lookOf(this.input.terminal);
    const page = await this.#page();
    if (mode === 'help') return this.#help(look, cardText(page, look).rows + 3);
    if (mode === 'explain') await this.#show(explanation(page, look));
    if (mode === 'print') this.#print(cardText(page, { ...look, height: Infinity }).text);
    this.#review = resume(this.#review);
  }

  async #question(): Promise<void> {
    const item = current(this.#review);
    if (this.#refresh(item.path)) return;
    const page = await this.#page();
    const look = lookOf(this.input.terminal);
    if (this.#onScreen !== item.ref) this.#from = undefined;
    const notes = [this.#review.note, this.#memory.news()].flatMap((note) =>
      note === undefined ? [] : [noteText(note, look)],
    );
    const said = notes.join('').split('\n').length - 1;
    let drawn = cardText(page, { ...look, height: look.height - said }, this.#from);
    if (this.#onScreen !== item.ref) this.#print(drawn.text);
    this.#onScreen = item.ref;
    for (const note of notes) this.#print(note);
    let key = await this.#ask.key(promptText(page, look));
    while (SCROLL_KEYS.has(key) && drawn.length > drawn.room) {
      this.#from = scrolled(drawn, this.#from, key);
      drawn = cardText(page, look, this.#from);
      this.#print(drawn.text);
      key = await this.#ask.key(promptText(page, look));
    }
    if (key === REDRAW) this.#onScreen = undefined;
    else if (key === CTRL_C || key === 'q' || !this.#refresh(item.path)) {
      const kept = key === 'u' ? this.#remembered.get(this.#review.steps.at(-1)?.cursor ?? '') : undefined;
      this.#take(withKept(press(this.#review, key), kept));
    }
  }

  async #edit(): Promise<void> {
    const { engine, terminal } = this.input;
    const item = current(this.#review);
    const file = this.#files.file(item.path);
    const finding = this.#files.finding(item);
    const { proposed } = engine.editableRegion(file, finding);
    const start = forEditor(
      this.#memory.drafts.get(item.ref) ?? this.#review.edits.get(item.ref) ?? proposed,
    );
    const edited = await this.#lend(() => editText(start, `${item.transform}.py`, terminal, process.env));
    const text = fromEditor(edited.text, file, finding);
    if (edited.text !== start) this.#memory.keepDraft(item, text);
    this.#onScreen = undefined;
    if (edited.kind === 'interrupted') return this.#take(press(this.#review, CTRL_C));
    if (edited.kind === 'failed') {
      this.#review = resume(this.#review, `Nothing was taken over: ${edited.reason}. Press e to try again.`);
      return;
    }
    if (this.#refresh(item.path)) return;
    if (text.trim() === '' || text === proposed) {
      this.#memory.drafts.delete(item.ref);
      const why = text === proposed ? 'Nothing was changed' : 'The replacement was empty';
      this.#review = rewrite(this.#review, undefined, `${why}: this is the proposed fix.`);
      return;
    }
    const trial = await this.#tried(item, { kind: 'edited', text });
    if (trial.kind === 'fails') {
      const note = `Your replacement was not taken over: ${trial.reason}. Press e to go on with it.`;
      this.#review = resume(this.#review, note);
    } else {
      this.#review = rewrite(this.#review, text, 'This is your replacement: y applies it, e opens it again.');
    }
  }

  async #suppress(): Promise<void> {
    const item = current(this.#review);
    this.#print(noteText('Type a reason, or Enter for none.', lookOf(this.input.terminal)));
    const line = await this.#ask.line('#', `memfix: ignore[${item.transform}]`);
    this.#onScreen = undefined;
    if (line.kind === 'interrupted') return this.#take(press(this.#review, CTRL_C));
    if (line.kind === 'cancelled') {
      this.#review = resume(this.#review, 'Nothing was suppressed.');
      return;
    }
    const reason = line.text.trim();
    if (this.#refresh(item.path)) return;
    const trial = await this.#tried(
      item,
      reason === '' ? { kind: 'suppress' } : { kind: 'suppress', reason },
    );
    if (trial.kind === 'fails') {
      this.#review = resume(this.#review, `It cannot be suppressed like that: ${trial.reason}.`);
    } else this.#take(suppress(this.#review, reason));
  }

  async #find(): Promise<void> {
    const line = await this.#ask.line('/', 'number or words');
    this.#onScreen = undefined;
    if (line.kind === 'interrupted') return this.#take(press(this.#review, CTRL_C));
    this.#review = line.kind === 'line' ? goTo(this.#review, line.text, this.#files) : resume(this.#review);
  }

  /** In pieces of the window's size; then the card again, `below` rows of it with its prompt. */
  async #help(look: Look, below: number): Promise<void> {
    this.#review = resume(this.#review);
    this.#onScreen = undefined;
    for (const [at, page] of helpPages(look, below).entries()) {
      const key =
        at === 0 ? '' : await this.#ask.key(look.paint.bold('Any key goes on, q to the finding. '), true);
      if (key === CTRL_C) return this.#take(press(this.#review, CTRL_C));
      if (key === 'q') return;
      this.#print(page);
    }
  }

  /** Asks how far the yes reaches, writes it down, and accepts the fix. */
  async #remember(): Promise<void> {
    const item = current(this.#review);
    const finding = this.#files.finding(item);
    const questions = this.#review.edits.has(item.ref) ? [] : finding.questions;
    if (questions.length === 0) {
      this.#take(take(resume(this.#review), 'Accepted. It asks nothing, so there is no yes to remember.'));
      return;
    }
    const look = lookOf(this.input.terminal);
    // The card may have room for some of them only.
    if (questions.length > 1) this.#print(questionsText({ finding }, look));
    this.#print(noteText(reachQuestion(questions.length, this.input.assumesIn?.(item.path)), look));
    const line = await this.#ask.line('?', 'this, file or all');
    this.#onScreen = undefined;
    // The next card is not on the screen yet.
    await dropTyped(this.input.terminal);
    if (line.kind === 'interrupted') return this.#take(press(this.#review, CTRL_C));
    const reach = line.kind === 'line' ? reachMeant(line.text) : undefined;
    if (reach === undefined) {
      this.#review = resume(this.#review, 'Nothing was remembered, and nothing answered.');
      return;
    }
    if (this.#refresh(item.path)) return;
    const about = [item.transform, questions, item.path, reach] as const;
    const { file, note, isFor } = this.input.remember(...about);
    this.#take(take(resume(this.#review), note));
    if (file === undefined) return;
    this.#remembered.set(item.ref, file);
    this.#review = {
      ...this.#review,
      items: this.#files.assume(this.#review.items, covers(...about, isFor)),
    };
  }

  #page(): Promise<Card> {
    return cardOf(this.#review, this.#files, this.input);
  }

  /** It takes a while, and what comes next is not on the screen yet: what is typed meanwhile answers nothing. */
  async #tried(item: Item, answer: Decision): Promise<Trial> {
    const { engine, terminal } = this.input;
    const trial = await tryOut(engine, this.#files.file(item.path), this.#files.finding(item), answer);
    await dropTyped(terminal);
    return trial;
  }

  /** Whether the file changed on disk; then it is scanned again, and what was typed meanwhile answers nothing. */
  #refresh(path: string): boolean {
    const change = this.#files.refresh(path);
    if (change === undefined) return false;
    this.#ask.forgetTyped();
    this.#onScreen = undefined;
    const before = this.#review.items.filter((item) => item.path === path);
    const next = rescanned(this.#review, path, change.items, '');
    const open = change.items.filter((item) => !next.answers.has(item.ref)).length;
    if (change.lost !== undefined) this.#failed.push({ path, reason: change.lost });
    this.#review = { ...next, note: changeNote(change, before.length, open) };
    this.#memory.keep(change.items, new Map(), next.answers);
    return true;
  }

  #take(next: Review): void {
    this.#memory.keep(next.items, this.#review.answers, next.answers);
    this.#review = next;
  }

  #conclude(landed: readonly Landed[], interrupted: boolean): ReviewResult {
    const look = lookOf(this.input.terminal);
    for (const { path, failed, fresh, excluded, declined } of landed) {
      if (failed !== undefined) this.#failed.push({ path, reason: failed });
      this.#memory.keepEntries(declined);
      const more = `${plural(fresh, 'finding')} of ${path} showed up only now; run memfix again to see more.`;
      for (const sentence of [...excluded, ...(fresh > 0 ? [more] : [])])
        this.#print(noteText(sentence, look));
    }
    const sum = (of: (file: Landed) => number) => landed.reduce((total, file) => total + of(file), 0);
    const applied = sum((file) => file.fixes);
    const suppressed = sum((file) => file.suppressed);
    const { items, answers, mode } = this.#review;
    const declined = [...answers.values()].filter(({ kind }) => kind === 'skip').length;
    const unanswered = Math.max(items.length - applied - suppressed - declined, 0);
    const files = landed.filter((file) => file.fixes + file.suppressed > 0).length;
    const told = totals({ landed, applied, suppressed, declined, unanswered });
    this.#print(`\n${boldText(`${told}.`, look)}`);
    const left = leftOpen(this.#review, landed, this.#files);
    if (unanswered > 0 && left.length > 0) this.#print(listText('Left open:', left, look));
    if (mode === 'finished' && !interrupted && this.#failed.length === 0) this.#memory.forget();
    else if (unanswered > 0)
      this.#print(
        noteText(
          farewell(this.#review, interrupted, this.#memory.problem === undefined, this.input.aim),
          look,
        ),
      );
    for (const file of new Set(this.#remembered.values())) this.#print(noteText(keptNote(file), look));
    return { applied, suppressed, declined, unanswered, files, failed: this.#failed, interrupted };
  }

  /** What was typed for the other program, and it did not take, answers nothing here. */
  async #lend<T>(work: () => Promise<T>): Promise<T> {
    const done = await this.#ask.lend(work);
    await dropTyped(this.input.terminal);
    return done;
  }

  async #show(text: string): Promise<void> {
    const isShown = await this.#lend(async () => (await this.input.page?.(text)) === true);
    if (!isShown) this.#print(text);
    // What is asked about stands above the question.
    this.#onScreen = undefined;
  }

  #print(text: string): void {
    this.input.terminal.output.write(forTerminal(text));
  }
}

import type { Decision } from '../engine/outcome.js';
import { ERASE_LINE, forTerminal } from '../report/terminal.js';
import { Ask, dropTyped, REDRAW, SCROLL_KEYS } from './ask.js';
import { editText } from './editor.js';
import { CTRL_C, current, type Item, press, type Review, resume, rewrite, suppress, take } from './keys.js';
import { type Card, cardText, type Look, lookOf, noteText, promptText } from './screen.js';
import { cardOf, explanation, helpPages, scrolled } from './session-card.js';
import { forEditor, fromEditor, type Trial, tryOut } from './session-edit.js';
import { conclude } from './session-end.js';
import { ReviewedFiles } from './session-files.js';
import { goTo } from './session-find.js';
import type { ReviewInput, ReviewResult } from './session-input.js';
import { Memory } from './session-memory.js';
import { covers, nothingRemembered, reachAsked, takenBackNote } from './session-remember.js';
import { changeNote, goneIn, rescanned } from './session-rescan.js';
import { type Landed, land, pathsToWrite } from './session-write.js';

/** Asks about each finding that has a fix, then writes each file once; the answers are on disk as they are given. */
export async function review(input: ReviewInput): Promise<ReviewResult> {
  const session = new Session(input);
  try {
    await session.ask();
    return await session.write();
  } finally {
    session.close();
  }
}

interface Yes {
  readonly step: Review['steps'][number] | undefined;
  readonly file: string;
  takeBack(): boolean;
}

class Session {
  readonly #files: ReviewedFiles;
  readonly #memory: Memory;
  readonly #ask: Ask;
  readonly #failed: { path: string; reason: string }[] = [];
  #review: Review;
  /** What the terminal shows, so that a question is printed once. */
  #onScreen: string | undefined;
  /** Yeses for good that were written down, each with the step that it came with. */
  readonly #yeses: Yes[] = [];
  /** Sentences that nobody has seen yet. */
  readonly #news: string[] = [];
  /** Findings that left the review with a change on disk. */
  #gone = 0;
  #hasAsked = false;
  #isChanged = false;
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
      const done = await land(path, this.#review, this.#files, this.input.engine, this.input.write);
      const own = this.#review.items.filter((item) => item.path === path);
      if (done.failed === undefined) this.#memory.keepWritten(own, this.#review.answers);
      landed.push(done);
    }
    this.#print(ERASE_LINE);
    return conclude(
      {
        ...{ review: this.#review, files: this.#files, memory: this.#memory, failed: this.#failed },
        ...{ news: this.#news, gone: this.#gone, aim: this.input.aim, print: (text) => this.#print(text) },
        assumedIn: this.#yeses.map(({ file }) => file),
        interrupted: this.#ask.isInterrupted || wasInterrupted,
        isChanged: this.#isChanged,
        isStopped: () => this.#ask.isInterrupted && !wasInterrupted,
      },
      landed,
      lookOf(this.input.terminal),
    );
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
    await this.#dropEarly();
    if (this.#onScreen !== item.ref) this.#from = undefined;
    const told = [...this.#news.splice(0), this.#review.note, this.#memory.news()];
    const notes = told.flatMap((note) => (note === undefined ? [] : [noteText(note, look)]));
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
    if (key === REDRAW || SCROLL_KEYS.has(key)) {
      this.#onScreen = undefined;
      if (key !== REDRAW) this.#review = resume(this.#review, 'The whole change is in view.');
    } else if (key === CTRL_C || key === 'q' || !this.#refresh(item.path)) {
      const step = this.#review.steps.at(-1);
      this.#take(press(this.#review, key));
      if (key === 'u') this.#takeBackYes(step);
    }
  }

  /** What was typed before the first card answers nothing: nobody has seen it. */
  async #dropEarly(): Promise<void> {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    if (await dropTyped(this.input.terminal)) this.#news.push('What was typed before this card was dropped.');
  }

  async #edit(): Promise<void> {
    const { engine, terminal } = this.input;
    const item = current(this.#review);
    const file = this.#files.file(item.path);
    const finding = this.#files.finding(item);
    const { proposed } = engine.editableRegion(file, finding);
    const own = this.#review.edits.get(item.ref);
    const start = forEditor(this.#memory.drafts.get(item.ref) ?? own ?? proposed);
    const edited = await this.#lend(() => editText(start, `${item.transform}.py`, terminal, process.env));
    const text = fromEditor(edited.text, file, finding);
    if (edited.text !== start) this.#memory.keepDraft(item, text);
    this.#onScreen = undefined;
    if (edited.kind === 'failed') {
      this.#review = resume(this.#review, `Nothing was taken over: ${edited.reason}. Press e to try again.`);
      return;
    }
    const isEmpty = text.trim() === '';
    if (isEmpty || text === proposed || !edited.isSaved) {
      const isDropped = isEmpty || text === proposed;
      if (isDropped) this.#memory.dropDraft(item);
      const kept = isDropped ? undefined : own;
      const why = isEmpty ? 'The replacement was empty' : 'Nothing was changed';
      const what = kept === undefined ? 'the proposed fix' : 'your replacement';
      this.#review = rewrite(this.#review, kept, `${why}: this is ${what}.`);
      return;
    }
    // With the text in it, a change on disk tells what becomes of the text.
    const before = this.#review;
    this.#review = rewrite(before, text, 'This is your replacement: y applies it, e opens it again.');
    if (this.#hasLost(item)) return;
    const trial = await this.#tried(item, { kind: 'edited', text });
    if (trial.kind === 'stands') return;
    const note = `Your replacement was not taken over: ${trial.reason}. Press e to go on with it.`;
    this.#review = rewrite(this.#review, own, note);
  }

  async #suppress(): Promise<void> {
    const item = current(this.#review);
    this.#print(noteText('Type a reason, or Enter for none.', lookOf(this.input.terminal)));
    const line = await this.#line('#', `memfix: ignore[${item.transform}]`, 'Nothing was suppressed.');
    if (line === undefined) return;
    const reason = line.trim();
    if (this.#hasLost(item)) return;
    const trial = await this.#tried(
      item,
      reason === '' ? { kind: 'suppress' } : { kind: 'suppress', reason },
    );
    if (trial.kind === 'fails') {
      this.#review = resume(this.#review, `It cannot be suppressed like that: ${trial.reason}.`);
    } else this.#take(suppress(this.#review, reason));
  }

  async #find(): Promise<void> {
    const line = await this.#line('/', 'number, file:line or words');
    if (line !== undefined) this.#review = goTo(this.#review, line, this.#files);
  }

  /** A line that was typed; without one the card is next, or the end. Ctrl-C leaves the line, and only then the review. */
  async #line(prefix: string, message: string, note?: string): Promise<string | undefined> {
    const line = await this.#ask.line(prefix, message);
    this.#onScreen = undefined;
    if (line.kind === 'line') return line.text;
    if (line.kind === 'interrupted') this.#take(press(this.#review, CTRL_C));
    else {
      const again = line.by === 'Ctrl-C' ? 'Ctrl-C once more writes what was accepted, and ends.' : undefined;
      const notes = [note, again].filter((each) => each !== undefined);
      this.#review = resume(this.#review, notes.length === 0 ? undefined : notes.join(' '));
    }
    return undefined;
  }

  /** In pieces of the window's size; then the card again, `below` rows of it with its prompt. */
  async #help(look: Look, below: number): Promise<void> {
    this.#review = resume(this.#review);
    this.#onScreen = undefined;
    for (const [at, page] of helpPages(look, below).entries()) {
      const key =
        at === 0 ? '' : await this.#ask.key(look.paint.bold('Any key goes on, q to the finding. '), true);
      if (this.#ask.isInterrupted) return this.#take(press(this.#review, CTRL_C));
      if (key === 'q' || key === '\x1b' || key === CTRL_C) return;
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
    const place = { path: item.path, ...(finding.within !== undefined && { within: finding.within }) };
    const asked = { questions, place, file: this.input.assumesIn?.(item.path) };
    const { key, reach } = await reachAsked(this.#ask, this.input.terminal, asked);
    this.#onScreen = undefined;
    if (reach === undefined) {
      if (this.#ask.isInterrupted) return this.#take(press(this.#review, CTRL_C));
      this.#review = resume(this.#review, nothingRemembered(key));
      return;
    }
    if (this.#hasLost(item)) return;
    const about = [item.transform, questions, place, reach] as const;
    const { file, note, isFor, takeBack = () => false } = this.input.remember(...about);
    this.#take(take(resume(this.#review), note));
    if (file === undefined) return;
    this.#yeses.push({ step: this.#review.steps.at(-1), file, takeBack });
    const items = this.#files.assume(this.#review.items, covers(...about, isFor));
    this.#review = { ...this.#review, items };
  }

  /** `u` has taken a step back: with it goes the yes for good that came with it. */
  #takeBackYes(step: Yes['step']): void {
    const yes = this.#yeses.at(-1);
    if (yes === undefined || yes.step !== step) return;
    const isTakenBack = yes.takeBack();
    const items = isTakenBack ? this.#files.assumeNoMore(this.#review.items) : this.#review.items;
    if (isTakenBack) this.#yeses.pop();
    const note = `${this.#review.note ?? ''} ${takenBackNote(yes.file, isTakenBack)}`.trim();
    this.#review = { ...this.#review, items, note };
  }

  #page(): Promise<Card> {
    const draft = this.#memory.drafts.get(current(this.#review).ref);
    return cardOf(this.#review, this.#files, this.input, draft);
  }

  /** It takes a while, and what comes next is not on the screen yet: what is typed meanwhile answers nothing. */
  async #tried(item: Item, answer: Decision): Promise<Trial> {
    const { engine, terminal } = this.input;
    // Nothing that is typed meanwhile is echoed.
    terminal.input.setRawMode(true);
    this.#print('trying it …');
    const trial = await tryOut(engine, this.#files.file(item.path), this.#files.finding(item), answer);
    this.#print(ERASE_LINE);
    await this.#drop();
    return trial;
  }

  /** Whether the file changed on disk; then it is scanned again, and what was typed meanwhile answers nothing. */
  #refresh(path: string): boolean {
    const change = this.#files.refresh(path);
    if (change === undefined) return false;
    this.#isChanged = true;
    this.#ask.forgetTyped();
    this.#onScreen = undefined;
    const now = change.lost === undefined ? this.#files.file(path) : undefined;
    const next = rescanned(this.#review, change, now);
    if (change.lost !== undefined) this.#failed.push({ path, reason: change.lost });
    this.#news.push(changeNote(change, next, this.#review, this.#files));
    this.#gone += goneIn(this.#review, next);
    this.#review = next.review;
    this.#memory.keep(change.items, new Map(), next.review.answers);
    for (const { now: item, text } of next.lapsed)
      if (item !== undefined && text !== undefined) this.#memory.keepDraft(item, text);
    return true;
  }

  /** Whether a change on disk has taken a finding away, or made another one of it; the person is told. */
  #hasLost({ path, ref }: Item): boolean {
    return this.#refresh(path) && !this.#review.items.some((item) => item.ref === ref);
  }

  #take(next: Review): void {
    this.#memory.keep(next.items, this.#review.answers, next.answers);
    this.#review = next;
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

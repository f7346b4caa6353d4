import inquirer from 'inquirer';
import { forTerminal } from '../report/terminal.js';
import { CTRL_C, PASTED } from './keys.js';

export interface Terminal {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly color: boolean;
}

/** Ctrl-L. Also what a resized window or a return from Ctrl-Z reads as. */
export const REDRAW = '\x0c';
const CTRL_Z = '\x1a';

const ESCAPE = '\x1b';

/** What scrolls, and how far: by a page or by a row, down or back. */
export const SCROLL_KEYS: ReadonlyMap<string, 'page' | '-page' | 'row' | '-row'> = new Map([
  [' ', 'page'],
  [`${ESCAPE}[6~`, 'page'],
  [`${ESCAPE}[5~`, '-page'],
  [`${ESCAPE}[B`, 'row'],
  [`${ESCAPE}[A`, '-row'],
]);

/** What came of asking for a line: the line, a key that leaves it, or a signal from elsewhere. */
export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'cancelled'; readonly by: 'Esc' | 'Ctrl-C' }
  | { readonly kind: 'interrupted' };

type KeyQuestion = { readonly message: string; readonly anyKey: boolean };

/** A terminal that was told so puts these around what is pasted, which is no answer. */
const PASTE = {
  on: `${ESCAPE}[?2004h`,
  off: `${ESCAPE}[?2004l`,
  start: `${ESCAPE}[200~`,
  end: `${ESCAPE}[201~`,
};

const ESCAPE_SEQUENCE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\x1b])/;

/** Asks on the terminal: one key without Enter, or one line. A SIGINT from elsewhere reads as Ctrl-C. */
export class Ask {
  readonly #stop = new AbortController();
  readonly #prompt;
  #isShielded = false;

  constructor(private readonly terminal: Terminal) {
    const { input, output } = terminal;
    this.#prompt = inquirer.createPromptModule<{ key: KeyQuestion }>({
      input,
      output,
      signal: this.#stop.signal,
    });
    this.#prompt.registerPrompt('key', (question: KeyQuestion, { signal }) =>
      oneKey(terminal, question, signal),
    );
    process.on('SIGINT', this.#interrupt);
    output.write(PASTE.on);
  }

  /** A SIGINT came from outside or while nothing was asked. */
  get isInterrupted(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Enter counts only where any key does: after another one it is a habit, and answers nothing. */
  async key(message: string, anyKey = false): Promise<string> {
    if (this.isInterrupted) return CTRL_C;
    const { key } = await this.#prompt<{ key: string }>({ type: 'key', name: 'key', message, anyKey });
    return key;
  }

  /** A line of text. */
  async line(prefix: string, message: string): Promise<Line> {
    if (this.isInterrupted) return { kind: 'interrupted' };
    const { input, output } = this.terminal;
    const plain = (text: string) => text;
    const style = this.terminal.color ? {} : { message: plain, answer: plain };
    const ahead = this.#typedAhead();
    const end = ahead.search(/[\r\n]/);
    if (end !== -1) {
      const text = ahead.slice(0, end);
      if (end + 1 < ahead.length) input.unshift(Buffer.from(ahead.slice(end + 1)));
      output.write(`${forTerminal(`${prefix} ${message} ${text}`)}\n`);
      return { kind: 'line', text };
    }
    const escaped = new AbortController();
    // Arrows and other keys begin with the same byte, and bring more in one piece.
    const onData = (chunk: Buffer | string) => {
      if (chunk.toString() === ESCAPE) escaped.abort();
    };
    const prompt = inquirer.createPromptModule({
      ...{ input, output },
      signal: AbortSignal.any([this.#stop.signal, escaped.signal]),
    });
    input.on('data', onData);
    try {
      const { line } = await prompt<{ line: string }>({
        type: 'input',
        name: 'line',
        message: forTerminal(message),
        theme: { prefix: forTerminal(prefix), style },
        ...(ahead !== '' && { default: ahead, prefill: 'editable' as const }),
      });
      return { kind: 'line', text: line };
    } catch (error) {
      const left = error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name);
      if (!left) throw error;
      if (this.isInterrupted) return { kind: 'interrupted' };
      return { kind: 'cancelled', by: escaped.signal.aborted ? 'Esc' : 'Ctrl-C' };
    } finally {
      input.removeListener('data', onData);
    }
  }

  /** What was typed for a line before it was asked for: the library that asks would drop it. Not where a key leaves it. */
  #typedAhead(): string {
    const { input } = this.terminal;
    const typed: Buffer | string | null = input.read();
    if (typed === null) return '';
    if (/^[^\x00-\x09\x0b\x0c\x0e-\x1f\x7f]*$/.test(typed.toString())) return typed.toString();
    input.unshift(typed);
    return '';
  }

  /** Drops what was typed ahead, for a question that the person cannot have seen. */
  forgetTyped(): void {
    const { input } = this.terminal;
    while (input.read() !== null);
    // Reading has woken the stream; only the event of a pause puts it to sleep, so that the process can end.
    input.resume();
    input.pause();
  }

  /** Lends the terminal to another program, which then has Ctrl-C to itself. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.relax();
    this.#isShielded = true;
    this.terminal.output.write(PASTE.off);
    try {
      return await work();
    } finally {
      this.terminal.output.write(PASTE.on);
      this.#isShielded = false;
    }
  }

  /** Until the next question, Ctrl-C is a signal again. */
  relax(): void {
    this.terminal.input.setRawMode(false);
  }

  close(): void {
    this.terminal.output.write(PASTE.off);
    this.relax();
    this.terminal.input.pause();
    process.removeListener('SIGINT', this.#interrupt);
  }

  readonly #interrupt = (): void => {
    if (!this.#isShielded) this.#stop.abort();
  };
}

/** Milliseconds after which all that was typed ahead has come. */
const ARRIVAL = 25;

/** Drops what was typed before a question that nobody has seen; whether there was anything but Enter. */
export async function dropTyped({ input }: Pick<Terminal, 'input'>): Promise<boolean> {
  let isInterrupted = false;
  let isTyped = false;
  const onData = (chunk: Buffer | string) => {
    isInterrupted ||= chunk.toString().includes(CTRL_C);
    isTyped ||= chunk.toString().trim() !== '';
  };
  input.setRawMode(true);
  input.on('data', onData);
  input.resume();
  await new Promise((arrived) => setTimeout(arrived, ARRIVAL));
  // On a busy machine the time may be over before anything was read.
  await new Promise((turn) => setImmediate(turn));
  await new Promise((turn) => setImmediate(turn));
  input.pause();
  input.removeListener('data', onData);
  input.setRawMode(false);
  if (isInterrupted) process.emit('SIGINT', 'SIGINT');
  return isTyped;
}

/** Takes exactly one key and leaves what was typed ahead to the next question. */
function oneKey(
  { input, output }: Terminal,
  { message, anyKey }: KeyQuestion,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    const settle = (key: string) => {
      input.pause();
      input.removeListener('data', onData);
      input.removeListener('end', onEnd);
      output.removeListener('resize', onRedraw);
      process.removeListener('SIGCONT', onContinue);
      signal.removeEventListener('abort', onEnd);
      output.write(/^[!-~]$/.test(key) ? `${key}\n` : '\n');
      resolve(key);
    };
    const onEnd = () => settle(CTRL_C);
    const onRedraw = () => settle(REDRAW);
    const onContinue = () => {
      output.removeListener('resize', onRedraw);
      // A job that is stopped hears nothing of a resize: the streams ask the terminal for its size again.
      process.emit('SIGWINCH', 'SIGWINCH');
      input.setRawMode(false);
      input.setRawMode(true);
      output.write(PASTE.on);
      settle(REDRAW);
    };
    let pasted: string | undefined;
    const onPaste = (more: string) => {
      pasted = (pasted ?? '') + more;
      const end = pasted.indexOf(PASTE.end);
      // The terminal may have been told otherwise meanwhile.
      if (end === -1 && more !== CTRL_C) return;
      const ahead = end === -1 ? '' : pasted.slice(end + PASTE.end.length);
      input.pause();
      if (ahead !== '') input.unshift(Buffer.from(ahead));
      settle(end === -1 ? CTRL_C : PASTED);
    };
    const onData = (chunk: Buffer | string) => {
      if (pasted !== undefined) return onPaste(chunk.toString());
      const typed = anyKey ? chunk.toString() : chunk.toString().replace(/^[\r\n]+/, '');
      if (typed === '') return;
      const key = ESCAPE_SEQUENCE.exec(typed)?.[0] ?? String.fromCodePoint(typed.codePointAt(0) ?? 0);
      const ahead = typed.slice(key.length);
      if (key === PASTE.start) return onPaste(ahead);
      input.pause();
      if (ahead !== '') input.unshift(Buffer.from(ahead));
      if (key === CTRL_Z && process.platform !== 'win32') suspend();
      else settle(key);
    };
    // The whole foreground job stops, as when the terminal itself reads Ctrl-Z; `onContinue` asks again.
    const suspend = () => {
      input.setRawMode(false);
      output.write(PASTE.off);
      process.kill(0, 'SIGTSTP');
      setImmediate(onContinue);
    };
    if (signal.aborted || input.readableEnded) return onEnd();
    // First of all: a key typed at the sight of the question must not be the line discipline's.
    input.setRawMode(true);
    output.write(forTerminal(message));
    signal.addEventListener('abort', onEnd);
    process.on('SIGCONT', onContinue);
    output.on('resize', onRedraw);
    input.on('end', onEnd);
    input.on('data', onData);
    input.resume();
  });
}

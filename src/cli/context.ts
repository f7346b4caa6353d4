import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MEASURE } from '../report/blocks.js';
import { printable } from '../report/cells.js';
import type { Paint } from '../report/paint.js';
import { wrap } from '../report/prose.js';
import { type Report, remarks, type View } from '../report/report.js';
import { ERASE_LINE, forTerminal, withoutMarks } from '../report/terminal.js';
import type { Catalogue } from '../workspace/catalogue.js';
import type { Crash } from '../workspace/examine.js';
import { Failure, reasonOf } from '../workspace/failure.js';
import { learnSecrets, redacted } from '../workspace/secrets.js';
import type { Arguments } from './arguments.js';
import { failureText, type Io, paintFor, widthOf } from './io.js';

export { EXIT } from './io.js';

/** One call of one command: its words, its streams, and how it speaks. */
export class Context {
  constructor(
    readonly io: Io,
    readonly args: Arguments,
    private known: Catalogue,
  ) {}

  get catalogue(): Catalogue {
    return this.known;
  }

  /** The transforms of the plugins that this run may load, too. */
  async loadPlugins(): Promise<void> {
    const { args, io } = this;
    const named = args.each('plugin');
    const request = args.request(io.cwd, io.env);
    // The words of these are names.
    const isAboutNames = args.command === 'list' || args.command === 'explain';
    const asked = isAboutNames ? { ...request, paths: [] } : request;
    const { catalogueWithPlugins } = await import('./plugins.js');
    const { catalogue, unloaded } = await catalogueWithPlugins(this.known, asked, named, io);
    this.known = catalogue;
    if (unloaded !== undefined) this.say(unloaded);
  }

  get isQuiet(): boolean {
    return this.args.flag('quiet');
  }

  get isVerbose(): boolean {
    return this.args.flag('verbose');
  }

  /** How data looks where it goes: `-o` files and pipes get no colour unless it is asked for. */
  get view(): View {
    return this.viewOf(undefined);
  }

  /** The same for another file; undefined is where `out` writes. */
  viewOf(file: string | undefined): View {
    const { io, args } = this;
    const isHere = (file ?? args.text('output')) === undefined;
    const stream = isHere ? io.stdout : {};
    return {
      ...{ paint: paintFor(args.color, io.env, stream), verbose: this.isVerbose },
      width: widthOf(stream, isHere ? io.stderr : {}),
      isTerminal: isHere && io.stdout.isTTY === true,
    };
  }

  get errorPaint(): Paint {
    return paintFor(this.args.color, this.io.env, this.io.stderr);
  }

  /** Data: to `-o FILE` or standard output. */
  out(data: string | Uint8Array): void {
    const file = this.args.text('output');
    if (file === undefined || file === '-') {
      if (data.length > 0) this.io.stdout.write(data);
      return;
    }
    this.write(file, data);
  }

  write(file: string, data: string | Uint8Array): void {
    try {
      writeFileSync(resolve(this.io.cwd, file), typeof data === 'string' ? forTerminal(data) : data);
    } catch (error) {
      const option = file === this.args.text('output') ? '--output' : '--output-format';
      throw new Failure(
        'Output could not be written',
        `${file}: ${reasonOf(error)}`,
        `Give \`${option}\` a file in a folder that exists and that you may write to.`,
      );
    }
  }

  /** A text that may be long: through a pager where git would use one. */
  async show(text: string): Promise<void> {
    const isPaged = this.args.choice('pager') !== false && !this.args.flag('watch');
    if (this.args.text('output') === undefined && isPaged) {
      const { page, pagerFor } = await import('./pager.js');
      const pager = pagerFor(withoutMarks(text), this.io);
      if (pager !== undefined && (await page(pager, forTerminal(text), this.io.env))) return;
    }
    this.out(text);
  }

  /** Summaries and other words for a person, which `-q` silences. */
  say(text: string): void {
    if (this.isQuiet || text === '') return;
    const { stderr } = this.io;
    const lines =
      stderr.isTTY === true && !/^\s/.test(text)
        ? wrap(redacted(text), Math.min(widthOf(stderr), MEASURE), { first: '', rest: '' })
        : [redacted(text)];
    stderr.write(`${lines.join('\n')}\n`);
  }

  /** What must be heard. */
  warn(failure: Failure): void {
    learnSecrets(this.io.env);
    this.io.stderr.write(redacted(failureText(failure, this.errorPaint, this.io.stderr)));
  }

  /** Skipped files and unused comments, for a command whose data has no room for them. */
  remark(report: Report): void {
    const { stderr } = this.io;
    const view: View = {
      ...{ paint: this.errorPaint, width: widthOf(stderr), verbose: this.isVerbose },
      isTerminal: stderr.isTTY === true,
    };
    for (const line of remarks(report, view)) this.io.stderr.write(`${line}\n`);
  }

  /** Bugs of ours and of plugins: named, never hidden, and never the end of the run. */
  confess(crashes: readonly Crash[], bugs: readonly string[]): void {
    const words = ({ path, message, details }: Crash) =>
      `${printable(path)}: ${this.isVerbose ? details : printable(message)}`;
    const foreign = crashes.filter(({ plugin }) => plugin !== undefined);
    if (foreign.length > 0) {
      const told = foreign.flatMap((crash) => {
        const alike = foreign.filter(({ message }) => message === crash.message);
        if (alike.indexOf(crash) > 0) return [];
        return [words(crash), ...(alike.length === 1 ? [] : [`  and the same in ${alike.length - 1} more`])];
      });
      const files = new Set(foreign.map(({ path }) => path)).size;
      this.warn(
        new Failure(
          `A plugin failed on ${files === 1 ? 'a file' : `${files} files`}`,
          `what it would have found there is not known:\n${told.map((line) => `  ${line}`).join('\n')}`,
          'Mend the plugin, or leave it out; add `-v` for details.',
        ),
      );
    }
    const all = [...crashes.filter(({ plugin }) => plugin === undefined).map(words), ...bugs];
    if (all.length === 0) return;
    this.warn(
      new Failure(
        'Internal error',
        `memfix failed here, and left the files as they are:\n${all.map((line) => `  ${line}`).join('\n')}`,
        'Please report this with the code it happened on; add `-v` for details.',
      ),
    );
  }
}

/** A counter on a terminal's standard error, and nothing anywhere else. */
export class Progress {
  readonly #isShown: boolean;
  #isDirty = false;

  constructor(private readonly context: Context) {
    const { stderr, env } = context.io;
    this.#isShown = stderr.isTTY === true && env['TERM'] !== 'dumb' && !context.isQuiet;
  }

  show(done: number, total: number): void {
    if (!this.#isShown) return;
    this.context.io.stderr.write(`${ERASE_LINE}${done}/${total} files`);
    this.#isDirty = true;
  }

  clear(): void {
    if (this.#isDirty) this.context.io.stderr.write(ERASE_LINE);
    this.#isDirty = false;
  }
}

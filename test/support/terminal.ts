import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { root } from '../../src/dev/project.js';

const PATIENCE_MS = 60_000;

export interface TerminalOptions {
  readonly cwd: string;
  readonly cols?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** The built program in a real terminal. */
export class Terminal {
  readonly #pty: IPty;
  readonly #exit: Promise<number>;
  readonly #cols: number;
  #raw = '';
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor({ cwd, cols = 80, rows = 24, env = {} }: TerminalOptions, ...words: readonly string[]) {
    this.#cols = cols;
    this.#pty = spawn(process.execPath, [join(root, 'dist', 'cli.js'), ...words], {
      ...{ cwd, cols, rows },
      env: {
        PATH: process.env['PATH'] ?? '',
        MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'] ?? '',
        TERM: 'xterm-256color',
        NO_PAGER: '1',
        ...env,
      },
    });
    this.#pty.onData((data) => {
      this.#raw += data;
      this.#wake();
    });
    this.#exit = new Promise((done) => {
      this.#pty.onExit(({ exitCode }) => {
        this.#hasEnded = true;
        this.#wake();
        done(exitCode);
      });
    });
  }

  get cols(): number {
    return this.#cols;
  }

  /** What stands on the screen and above it: what was erased is gone. Long lines are not folded. */
  get lines(): readonly string[] {
    const lines = [''];
    let column = 0;
    for (const [token] of this.#raw.matchAll(/\x1b\[[0-?]*[ -/]*[@-~]|\r|\n|[^\x1b\r\n]+/g)) {
      const line = lines.at(-1) ?? '';
      if (token === '\n') lines.push('');
      if (token === '\n' || token === '\r' || token === '\x1b[G') column = 0;
      else if (token === '\x1b[K') lines[lines.length - 1] = line.slice(0, column);
      else if (!token.startsWith('\x1b')) {
        lines[lines.length - 1] = line.slice(0, column) + token + line.slice(column + token.length);
        column += token.length;
      }
    }
    return lines;
  }

  get text(): string {
    return this.lines.join('\n');
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  /** Until these words came, erased or not. */
  async sees(words: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!this.#raw.includes(words)) {
      const left = deadline - Date.now();
      if (this.#hasEnded || left <= 0) throw new Error(`“${words}” did not come:\n${this.text}`);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, left);
        this.#wake = () => {
          clearTimeout(timer);
          done();
        };
      });
    }
  }

  async ended(): Promise<number> {
    return this.#exit;
  }

  dispose(): void {
    if (!this.#hasEnded) this.#pty.kill('SIGKILL');
  }
}

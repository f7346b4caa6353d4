import { join } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { root } from '../../src/dev/project.js';

const PATIENCE_MS = 60_000;
/**
 * The shell stays in the terminal until it is told to go: what a process wrote last is lost when the last one that has the
 * terminal open goes before it was read.
 */
const STAYS = `trap : INT; "$@"; printf '\\033]ended %d\\007' $?; read _`;
const ENDED = /\x1b\]ended (\d+)\x07/;

export interface TerminalOptions {
  readonly cwd: string;
  readonly cols?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What a shell is told behind the command: `| cat`, `< file`. */
  readonly behind?: string;
  /** The shell has job control: after Ctrl-Z, a line that is typed wakes the program again. */
  readonly hasJobs?: true;
  /** The Node that runs it. */
  readonly node?: string;
}

/** The built program in a real terminal. */
export class Terminal {
  readonly #pty: IPty;
  readonly #exit: Promise<number>;
  readonly #cols: number;
  #raw = '';
  #hasEnded = false;
  #wake: () => void = () => {};

  constructor(
    { cwd, cols = 80, rows = 24, env = {}, behind, hasJobs, node = process.execPath }: TerminalOptions,
    ...words: readonly string[]
  ) {
    this.#cols = cols;
    const shell = behind === undefined ? [] : ['/bin/sh', '-c', `"$@" ${behind}`, 'sh'];
    const program = [...shell, node, join(root, 'dist', 'cli.js'), ...words];
    const stays = hasJobs ? `set -m; ${STAYS.replace('"$@";', '"$@"; read _; fg >/dev/null;')}` : STAYS;
    this.#pty = spawn(hasJobs ? '/bin/bash' : '/bin/sh', ['-c', stays, 'sh', ...program], {
      ...{ cwd, cols, rows },
      env: {
        PATH: process.env['PATH'] ?? '',
        MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'] ?? '',
        TERM: 'xterm-256color',
        NO_PAGER: '1',
        ...env,
      },
    });
    this.#exit = new Promise((done, fail) => {
      this.#pty.onData((data) => {
        this.#raw += data;
        const ended = ENDED.exec(this.#raw);
        if (ended !== null) {
          this.#raw = this.#raw.slice(0, ended.index);
          this.#hasEnded = true;
          this.#pty.kill('SIGKILL');
          done(Number(ended[1]));
        }
        this.#wake();
      });
      this.#pty.onExit(() => {
        if (!this.#hasEnded) fail(new Error(`the terminal was closed:\n${this.text}`));
      });
    });
    // A test that fails before it waits for the end has said why.
    this.#exit.catch(() => {});
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

  /** All that was written, for a terminal that draws it. */
  get raw(): string {
    return this.#raw;
  }

  get text(): string {
    return this.lines.join('\n');
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  /** Until these words came so many times, erased or not. */
  async sees(words: string, times = 1): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.#raw.split(words).length <= times) {
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

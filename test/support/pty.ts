import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type IPty, spawn } from '@lydell/node-pty';
import { buildSync } from 'esbuild';
import type { ReviewResult } from '../../src/cli/session-input.js';

/** Optimising Ruff's wasm takes longer than a short session lasts, and the process waits for it before it exits. */
const NODE_FLAGS = ['--liftoff-only'];
const require = createRequire(import.meta.url);
const SCRIPT = bundle(require.resolve('./pty-review.ts'));
const PATIENCE_MS = 30_000;

export interface PtyOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A folder of Python files that is removed with `dispose`. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), 'memfix-session-'));

  constructor(files: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  dispose(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** A review in a pseudo-terminal: type at it, and wait for what it shows. */
export class PtySession {
  readonly #pty: IPty;
  readonly #exit: Promise<number>;
  #raw = '';
  #seen = 0;
  #wake: () => void = () => {};
  #hasEnded = false;

  constructor(folder: Folder, { cols = 80, rows = 24, flags = [], env = {} }: PtyOptions = {}) {
    this.#pty = spawn(process.execPath, [...NODE_FLAGS, SCRIPT, folder.path, ...flags], {
      cols,
      rows,
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'] ?? '',
        MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'] ?? '',
        TERM: 'xterm-256color',
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

  /** Everything so far, as the terminal got it. */
  get raw(): string {
    return this.#raw;
  }

  /** Everything so far without control sequences. */
  get text(): string {
    return this.#raw.replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, '').replaceAll('\r', '');
  }

  get pid(): number {
    return this.#pty.pid;
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(cols: number, rows: number): void {
    this.#pty.resize(cols, rows);
  }

  kill(signal: string): void {
    this.#pty.kill(signal);
  }

  /** Waits for these words after the ones waited for before, and gives what came up to them. */
  async sees(words: string): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const text = this.text;
      const at = text.indexOf(words, this.#seen);
      if (at !== -1) {
        const passage = text.slice(this.#seen, at + words.length);
        this.#seen = at + words.length;
        return passage;
      }
      const left = deadline - Date.now();
      if (this.#hasEnded || left <= 0) {
        const why = this.#hasEnded ? 'The session ended' : 'Nothing came';
        throw new Error(`${why} before “${words}”. Since then:\n${text.slice(this.#seen)}`);
      }
      await this.#news(left);
    }
  }

  /** The question at this position is open. */
  async asked(position: string): Promise<string> {
    const before = await this.sees(`(${position}) `);
    return before + (await this.sees('?=more '));
  }

  /** The process is gone, with or without a result. */
  async gone(): Promise<void> {
    await this.#exit;
  }

  async ended(): Promise<{ readonly code: number; readonly result: ReviewResult; readonly text: string }> {
    const code = await this.#exit;
    const found = /RESULT ([\s\S]*?) END/.exec(this.text)?.[1];
    if (found === undefined) throw new Error(`the session ended without a result:\n${this.text}`);
    return { code, result: JSON.parse(found.replaceAll('\n', '')) as ReviewResult, text: this.text };
  }

  dispose(): void {
    if (!this.#hasEnded) this.#pty.kill('SIGKILL');
  }

  #news(limit: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, limit);
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}

/** One file starts several times faster than a loader that compiles each module; it lies where packages are found. */
function bundle(entry: string): string {
  const cache = resolve(import.meta.dirname, '../../node_modules/.cache/memfix');
  const outfile = join(cache, `pty-review-${process.pid}.mjs`);
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  process.on('exit', () => rmSync(outfile, { force: true }));
  return outfile;
}

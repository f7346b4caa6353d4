import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { codeOf, Failure } from '../failure.js';

/** How a command ended, and what it said. */
export interface Answer {
  /** Null when it was ended. */
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds without a command after which a shell goes. */
const PATIENCE = 1000;
const idle = new WeakMap<Environment, Shell[]>();

/**
 * Runs a command in a shell that then waits for the next one. To start a process, Node copies the map of all its memory:
 * with a parser and a catalogue loaded, that takes longer than most of what git does. A shell is small.
 */
export async function inShell(env: Environment, command: string, halt: AbortSignal): Promise<Answer> {
  const free = idle.get(env) ?? [];
  idle.set(env, free);
  const shell = free.pop() ?? new Shell(env);
  const answer = await shell.run(command, halt);
  if (answer.status !== null) {
    free.push(shell);
    shell.rest(() => free.splice(free.indexOf(shell), 1));
  }
  return answer;
}

/** Ends the shells that wait for a command, and waits for that: whoever asks what all this cost is told the whole. */
export async function endShells(env: Environment): Promise<void> {
  await Promise.all((idle.get(env) ?? []).splice(0).map((shell) => shell.end()));
}

/** A word that a shell takes as it is. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #stdout: Output;
  readonly #stderr: Output;
  /** Ends what a command says: nothing else that it says is this. */
  readonly #end = randomBytes(16).toString('hex');
  #resting: NodeJS.Timeout | undefined;

  constructor(env: Environment) {
    // A group of its own, so that all of it can be ended.
    this.#child = spawn('sh', [], { env, detached: true });
    this.#stdout = new Output(this.#child.stdout, this.#end);
    this.#stderr = new Output(this.#child.stderr, this.#end);
    // One that was ended reads nothing more; that it ended is heard elsewhere.
    this.#child.stdin.on('error', () => undefined);
  }

  async run(command: string, halt: AbortSignal): Promise<Answer> {
    clearTimeout(this.#resting);
    const kill = () => this.#kill();
    halt.addEventListener('abort', kill);
    try {
      const answer = this.#answer();
      if (halt.aborted) kill();
      const end = `printf '\\n%s %s\\n' ${this.#end} "$?"; printf '\\n%s 0\\n' ${this.#end} >&2`;
      this.#child.stdin.write(`${command}\n${end}\n`);
      return await answer;
    } finally {
      halt.removeEventListener('abort', kill);
    }
  }

  #answer(): Promise<Answer> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const settle = (status: number | null) => {
        child.removeAllListeners('close').removeAllListeners('error');
        resolve({ status, stdout: this.#stdout.taken(), stderr: this.#stderr.taken() });
      };
      const look = () => {
        if (this.#stderr.status !== undefined && this.#stdout.status !== undefined)
          settle(this.#stdout.status);
      };
      this.#stdout.look = look;
      this.#stderr.look = look;
      child.once('close', () => settle(null));
      child.once('error', (error) => reject(codeOf(error) === 'ENOENT' ? noShell() : error));
    });
  }

  /** Goes by itself when nobody wants it any more. */
  rest(gone: () => void): void {
    this.#resting = setTimeout(() => {
      gone();
      this.#child.stdin.end();
    }, PATIENCE);
  }

  end(): Promise<void> {
    clearTimeout(this.#resting);
    return new Promise((resolve) => {
      this.#child.once('close', () => resolve());
      this.#child.stdin.end();
    });
  }

  #kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGTERM');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
}

/** What commands say, one after the other. */
class Output {
  #chunks: Buffer[] = [];
  /** The last bytes of what came, in which the end may have begun. */
  #last = Buffer.alloc(0);
  /** Bytes that are not the command's: the end, and what came after it. */
  #extra = 0;
  readonly #longest: number;
  /** Of the command that said all this, once it has said all. */
  status: number | undefined;
  look: () => void = () => undefined;

  constructor(
    stream: Readable,
    private readonly end: string,
  ) {
    this.#longest = `\n${end} 255\n`.length;
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** What comes after the end of a command is of a process that the command did not wait for. */
  #read(chunk: Buffer): void {
    if (this.status !== undefined) return;
    const seen = Buffer.concat([this.#last, chunk]);
    const at = seen.indexOf(`\n${this.end} `);
    const [, status] =
      at === -1 ? [] : (/^\n\w+ (\d+)\n/.exec(seen.toString('latin1', at, at + this.#longest)) ?? []);
    this.#chunks.push(chunk);
    this.#last = seen.subarray(-this.#longest);
    if (status === undefined) return;
    this.#extra = seen.length - at;
    this.status = Number(status);
    this.look();
  }

  taken(): Buffer {
    const all = Buffer.concat(this.#chunks);
    const own = all.subarray(0, all.length - this.#extra);
    this.#chunks = [];
    this.#last = Buffer.alloc(0);
    this.#extra = 0;
    this.status = undefined;
    return own;
  }
}

function noShell(): Failure {
  return new Failure('There is no shell', 'there is no program `sh` on the PATH', 'Install one.');
}

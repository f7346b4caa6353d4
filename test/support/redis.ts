import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { install, programAt } from './debian.js';

/** A real one, with a port and a folder of its own; its folder survives it. */
export class RedisServer {
  #child: ChildProcess | undefined;

  constructor(
    readonly folder: string,
    readonly port: number,
    private readonly more: readonly string[] = [],
  ) {
    onTestFinished(() => this.stop('SIGKILL'));
  }

  get url(): string {
    return `${this.#isTls ? 'rediss' : 'redis'}://127.0.0.1:${this.port}`;
  }

  async start(): Promise<this> {
    needed('redis-server');
    const log = join(this.folder, 'redis.log');
    const ports = this.#isTls ? ['--port', '0', '--tls-port'] : ['--port'];
    const child = spawn('redis-server', [
      ...[...ports, String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--logfile', log],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', ...this.more],
    ]);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    this.#child = child;
    while (spawnSync('redis-cli', [...this.#how, 'ping'], { encoding: 'utf8' }).stdout !== 'PONG\n') {
      const isOver = await Promise.race([ended.then(() => true), pause(20, false)]);
      if (isOver) throw new Error(`redis-server does not start:\n${readFileSync(log, 'utf8')}`);
    }
    return this;
  }

  /** Every word of an answer on a line. */
  ask(...words: readonly string[]): readonly string[] {
    const { stdout } = spawnSync('redis-cli', [...this.#how, ...words], { encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line !== '');
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  get #isTls(): boolean {
    return this.more.includes('--tls-cert-file');
  }

  get #how(): readonly string[] {
    const password = this.more[this.more.indexOf('--requirepass') + 1];
    const isSecret = this.more.includes('--requirepass') && password !== undefined;
    const tls = this.#isTls ? ['--tls', '--insecure'] : [];
    return ['-p', String(this.port), ...(isSecret ? ['-a', password, '--no-auth-warning'] : []), ...tls];
  }
}

/** A certificate for loopback, and its key. */
export function certificateIn(folder: string): { readonly cert: string; readonly key: string } {
  needed('openssl');
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const { status, stderr } = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', cert, '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return { cert, key };
}

/** Installs a program where it is missing. */
function needed(program: string): void {
  if (programAt(program) !== undefined) return;
  const why = install(program);
  if (programAt(program) === undefined)
    throw new Error(
      `These tests need ${program}, which is not on the PATH, and apt-get could not install it (${why}). ` +
        `Install \`${program}\`, then run them again.`,
    );
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type Files, git } from '../../folders.js';
import { remotesWith, WORLD } from '../remotes.js';

/** A call of an API, and what is known about who calls. */
export interface Call {
  readonly method: string;
  /** Decoded, from below the API's root, without a slash in front. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Reply {
  readonly status: number;
  readonly data: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One trouble with the first call that this describes: before it has an effect, or after. */
export interface Fault {
  readonly at: RegExp;
  readonly when: 'before' | 'after';
  /** An answer, none at all, or whatever happens then and perhaps leads to one. */
  readonly reply: Reply | 'drop' | (() => Answered | Promise<Answered>);
}

type Answered = Reply | 'drop' | undefined;

/** What makes a server GitHub or GitLab. */
export interface Manner {
  /** Where its API is. */
  readonly root: string;
  tokenIn(headers: IncomingMessage['headers']): string | undefined;
  /** Milliseconds that must be between two writes. */
  readonly betweenWrites: number;
  /** How it says that there were too many calls; it may be asked again after so many seconds. */
  tooMany(seconds: number, kind: 'primary' | 'secondary'): Reply;
  answer(call: Call, server: ForgeDouble): Reply;
}

export interface Request {
  readonly id: number;
  state: 'open' | 'merged' | 'closed';
  readonly repository: string;
  readonly branch: string;
  readonly into: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
  labels: readonly string[];
  reviewers: readonly string[];
  sha: string;
}

export interface Project {
  readonly path: string;
  readonly archived?: boolean;
  readonly fork?: boolean;
  readonly empty?: boolean;
}

/**
 * A forge on loopback, with real repositories behind git's own HTTP server. It wants a token everywhere, gives its lists
 * out in small pages, limits calls as the real ones do, and writes down what a client must not do.
 */
export class ForgeDouble {
  readonly token = `tok3n-${'Zq'.repeat(12)}`;
  readonly violations: string[] = [];
  readonly calls: string[] = [];
  readonly requests: Request[] = [];
  readonly faults: Fault[] = [];
  readonly checks = new Map<string, string>();
  pageSize = 2;
  /** So many calls in each window of so many seconds. */
  limit: { readonly calls: number; readonly seconds: number } | undefined;
  #validToken = this.token;
  #refused = new Set<string>();
  #window = { end: 0, calls: 0 };
  #closedUntil = 0;
  #lastWrite = 0;
  #writes = 0;

  private constructor(
    private readonly manner: Manner,
    readonly folder: string,
    readonly projects: readonly Project[],
    readonly port: number,
  ) {}

  static async start(
    manner: Manner,
    repositories: Readonly<Record<string, Files>>,
    more: readonly Project[] = [],
  ): Promise<ForgeDouble> {
    const folder = remotesWith(repositories);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const projects = [...Object.keys(repositories).map((path) => ({ path })), ...more];
    const double = new ForgeDouble(manner, folder, projects, address.port);
    server.on('request', (request, response) => void double.#serve(request, response));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return double;
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What memfix sees of the world, with our token in it. */
  get world(): Readonly<Record<string, string | undefined>> {
    return { ...WORLD, [`MEMFIX_TOKEN_127_0_0_1_${this.port}`]: this.#validToken };
  }

  bare(path: string): string {
    return `${this.folder}/${path}.git`;
  }

  /** The old token is worth nothing from now on; answers with the new one. */
  renewToken(): string {
    this.#validToken = `n3w-${'Xw'.repeat(12)}`;
    return this.#validToken;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.base);
    if (!pathname.startsWith(this.manner.root)) return this.#serveGit(request, response);
    const text = (await buffer(request)).toString();
    const method = request.method ?? '';
    const call: Call = {
      method,
      path: decodeURIComponent(pathname.slice(this.manner.root.length + 1)),
      query: searchParams,
      body: text === '' ? {} : JSON.parse(text),
    };
    const line = `${method} ${call.path}`;
    this.calls.push(line);
    const fault = await this.#faultAt(line, 'before');
    if (fault !== undefined) return this.#send(response, fault);
    const isWrite = method !== 'GET';
    const early = this.#refusal(request, line, isWrite);
    if (early !== undefined) return this.#send(response, early);
    if (isWrite) this.#writes++;
    const reply = this.manner.answer(call, this);
    if (isWrite) {
      // Long enough for another write to come in between.
      await new Promise((resolve) => setTimeout(resolve, 20));
      this.#lastWrite = Date.now();
      this.#writes--;
    }
    this.#send(response, (await this.#faultAt(line, 'after')) ?? reply);
  }

  async #faultAt(line: string, when: Fault['when']): Promise<Answered> {
    const index = this.faults.findIndex((fault) => fault.when === when && fault.at.test(line));
    const [fault] = index === -1 ? [] : this.faults.splice(index, 1);
    return typeof fault?.reply === 'function' ? fault.reply() : fault?.reply;
  }

  #send(response: ServerResponse, reply: Reply | 'drop'): void {
    if (reply === 'drop') {
      response.socket?.destroy();
      return;
    }
    const head = { 'content-type': 'application/json; charset=utf-8', ...reply.headers };
    response.writeHead(reply.status, head).end(JSON.stringify(reply.data));
  }

  #refusal(request: IncomingMessage, line: string, isWrite: boolean): Reply | undefined {
    const { headers } = request;
    if (!headers['user-agent']) return { status: 403, data: { message: 'no user agent' } };
    const now = Date.now();
    if (now < this.#closedUntil) this.violations.push(`${line}: ${this.#closedUntil - now} ms too early`);
    const token = this.manner.tokenIn(headers);
    if (token !== this.#validToken) {
      if (token !== undefined && this.#refused.has(token))
        this.violations.push(`${line}: with a refused token`);
      if (token !== undefined) this.#refused.add(token);
      return { status: 401, data: { message: 'Bad credentials' } };
    }
    if (isWrite && this.#writes > 0) this.violations.push(`${line}: two writes at once`);
    if (isWrite && now - this.#lastWrite < this.manner.betweenWrites) {
      this.violations.push(`${line}: ${now - this.#lastWrite} ms after another write`);
      return this.close(1, 'secondary');
    }
    return this.#overLimit(now);
  }

  #overLimit(now: number): Reply | undefined {
    if (this.limit === undefined) return undefined;
    if (now >= this.#window.end) this.#window = { end: now + this.limit.seconds * 1000, calls: 0 };
    this.#window.calls++;
    if (this.#window.calls <= this.limit.calls) return undefined;
    return this.close(Math.ceil((this.#window.end - now) / 1000), 'primary');
  }

  /** Nobody may call for so many seconds. */
  close(seconds: number, kind: 'primary' | 'secondary'): Reply {
    this.#closedUntil = Date.now() + seconds * 1000 - 5;
    return this.manner.tooMany(seconds, kind);
  }

  /** A part of a list, with a link to the next one. */
  page(items: readonly unknown[], { path, query }: Call): Reply {
    const asked = Number(query.get('per_page') ?? 30);
    if (asked > 100) this.violations.push(`${path}: ${asked} to a page`);
    const size = Math.min(asked, this.pageSize);
    const page = Number(query.get('page') ?? 1);
    const next = new URLSearchParams([...query].filter(([name]) => name !== 'page'));
    next.set('page', String(page + 1));
    const link = `<${this.base}${this.manner.root}/${path}?${next}>; rel="next"`;
    const isLast = page * size >= items.length;
    return {
      status: 200,
      data: items.slice((page - 1) * size, page * size),
      ...(!isLast && { headers: { link } }),
    };
  }

  tip(path: string, branch: string): string | undefined {
    const found = git(
      this.bare(path),
      'for-each-ref',
      '--format=%(objectname)',
      `refs/heads/${branch}`,
    ).trim();
    return found === '' ? undefined : found;
  }

  async #serveGit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const password = Buffer.from(basic, 'base64').toString().split(':')[1];
    if (password !== this.#validToken) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    if (commandLines().includes(password)) this.violations.push('a token is in the arguments of a process');
    const { pathname, search } = new URL(request.url ?? '/', this.base);
    const child = spawn('git', ['http-backend'], {
      env: {
        ...WORLD,
        GIT_PROJECT_ROOT: this.folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'ada',
        PATH_INFO: decodeURIComponent(pathname),
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.stdin.on('error', () => undefined);
    request.pipe(child.stdin);
    const told = await buffer(child.stdout);
    const end = told.indexOf('\r\n\r\n');
    const headers = told.subarray(0, end).toString().split('\r\n');
    const status = Number(/^Status: (\d+)/m.exec(headers.join('\n'))?.[1] ?? 200);
    const fields = headers.map((line) => line.split(/: (.*)/)).filter(([name]) => name !== 'Status');
    response.writeHead(status, Object.fromEntries(fields.map(([name = '', value = '']) => [name, value])));
    response.end(told.subarray(end + 4));
  }
}

/** What anybody on this machine can see of the processes. */
function commandLines(): string {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      } catch {
        // It ended meanwhile.
        return '';
      }
    })
    .join('\n');
}

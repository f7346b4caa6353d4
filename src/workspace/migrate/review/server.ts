import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf, Failure } from '../../failure.js';
import { type Ballot, sayingIn } from './ballot.js';
import { Gate, Refusal } from './gate.js';

export interface ReviewSetting {
  readonly ballot: Ballot;
  /** The page as it is now, and its policy. */
  page(): { readonly html: string; readonly policy: string };
  /** Changes when a plan does. */
  planned(): unknown;
  /** 0 for any that is free. */
  readonly port: number;
}

/** Only this machine is asked; a machine beside it cannot even connect. */
const LOOPBACK = '127.0.0.1';
const LONGEST_BODY = 4 * 1024 * 1024;
/** Milliseconds between two looks at whether a plan has changed. */
const LOOKING = 1_000;

/** For every answer: nobody keeps it, frames it or takes it for something else, and no address leaks. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Serves the page of a campaign to the person at this machine, and takes what they decide. */
export class ReviewServer {
  readonly #listeners = new Set<ServerResponse>();
  /** What was decided since the start, for pages that were made before it was. */
  readonly #decided: string[] = [];
  readonly #watch: NodeJS.Timeout;
  readonly url: string;
  readonly #gate: Gate;

  static async start(setting: ReviewSetting): Promise<ReviewServer> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(unusable(setting.port, error)));
      server.listen(setting.port, LOOPBACK, resolve);
    });
    return new ReviewServer(setting, server);
  }

  private constructor(
    private readonly setting: ReviewSetting,
    private readonly server: Server,
  ) {
    const { port } = server.address() as AddressInfo;
    const token = randomBytes(24).toString('base64url');
    this.#gate = new Gate(`${LOOPBACK}:${port}`, token);
    this.url = `http://${LOOPBACK}:${port}/${token}/`;
    server.on('request', (request, response) => void this.#answer(request, response));
    let planned = setting.planned();
    this.#watch = setInterval(() => {
      const now = setting.planned();
      if (now !== planned) this.#tell(eventOf('changed', {}));
      planned = now;
    }, LOOKING);
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    for (const listener of this.#listeners) listener.end();
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const room = this.#gate.enter(request);
      if (room instanceof Refusal) refuse(response, room);
      else if (room === 'events') this.#listen(response);
      else if (room === 'decisions') await this.#decide(request, response);
      else this.#show(response);
    } catch (error) {
      if (error instanceof Failure) refuse(response, new Refusal(500, `${error.message}. ${error.next}`));
      else refuse(response, new Refusal(500, `Internal error: ${error}`));
    }
  }

  #show(response: ServerResponse): void {
    const { html, policy } = this.setting.page();
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${policy}; frame-ancestors 'none'`,
    };
    response.writeHead(200, { ...HEADERS, ...headers }).end(html);
  }

  /** Stays open: what is decided in any window comes here, in the order it was decided. */
  #listen(response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' });
    response.write(`: listening\n\n${this.#decided.join('')}`);
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
  }

  async #decide(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const saying =
      body === undefined ? new Refusal(413, 'That is more than anybody decides at once.') : sayingIn(body);
    if (saying === undefined) return refuse(response, new Refusal(400, 'That is no decision.'));
    if (saying instanceof Refusal) return refuse(response, saying);
    const refusal = this.setting.ballot.cast(saying);
    if (refusal !== undefined) return refuse(response, refusal);
    response.writeHead(204, HEADERS).end();
    const event = eventOf('decided', saying);
    this.#decided.push(event);
    this.#tell(event);
  }

  #tell(event: string): void {
    for (const listener of this.#listeners) listener.write(event);
  }
}

function eventOf(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function refuse(response: ServerResponse, { status, words, headers }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  response
    .writeHead(status, {
      ...HEADERS,
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
      ...headers,
    })
    .end(words);
}

/** Undefined where it is longer than anything we ask for. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // Read to its end all the same: a client that is cut off does not hear why.
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length > LONGEST_BODY ? undefined : Buffer.concat(chunks).toString();
}

function unusable(port: number, error: unknown): unknown {
  const code = codeOf(error);
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return error;
  const why = code === 'EACCES' ? 'it is not for you to use' : 'something else uses it';
  return new Failure('The port cannot be used', `${port}: ${why}`, 'Name another with `--port`, or none.');
}

import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** What can be asked for, below the token, and how. */
const ROOMS = { '': 'GET', events: 'GET', decisions: 'POST' } as const;
export type Room = keyof typeof ROOMS;

export interface Asking {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Why someone is not let in: an HTTP status, and a sentence. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly words: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/**
 * Who may speak to the review: a browser on this machine that was given the whole address. Another page that is open in
 * it may not, neither as itself nor under a name that it has led here.
 */
export class Gate {
  constructor(
    /** The only name of this server, with its port. */
    private readonly host: string,
    private readonly token: string,
  ) {}

  enter({ method, url = '', headers }: Asking): Room | Refusal {
    if (headers.host !== this.host) return new Refusal(403, `This server is ${this.host} and nothing else.`);
    const [, token = '', name = '', ...more] = url.split('/');
    if (!this.#isToken(token) || more.length > 0 || !isRoom(name))
      return new Refusal(404, 'There is nothing here. The address that memfix printed is longer.');
    if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
      return new Refusal(403, 'Another site has no business here.');
    const allow = ROOMS[name];
    if (method !== allow) return new Refusal(405, `Only ${allow} means something here.`, { allow });
    return allow === 'POST' ? (this.#objection(headers) ?? name) : name;
  }

  /** What changes something comes from our own page, as JSON, which no form and no other page can send unasked. */
  #objection(headers: IncomingHttpHeaders): Refusal | undefined {
    if (headers.origin !== `http://${this.host}`)
      return new Refusal(403, 'Only the page of this server decides here.');
    const [type = ''] = (headers['content-type'] ?? '').split(';');
    if (type.trim().toLowerCase() !== 'application/json')
      return new Refusal(415, 'A decision is application/json.');
    return undefined;
  }

  #isToken(word: string): boolean {
    const [given, own] = [Buffer.from(word), Buffer.from(this.token)];
    return given.length === own.length && timingSafeEqual(given, own);
  }
}

function isRoom(name: string): name is Room {
  return Object.hasOwn(ROOMS, name);
}

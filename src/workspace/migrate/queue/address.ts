import { Failure } from '../../failure.js';
import { learnPassword } from '../../secrets.js';

/** Where the Redis of a queue is. */
export interface Address {
  /** With its password: given to the connection, and to nothing else. */
  readonly url: string;
  /** The same for people: without user and password. */
  readonly shown: string;
  /** As it stands on the command line, for a hint at the next one; without user and password. */
  readonly word: string;
  /** The environment without the variable that the URL came from: what our children see. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A URL, or `env:NAME` for one in an environment variable, which no list of processes shows. */
export function addressIn(word: string, env: Address['env']): Address {
  const variable = /^env:(.+)$/.exec(word)?.[1];
  const { [variable ?? '']: found, ...rest } = env;
  const text = variable === undefined ? word : found;
  if (text === undefined || text === '')
    throw unusable(`the environment variable ${variable ?? ''} is not set`);
  learnPassword(text);
  const url = parsed(text);
  const shown = `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`;
  return { url: text, shown, word: variable === undefined ? shown : word, env: rest };
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  if (url === undefined || !isRedis || url.hostname === '' || !/^(?:\/\d*)?$/.test(url.pathname))
    throw unusable('it is no URL of a Redis');
  return url;
}

/** What was given is not repeated: it may hold a password. */
function unusable(why: string): Failure {
  return new Failure(
    'Not a queue',
    `\`--queue\`: ${why}`,
    'Give `redis://host:6379`, `rediss://user:password@host:6379/0`, or `env:NAME` for a variable that holds such a URL.',
  );
}

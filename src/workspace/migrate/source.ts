import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { bytesOf } from '../bounded.js';
import { Failure, reasonOf } from '../failure.js';
import { slashed } from '../places.js';
import { scrubbed } from '../secrets.js';
import type { Source } from './forge/forge.js';
import { isSource, type Listing, sourceFrom } from './forge/listing.js';

/** A repository of a campaign. */
export interface Repository {
  /** Names its files; the same for the same URL everywhere. */
  readonly id: string;
  /** For people: the last two parts of its path. */
  readonly name: string;
  /** What git is given: a URL without credentials, or an absolute path. */
  readonly url: string;
}

/** What the words of `repositories` mean, each repository once, in their order. */
export interface Sources {
  readonly repositories: readonly Repository[];
  /** How many URLs came with a name or password, which was left out. */
  readonly stripped: number;
  /** The forges that were to be asked, and those of them that have not been. */
  readonly sources: readonly Source[];
  readonly unasked: readonly Source[];
}

const PROTOCOLS = new Set(['https:', 'http:', 'ssh:', 'git:', 'file:']);
/** As in `git@host:owner/name`. One letter before the colon is a drive, and two colons are a program that git would run. */
const SCP = /^(?:\w[\w.-]*@)?\w[\w.-]+:(?!\/\/|:)/;
const NAME_LENGTH = 60;

/**
 * Paths are relative to `folder`. A folder of checkouts means each of them, a file the list that it holds; what a forge
 * was asked for means what it answered.
 */
export function readSources(
  words: readonly string[],
  folder: string,
  listingFor: (source: Source) => Pick<Listing, 'urls'> | undefined,
): Sources {
  const found = new Map<string, Repository>();
  const sources: Source[] = [];
  let stripped = 0;
  const add = (url: string): void => {
    const repository = repositoryAt(url);
    found.set(repository.id, found.get(repository.id) ?? repository);
  };
  const read = (word: string, from: string, isListed: boolean): void => {
    if (isSource(word)) {
      const clean = scrubbed(word);
      if (clean !== word) stripped++;
      sources.push(sourceFrom(clean));
      for (const url of listingFor(sourceFrom(clean))?.urls ?? []) add(url);
      return;
    }
    if (isUrl(word)) {
      const url = withoutCredentials(word);
      if (url !== word) stripped++;
      add(url);
      return;
    }
    const place = resolve(from, word.replace(/^~(?=\/|$)/, homedir()));
    const kind = kindOf(place, word);
    if (kind === 'list' && isListed) throw unusable(word, 'it is a file, and a list names no other lists');
    if (kind === 'list') for (const line of listed(place)) read(line, dirname(place), true);
    else for (const path of kind === 'repository' ? [place] : checkoutsIn(place)) add(path);
  };
  for (const word of words) read(word, folder, false);
  const unasked = sources.filter((source) => listingFor(source) === undefined);
  return { repositories: [...found.values()], stripped, sources, unasked };
}

export function isUrl(word: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(word) || (SCP.test(word) && !existsSync(word));
}

/** On the web, a user name can be a token as well as a password can; ssh needs its user name. */
export function withoutCredentials(word: string): string {
  if (!word.includes('://')) return word;
  const url = parsed(word);
  if (!PROTOCOLS.has(url.protocol)) {
    throw unusable(scrubbed(word), `memfix knows ${[...PROTOCOLS].join(', ')} and paths`);
  }
  if (url.protocol === 'file:') return word;
  if (url.protocol !== 'ssh:') url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  const clean = url.href;
  // Only a credential is reason to spell a URL in another way than the user does.
  return clean === new URL(word).href ? word : clean;
}

function parsed(word: string): URL {
  try {
    return new URL(word);
  } catch {
    throw unusable(scrubbed(word), 'it is no URL');
  }
}

/** `https://host/owner/name.git` and `https://host/owner/name/` are the same repository. */
function repositoryAt(url: string): Repository {
  const same = url.replace(/\/+$/, '').replace(/\.git$/, '');
  const parts = same.split(/[/:\\]+/).filter((part) => part !== '');
  const name = parts.slice(-2).join('/');
  const hash = createHash('sha256').update(same).digest('hex').slice(0, 10);
  const readable = name.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '');
  return { id: `${readable.slice(-NAME_LENGTH)}-${hash}`, name, url };
}

function kindOf(place: string, word: string): 'repository' | 'folder' | 'list' {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) throw unusable(word, `there is nothing at ${place}`);
  if (stats.isFile()) return 'list';
  if (!stats.isDirectory()) throw unusable(word, 'it is neither a file nor a folder');
  return isRepository(place) ? 'repository' : 'folder';
}

function isRepository(folder: string): boolean {
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
  return isBare || existsSync(join(folder, '.git'));
}

function checkoutsIn(folder: string): readonly string[] {
  const found = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isRepository(join(folder, entry.name)))
    .map((entry) => join(folder, entry.name))
    .sort();
  if (found.length === 0) throw unusable(slashed(folder), 'it is no repository, and there is none in it');
  return found;
}

function listed(file: string): readonly string[] {
  let text: string;
  try {
    text = bytesOf(file).toString('utf8');
  } catch (error) {
    throw unusable(slashed(file), reasonOf(error));
  }
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
    .filter((line) => line !== '');
}

function unusable(word: string, why: string): Failure {
  return new Failure(
    'Not a repository',
    `\`${word}\`: ${why}`,
    'Give a URL, the path of a repository, a folder of checkouts, a source such as github:org/NAME, or a file with one of these on each line.',
  );
}

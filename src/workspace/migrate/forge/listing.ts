import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { plural } from '../../../report/prose.js';
import { didYouMean } from '../../../text/resemblance.js';
import { textOf } from '../../bounded.js';
import { codeOf, Failure } from '../../failure.js';
import { sha256 } from '../hash.js';
import { writeWhole } from '../whole-file.js';
import type { Listed, Source } from './forge.js';
import type { Forges } from './forges.js';
import { type ForgeKind, hostFrom, publicHost } from './host.js';

export const PROTOCOLS = ['https', 'ssh'] as const;

/** Which of the repositories that a source leads to are taken, and how git is to reach them. */
export interface Filter {
  readonly archived: boolean;
  readonly forks: boolean;
  readonly protocol: (typeof PROTOCOLS)[number];
}

export const DEFAULT_FILTER: Filter = { archived: false, forks: false, protocol: 'https' };

/** What a source led to when it was asked; later runs go by this. */
export interface Listing {
  readonly version: 1;
  readonly source: string;
  readonly filter: Filter;
  readonly at: string;
  readonly urls: readonly string[];
  /** How many were left out, and why. */
  readonly left: { readonly archived: number; readonly forks: number; readonly empty: number };
}

const SPELLINGS: Readonly<Record<ForgeKind, readonly Source['by'][]>> = {
  github: ['org', 'user', 'topic', 'search'],
  gitlab: ['group', 'user', 'topic'],
};

/** Whether a word of `repositories` asks a forge. */
export function isSource(word: string): boolean {
  return /^(?:github|gitlab)(?::(?!\/\/)|\+https?:\/\/)/.test(word);
}

/** `github:org/acme`, or `gitlab+https://git.example.org/group/ml/vision` for a server of one's own. */
export function sourceFrom(word: string): Source {
  const [, kind, base, by, value] =
    /^(github|gitlab)(?:\+(https?:\/\/.+?))?[:/](org|user|topic|search|group)\/(.+)$/.exec(word) ?? [];
  const forge: ForgeKind = word.startsWith('gitlab') ? 'gitlab' : 'github';
  const known = SPELLINGS[forge];
  const found = known.find((each) => each === by);
  const host = base === undefined ? publicHost(forge) : hostFrom(`${kind}+${base}`, '');
  if (found === undefined || value === undefined || host === undefined) {
    const typed = /[:/]([a-z]+)\//.exec(word)?.[1] ?? '';
    const ways = known.map((each) => `\`${forge}:${each}/…\``).join(', ');
    throw new Failure(
      'Not a source of repositories',
      `\`${word}\`: memfix knows ${ways}.${didYouMean(typed, [...known])}`,
      `For one repository, give its URL; for a server of your own, write \`${forge}+https://HOST/${known[0]}/…\`.`,
    );
  }
  return { host, by: found, value: value.replace(/\/+$/, ''), word };
}

export function listingOf(folder: string, { word }: Source, filter: Filter): Listing | undefined {
  const text = textOf(fileFor(folder, word));
  const listing: Listing | undefined = text === undefined ? undefined : JSON.parse(text);
  return listing !== undefined && isSame(listing.filter, filter) ? listing : undefined;
}

function isSame(one: Filter, other: Filter): boolean {
  return one.archived === other.archived && one.forks === other.forks && one.protocol === other.protocol;
}

/** Asks a source. */
export async function listingFrom(forges: Forges, source: Source, filter: Filter): Promise<Listing> {
  const listed = await (await forges.at(source.host)).list(source);
  const wanted = listed.filter((each) => reason(each, filter) === undefined);
  const left = (why: keyof Listing['left']) => listed.filter((each) => reason(each, filter) === why).length;
  const urls = [...new Set(wanted.map((each) => each[filter.protocol]))].sort();
  if (urls.length === 0) {
    throw new Failure(
      'A source leads to no repository',
      `\`${source.word}\` is ${plural(listed.length, 'repository', 'repositories')}, of which none is taken`,
      'See that the name is right and that the token may see its repositories; `[sources]` in campaign.toml can let in archived ones and forks.',
    );
  }
  return {
    version: 1,
    source: source.word,
    filter,
    at: new Date().toISOString(),
    urls,
    left: { archived: left('archived'), forks: left('forks'), empty: left('empty') },
  };
}

function reason(listed: Listed, { archived, forks }: Filter): keyof Listing['left'] | undefined {
  if (listed.isArchived && !archived) return 'archived';
  if (listed.isFork && !forks) return 'forks';
  return listed.isEmpty ? 'empty' : undefined;
}

/** The first answer is everyone's: shards that ask at once must work on the same list. */
export function keepFirst(folder: string, listing: Listing): void {
  const file = fileFor(folder, listing.source);
  const there = textOf(file);
  if (there !== undefined && !isSame((JSON.parse(there) as Listing).filter, listing.filter)) rmSync(file);
  const draft = `${file}.${process.pid}.tmp`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, textFor(listing));
  try {
    linkSync(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** In place of what was there. */
export function keep(folder: string, listing: Listing): void {
  writeWhole(fileFor(folder, listing.source), textFor(listing));
}

function textFor(listing: Listing): string {
  return `${JSON.stringify(listing, undefined, 2)}\n`;
}

function fileFor(folder: string, word: string): string {
  const readable = word.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
  return join(folder, 'sources', `${readable}-${sha256(word).slice(0, 10)}.json`);
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MESSAGE_WORDS, messageProblem } from '../../report/migrate/message.js';
import { readConfig, type Table } from '../config-file.js';
import { parseSeconds } from '../duration.js';
import { Failure } from '../failure.js';
import type { Request } from '../project.js';
import { didYouMean } from '../resemblance.js';
import { sha256 } from './hash.js';
import { type Repository, readSources } from './source.js';

export const COMMIT_CHOICES = ['repository', 'transform'] as const;

/** What a campaign is to do; all of it stands in `campaign.toml`. */
export interface Campaign {
  readonly folder: string;
  readonly repositories: readonly Repository[];
  /** URLs whose user names and passwords were left out. */
  readonly stripped: number;
  readonly select?: readonly string[];
  readonly extendSelect: readonly string[];
  readonly ignore: readonly string[];
  readonly unsafeFixes?: boolean;
  readonly branch: string;
  /** One commit for each repository, or for each transform in it. */
  readonly commits: (typeof COMMIT_CHOICES)[number];
  readonly message?: string;
  readonly verify?: string;
  /** Where the mirrors are. */
  readonly mirrors: string;
  readonly limits: Limits;
}

export interface Limits {
  /** Repositories that talk to their remotes at a time. */
  readonly network: number;
  /** Repositories that are worked on at a time. */
  readonly work: number;
  /** Seconds. */
  readonly networkTimeout: number;
  readonly verifyTimeout: number;
}

export const CAMPAIGN_FILE = 'campaign.toml';
export const DEFAULT_BRANCH = 'memfix/fixes';
const KEYS = [
  ...['repositories', 'select', 'extend-select', 'ignore', 'unsafe-fixes', 'branch', 'commits', 'message'],
  ...['verify', 'mirrors', 'limits'],
];
const LIMIT_KEYS = ['network', 'work', 'network-timeout', 'verify-timeout'];

export function readCampaign(folder: string): Campaign {
  const path = join(folder, CAMPAIGN_FILE);
  if (!existsSync(path)) {
    throw new Failure(
      'No campaign here',
      `there is no ${path}`,
      'Name the folder of a campaign, or begin one with `memfix migrate init DIR REPOSITORIES…`.',
    );
  }
  return new CampaignReader(path, folder, readConfig(path).table).read();
}

class CampaignReader {
  constructor(
    private readonly path: string,
    private readonly folder: string,
    private readonly table: Table,
  ) {}

  read(): Campaign {
    this.#known(this.table, KEYS, '');
    const select = this.#strings('select');
    const unsafeFixes = this.#boolean('unsafe-fixes');
    const message = this.#string(this.table, 'message');
    const verify = this.#string(this.table, 'verify');
    const commits = this.#commits();
    const problem = message === undefined ? undefined : messageProblem(message, commits);
    if (problem !== undefined) this.#fail(`\`message\` ${problem}`);
    return {
      folder: this.folder,
      ...readSources(this.#strings('repositories') ?? [], this.folder),
      ...(select && { select }),
      extendSelect: this.#strings('extend-select') ?? [],
      ignore: this.#strings('ignore') ?? [],
      ...(unsafeFixes !== undefined && { unsafeFixes }),
      branch: this.#branch(),
      commits,
      ...(message !== undefined && { message }),
      ...(verify !== undefined && { verify }),
      mirrors: resolve(this.folder, this.#string(this.table, 'mirrors') ?? 'mirrors'),
      limits: this.#limits(),
    };
  }

  #commits(): Campaign['commits'] {
    const word = this.#string(this.table, 'commits') ?? 'repository';
    const found = COMMIT_CHOICES.find((choice) => choice === word);
    return found ?? this.#fail(`\`commits\` must be one of ${COMMIT_CHOICES.join(', ')}`);
  }

  #branch(): string {
    const branch = this.#string(this.table, 'branch') ?? DEFAULT_BRANCH;
    const problem = branchProblem(branch);
    return problem === undefined ? branch : this.#fail(`\`branch\` ${problem}`);
  }

  #limits(): Limits {
    const table = this.table['limits'] ?? {};
    if (typeof table !== 'object' || Array.isArray(table) || table instanceof Date)
      return this.#fail('`limits` must be a table');
    this.#known(table as Table, LIMIT_KEYS, 'limits.');
    const count = (key: string, otherwise: number): number => {
      const value = (table as Table)[key] ?? otherwise;
      const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 256;
      return isCount ? value : this.#fail(`\`limits.${key}\` must be a whole number from 1 to 256`);
    };
    const time = (key: string): number => {
      const text = this.#string(table as Table, key) ?? '10m';
      return (
        parseSeconds(text) ?? this.#fail(`\`limits.${key}\` must be a time such as "90s", "10m" or "2h"`)
      );
    };
    return {
      network: count('network', 4),
      work: count('work', 2),
      networkTimeout: time('network-timeout'),
      verifyTimeout: time('verify-timeout'),
    };
  }

  #strings(key: string): readonly string[] | undefined {
    const value = this.table[key];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    return this.#fail(`\`${key}\` must be a list of strings`);
  }

  #string(table: Table, key: string): string | undefined {
    const value = table[key];
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value;
    return this.#fail(`\`${key}\` must be a string with something in it`);
  }

  #boolean(key: string): boolean | undefined {
    const value = this.table[key];
    return value === undefined || typeof value === 'boolean'
      ? value
      : this.#fail(`\`${key}\` must be true or false`);
  }

  #known(table: Table, known: readonly string[], within: string): void {
    const odd = Object.keys(table).find((key) => !known.includes(key));
    if (odd === undefined) return;
    throw new Failure(
      'Unknown key in campaign',
      `\`${within}${odd}\` in ${this.path} means nothing.${didYouMean(odd, known)}`,
      `Known: ${known.join(', ')}.`,
    );
  }

  #fail(detail: string): never {
    const words = detail.includes('message') ? ` Placeholders: ${MESSAGE_WORDS}.` : '';
    throw new Failure('Invalid campaign', `${detail}, in ${this.path}`, `Correct it.${words}`);
  }
}

/** What `git check-ref-format` has against a branch name. */
export function branchProblem(branch: string): string | undefined {
  const isOdd =
    /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|^\/|^-|\.$|^@$/.test(branch) ||
    branch.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
  return isOdd ? `is no name that git takes for a branch: \`${branch}\`` : undefined;
}

/** What is asked of memfix in a work tree; the repository's own config answers for what the campaign leaves out. */
export function requestIn(tree: string, campaign: Campaign): Request {
  const { select, extendSelect, ignore, unsafeFixes } = campaign;
  return {
    cwd: tree,
    paths: [],
    isolated: false,
    extendSelect,
    ignore,
    unfixable: [],
    ...(select && { select }),
    ...(unsafeFixes !== undefined && { unsafeFixes }),
  };
}

/** Tells a plan that was made with other settings or decisions, or by another memfix. */
export function planKey(campaign: Campaign, commit: string, decided: string, version: string): string {
  const { select, extendSelect, ignore, unsafeFixes, commits } = campaign;
  return sha256(
    JSON.stringify([version, commit, decided, select, extendSelect, ignore, unsafeFixes, commits]),
  );
}

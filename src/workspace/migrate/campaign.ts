import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseBytes } from '../../budget/quantity.js';
import { MESSAGE_WORDS, messageProblem } from '../../report/migrate/message.js';
import { PROPOSAL_WORDS, proposalProblem } from '../../report/migrate/proposal.js';
import { verifyProblem } from '../../report/migrate/verify-words.js';
import { didYouMean } from '../../text/resemblance.js';
import { readConfig, type Table } from '../config-file.js';
import { parseSeconds } from '../duration.js';
import { Failure } from '../failure.js';
import type { Request } from '../project.js';
import { branchProblem } from './branch-name.js';
import type { VerifySetting } from './enclosure.js';
import type { Source } from './forge/forge.js';
import { type Host, type Hosts, hostFrom, nameOf, PUBLIC_HOSTS } from './forge/host.js';
import { DEFAULT_FILTER, type Filter, listingOf, PROTOCOLS } from './forge/listing.js';
import { isToken } from './forge/token.js';
import { sha256 } from './hash.js';
import { SANDBOX_CHOICES } from './sandbox.js';
import { type Repository, readSources } from './source.js';

/** All files of a commit, or at first only those that memfix reads. */
export const CLONE_CHOICES = ['shallow', 'partial'] as const;
export const COMMIT_CHOICES = ['repository', 'transform'] as const;

/** What a campaign is to do; all of it stands in `campaign.toml`. */
export interface Campaign {
  readonly folder: string;
  readonly repositories: readonly Repository[];
  /** URLs whose user names and passwords were left out. */
  readonly stripped: number;
  /** The forges that its repositories come from, and those of them that have not been asked yet. */
  readonly sources: readonly Source[];
  readonly unasked: readonly Source[];
  readonly filter: Filter;
  /** By the names that URLs have for them. */
  readonly hosts: Hosts;
  readonly pullRequest: PullRequestSetting;
  readonly select?: readonly string[];
  readonly extendSelect: readonly string[];
  readonly ignore: readonly string[];
  readonly unsafeFixes?: boolean;
  readonly branch: string;
  /** The branches that fixes are made upon, by patterns for repositories; elsewhere it is the default branch. */
  readonly baseBranches: Readonly<Record<string, string>>;
  /** One commit for each repository, or for each transform in it. */
  readonly commits: (typeof COMMIT_CHOICES)[number];
  readonly message?: string;
  readonly verify?: string;
  readonly verifying: VerifySetting;
  /** Where the mirrors are. */
  readonly mirrors: string;
  readonly clone: (typeof CLONE_CHOICES)[number];
  readonly limits: Limits;
}

/** What a plan depends on, besides the code and what people decided. */
export type PlanChoice = Pick<Campaign, 'select' | 'extendSelect' | 'ignore' | 'unsafeFixes' | 'commits'>;

export type PlanLimits = Pick<Limits, 'planTimeout' | 'planMemory'>;

export interface PullRequestSetting {
  readonly title?: string;
  readonly body?: string;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
  /** At most so many in an hour. */
  readonly perHour: number;
}

export interface Limits {
  /** Repositories that talk to their remotes at a time. */
  readonly network: number;
  /** Repositories that are worked on at a time. */
  readonly work: number;
  /** Seconds. */
  readonly networkTimeout: number;
  readonly verifyTimeout: number;
  /** Seconds that it may take to plan a repository. */
  readonly planTimeout: number;
  /** Bytes that the heap of a process may take that plans one; the whole process may take twice that. */
  readonly planMemory: number;
}

export const CAMPAIGN_FILE = 'campaign.toml';
export const DEFAULT_BRANCH = 'memfix/fixes';
const KEYS = [
  ...['repositories', 'select', 'extend-select', 'ignore', 'unsafe-fixes', 'branch', 'commits', 'message'],
  ...['verify', 'verify-sandbox', 'verify-network', 'verify-env', 'verify-readable', 'verify-writable'],
  ...['mirrors', 'clone', 'limits', 'sources', 'forges', 'pull-request', 'base-branches'],
];
/** GitHub takes no more from one account, and people still less. */
export const MOST_PRS_PER_HOUR = 500;
const SOURCE_KEYS = ['archived', 'forks', 'protocol'];
const PULL_REQUEST_KEYS = ['title', 'body', 'draft', 'labels', 'reviewers', 'per-hour'];
const LIMIT_KEYS = ['network', 'work', 'network-timeout', 'verify-timeout', 'plan-timeout', 'plan-memory'];
/** A process that has done nothing yet takes nearly as much. */
const LEAST_MEMORY = 100e6;

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
    const select = this.#strings(this.table, 'select');
    const unsafeFixes = this.#boolean(this.table, 'unsafe-fixes');
    const message = this.#string(this.table, 'message');
    const verify = this.#string(this.table, 'verify');
    const doubt = verify === undefined ? undefined : verifyProblem(verify);
    if (doubt !== undefined) this.#fail(`\`verify\` ${doubt}`);
    const commits = this.#chosen('commits', COMMIT_CHOICES);
    const problem = message === undefined ? undefined : messageProblem(message, commits);
    if (problem !== undefined) this.#fail(`\`message\` ${problem}`);
    const filter = this.#filter();
    const found = readSources(this.#strings(this.table, 'repositories') ?? [], this.folder, (source) =>
      listingOf(this.folder, source, filter),
    );
    return {
      folder: this.folder,
      ...found,
      filter,
      hosts: this.#hosts(found.sources),
      pullRequest: this.#pullRequest(),
      ...(select && { select }),
      extendSelect: this.#strings(this.table, 'extend-select') ?? [],
      ignore: this.#strings(this.table, 'ignore') ?? [],
      ...(unsafeFixes !== undefined && { unsafeFixes }),
      branch: this.#branch(),
      baseBranches: this.#baseBranches(),
      commits,
      ...(message !== undefined && { message }),
      ...(verify !== undefined && { verify }),
      verifying: this.#verifying(),
      clone: this.#chosen('clone', CLONE_CHOICES),
      mirrors: resolve(this.folder, this.#string(this.table, 'mirrors') ?? 'mirrors'),
      limits: this.#limits(),
    };
  }

  /** One of these words; the first where none is given. */
  #chosen<W extends string>(key: string, choices: readonly [W, ...W[]]): W {
    const word = this.#string(this.table, key) ?? choices[0];
    const found = choices.find((choice) => choice === word);
    return found ?? this.#fail(`\`${key}\` must be one of ${choices.join(', ')}`);
  }

  #verifying(): VerifySetting {
    const list = (key: string) => this.#strings(this.table, key) ?? [];
    const env = list('verify-env');
    const token = env.find(isToken);
    if (token !== undefined) this.#fail(`\`verify-env\` would give ${token} to the code of every repository`);
    return {
      sandbox: this.#chosen('verify-sandbox', SANDBOX_CHOICES),
      network: this.#boolean(this.table, 'verify-network') ?? false,
      env,
      readable: list('verify-readable'),
      writable: list('verify-writable'),
    };
  }

  #branch(): string {
    const branch = this.#string(this.table, 'branch') ?? DEFAULT_BRANCH;
    const problem = branchProblem(branch);
    return problem === undefined ? branch : this.#fail(`\`branch\` ${problem}`);
  }

  #baseBranches(): Readonly<Record<string, string>> {
    const table = this.#table('base-branches');
    for (const pattern of Object.keys(table)) {
      const problem = branchProblem(this.#string(table, pattern) ?? '');
      if (problem !== undefined) this.#fail(`\`base-branches."${pattern}"\` ${problem}`);
    }
    return table as Readonly<Record<string, string>>;
  }

  #filter(): Filter {
    const table = this.#table('sources', SOURCE_KEYS);
    const word = this.#string(table, 'protocol') ?? DEFAULT_FILTER.protocol;
    return {
      archived: this.#boolean(table, 'archived') ?? DEFAULT_FILTER.archived,
      forks: this.#boolean(table, 'forks') ?? DEFAULT_FILTER.forks,
      protocol:
        PROTOCOLS.find((each) => each === word) ??
        this.#fail(`\`sources.protocol\` must be one of ${PROTOCOLS.join(', ')}`),
    };
  }

  /** Those that everyone knows, those that the sources name, and those that the file says are forges. */
  #hosts(sources: readonly Source[]): Hosts {
    const named = Object.entries(this.#table('forges')).map(([name, value]): [string, Host] => {
      const host = typeof value === 'string' ? hostFrom(value, name) : undefined;
      return host === undefined
        ? this.#fail(`\`forges."${name}"\` must be "github", "gitlab" or such as "gitlab+https://${name}"`)
        : [name, host];
    });
    // By ssh, a host is reached without the port of its pages.
    const asked = sources.flatMap(({ host }) => [
      [new URL(host.base).hostname, host] as const,
      [nameOf(host), host] as const,
    ]);
    return new Map([...PUBLIC_HOSTS, ...asked, ...named]);
  }

  #pullRequest(): PullRequestSetting {
    const table = this.#table('pull-request', PULL_REQUEST_KEYS);
    const texts = (['title', 'body'] as const).flatMap((key) => {
      const text = this.#string(table, key);
      const problem = text === undefined ? undefined : proposalProblem(text);
      if (problem !== undefined)
        this.#fail(`\`pull-request.${key}\` ${problem} (there are ${PROPOSAL_WORDS})`);
      return text === undefined ? [] : [[key, text]];
    });
    return {
      ...Object.fromEntries(texts),
      draft: this.#boolean(table, 'draft') ?? true,
      labels: this.#strings(table, 'labels') ?? [],
      reviewers: this.#strings(table, 'reviewers') ?? [],
      perHour: this.#count(table, 'pull-request', 'per-hour', MOST_PRS_PER_HOUR, MOST_PRS_PER_HOUR),
    };
  }

  #limits(): Limits {
    const table = this.#table('limits', LIMIT_KEYS);
    const count = (key: string, otherwise: number) => this.#count(table, 'limits', key, otherwise);
    const time = (key: string): number => {
      const text = this.#string(table, key) ?? '10m';
      return (
        parseSeconds(text) ?? this.#fail(`\`limits.${key}\` must be a time such as "90s", "10m" or "2h"`)
      );
    };
    return {
      network: count('network', 4),
      work: count('work', 2),
      networkTimeout: time('network-timeout'),
      verifyTimeout: time('verify-timeout'),
      planTimeout: time('plan-timeout'),
      planMemory: this.#memory(table, 'plan-memory', '2GB'),
    };
  }

  #memory(table: Table, key: string, otherwise: string): number {
    const bytes = parseBytes(this.#string(table, key) ?? otherwise) ?? 0;
    return bytes >= LEAST_MEMORY
      ? bytes
      : this.#fail(`\`limits.${key}\` must be a size such as "2GB", from 100MB`);
  }

  #table(key: string, known?: readonly string[]): Table {
    const table = this.table[key] ?? {};
    if (typeof table !== 'object' || Array.isArray(table) || table instanceof Date)
      return this.#fail(`\`${key}\` must be a table`);
    if (known !== undefined) this.#known(table as Table, known, `${key}.`);
    return table as Table;
  }

  #count(table: Table, within: string, key: string, otherwise: number, most = 256): number {
    const value = table[key] ?? otherwise;
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most;
    return isCount ? value : this.#fail(`\`${within}.${key}\` must be a whole number from 1 to ${most}`);
  }

  #strings(table: Table, key: string): readonly string[] | undefined {
    const value = table[key];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    return this.#fail(`\`${key}\` must be a list of strings`);
  }

  #string(table: Table, key: string): string | undefined {
    const value = table[key];
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value;
    return this.#fail(`\`${key}\` must be a string with something in it`);
  }

  #boolean(table: Table, key: string): boolean | undefined {
    const value = table[key];
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
    const words = detail.includes('`message`') ? ` Placeholders: ${MESSAGE_WORDS}.` : '';
    throw new Failure('Invalid campaign', `${detail}, in ${this.path}`, `Correct it.${words}`);
  }
}

/** What is asked of memfix in a work tree; the repository's own config may make it stricter. */
export function requestIn(tree: string, choice: PlanChoice): Request {
  const { select, extendSelect, ignore, unsafeFixes } = choice;
  return {
    cwd: tree,
    paths: [],
    isolated: false,
    isTarget: true,
    extendSelect,
    ignore,
    unfixable: [],
    ...(select && { select }),
    ...(unsafeFixes !== undefined && { unsafeFixes }),
  };
}

/** What a campaign says about plans, without the rest of it. */
export function choiceOf({ select, extendSelect, ignore, unsafeFixes, commits }: PlanChoice): PlanChoice {
  return {
    ...(select && { select }),
    extendSelect,
    ignore,
    ...(unsafeFixes !== undefined && { unsafeFixes }),
    commits,
  };
}

/** Tells a plan that was made with other settings or decisions, or by another memfix. */
export function planKey(choice: PlanChoice, commit: string, decided: string, version: string): string {
  const { select, extendSelect, ignore, unsafeFixes, commits } = choice;
  return sha256(
    JSON.stringify([version, commit, decided, select, extendSelect, ignore, unsafeFixes, commits]),
  );
}

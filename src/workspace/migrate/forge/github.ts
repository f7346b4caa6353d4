import type { PullRequest } from '../../../report/migrate/record.js';
import { Failure } from '../../failure.js';
import type { Forge, Listed, Proposal, Source } from './forge.js';
import { apiOf, type Project } from './host.js';
import { isRateLimit, type Line, LONGEST_WAIT, Manners, MOST_WAITS, Refused, statusOf } from './manners.js';

type Octokit = Awaited<ReturnType<typeof octokitFor>>;

/** GitHub finds no more than this, however many there are. */
const MOST_FOUND = 1000;

/** Throttled as GitHub asks for; the waiting is ours, so that it can be stopped. */
async function octokitFor(manners: Manners) {
  const [{ Octokit }, { throttling }, { paginateRest }] = await Promise.all([
    import('@octokit/core'),
    import('@octokit/plugin-throttling'),
    import('@octokit/plugin-paginate-rest'),
  ]);
  const { host, token } = manners.line;
  // Until when is told by the clock of GitHub, and ours may be another: some wait in any case, and never too long a one.
  const onLimit = async (seconds: number, _: unknown, __: unknown, tries: number) =>
    tries < MOST_WAITS && (await manners.wait(Math.min(Math.max(seconds, 2 ** tries), LONGEST_WAIT)));
  return new (Octokit.plugin(throttling, paginateRest))({
    baseUrl: apiOf(host),
    ...(token !== undefined && { auth: token }),
    userAgent: 'memfix',
    request: { fetch: manners.fetch },
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    throttle: {
      id: host.base,
      onRateLimit: onLimit,
      onSecondaryRateLimit: onLimit,
      retryAfterBaseValue: 0,
    },
  });
}

export async function gitHub(line: Line): Promise<Forge> {
  const manners = new Manners(line);
  return new GitHub(manners, await octokitFor(manners));
}

interface Found {
  readonly clone_url?: string | undefined;
  readonly ssh_url?: string | undefined;
  readonly archived?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly fork: boolean;
}

interface Pull {
  readonly number: number;
  readonly html_url: string;
  readonly state: string;
  readonly draft?: boolean | undefined;
  readonly merged_at: string | null;
  readonly head: { readonly ref: string; readonly sha: string };
}

class GitHub implements Forge {
  readonly limits = { title: 256, body: 65_536 };

  constructor(
    private readonly manners: Manners,
    private readonly octokit: Octokit,
  ) {}

  list(source: Source): Promise<readonly Listed[]> {
    return this.manners.ask(`list ${source.word}`, async () =>
      (await this.#found(source)).map(({ clone_url = '', ssh_url = '', archived, disabled, fork }) => ({
        https: clone_url,
        ssh: ssh_url,
        isArchived: archived === true || disabled === true,
        isFork: fork,
        // Its size is 0 also for a while after the first push: the clone tells.
        isEmpty: false,
      })),
    );
  }

  async #found({ by, value, word }: Source): Promise<readonly Found[]> {
    const { octokit } = this;
    const per_page = 100;
    if (by === 'org') return octokit.paginate('GET /orgs/{org}/repos', { org: value, per_page });
    if (by === 'user') return octokit.paginate('GET /users/{username}/repos', { username: value, per_page });
    const q = by === 'topic' ? `topic:${value}` : value;
    const found: Found[] = [];
    const pages = octokit.paginate.iterator('GET /search/repositories', { q, per_page });
    for await (const { data } of pages) {
      // The plugin puts the totals on the list itself.
      const { total_count, incomplete_results } = data as unknown as Partial<Totals>;
      checkTotals({ total_count: total_count ?? 0, incomplete_results: incomplete_results ?? false }, word);
      found.push(...data);
    }
    return found;
  }

  find(project: Project, branch: string, commit: string): Promise<PullRequest | undefined> {
    return this.manners.ask(`look for a pull request in ${project.path}`, () =>
      this.#pull(project, branch, commit),
    );
  }

  async #pull(project: Project, branch: string, commit: string): Promise<PullRequest | undefined> {
    const { owner, repo } = namesIn(project);
    const head = `${owner}:${branch}`;
    const setting = { owner, repo, head, state: 'all', per_page: 100 } as const;
    const pulls: readonly Pull[] = await this.octokit.paginate('GET /repos/{owner}/{repo}/pulls', setting);
    // A filter that GitHub does not understand lets everything through.
    const own = pulls.filter((pull) => pull.head.ref === branch);
    const found =
      own.find(({ state }) => state === 'open') ?? own.find(({ head: { sha } }) => sha === commit);
    return found && seen(found, 'unknown');
  }

  open(project: Project, proposal: Proposal): Promise<PullRequest> {
    const { title, body, isDraft: draft, branch: head, commit } = proposal;
    const open = async () => {
      const names = namesIn(project);
      const base =
        proposal.into ?? (await this.octokit.request('GET /repos/{owner}/{repo}', names)).data.default_branch;
      const { data } = await this.octokit.request('POST /repos/{owner}/{repo}/pulls', {
        ...{ ...names, title, body, head, base, draft },
      });
      return seen(data, 'unknown');
    };
    return this.manners.ask(`open a pull request in ${project.path}`, open, () =>
      this.#pull(project, head, commit),
    );
  }

  dress(
    project: Project,
    number: number,
    { labels, reviewers }: Pick<Proposal, 'labels' | 'reviewers'>,
  ): Promise<void> {
    const names = namesIn(project);
    const people = reviewers.filter((name) => !name.includes('/'));
    const teams = reviewers
      .filter((name) => name.includes('/'))
      .map((name) => name.slice(name.indexOf('/') + 1));
    return this.manners.ask(`label pull request ${number} of ${project.path}`, async () => {
      if (labels.length > 0) {
        await this.octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
          ...{ ...names, issue_number: number, labels: [...labels] },
        });
      }
      if (reviewers.length > 0) {
        await this.octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', {
          ...{ ...names, pull_number: number, reviewers: people, team_reviewers: teams },
        });
      }
    });
  }

  look(project: Project, number: number): Promise<PullRequest> {
    return this.manners.ask(`look at pull request ${number} of ${project.path}`, async () => {
      const names = namesIn(project);
      const { data } = await this.octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', {
        ...{ ...names, pull_number: number },
      });
      return seen(data, data.state === 'open' ? await this.#checks(project, data.head.sha) : 'unknown');
    });
  }

  /** Runs of apps and statuses of everything else, together. A token may be allowed pull requests and not these. */
  async #checks(project: Project, ref: string): Promise<PullRequest['checks']> {
    const names = { ...namesIn(project), ref, per_page: 100 };
    try {
      const runs = await this.octokit.paginate('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', names);
      const { data } = await this.octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/status', names);
      const words = [
        ...runs.map(({ status, conclusion }) =>
          status === 'completed' ? (conclusion ?? 'failure') : 'pending',
        ),
        ...(data.total_count > 0 ? [data.state] : []),
      ];
      if (words.length === 0) return 'none';
      if (words.some((word) => !['success', 'neutral', 'skipped', 'pending'].includes(word)))
        return 'failing';
      return words.includes('pending') ? 'pending' : 'passing';
    } catch (error) {
      if ([403, 404].includes(statusOf(error) ?? 0) && !isRateLimit(error)) return 'unknown';
      throw error;
    }
  }
}

function seen(
  { number, html_url, state, draft, merged_at }: Pull,
  checks: PullRequest['checks'],
): PullRequest {
  // Something between us and GitHub may answer for it.
  if (!Number.isInteger(number)) throw new Refused(502, 'its answer is no pull request');
  const end = merged_at === null ? 'closed' : 'merged';
  return { number, url: html_url, state: state === 'open' ? 'open' : end, isDraft: draft === true, checks };
}

function namesIn({ path }: Project): { readonly owner: string; readonly repo: string } {
  const [owner = '', repo = ''] = path.split('/');
  return { owner, repo };
}

interface Totals {
  readonly total_count: number;
  readonly incomplete_results: boolean;
}

function checkTotals({ total_count, incomplete_results }: Totals, word: string): void {
  if (incomplete_results)
    throw new Failure(
      'The search did not come to its end',
      `GitHub gave up on ${word}`,
      'Narrow it, or try again.',
    );
  if (total_count <= MOST_FOUND) return;
  throw new Failure(
    'The search finds too much',
    `${word} is ${total_count} repositories, and GitHub tells no more than the first ${MOST_FOUND}`,
    'Narrow it, such as with `org:`, `language:python` or `stars:>10`, or divide it in two by `created:`.',
  );
}

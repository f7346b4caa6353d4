import type { PullRequest } from '../../../report/migrate/record.js';
import { Failure } from '../../failure.js';
import type { Forge, Listed, Proposal, Source } from './forge.js';
import type { Project } from './host.js';
import { type Line, LONGEST_WAIT, Manners, MOST_WAITS, Refused } from './manners.js';

type Api = Awaited<ReturnType<typeof apiFor>>;

/** Seconds, where GitLab does not say how long. */
const USUAL_WAIT = 60;

/** What the client wants to ask. */
interface Asked {
  readonly prefixUrl?: string;
  readonly searchParams?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The client's own requests come again within milliseconds when they are too many: ours wait as GitLab says. */
async function apiFor(manners: Manners) {
  const [{ Gitlab }, { createRequesterFn }] = await Promise.all([
    import('@gitbeaker/rest'),
    import('@gitbeaker/requester-utils'),
  ]);
  const { host, token } = manners.line;
  const requesterFn = createRequesterFn(
    async (_, options) => options,
    async (endpoint, options: Asked = {}) => {
      const { prefixUrl = '', searchParams = '', method = 'GET', headers = {}, body } = options;
      const url = new URL(endpoint, `${prefixUrl.replace(/\/+$/, '')}/`);
      url.search = searchParams;
      for (let waits = 0; ; waits++) {
        const response = await manners.fetch(url, { method, headers, ...(body !== undefined && { body }) });
        if (response.ok) return answerIn(response);
        const isLimit = response.status === 429 && waits < MOST_WAITS;
        if (!isLimit || !(await manners.wait(secondsIn(response.headers))))
          throw new Refused(response.status, await wordsIn(response));
      }
    },
  );
  return new Gitlab({ host: host.base, oauthToken: token ?? '', requesterFn });
}

async function answerIn(response: Response) {
  const { status } = response;
  const body = parsed(await response.text());
  if (body === undefined) throw new Refused(502, 'its answer is no JSON');
  return { status, headers: Object.fromEntries(response.headers.entries()), body };
}

/** Something between us and GitLab may answer for it. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function wordsIn(response: Response): Promise<string> {
  const body = parsed(await response.text());
  const said = body?.['message'] ?? body?.['error'] ?? response.statusText;
  return typeof said === 'string' ? said : JSON.stringify(said);
}

function secondsIn(headers: Headers): number {
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const until = Number(headers.get('ratelimit-reset') ?? Number.NaN) - Date.now() / 1000;
  const told = Number.isFinite(after) ? after : Number.isFinite(until) ? Math.ceil(until) + 1 : USUAL_WAIT;
  return Math.min(Math.max(told, 1), LONGEST_WAIT);
}

export async function gitLab(line: Line): Promise<Forge> {
  const manners = new Manners(line);
  return new GitLab(manners, await apiFor(manners));
}

interface Found {
  readonly http_url_to_repo: string;
  readonly ssh_url_to_repo: string;
  readonly archived?: boolean;
  readonly empty_repo?: boolean;
  readonly repository_access_level?: string;
  readonly forked_from_project?: unknown;
}

interface Merge {
  readonly iid: number;
  readonly web_url: string;
  readonly state: string;
  readonly draft: boolean;
  readonly sha: string;
  readonly source_project_id: number;
  readonly target_project_id: number;
  readonly head_pipeline?: { readonly status: string } | null;
}

const DRAFT = 'Draft: ';

class GitLab implements Forge {
  readonly limits = { title: 255 - DRAFT.length, body: 1_048_576 };

  constructor(
    private readonly manners: Manners,
    private readonly api: Api,
  ) {}

  list(source: Source): Promise<readonly Listed[]> {
    return this.manners.ask(`list ${source.word}`, async () =>
      (await this.#found(source)).map((project) => ({
        https: project.http_url_to_repo,
        ssh: project.ssh_url_to_repo,
        isArchived: project.archived === true,
        isFork: project.forked_from_project !== undefined && project.forked_from_project !== null,
        isEmpty: project.empty_repo === true || project.repository_access_level === 'disabled',
      })),
    );
  }

  /** What a group only has a share in is another group's. */
  async #found({ by, value }: Source): Promise<readonly Found[]> {
    const { Groups, Users, Projects } = this.api;
    const perPage = 100;
    const found: unknown =
      by === 'group'
        ? await Groups.allProjects(value, { includeSubgroups: true, withShared: false, perPage })
        : by === 'user'
          ? await Users.allProjects(value, { perPage })
          : await Projects.all({ topic: value, perPage });
    return found as readonly Found[];
  }

  find({ path }: Project, branch: string, commit: string): Promise<PullRequest | undefined> {
    return this.manners.ask(`look for a merge request in ${path}`, () => this.#merge(path, branch, commit));
  }

  async #merge(path: string, branch: string, commit: string): Promise<PullRequest | undefined> {
    const all: unknown = await this.api.MergeRequests.all({
      ...{ projectId: path, sourceBranch: branch, perPage: 100 },
    });
    const own = (all as readonly Merge[]).filter(
      ({ source_project_id, target_project_id }) => source_project_id === target_project_id,
    );
    const found = own.find(({ state }) => state === 'opened') ?? own.find(({ sha }) => sha === commit);
    return found && seen(found);
  }

  open({ path }: Project, proposal: Proposal): Promise<PullRequest> {
    const { branch, commit, isDraft, body, labels, reviewers } = proposal;
    const open = async () => {
      const into = proposal.into ?? String((await this.api.Projects.show(path)).default_branch);
      const title = isDraft ? `${DRAFT}${proposal.title}` : proposal.title;
      const reviewerIds = await Promise.all(reviewers.map((name) => this.#userNamed(name)));
      const made: unknown = await this.api.MergeRequests.create(path, branch, into, title, {
        description: body,
        ...(labels.length > 0 && { labels: labels.join(',') }),
        ...(reviewerIds.length > 0 && { reviewerIds }),
      });
      return seen(made as Merge);
    };
    return this.manners.ask(`open a merge request in ${path}`, open, () => this.#merge(path, branch, commit));
  }

  async #userNamed(username: string): Promise<number> {
    const [user] = await this.api.Users.all({ username });
    if (user !== undefined) return user.id;
    throw new Failure(
      'There is no such reviewer',
      `the forge knows nobody called ${username}`,
      'Correct `reviewers` of `[pull-request]` in campaign.toml.',
    );
  }

  /** They come with the request. */
  async dress(): Promise<void> {}

  look({ path }: Project, number: number): Promise<PullRequest> {
    return this.manners.ask(`look at merge request ${number} of ${path}`, async () => {
      const one: unknown = await this.api.MergeRequests.show(path, number);
      return seen(one as Merge);
    });
  }
}

const PIPELINES: Readonly<Record<string, PullRequest['checks']>> = {
  success: 'passing',
  skipped: 'passing',
  failed: 'failing',
  canceled: 'failing',
};

function seen({ iid, web_url, state, draft, head_pipeline }: Merge): PullRequest {
  const checks =
    head_pipeline === undefined
      ? 'unknown'
      : head_pipeline === null
        ? 'none'
        : (PIPELINES[head_pipeline.status] ?? 'pending');
  const now = state === 'merged' ? 'merged' : state === 'closed' ? 'closed' : 'open';
  return { number: iid, url: web_url, state: now, isDraft: draft, checks };
}

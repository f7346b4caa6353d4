import type { Files } from '../../folders.js';
import { type Call, ForgeDouble, type Manner, type Project, type Reply, type Request } from './double.js';

const GITHUB: Manner = {
  root: '/api/v3',
  betweenWrites: 950,
  tokenIn: ({ authorization }) => /^token (.+)$/.exec(authorization ?? '')?.[1],
  tooMany: (seconds, kind) =>
    kind === 'secondary'
      ? {
          status: 403,
          data: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes.' },
          headers: { 'retry-after': String(seconds) },
        }
      : {
          status: 403,
          data: { message: 'API rate limit exceeded for user ID 1.' },
          headers: {
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + seconds),
          },
        },
  answer(call, server) {
    for (const [method, path, route] of ROUTES) {
      const found = method === call.method ? path.exec(call.path) : null;
      if (found !== null) return route(call, server, ...found.slice(1));
    }
    server.violations.push(`${call.method} ${call.path}: no such call`);
    return NOT_FOUND;
  },
};

/** A GitHub of one's own with these repositories, each `owner/name`. */
export function gitHubWith(repositories: Readonly<Record<string, Files>>, more: readonly Project[] = []) {
  return ForgeDouble.start(GITHUB, repositories, more);
}

const NOT_FOUND: Reply = { status: 404, data: { message: 'Not Found' } };
const ok = (data: unknown, status = 200): Reply => ({ status, data });
const invalid = (message: string): Reply => ({
  status: 422,
  data: { message: 'Validation Failed', errors: [{ resource: 'PullRequest', code: 'custom', message }] },
});

type Route = (call: Call, server: ForgeDouble, ...parts: readonly string[]) => Reply;

const list: Route = (call, server, owner) => {
  const own = server.projects.filter(({ path }) => path.startsWith(`${owner}/`));
  return own.length === 0
    ? NOT_FOUND
    : server.page(
        own.map((project) => shown(server, project)),
        call,
      );
};

const search: Route = (call, server) => {
  const words = (call.query.get('q') ?? '').split(' ');
  const isFound = ({ path }: Project) =>
    words.every((word) => word.startsWith('topic:') || path.includes(word));
  const found = server.projects.filter(isFound);
  const page = server.page(
    found.map((project) => shown(server, project)),
    call,
  );
  const total = words.includes('topic:everything') ? 4321 : found.length;
  return { ...page, data: { total_count: total, incomplete_results: false, items: page.data } };
};

const pulls: Route = (call, server, owner, name) => {
  const [who, branch] = (call.query.get('head') ?? '').split(/:(.*)/);
  const own = server.requests.filter(
    (each) => each.repository === `${owner}/${name}` && each.branch === branch,
  );
  const isWanted = call.query.get('state') === 'all' && who === owner;
  if (!isWanted) server.violations.push(`${call.path}: not by head, or not all`);
  return server.page(own.map((each) => pull(server, each)).toReversed(), call);
};

const open: Route = ({ body }, server, owner, name) => {
  const repository = `${owner}/${name}`;
  const { head, base, title, body: text, draft } = body;
  if (
    typeof head !== 'string' ||
    typeof base !== 'string' ||
    typeof title !== 'string' ||
    typeof text !== 'string'
  )
    return invalid('a field is missing');
  const sha = server.tip(repository, head);
  if (sha === undefined) return invalid('head is invalid');
  if (server.tip(repository, base) === undefined) return invalid('base is invalid');
  if (title.length > 256 || text.length > 65_536)
    return invalid('body is too long (maximum is 65536 characters)');
  const isOpen = (each: Request) =>
    each.repository === repository && each.branch === head && each.state === 'open';
  if (server.requests.some(isOpen)) return invalid(`A pull request already exists for ${owner}:${head}.`);
  const made: Request = {
    id: server.requests.length + 1,
    ...{ state: 'open', repository, branch: head, into: base, title, body: text, isDraft: draft === true },
    ...{ labels: [], reviewers: [], sha },
  };
  server.requests.push(made);
  return ok(pull(server, made), 201);
};

const one: Route = (_, server, owner, name, number) => {
  const found = numbered(server, `${owner}/${name}`, number);
  return found === undefined ? NOT_FOUND : ok(pull(server, found));
};

const label: Route = ({ body }, server, owner, name, number) => {
  const found = numbered(server, `${owner}/${name}`, number);
  if (found === undefined) return NOT_FOUND;
  found.labels = [...new Set([...found.labels, ...(body['labels'] as string[])])];
  return ok([]);
};

const review: Route = ({ body }, server, owner, name, number) => {
  const found = numbered(server, `${owner}/${name}`, number);
  if (found === undefined) return NOT_FOUND;
  const asked = [...(body['reviewers'] as string[]), ...(body['team_reviewers'] as string[])];
  if (asked.includes('stranger')) return invalid('Reviews may only be requested from collaborators.');
  found.reviewers = asked;
  return ok({}, 201);
};

/** An app that tests commits says what is set for a commit. */
const checkRuns: Route = (_, server, _owner, _name, sha = '') => {
  const word = server.checks.get(sha);
  const run = {
    status: word === 'pending' ? 'queued' : 'completed',
    conclusion: word === 'pending' ? null : word,
  };
  return ok({ total_count: word === undefined ? 0 : 1, check_runs: word === undefined ? [] : [run] });
};

const ROUTES: readonly (readonly [string, RegExp, Route])[] = [
  ['GET', /^orgs\/([^/]+)\/repos$/, list],
  ['GET', /^users\/([^/]+)\/repos$/, list],
  ['GET', /^search\/repositories$/, search],
  ['GET', /^repos\/([^/]+)\/([^/]+)\/pulls$/, pulls],
  ['POST', /^repos\/([^/]+)\/([^/]+)\/pulls$/, open],
  ['GET', /^repos\/([^/]+)\/([^/]+)\/pulls\/(\d+)$/, one],
  ['POST', /^repos\/([^/]+)\/([^/]+)\/issues\/(\d+)\/labels$/, label],
  ['POST', /^repos\/([^/]+)\/([^/]+)\/pulls\/(\d+)\/requested_reviewers$/, review],
  ['GET', /^repos\/([^/]+)\/([^/]+)\/commits\/(\w+)\/check-runs$/, checkRuns],
  ['GET', /^repos\/([^/]+)\/([^/]+)\/commits\/\w+\/status$/, () => ok({ state: 'pending', total_count: 0 })],
];

function numbered(server: ForgeDouble, repository: string, number: string | undefined): Request | undefined {
  return server.requests.find((each) => each.repository === repository && String(each.id) === number);
}

function shown({ base }: ForgeDouble, { path, archived = false, fork = false }: Project) {
  return {
    full_name: path,
    clone_url: `${base}/${path}.git`,
    ssh_url: `git@127.0.0.1:${path}.git`,
    archived,
    fork,
  };
}

function pull({ base }: ForgeDouble, { id, state, repository, branch, isDraft, sha }: Request) {
  return {
    number: id,
    html_url: `${base}/${repository}/pull/${id}`,
    state: state === 'open' ? 'open' : 'closed',
    merged_at: state === 'merged' ? '2026-01-01T00:00:00Z' : null,
    draft: isDraft,
    head: { ref: branch, sha },
  };
}

import type { Files } from '../../folders.js';
import { type Call, ForgeDouble, type Manner, type Project, type Reply, type Request } from './double.js';

const GITLAB: Manner = {
  root: '/api/v4',
  betweenWrites: 0,
  tokenIn: ({ authorization }) => /^Bearer (.+)$/.exec(authorization ?? '')?.[1],
  tooMany: (seconds) => ({
    status: 429,
    data: { message: 'Retry later' },
    headers: { 'retry-after': String(seconds), 'ratelimit-remaining': '0' },
  }),
  answer(call, server) {
    for (const [method, path, route] of ROUTES) {
      const found = method === call.method ? path.exec(call.path) : null;
      if (found !== null) return route(call, server, ...found.slice(1));
    }
    server.violations.push(`${call.method} ${call.path}: no such call`);
    return NOT_FOUND;
  },
};

/** A GitLab of one's own with these projects, each with all its groups. */
export function gitLabWith(repositories: Readonly<Record<string, Files>>, more: readonly Project[] = []) {
  return ForgeDouble.start(GITLAB, repositories, more);
}

const NOT_FOUND: Reply = { status: 404, data: { message: '404 Project Not Found' } };
const ok = (data: unknown, status = 200): Reply => ({ status, data });
const refused = (status: number, message: string): Reply => ({ status, data: { message: [message] } });
const USERS = ['ada', 'grace'];

type Route = (call: Call, server: ForgeDouble, ...parts: readonly string[]) => Reply;

const group: Route = (call, server, path) => {
  const isBelow = call.query.get('include_subgroups') === 'true';
  const isOwn = (name: string) =>
    name.startsWith(`${path}/`) && (isBelow || !name.slice(`${path}/`.length).includes('/'));
  const own = server.projects.filter((project) => isOwn(project.path));
  if (call.query.get('with_shared') !== 'false')
    server.violations.push('projects of other groups are wanted, too');
  return own.length === 0
    ? NOT_FOUND
    : server.page(
        own.map((project) => shown(server, project)),
        call,
      );
};

const person: Route = (call, server, name) =>
  server.page(
    server.projects.filter(({ path }) => path.startsWith(`${name}/`)).map((each) => shown(server, each)),
    call,
  );

const topic: Route = (call, server) => {
  if (call.query.get('topic') !== 'cuda') return ok([]);
  return server.page(
    server.projects.map((each) => shown(server, each)),
    call,
  );
};

const merges: Route = (call, server, path) => {
  const branch = call.query.get('source_branch');
  const own = server.requests.filter((each) => each.repository === path && each.branch === branch);
  // The same branch in somebody's fork.
  const theirs = { ...merge(server, { ...NOBODYS, branch: branch ?? '' }), source_project_id: 99 };
  return server.page([theirs, ...own.map((each) => merge(server, each)).toReversed()], call);
};

const open: Route = ({ body }, server, path = '') => {
  const { source_branch, target_branch, title, description, labels, reviewer_ids } = body;
  if (typeof source_branch !== 'string' || typeof target_branch !== 'string')
    return refused(400, 'is missing');
  if (typeof title !== 'string' || title.length > 255) return refused(400, 'title is too long');
  if (typeof description !== 'string' || description.length > 1_048_576) return refused(400, 'is too long');
  const sha = server.tip(path, source_branch);
  if (sha === undefined || server.tip(path, target_branch) === undefined)
    return refused(400, 'no such branch');
  const isOpen = (each: Request) =>
    each.repository === path && each.branch === source_branch && each.state === 'open';
  if (server.requests.some(isOpen))
    return refused(409, 'Another open merge request already exists for this source branch: !1');
  const made: Request = {
    id: server.requests.length + 1,
    ...{
      state: 'open',
      repository: path,
      branch: source_branch,
      into: target_branch,
      title,
      body: description,
    },
    isDraft: title.startsWith('Draft: '),
    labels: typeof labels === 'string' ? labels.split(',') : [],
    reviewers: Array.isArray(reviewer_ids) ? reviewer_ids.map((id) => USERS[id - 1] ?? '') : [],
    sha,
  };
  server.requests.push(made);
  return ok(merge(server, made), 201);
};

const one: Route = (_, server, path, number) => {
  const found = server.requests.find((each) => each.repository === path && String(each.id) === number);
  if (found === undefined) return NOT_FOUND;
  const status = server.checks.get(found.sha);
  return ok({ ...merge(server, found), head_pipeline: status === undefined ? null : { status } });
};

const users: Route = ({ query }) => {
  const id = USERS.indexOf(query.get('username') ?? '') + 1;
  return ok(id === 0 ? [] : [{ id, username: query.get('username') }]);
};

const ROUTES: readonly (readonly [string, RegExp, Route])[] = [
  ['GET', /^groups\/(.+)\/projects$/, group],
  ['GET', /^projects\/(.+)\/merge_requests$/, merges],
  ['POST', /^projects\/(.+)\/merge_requests$/, open],
  ['GET', /^projects\/(.+)\/merge_requests\/(\d+)$/, one],
  ['GET', /^users$/, users],
  ['GET', /^users\/([^/]+)\/projects$/, person],
  ['GET', /^projects$/, topic],
];

const NOBODYS: Request = {
  ...{ id: 77, state: 'open', repository: 'x/y', branch: '', into: 'main', title: '', body: '' },
  ...{ isDraft: false, labels: [], reviewers: [], sha: '' },
};

function shown({ base }: ForgeDouble, { path, archived = false, fork = false, empty = false }: Project) {
  return {
    path_with_namespace: path,
    http_url_to_repo: `${base}/${path}.git`,
    ssh_url_to_repo: `git@127.0.0.1:${path}.git`,
    archived,
    empty_repo: empty,
    ...(fork && { forked_from_project: { id: 1 } }),
  };
}

function merge({ base }: ForgeDouble, { id, state, repository, isDraft, sha }: Request) {
  return {
    iid: id,
    web_url: `${base}/${repository}/-/merge_requests/${id}`,
    state: state === 'open' ? 'opened' : state,
    draft: isDraft,
    sha,
    source_project_id: 1,
    target_project_id: 1,
  };
}

import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, push, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { offersIn, planIn, verdictsIn } from '../workspace/migrate/reviewing.js';
import { memfix } from './command-line.js';
import { type Reviewing, startReview } from './review-process.js';

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

async function plannedCampaign(files = { 'a.py': 'hold(1)\nhold(2)\n' }) {
  const bare = join(remotesWith({ one: files }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\n` });
  await migrate(camp, 'plan');
  return { bare, camp };
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request as anyone could send it, whatever a browser would say to that. */
function ask(url: string, { method = 'GET', path, headers = {}, body }: Asked = {}) {
  const { hostname, port, pathname } = new URL(url);
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; text: string }>(
    (resolve, reject) => {
      const where = { hostname, port, path: path ?? pathname, agent: false };
      const sent = request({ ...where, method, headers }, (answer) => {
        let text = '';
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
      });
      sent.on('error', reject);
      sent.end(body);
    },
  );
}

/** The decision that our own page would send. */
function saying(camp: string, url: string, more: Readonly<Record<string, unknown>> = {}): Required<Asked> {
  const { id, key } = planIn(camp);
  const refs = [offersIn(camp)[0]?.ref];
  const { origin, pathname } = new URL(url);
  return {
    method: 'POST',
    path: `${pathname}decisions`,
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ repository: id, plan: key, refs, verdict: 'reject', ...more }),
  };
}

const journal = (camp: string) => join(camp, 'decisions', `${planIn(camp).id}.jsonl`);
const said = (camp: string) =>
  existsSync(journal(camp)) ? readFileSync(journal(camp), 'utf8').split('\n').slice(0, -1) : [];

describe('who may enter', () => {
  test('only the page that memfix gave out, and nobody through another name, origin, method or form', async () => {
    const { camp } = await plannedCampaign();
    const { url } = await startReview(camp);
    const { host, origin, pathname, port } = new URL(url);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
    const page = await ask(url);
    expect(page).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-store', 'x-frame-options': 'DENY' },
    });
    expect(page.headers['content-security-policy']).toContain("connect-src 'self'");
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
    const good = saying(camp, url);
    const refused: readonly (readonly [string, number, Asked])[] = [
      ['no token', 404, { path: '/' }],
      ['a wrong token', 404, { path: `/${'A'.repeat(32)}/` }],
      ['a token that is too short', 404, { path: pathname.slice(0, -2) }],
      ['a token in other letters', 404, { path: pathname.toUpperCase() }],
      ['something else', 404, { path: `${pathname}state/x.json` }],
      ['a way out', 404, { path: `${pathname}../campaign.toml` }],
      ['a name that was led here', 403, { headers: { host: `evil.example:${port}` } }],
      ['another name of this machine', 403, { headers: { host: `localhost:${port}` } }],
      ['no port', 403, { headers: { host: '127.0.0.1' } }],
      [
        'a script of another site',
        403,
        { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } },
      ],
      ['a post to the page', 405, { method: 'POST' }],
      ['a get of a decision', 405, { path: good.path }],
      ['a put', 405, { ...good, method: 'PUT' }],
      [
        'a question by another origin',
        405,
        { ...good, method: 'OPTIONS', headers: { origin: 'https://evil.example' } },
      ],
      ['no token in a decision', 404, { ...good, path: '/decisions' }],
      ['no origin', 403, { ...good, headers: { 'content-type': 'application/json' } }],
      ['another origin', 403, { ...good, headers: { ...good.headers, origin: 'https://evil.example' } }],
      ['a file as the origin', 403, { ...good, headers: { ...good.headers, origin: 'null' } }],
      ['another port as the origin', 403, { ...good, headers: { ...good.headers, origin: `${origin}1` } }],
      [
        'a name that was led here, in a decision',
        403,
        {
          ...good,
          headers: { ...good.headers, host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
        },
      ],
      ['a form', 415, { ...good, headers: { ...good.headers, 'content-type': 'text/plain' } }],
      ['no type', 415, { ...good, headers: { origin } }],
      ['no JSON', 400, { ...good, body: '{' }],
      ['another shape', 400, { ...good, body: '[]' }],
      ['another verdict', 400, saying(camp, url, { verdict: 'maybe' })],
      ['nothing in particular', 400, saying(camp, url, { refs: [] })],
      ['too much', 413, { ...good, body: ' '.repeat(5_000_000) }],
      ['another repository', 404, saying(camp, url, { repository: '../../etc/passwd' })],
    ];
    for (const [what, status, asked] of refused) {
      const answer = await ask(url, asked);
      expect([what, answer.status]).toEqual([what, status]);
      expect(answer.text).not.toContain(pathname.slice(1, -1));
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    }
    expect(said(camp)).toEqual([]);
    expect(await ask(url, { ...good, headers: { ...good.headers, host } })).toMatchObject({ status: 204 });
    expect(said(camp)).toHaveLength(1);
  });

  test('no other machine', async () => {
    const { camp } = await plannedCampaign();
    const { url } = await startReview(camp);
    const outer = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    // 127.0.0.2 is this machine, too, and still another address than the one that is listened on.
    for (const address of ['127.0.0.2', ...outer.map(({ address }) => address)]) {
      const reached = await new Promise((resolve) => {
        const socket = connect(Number(new URL(url).port), address);
        socket.on('connect', () => resolve('connected')).on('error', () => resolve('refused'));
        socket.setTimeout(2_000, () => resolve('refused'));
      });
      expect([address, reached]).toEqual([address, 'refused']);
    }
  });

  test('a port that is named, if it is free; one review of a campaign at a time', async () => {
    const { camp } = await plannedCampaign();
    const { url } = await startReview(camp);
    const { port } = new URL(url);
    expect(await memfix({ cwd: camp, env: WORLD }, 'review')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Another review of this campaign is open'),
    });
    const other = await plannedCampaign();
    expect(await memfix({ cwd: other.camp, env: WORLD }, 'review', '--port', port)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('something else uses it'),
    });
    expect(await memfix({ cwd: camp, env: WORLD }, 'review', '--port', '99999')).toMatchObject({ code: 2 });
    const empty = folderWith({ 'campaign.toml': 'repositories = []\n' });
    expect(await memfix({ cwd: empty, env: WORLD }, 'review')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Nothing to review'),
    });
  });
});

describe('a decision', () => {
  const post = (review: Reviewing, camp: string, more = {}) =>
    ask(review.url, saying(camp, review.url, more));

  test('is in the campaign when it is answered, also where memfix is killed; `run` does as was decided', async () => {
    const { bare, camp } = await plannedCampaign();
    const review = await startReview(camp);
    expect(await post(review, camp)).toMatchObject({ status: 204 });
    await review.end('SIGKILL');
    expect(said(camp).map((line) => JSON.parse(line).verdict)).toEqual(['reject']);
    const again = await startReview(camp);
    expect((await ask(again.url)).text).toContain('"verdict":"reject"');
    const ended = await again.end();
    expect(ended).toEqual({ code: 0, stderr: expect.stringContaining('Nothing was decided.') });
    await migrate(camp, 'run', '--push');
    expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe('hold(1)\nrelease(2)\n');
  });

  test('is told at the end; said twice, it is written once; taken back, it is forgotten', async () => {
    const { camp } = await plannedCampaign();
    const review = await startReview(camp);
    const refs = offersIn(camp).map(({ ref }) => ref);
    for (const verdict of ['accept', 'accept', null, 'reject'])
      expect(await post(review, camp, { refs: refs.slice(0, 1), verdict })).toMatchObject({ status: 204 });
    expect(await post(review, camp, { refs: refs.slice(1), verdict: 'accept' })).toMatchObject({
      status: 204,
    });
    expect(said(camp).map((line) => JSON.parse(line).verdict)).toEqual(['accept', null, 'reject', 'accept']);
    const { code, stderr } = await review.end();
    expect(code).toBe(0);
    expect(stderr).toContain('1 accepted and 1 rejected in 1 repository.');
    expect(existsSync(join(camp, 'review.lock'))).toBe(false);
    expect(readFileSync(join(camp, 'report.html'), 'utf8')).toContain('"verdict":"reject"');
  });

  test('that was answered is kept, wherever in a hail of them memfix is killed', async () => {
    const lines = Array.from({ length: 60 }, (_, at) => `hold(${at})\n`);
    const { camp } = await plannedCampaign({ 'a.py': lines.join('') });
    const review = await startReview(camp);
    const answered = new Set<string>();
    const all = offersIn(camp).map(async ({ ref }) => {
      const answer = await post(review, camp, { refs: [ref] }).catch(() => undefined);
      if (answer?.status !== 204) return;
      answered.add(ref);
      if (answered.size === 20) review.child.kill('SIGKILL');
    });
    await Promise.all(all);
    expect(answered.size).toBeGreaterThanOrEqual(20);
    const verdicts = verdictsIn(camp);
    const kept = offersIn(camp).filter((_, at) => verdicts[at] === 'reject');
    expect(kept.map(({ ref }) => ref)).toEqual(expect.arrayContaining([...answered]));
    const again = await startReview(camp);
    expect(await post(again, camp, { verdict: 'accept' })).toMatchObject({ status: 204 });
  });

  test('about a plan that has changed counts for nothing, and is told so', async () => {
    const { bare, camp } = await plannedCampaign();
    const review = await startReview(camp);
    const old = saying(camp, review.url);
    const events = listenTo(review.url);
    await events.opened;
    push(bare, { 'a.py': 'hold(0)\nhold(1)\n' });
    await migrate(camp, 'plan', '--update');
    expect(await ask(review.url, old)).toMatchObject({
      status: 409,
      text: expect.stringContaining('has changed'),
    });
    expect(await post(review, camp, { refs: ['gone'] })).toMatchObject({ status: 409 });
    expect(said(camp)).toEqual([]);
    while (!events.text().includes('event: changed')) await pause(50);
    await migrate(camp, 'run', '--push');
    expect(await post(review, camp)).toMatchObject({
      status: 409,
      text: expect.stringContaining('is pushed'),
    });
    events.end();
  });

  test('is heard of in every window', async () => {
    const { camp } = await plannedCampaign();
    const review = await startReview(camp);
    const windows = [listenTo(review.url), listenTo(review.url)];
    await Promise.all(windows.map(({ opened }) => opened));
    await post(review, camp, { verdict: 'accept' });
    for (const { text, end } of windows) {
      while (!text().includes('"verdict":"accept"')) await pause(20);
      end();
    }
    // Also in one whose page was made before, and that listens only now.
    const late = listenTo(review.url);
    while (!late.text().includes('"verdict":"accept"')) await pause(20);
    late.end();
  });

  test('that cannot be saved is no decision', async () => {
    const { camp } = await plannedCampaign();
    const review = await startReview(camp);
    await post(review, camp, { verdict: 'accept' });
    // A folder in place of the journal: also root cannot append to that.
    const { rmSync, mkdirSync } = await import('node:fs');
    rmSync(journal(camp));
    mkdirSync(journal(camp));
    chmodSync(journal(camp), 0o755);
    const answer = await post(review, camp);
    expect(answer).toMatchObject({
      status: 500,
      text: expect.stringContaining('it is a folder, not a file'),
    });
    expect((await review.end()).stderr).toContain('1 accepted and 0 rejected');
  });
});

function listenTo(url: string) {
  let text = '';
  const sent = request(`${url}events`);
  const opened = new Promise<void>((resolve) => {
    sent.on('response', (answer) => {
      answer.on('data', (chunk) => {
        text += chunk;
        resolve();
      });
    });
  });
  sent.on('error', () => undefined);
  sent.end();
  return { opened, text: () => text, end: () => sent.destroy() };
}

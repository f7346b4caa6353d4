import { expect, onTestFinished, test } from 'vitest';
import { folderWith, put } from '../workspace/folders.js';
import { gitHubWith } from '../workspace/migrate/forge/github-double.js';
import { decide, offersIn } from '../workspace/migrate/reviewing.js';
import { memfix } from './command-line.js';

const FILES = { 'a.py': 'hold(1)\nhold(2)\nrisk()\n', 'b.py': 'hold(3)\n' };

async function campaign(files: Readonly<Record<string, string>>) {
  const forge = await gitHubWith({ 'acme/one': files });
  onTestFinished(() => expect(forge.violations).toEqual([]));
  const camp = folderWith({
    'campaign.toml': `repositories = ["${forge.base}/acme/one.git"]\n[forges]\n"127.0.0.1:${forge.port}" = "github+${forge.base}"\n`,
  });
  const migrate = (...words: readonly string[]) =>
    memfix({ cwd: camp, env: forge.world }, 'migrate', ...words);
  return { forge, camp, migrate };
}

type Migrate = Awaited<ReturnType<typeof campaign>>['migrate'];

/** Fixes, files, rejected and held ones, and fixes by transform, as each view has them. */
async function countsIn(migrate: Migrate) {
  const { stdout: terminal } = await migrate('status');
  const [, fixes = '0', files = '0'] = /(\d+) fix(?:es)? in (\d+) files?/.exec(terminal) ?? [];
  const figure = (pattern: RegExp) => Number(pattern.exec(terminal)?.[1] ?? 0);
  const json = JSON.parse((await migrate('report')).stdout);
  const [names = '', cells = ''] = (await migrate('report', '--csv')).stdout.split('\r\n');
  const row = new Map(names.split(',').map((name, index) => [name, cells.split(',')[index]]));
  const { stdout: html } = await migrate('report', '--html');
  const page = JSON.parse(/<script type="application\/json">(.*)<\/script>/.exec(html)?.[1] ?? '');
  const shown = ({ fixes, files, rejected, held }: Record<string, number>) => [fixes, files, rejected, held];
  return {
    terminal: [Number(fixes), Number(files), figure(/(\d+) rejected/), figure(/(\d+) held back/)],
    json: shown(json.repositories[0].tally),
    csv: ['fixes', 'files', 'rejected', 'held'].map((name) => Number(row.get(name))),
    page: shown(page.repositories[0].tally),
    byTransform: [figure(/drop-hold +(\d+) fix/), json.transforms[0]?.fixes ?? 0],
  };
}

const everywhere = (counts: readonly [number, number, number, number]) => ({
  ...{ terminal: counts, json: counts, csv: counts, page: counts },
  byTransform: [counts[0], counts[0]],
});

test('a rejected safe fix is rejected in every view, at once and in the pull request', async () => {
  const { forge, camp, migrate } = await campaign(FILES);
  await migrate('plan');
  expect(await countsIn(migrate)).toEqual(everywhere([3, 2, 0, 0]));
  decide(camp, 'reject', ({ path, line }) => path === 'a.py' && line === 2);
  expect(await countsIn(migrate)).toEqual(everywhere([2, 2, 1, 0]));
  expect(await migrate('run', '--push', '--pr')).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/pr open: .*, 2 fixes in 2 files, 1 rejected\n/),
  });
  expect(await countsIn(migrate)).toEqual(everywhere([2, 2, 1, 0]));
  const [{ title = '', body = '' } = {}] = forge.requests;
  expect(title).toBe('Fix GPU memory waste: 2 fixes in 2 files');
  expect(body).toContain(
    '1 place where a reviewer of this campaign rejected the fix:\n\n- `a.py:2`, `drop-hold`: Change hold.\n',
  );
  expect(body).toContain('1 place for a person to decide');
  expect(body).toContain('`calm-risk`: Is `risk` read only here?');
  expect(body).toContain('# shows what was rejected for this branch: 1 fix\n');
  const { planned } = JSON.parse((await migrate('report')).stdout).repositories[0];
  expect(planned).toMatchObject({ remaining: 1, rejected: 1 });
  expect(planned.left.map(({ kind, line }: { kind: string; line: number }) => [kind, line])).toEqual([
    ['unsafe', 3],
    ['rejected', 2],
  ]);
});

test('what is pushed counts as it was pushed, whatever is said later', async () => {
  const { camp, migrate } = await campaign(FILES);
  await migrate('run', '--push');
  decide(camp, 'reject', () => true);
  expect(await countsIn(migrate)).toEqual(everywhere([3, 2, 0, 0]));
});

test('what is held back is told from what is rejected', async () => {
  const { camp, migrate } = await campaign({ 'a.py': 'hold(1)\nhold(2)\n' });
  await migrate('plan');
  const [offer] = offersIn(camp);
  const state = JSON.parse((await migrate('report')).stdout).repositories[0].id;
  // As after an update: the same words were rejected in another version of the file.
  const line = { ...offer, changes: undefined, hash: 'other', file: 'other', verdict: 'reject' };
  put(camp, { [`decisions/${state}.jsonl`]: `${JSON.stringify(line)}\n` });
  await migrate('plan');
  expect(await countsIn(migrate)).toEqual(everywhere([0, 0, 0, 2]));
  decide(camp, 'accept', ({ line: at }) => at === 2);
  expect(await countsIn(migrate)).toEqual(everywhere([1, 1, 0, 1]));
  await migrate('plan');
  expect(await countsIn(migrate)).toEqual(everywhere([1, 1, 0, 1]));
});

test('a safe fix that the settings of a repository forbid is not called unproven', async () => {
  const { migrate } = await campaign({ 'a.py': 'hold()\n', 'memfix.toml': 'unfixable = ["drop-hold"]\n' });
  await migrate('plan');
  const { status, planned } = JSON.parse((await migrate('report')).stdout).repositories[0];
  expect([status, planned.left]).toEqual([
    'no change',
    [{ transform: 'drop-hold', path: 'a.py', line: 1, kind: 'unfixed', because: 'hold costs memory' }],
  ]);
});

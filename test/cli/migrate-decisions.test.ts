import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toy } from '../support/toy.js';
import { folderWith, git } from '../workspace/folders.js';
import { BRANCH, branchesOf, commitsOn, push, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { decide, offersIn } from '../workspace/migrate/reviewing.js';
import { memfix } from './command-line.js';
import { TOYS } from './toys.js';

const migrate = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, env: WORLD }, 'migrate', ...words);

function campaign(files: Readonly<Record<string, string>>, more = ''): { bare: string; camp: string } {
  const bare = join(remotesWith({ one: files }), 'one.git');
  return { bare, camp: folderWith({ 'campaign.toml': `repositories = [${JSON.stringify(bare)}]\n${more}` }) };
}

const inFile = (bare: string, path: string) => git(bare, 'show', `${BRANCH}:${path}`);

test('a plan offers each fix with its own diff', async () => {
  const { camp } = campaign({
    'a.py': 'x = 1\nhold(1)\nhold(2)\nrisk()\n',
    'b.py': '"""\nhold\n"""\nhold()\n',
  });
  await migrate(camp, 'plan');
  expect(offersIn(camp)).toMatchObject([
    {
      path: 'a.py',
      line: 2,
      transform: 'drop-hold',
      title: 'Change hold',
      message: 'hold costs memory',
      fate: 'taken',
      changes: [
        {
          path: 'a.py',
          hunks: [{ old: 1, new: 1, lines: [' x = 1', '-hold(1)', '+release(1)', ' hold(2)', ' risk()'] }],
        },
      ],
    },
    {
      line: 3,
      changes: [{ hunks: [{ lines: [' x = 1', ' hold(1)', '-hold(2)', '+release(2)', ' risk()'] }] }],
    },
    { path: 'b.py', line: 4 },
  ]);
  expect(new Set(offersIn(camp).map(({ ref }) => ref)).size).toBe(3);
});

test('a fix that another one leaves nothing to do for is not in the patch, unless that one is rejected', async () => {
  const { bare, camp } = campaign({ 'a.py': 'hold()\nhold()\n' });
  const rival = toy('z-rival', 'hold', (edit, node) => void edit.replace(node, 'rival'));
  const run = (...words: readonly string[]) =>
    memfix({ cwd: camp, env: WORLD, transforms: [...TOYS, rival] }, 'migrate', ...words);
  await run('plan');
  const fates = () => offersIn(camp).map(({ transform, line, fate }) => [transform, line, fate]);
  expect(fates()).toEqual([
    ['drop-hold', 1, 'taken'],
    ['z-rival', 1, 'dropped'],
    ['drop-hold', 2, 'taken'],
    ['z-rival', 2, 'dropped'],
  ]);
  decide(camp, 'reject', ({ transform, line }) => transform === 'drop-hold' && line === 2);
  await run('run', '--push');
  expect(fates().map(([, , fate]) => fate)).toEqual(['taken', 'dropped', 'rejected', 'taken']);
  expect(inFile(bare, 'a.py')).toBe('release()\nrival()\n');
});

test('what is rejected is in no patch and no commit; taken back, it is', async () => {
  const { bare, camp } = campaign({ 'a.py': 'hold(1)\nhold(2)\n' });
  await migrate(camp, 'run');
  decide(camp, 'reject', ({ line }) => line === 1);
  expect((await migrate(camp, 'plan')).stderr).toContain('planned: 1 fix in 1 file, 1 rejected');
  expect(offersIn(camp).map(({ fate }) => fate)).toEqual(['rejected', 'taken']);
  expect(await migrate(camp, 'run')).toMatchObject({ code: 0 });
  decide(camp, null, ({ line }) => line === 1);
  decide(camp, 'reject', ({ line }) => line === 2);
  expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
  expect(inFile(bare, 'a.py')).toBe('release(1)\nhold(2)\n');
  expect(commitsOn(bare)).toHaveLength(1);
});

test('with one commit for each transform, too', async () => {
  const { bare, camp } = campaign(
    { 'a.py': 'hold(1)\nrare()\nhold(2)\n' },
    'select = ["all"]\ncommits = "transform"\n',
  );
  await migrate(camp, 'plan');
  decide(camp, 'reject', ({ line }) => line === 3);
  expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
  expect(inFile(bare, 'a.py')).toBe('release(1)\ncommon()\nhold(2)\n');
  expect(commitsOn(bare)).toHaveLength(2);
});

test('where all is rejected, nothing is committed, and the status says so', async () => {
  const { bare, camp } = campaign({ 'a.py': 'hold()\n' });
  await migrate(camp, 'plan');
  decide(camp, 'reject', () => true);
  expect(await migrate(camp, 'run', '--push')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('1 rejected'),
  });
  expect(branchesOf(bare)).toEqual(['main']);
  decide(camp, 'accept', () => true);
  expect((await migrate(camp, 'run', '--push')).stderr).toContain('1 pushed');
});

test('a rejection outlives an update: its likes are held back until someone looks again', async () => {
  const { bare, camp } = campaign({ 'a.py': 'hold(1)\nhold(2)\n', 'b.py': 'hold(3)\n' });
  await migrate(camp, 'plan');
  decide(camp, 'reject', ({ path, line }) => path === 'a.py' && line === 2);
  decide(camp, 'reject', ({ path }) => path === 'b.py');
  push(bare, { 'a.py': 'hold(0)\nhold(1)\nhold(2)\n' });
  await migrate(camp, 'plan', '--update');
  expect(offersIn(camp).map(({ fate }) => fate)).toEqual(['held', 'held', 'held', 'rejected']);
  decide(camp, 'accept', ({ path, line }) => path === 'a.py' && line < 3);
  expect(await migrate(camp, 'run', '--push')).toMatchObject({ code: 0 });
  expect(inFile(bare, 'a.py')).toBe('release(0)\nrelease(1)\nhold(2)\n');
  expect(inFile(bare, 'b.py')).toBe('hold(3)\n');
});

test('a decision that comes after the commit keeps it from being pushed', async () => {
  const { bare, camp } = campaign({ 'a.py': 'hold(1)\nhold(2)\n' });
  await migrate(camp, 'plan');
  const [offer] = offersIn(camp);
  const line = JSON.stringify({ ...offer, changes: undefined, verdict: 'reject' });
  const folder = join(camp, 'decisions');
  // The verify command runs between plan and push, as a reviewer would.
  const verify = `mkdir -p ${folder} && for state in ${camp}/state/*.json; do cat ${camp}/line > ${folder}/$(basename $state .json).jsonl; done`;
  writeFileSync(join(camp, 'line'), `${line}\n`);
  const settings = (more: string) =>
    writeFileSync(join(camp, 'campaign.toml'), `repositories = [${JSON.stringify(bare)}]\n${more}`);
  settings(`verify = ${JSON.stringify(verify)}\nverify-sandbox = "none"\n`);
  expect(await migrate(camp, 'run', '--push')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Reviewed while it was worked on'),
  });
  expect(existsSync(folder)).toBe(true);
  expect(branchesOf(bare)).toEqual(['main']);
  expect(await migrate(camp, 'run', '--push', '--failed')).toMatchObject({ code: 0 });
  expect(inFile(bare, 'a.py')).toBe('hold(1)\nrelease(2)\n');
});

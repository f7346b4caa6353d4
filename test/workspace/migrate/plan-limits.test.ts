import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith } from '../folders.js';
import { Program, Works } from './programs.js';
import { campaignOver } from './queue-campaigns.js';

/** These wait for processes: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = toyProgram();

const LIMITS = '[limits]\nplan-memory = "100MB"\n';

test.each([
  ['takes all memory', 'hoard()\n', LIMITS, 'it ran out of memory (100 MB)'],
  ['takes memory beside the heap', 'swell()\n', LIMITS, 'it took more than 200 MB of memory'],
  [
    'is looked at for ever',
    'linger("/dev/null")\n',
    '[limits]\nplan-timeout = "10s"\n',
    'it took longer than 10 s',
  ],
  ['crashes what looks at it', 'crash()\n', '', 'it crashed with SIGABRT'],
])('a repository that %s fails by its name, and the others are done', async (_, code, limits, reason) => {
  const { camp, pushes } = campaignOver({ bad: code, fine: 'hold()\n', good: 'hold()\n' }, limits);
  const run = new Program(PROGRAM, camp, ['migrate', 'run', '--push']);
  expect(await run.ended, run.said).toBe(1);
  expect(run.said).toMatch(/bad: failed \(plan\): The repository cannot be planned/);
  expect(run.said).toContain(`was lost 2 times; the last time ${reason}`);
  expect(run.said).toContain('3 repositories: 2 pushed, 1 failed.');
  expect(pushes()).toEqual({ bad: 0, fine: 1, good: 1 });
});

test('a repository that crashes what looks at it once is tried again, and done', async () => {
  const once = join(folderWith(), 'once');
  const { camp, check } = campaignOver({ odd: `hold(stumble("${once}"))\n` });
  const run = new Program(PROGRAM, camp, ['migrate', 'run', '--push']);
  expect(await run.ended, run.said).toBe(0);
  expect(existsSync(once)).toBe(true);
  check();
});

test('what looks at code sees no token', async () => {
  const file = join(folderWith(), 'environment');
  const { camp } = campaignOver({ nosy: `hold(spill("${file}"))\n` });
  const env = { GH_TOKEN: 's3cret', AWS_SECRET_ACCESS_KEY: 's3cret', MEMFIX_TOKEN_EXAMPLE_ORG: 's3cret' };
  const run = new Program(PROGRAM, camp, ['migrate', 'plan'], env);
  expect(await run.ended, run.said).toBe(0);
  const seen = readFileSync(file, 'utf8');
  expect(seen).toContain('"PATH"');
  expect(seen).not.toContain('s3cret');
});

test.each([['SIGKILL'], ['SIGINT']] as const)(
  'nothing is left that looks at code after %s',
  async (signal) => {
    const file = join(folderWith(), 'pid');
    const { camp } = campaignOver({ endless: `linger("${file}")\n` });
    const run = new Program(PROGRAM, camp, ['migrate', 'run', '--push']);
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(20);
    const pid = readFileSync(file, 'utf8');
    expect(pid).not.toBe(String(run.child.pid));
    run.child.kill(signal);
    expect(await run.ended).toBe(signal === 'SIGINT' ? 130 : signal);
    while (isRunning(pid)) await pause(20);
  },
);

/** One that has ended and that nobody has asked about has no command line any more. */
function isRunning(pid: string): boolean {
  const line = `/proc/${pid}/cmdline`;
  return existsSync(line) && readFileSync(line, 'utf8') !== '';
}

test('a worker survives what crashes the process that looks at it, and tries that twice in all', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, pushes } = campaignOver({ bad: 'crash()\n', fine: 'hold()\n' });
  const worker = await works.worker({ words: ['--lease', '2s'] });
  const run = works.migrate(camp, ['run', '--push', '-v']);
  expect(await run.ended, run.said).toBe(1);
  expect(run.said).toMatch(/bad: failed \(plan\): The repository cannot be planned/);
  expect(run.said.match(/bad: plan …/g)).toHaveLength(1);
  expect(pushes()).toEqual({ bad: 0, fine: 1 });
  expect(worker.child.exitCode).toBe(null);
});

test('a worker that plans for longer than its lease keeps what it has', async () => {
  const works = await Works.open(PROGRAM);
  const { camp, check } = campaignOver({ long: 'hold(dawdle)\n' });
  for (const _ of [1, 2]) await works.worker({ words: ['--lease', '3s'] });
  const run = works.migrate(camp, ['run', '--push', '-v']);
  expect(await run.ended, run.said).toBe(0);
  expect(run.said.match(/long: plan …/g)).toHaveLength(1);
  check();
});

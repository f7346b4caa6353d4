import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { memfix } from '../../cli/command-line.js';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith, put } from '../folders.js';
import { Program } from './programs.js';
import { campaignOver } from './queue-campaigns.js';
import { WORLD } from './remotes.js';

/** These wait for processes: a busy machine takes its time. */
vi.setConfig({ testTimeout: 240_000 });

const PROGRAM = toyProgram();

/** What a process sees in a container of this name. */
function inContainer(name: string) {
  const patch = `import os from 'node:os'; import { syncBuiltinESMExports } from 'node:module';
    os.hostname = () => '${name}'; syncBuiltinESMExports();`;
  const url = `data:text/javascript;base64,${Buffer.from(patch).toString('base64')}`;
  return { NODE_OPTIONS: `--import ${url}` };
}

const migrate = (camp: string, container: string, ...words: readonly string[]) =>
  new Program(PROGRAM, camp, ['migrate', ...words], inContainer(container));

/** A campaign whose verify command waits, once, until a file is there. */
function waitingCampaign() {
  const signs = folderWith();
  const verify = `mkdir ${signs}/began && while ! [ -e ${signs}/go ]; do sleep 0.1; done; true`;
  return {
    ...campaignOver({ one: 'hold()\n' }, `verify = '${verify}'\nverify-sandbox = 'none'\n`),
    async began(): Promise<void> {
      while (!existsSync(join(signs, 'began'))) await pause(20);
    },
    go: () => put(signs, { go: '' }),
  };
}

const heartbeats = (camp: string) =>
  readdirSync(join(camp, 'mirrors')).filter((name) => name.startsWith('.alive-'));

/** As if the last beat were so many seconds ago. */
function age(camp: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  for (const name of heartbeats(camp)) utimesSync(join(camp, 'mirrors', name), then, then);
}

test('what a run held that was killed in another container is free a minute after its last sign of life', async () => {
  const { camp, check, began } = waitingCampaign();
  const first = migrate(camp, 'first', 'run', '--push');
  await began();
  first.child.kill('SIGKILL');
  await first.ended;
  expect(heartbeats(camp)).toHaveLength(1);
  age(camp, 10);
  const early = migrate(camp, 'second', 'resume');
  expect([await early.ended, early.said]).toEqual([
    1,
    expect.stringMatching(/passed over: .*process \d+ on first holds it, and was heard of \d+ s ago/),
  ]);
  age(camp, 100);
  const resumed = migrate(camp, 'second', 'resume');
  expect(await resumed.ended, resumed.said).toBe(0);
  check();
  expect(readdirSync(join(camp, 'mirrors'))).toHaveLength(1);
});

test('a run that was suspended and taken for dead does nothing more when it goes on', async () => {
  const { camp, check, began, go } = waitingCampaign();
  const first = migrate(camp, 'first', 'run', '--push');
  await began();
  first.child.kill('SIGSTOP');
  age(camp, 100);
  const second = migrate(camp, 'second', 'resume');
  expect(await second.ended, second.said).toBe(0);
  go();
  first.child.kill('SIGCONT');
  expect([await first.ended, first.said]).toEqual([
    1,
    expect.stringContaining('Another run has taken this repository over'),
  ]);
  check();
  await expect(migrateStatus(camp)).resolves.toContain('1 pushed');
  expect(readdirSync(join(camp, 'mirrors'))).toHaveLength(1);
});

async function migrateStatus(camp: string): Promise<string> {
  return (await memfix({ cwd: camp, env: WORLD }, 'migrate', 'status')).stderr;
}

test('a run that lives is not taken for dead, whatever the times of its files say', async () => {
  const { camp, check, began, go } = waitingCampaign();
  const first = migrate(camp, 'first', 'run', '--push');
  await began();
  for (const seconds of [3600, -3600]) {
    age(camp, seconds);
    const second = migrate(camp, 'second', 'resume');
    expect([await second.ended, second.said]).toEqual([1, expect.stringContaining('passed over')]);
  }
  go();
  expect(await first.ended, first.said).toBe(0);
  check();
});

test('`--takeover` takes a repository from a process that lives, which leaves it alone', async () => {
  const { camp, check, began } = waitingCampaign();
  const first = migrate(camp, hostname(), 'run', '--push');
  await began();
  const second = migrate(camp, hostname(), 'resume', '--takeover');
  expect(await second.ended, second.said).toBe(0);
  expect([await first.ended, first.said]).toEqual([
    1,
    expect.stringContaining('Another run has taken this repository over'),
  ]);
  check();
});

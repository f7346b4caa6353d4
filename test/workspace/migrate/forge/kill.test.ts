import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { toyProgram } from '../../../cli/toy-program.js';
import { folderWith } from '../../folders.js';
import { BRANCH, branchesOf, countPushes } from '../remotes.js';
import { gitHubWith } from './github-double.js';
import { gitLabWith } from './gitlab-double.js';

const PROGRAM = toyProgram();

const FORGES = [
  ['GitHub', gitHubWith, 'github'],
  ['GitLab', gitLabWith, 'gitlab'],
] as const;
const MOMENTS = [
  ['before it looks for a pull request', /^GET .*(?:pulls|merge_requests)$/, 'before'],
  ['before one is opened', /^POST .*(?:pulls|merge_requests)$/, 'before'],
  ['between opening one and writing that down', /^POST .*(?:pulls|merge_requests)$/, 'after'],
] as const;

const CASES = FORGES.flatMap(([name, ...forge]) =>
  MOMENTS.map(([moment, ...fault]) => [name, moment, ...forge, ...fault] as const),
);

test.each(CASES)(
  'killed on %s %s, a campaign is resumed and there is one pull request',
  async (_, __, forgeWith, kind, at, when) => {
    const forge = await forgeWith({ 'acme/one': { 'a.py': 'hold()\n' } });
    const pushes = countPushes(forge.bare('acme/one'));
    const camp = folderWith({
      'campaign.toml': `repositories = ['${forge.base}/acme/one.git']\n[forges]\n"127.0.0.1:${forge.port}" = "${kind}+${forge.base}"\n`,
    });
    const memfix = (...words: readonly string[]) =>
      spawn(process.execPath, [PROGRAM, 'migrate', ...words], {
        cwd: camp,
        env: forge.world,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
    const doomed = memfix('run', '--push', '--pr');
    const reply = () => {
      doomed.kill('SIGKILL');
      return 'drop' as const;
    };
    forge.faults.push({ at, when, reply });
    expect((await once(doomed, 'exit'))[1]).toBe('SIGKILL');
    expect(forge.requests).toHaveLength(when === 'after' ? 1 : 0);
    for (let round = 0; round < 2; round++) {
      const again = memfix('resume');
      const [said, [code]] = await Promise.all([text(again.stderr), once(again, 'exit')]);
      expect([code, said]).toEqual([0, expect.stringContaining('1 pr open')]);
    }
    expect(forge.requests).toHaveLength(1);
    expect(branchesOf(forge.bare('acme/one'))).toEqual(['main', BRANCH]);
    expect(pushes()).toBe(1);
    expect(forge.violations).toEqual([]);
  },
);

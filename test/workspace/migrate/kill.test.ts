import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hold } from '../../../src/workspace/migrate/hold.js';
import { toyProgram } from '../../cli/toy-program.js';
import { folderWith, git } from '../folders.js';
import { BRANCH, branchesOf, commitsOn, countPushes, remotesWith, WORLD } from './remotes.js';

const PROGRAM = toyProgram();

/** A git that, called with these words for the first time, kills memfix, whose shell calls it: before its work, or after. */
const DEADLY_GIT = `#!/bin/sh
case " $* " in *"$KILL_AT"*)
  if mkdir "$KILL_ONCE" 2>/dev/null; then
    [ "$KILL_WHEN" = after ] && "$REAL_GIT" "$@"
    kill -9 "$(cut -d ' ' -f 4 "/proc/$PPID/stat")"
    exit 1
  fi;;
esac
exec "$REAL_GIT" "$@"
`;
/** Other clones come with their files. */
const PARTIAL = "clone = 'partial'\n";
const REAL_GIT = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();

/** The verify command may reach memfix itself. */
const OPEN = "verify-sandbox = 'none'\nverify-env = ['KILL_AT', 'KILL_ONCE']\n";

test.each([
  ['clone', ' clone ', 'before'],
  ['clone', ' clone ', 'after'],
  ['plan', ' read-tree ', 'before'],
  ['plan', ' read-tree ', 'after'],
  ['plan', 'detect', 'before'],
  ['apply', ' apply --index ', 'before'],
  ['apply', ' apply --index ', 'after'],
  ['apply', ' commit --quiet ', 'after'],
  ['verify', 'verifying', 'before'],
  ['push', ' push ', 'before'],
  ['push', ' push ', 'after'],
])('killed in %s (%s, %s), a campaign is resumed and nothing is done twice', (_, at, when) => {
  const killed = join(folderWith(), 'killed');
  const code = at === 'detect' ? `hold(fatal("${killed}"))\n` : 'hold()\n';
  const remotes = remotesWith({ one: { 'a.py': code } });
  const bare = join(remotes, 'one.git');
  const pushes = countPushes(bare);
  const verify =
    'if [ "$KILL_AT" = verifying ] && mkdir "$KILL_ONCE"; then echo $$ > "$KILL_ONCE/pid"; kill -9 $PPID; sleep 60; fi';
  const camp = folderWith({
    'campaign.toml': `repositories = ['${bare}']\n${at.includes('read-tree') ? PARTIAL : ''}verify = '${verify}'\n${OPEN}`,
    'bin/git': DEADLY_GIT,
  });
  chmodSync(join(camp, 'bin', 'git'), 0o755);
  const memfix = (...words: readonly string[]) =>
    spawnSync(process.execPath, [PROGRAM, 'migrate', ...words], {
      cwd: camp,
      encoding: 'utf8',
      env: {
        ...WORLD,
        ...{ PATH: `${join(camp, 'bin')}:${WORLD['PATH']}`, REAL_GIT },
        ...{ KILL_AT: at, KILL_WHEN: when, KILL_ONCE: killed },
      },
    });
  expect(memfix('run', '--push').signal).toBe('SIGKILL');
  expect(memfix('resume')).toMatchObject({ status: 0, stderr: expect.stringContaining('1 pushed') });
  if (at === 'verifying') expect(isRunning(readFileSync(join(killed, 'pid'), 'utf8'))).toBe(false);
  expect(branchesOf(bare)).toEqual(['main', BRANCH]);
  expect(commitsOn(bare)).toEqual(['Fix GPU memory waste']);
  expect(git(bare, 'show', `${BRANCH}:a.py`)).toBe(code.replace('hold', 'release'));
  expect(pushes()).toBe(1);
  expect(readdirSync(join(camp, 'trees'))).toEqual([]);
  expect(readdirSync(join(camp, 'mirrors'))).toHaveLength(1);
  expect(memfix('resume')).toMatchObject({ status: 0 });
  expect(pushes()).toBe(1);
});

test('what a killed run was about to remove, the next one removes, unless it is kept or held', async () => {
  const remotes = remotesWith({ one: { 'a.py': 'hold()\n' } });
  const camp = folderWith({ 'campaign.toml': `repositories = ['${join(remotes, 'one.git')}']\n` });
  const memfix = (...words: readonly string[]) =>
    spawnSync(process.execPath, [PROGRAM, 'migrate', ...words], { cwd: camp, encoding: 'utf8', env: WORLD });
  const trees = () => readdirSync(join(camp, 'trees'));
  expect(memfix('run', '--push', '--keep', 'all').status).toBe(0);
  const [tree = ''] = trees();
  expect(memfix('resume').status).toBe(0);
  const held = await hold(join(camp, 'mirrors', `${tree}.lock`));
  expect(memfix('resume', '--keep', 'failed').status).toBe(0);
  expect(trees()).toEqual([tree]);
  held.release();
  expect(memfix('resume', '--keep', 'failed').status).toBe(0);
  expect(trees()).toEqual([]);
  mkdirSync(join(camp, 'trees', tree));
  const last = join(camp, 'runs', 'all.json');
  writeFileSync(last, readFileSync(last, 'utf8').replace('"all"', '"failed"'));
  expect(memfix('run', '--push').status).toBe(0);
  expect(trees()).toEqual([]);
});

/** A process that has ended and that nobody has asked about has no command line any more. */
function isRunning(pid: string): boolean {
  const line = `/proc/${pid.trim()}/cmdline`;
  return existsSync(line) && readFileSync(line, 'utf8') !== '';
}

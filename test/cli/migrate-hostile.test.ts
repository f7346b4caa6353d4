import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, folderWith, git, put } from '../workspace/folders.js';
import { BRANCH, branchesOf, remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const SECRET = 'ghp_planted0secret';
const TOKENS = { GH_TOKEN: SECRET, MY_PASSWORD: SECRET, REDIS_URL: `redis://:${SECRET}@cache` };

/** A campaign over one repository with these files, after `migrate run --push` with tokens in the environment. */
async function campaign(
  files: Readonly<Record<string, string>>,
  lines: string,
  env: Readonly<Record<string, string>> = {},
) {
  const bare = join(remotesWith({ one: { 'a.py': 'hold()\n', ...files } }), 'one.git');
  const camp = folderWith({ 'campaign.toml': `repositories = ["${bare}"]\n${lines}\n` });
  const migrate = (...words: readonly string[]) =>
    memfix({ cwd: camp, env: { ...WORLD, ...TOKENS, ...env } }, 'migrate', ...words);
  const { code, stderr } = await migrate('run', '--push', '--keep', 'all');
  const [repository] = JSON.parse((await migrate('report')).stdout).repositories;
  const [log] = existsSync(join(camp, 'logs')) ? readdirSync(join(camp, 'logs')) : [];
  const output = log === undefined ? '' : readFileSync(join(camp, 'logs', log), 'utf8');
  return { code, stderr, camp, bare, repository, log: output, migrate };
}

/** A program that writes down the environment it is given. */
function spyIn(folder: string): string {
  put(folder, { spy: `#!/bin/sh\nenv >> '${folder}/caught'\n` });
  chmodSync(join(folder, 'spy'), 0o755);
  return join(folder, 'spy');
}

/** Shell lines that set every trap in the git folder `$folder`: each starts a program, or sends git elsewhere. */
function traps(spy: string): string {
  const config = `[url "ext::${spy}"]
	insteadOf = /
	pushInsteadOf = /
[core]
	sshCommand = ${spy}
	gitProxy = ${spy}
	fsmonitor = ${spy}
	hooksPath = hooks
[credential]
	helper = ${spy}
[protocol "ext"]
	allow = always
[remote "origin"]
	receivepack = ${spy}
	uploadpack = ${spy}
	pushurl = ext::${spy}
[filter "spy"]
	clean = ${spy}
	smudge = ${spy}
`;
  return `
cat >> "$folder/config" <<'END'
${config}
END
mkdir -p "$folder/hooks" "$folder/info" "$folder/elsewhere" "$folder/refs/replace"
for hook in pre-push reference-transaction post-index-change post-checkout; do
  ln -sf '${spy}' "$folder/hooks/$hook"
done
echo '* filter=spy' > "$folder/info/attributes"
cp "$folder/config" "$folder/config.worktree"
cp "$folder/config" "$folder/elsewhere/config"
`;
}

/** Sets them wherever a work tree leads to, and in the mirror, whose place is guessed. */
function intruder(spy: string): string {
  return `
for folder in "$(git rev-parse --absolute-git-dir)" "$(git rev-parse --git-common-dir)" \\
  "\${MEMFIX_PROVE_TREE:-$PWD}"/../../mirrors/*; do
[ -d "$folder" ] || continue
${traps(spy)}
done
for folder in "\${MEMFIX_PROVE_TREE:-$PWD}"/../../mirrors/*; do
  if [ -d "$folder" ]; then mirror=$folder; echo elsewhere > "$folder/commondir"; fi
done
# In a session of its own, so that it outlives the command if nobody ends it.
setsid sh -c 'while :; do printf "[core]\\n\\tsshCommand = ${spy}\\n" >> "$0/config"; sleep 0.02; done' "$mirror" &
`;
}

/** Loads what changes, so that a proof counts, and then does its own work. */
const TRAIN = `import builtins, subprocess
for name in ("ho" + "ld", "release"):
    setattr(builtins, name, lambda: None)
import a
subprocess.run(["sh", "verify.sh"], check=True)
print("trained")
`;

describe('code that a verify command runs', () => {
  test.each([
    ['command', 'verify = "sh verify.sh"'],
    ['proof', 'verify = "memfix prove -- python3 train.py"'],
  ])('does not turn the push around (%s)', async (_, verify) => {
    const spies = folderWith();
    const files = { 'train.py': TRAIN, 'verify.sh': intruder(spyIn(spies)) };
    const { code, repository, bare, camp, migrate } = await campaign(
      files,
      `${verify}\nverify-sandbox = "none"`,
    );
    expect([repository.failure, code, repository.status]).toEqual([undefined, 0, 'pushed']);
    expect(branchesOf(bare)).toEqual(['main', BRANCH]);
    // Nor what comes after it: fetching, checking out, comparing.
    git(bare, 'branch', '--delete', '--force', BRANCH);
    expect(await migrate('plan', '--update')).toMatchObject({ code: 0 });
    expect(existsSync(join(spies, 'caught'))).toBe(false);
    const [mirror = ''] = readdirSync(join(camp, 'mirrors')).filter((name) => !name.endsWith('.lock'));
    const folder = join(camp, 'mirrors', mirror);
    expect(readFileSync(join(folder, 'config'), 'utf8')).not.toContain('spy');
    const running = readdirSync('/proc').filter((pid) => commandOf(pid).includes(`${spies}/spy`));
    expect(running).toEqual([]);
    expect(readFileSync(join(folder, 'info/attributes'), 'utf8')).toMatch(/^# Nothing is converted/);
  });

  test('has a git folder of its own: staged changes, no remote, gone afterwards', async () => {
    const script = `
git rev-parse --absolute-git-dir
git diff --cached --name-only
git log --format=%s
git remote
git -c user.name=x -c user.email=x@example.invalid commit --quiet --message mine
git update-ref refs/heads/memfix/fixes HEAD
git tag mine
`;
    const { code, log, camp, bare } = await campaign(
      { 'verify.sh': script },
      'verify = "sh verify.sh"\nverify-sandbox = "none"',
    );
    expect(code).toBe(0);
    const [tree = ''] = readdirSync(join(camp, 'trees'));
    const lines = log.trimEnd().split('\n');
    expect(lines.slice(1)).toEqual([join(camp, 'trees', tree, '.git'), 'a.py', 'state']);
    expect(git(bare, 'log', '--format=%s', `main..${BRANCH}`)).not.toContain('mine');
    expect(git(join(camp, 'trees', tree), 'tag')).toBe('');
    expect(readFileSync(join(camp, 'trees', tree, '.git'), 'utf8')).toMatch(/^gitdir: .*mirrors/);
  });

  test('gets only what it needs of the environment, and what the campaign names', async () => {
    const env = { HF_HOME: '/models', CUDA_VISIBLE_DEVICES: '1', LC_CTYPE: 'C', CONDA_TOKEN: SECRET };
    const lines = 'verify = "env"\nverify-sandbox = "none"\n';
    const { log } = await campaign({}, `${lines}verify-env = ["HF_HOME"]`, env);
    const names = log
      .split('\n')
      .slice(1)
      .map((line) => line.split('=')[0]);
    expect(names).toEqual(
      expect.arrayContaining(['PATH', 'HOME', 'HF_HOME', 'CUDA_VISIBLE_DEVICES', 'LC_CTYPE']),
    );
    expect(log).not.toContain(SECRET);
    expect(names).not.toContain('GIT_CONFIG_GLOBAL');
  });

  test('is not started by compiling', async () => {
    const files = Object.fromEntries(
      ['compileall.py', 'py_compile.py', 'struct.py', 'sitecustomize.py'].map((name) => [
        name,
        'raise SystemExit(7)\n',
      ]),
    );
    const { code, repository } = await campaign(files, 'verify = "compileall"\nverify-sandbox = "none"');
    expect([repository.failure, code]).toEqual([undefined, 0]);
  });
});

function commandOf(pid: string): string {
  try {
    return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : '';
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

test('what git found out about a repository outlives all this', async () => {
  const work = folderWith({ 'a.py': 'hold()\n' });
  git(work, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main');
  commit(work);
  const bare = join(folderWith(), 'one.git');
  git(work, 'clone', '--quiet', '--bare', '.', bare);
  const camp = folderWith({ 'campaign.toml': `repositories = ["${bare}"]\nverify = "git status --short"\n` });
  expect(await memfix({ cwd: camp, env: WORLD }, 'migrate', 'plan')).toMatchObject({ code: 0 });
  const [mirror = ''] = readdirSync(join(camp, 'mirrors'));
  const file = join(camp, 'mirrors', mirror, 'config');
  const config = readFileSync(file, 'utf8');
  writeFileSync(file, `${config}[core]\n\tbare = true\n\tsshCommand = false\n`);
  expect(await memfix({ cwd: camp, env: WORLD }, 'migrate', 'run', '--push')).toMatchObject({ code: 0 });
  expect(git(bare, 'rev-parse', BRANCH)).toMatch(/^[0-9a-f]{64}\n$/);
  expect(readFileSync(file, 'utf8')).toBe(config);
});

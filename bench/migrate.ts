/**
 * `npx tsx bench/migrate.ts [--repositories N,N…] [--runs N] [--cli FILE]`: `memfix migrate run --push` over generated
 * repositories, beside the git commands alone (clone, branch, apply a patch that is there already, commit, push), which
 * run as many at a time. In turns, in ratios, and with the most memory that memfix has.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, ratios } from './statistics.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values } = parseArgs({
  options: {
    repositories: { type: 'string', default: '100,1000' },
    runs: { type: 'string', default: '3' },
    cli: { type: 'string', default: join(root, 'dist', 'cli.js') },
  },
});
const counts = values.repositories.split(',').map(Number);
const cli = resolve(values.cli);
const scratch = mkdtempSync(join(tmpdir(), 'memfix-bench-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

const env = {
  ...process.env,
  ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_AUTHOR_NAME: 'Bench', GIT_AUTHOR_EMAIL: 'bench@example.invalid' },
  ...{ GIT_COMMITTER_NAME: 'Bench', GIT_COMMITTER_EMAIL: 'bench@example.invalid' },
};
const AT_A_TIME = 4;
const ALONE = `
git clone --quiet --depth=1 "file://$0" "$1" && cd "$1" && git checkout --quiet -b memfix/fixes &&
git apply "$2" && git commit --quiet --all --message=fix && git push --quiet origin memfix/fixes && cd / && rm -rf "$1"`;

/** Says at its end how much memory it had at most. */
const TELLING = `process.on('exit', () => process.stderr.write('memory ' + process.resourceUsage().maxRSS / 1024 + '\\n'))`;

interface Cost {
  readonly wall: number;
  /** Of the processor, children included. */
  readonly work: number;
  /** Of memfix itself, at its peak, in MB. */
  readonly memory: number;
}

const work = seed();
const patch = plannedPatch();
for (const count of counts) compare(count);

function compare(count: number): void {
  const remotes = generate(count);
  const runs: Record<'git' | 'memfix', Cost[]> = { git: [], memfix: [] };
  for (let run = 0; run < Number(values.runs); run++) {
    runs.git.push(byGit(remotes));
    runs.memfix.push(byMemfix(remotes));
  }
  for (const what of ['wall', 'work'] as const) {
    const [git, memfix] = [runs.git.map((cost) => cost[what]), runs.memfix.map((cost) => cost[what])];
    const ratio = median(ratios(memfix, git)).toFixed(2);
    const shown = `memfix ${median(memfix).toFixed(2)} s, git alone ${median(git).toFixed(2)} s`;
    say(`${what}: ${shown}, ratio ${ratio} (${count} repositories, ${git.length} runs)`);
  }
  say(
    `memory: ${Math.max(...runs.memfix.map(({ memory }) => memory)).toFixed(0)} MB (${count} repositories)`,
  );
  rmSync(remotes, { recursive: true, force: true });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A small repository: one file to fix, of the README's example, among ten that are fine. */
function seed(): string {
  const folder = join(scratch, 'work');
  mkdirSync(folder);
  cpSync(join(root, 'fixtures', '_demo', 'evaluate.py'), join(folder, 'evaluate.py'));
  for (let index = 0; index < 10; index++)
    writeFileSync(
      join(folder, `layer${index}.py`),
      `import torch\n\n\n${`def f${index}(x):\n    return x + 1\n\n\n`.repeat(20)}`,
    );
  shell('git init --quiet --initial-branch=main . && git add . && git commit --quiet --message=all', folder);
  shell(`git clone --quiet --bare '${folder}' '${join(scratch, 'one.git')}'`, scratch);
  return folder;
}

function generate(count: number): string {
  const folder = join(scratch, 'remotes');
  mkdirSync(folder);
  for (let index = 0; index < count; index++)
    cpSync(join(scratch, 'one.git'), join(folder, `r${index}.git`), { recursive: true });
  return folder;
}

function plannedPatch(): string {
  const file = join(scratch, 'fixes.patch');
  shell(`'${process.execPath}' '${cli}' diff --no-cache . > '${file}'`, work);
  if (readFileSync(file).length === 0) throw new Error('there is nothing to fix in the example');
  return file;
}

function byGit(remotes: string): Cost {
  clean(remotes);
  const each = join(scratch, 'each.sh');
  writeFileSync(each, ALONE);
  const trees = join(scratch, 'trees');
  mkdirSync(trees, { recursive: true });
  return timed(
    `ls '${remotes}' | xargs -P ${AT_A_TIME} -I NAME sh -c "$(cat '${each}')" '${remotes}/NAME' '${trees}/NAME' '${patch}'`,
    remotes,
  );
}

function byMemfix(remotes: string): Cost {
  clean(remotes);
  // The one of the run before stays: where many files have just been removed, some file systems are slow to make new ones.
  const campaign = mkdtempSync(join(scratch, 'campaign-'));
  writeFileSync(
    join(campaign, 'campaign.toml'),
    `repositories = ['${remotes}']\n[limits]\nnetwork = ${AT_A_TIME}\n`,
  );
  const node = `'${process.execPath}' --import "data:text/javascript,${encodeURIComponent(TELLING)}"`;
  return timed(`${node} '${cli}' migrate run --push --quiet '${campaign}'`, remotes);
}

function clean(remotes: string): void {
  shell('for r in *.git; do git --git-dir "$r" update-ref -d refs/heads/memfix/fixes; done', remotes);
}

function timed(command: string, remotes: string): Cost {
  const { stderr } = shell(`TIMEFORMAT='cost %R %U %S'; time { ${command}; }`, scratch);
  const [wall = Number.NaN, user = Number.NaN, system = Number.NaN] = (/cost (.+)\n$/.exec(stderr)?.[1] ?? '')
    .split(' ')
    .map(Number);
  // That all of it was done.
  shell('for r in *.git; do git --git-dir "$r" rev-parse --quiet --verify memfix/fixes; done', remotes);
  return { wall, work: user + system, memory: Number(/^memory (.+)$/m.exec(stderr)?.[1] ?? 0) };
}

function shell(command: string, cwd: string): { readonly stderr: string } {
  const answer = spawnSync('bash', ['-e', '-c', command], { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (answer.status !== 0) throw new Error(`${command}\n${answer.stderr}`);
  return answer;
}

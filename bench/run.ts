/** `npm run bench -- --help` tells what this is. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { filesBySize, filesOfShape, foldersByCount, type Repository, repositoriesIn } from './inputs.js';
import { type Conditions, interleave } from './measure.js';
import { obtain, PEERS, type PeerName, peersFolder } from './peers.js';
import { growing, type Memfix, ruleIds, type Stage, scanning, starting, type Work } from './plan.js';
import { markdown, type Results } from './report.js';
import { exampleShapes, SHAPES } from './shapes.js';
import { judge, type WorkResult } from './targets.js';

/** Kinds of work. */
const WORKS = ['start-up', 'scans', 'growth', 'shapes', 'examples'] as const;
const USAGE = 'npm run bench -- <folder of repositories> [options]; --help tells them';
const HELP = `npm run bench -- <folder of repositories> [options]

memfix against its peers on the same work, interleaved, in ratios. The folder holds checkouts; targets are judged on those
called transformers and trl. Peers are installed by name from their registries, once, outside the repository.

  --repo NAME          only this checkout; may be repeated
  --only a,b           of ${WORKS.join(', ')}; all by default
  --runs N             timed rounds after the warm-up (5)
  --peers a,b          of ${PEERS.join(', ')}; none with ''
  --peers-folder DIR   where peers are kept between runs; remove it to get their newest versions
  --patience SECONDS   a contender that has run for so long gets no further round (120)
  --timeout SECONDS    a run that takes longer counts as failed (600)
  --cli FILE           the memfix to measure (dist/cli.js, built where it is missing)
  --out FILE           the table (bench/results/latest.md), and the same as .json
  --help               this
`;
const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    repo: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '5' },
    peers: { type: 'string', default: PEERS.join(',') },
    out: { type: 'string', default: join(here, 'results', 'latest.md') },
    cli: { type: 'string', default: join(root, 'dist', 'cli.js') },
    patience: { type: 'string', default: '120' },
    timeout: { type: 'string', default: '600' },
    only: { type: 'string', default: WORKS.join(',') },
    'peers-folder': { type: 'string', default: peersFolder() },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const [folder] = positionals;
if (folder === undefined || !existsSync(folder))
  stop(`${folder ?? 'A folder of repositories'} is not there.`);
const repositories = repositoriesIn(resolve(folder), values.repo);
if (repositories.length === 0)
  stop(`No Python in ${folder} under the name ${values.repo.join(', ') || 'of any folder'}.`);
const names = values.peers.split(',').filter((name) => name !== '');
const wrong = names.find((name) => !isPeer(name));
const works = values.only.split(',');
const unheard = works.find((work) => !WORKS.some((each) => each === work));
if (unheard !== undefined) stop(`Unknown work ${unheard}; there are ${WORKS.join(', ')}.`);
if (wrong !== undefined) stop(`Unknown peer ${wrong}; there are ${PEERS.join(', ')}.`);

let readable = '';
const scratch = mkdtempSync(join(tmpdir(), 'memfix-bench-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
await bench(repositories);

async function bench(chosen: readonly Repository[]): Promise<void> {
  const before = loadavg()[0] ?? 0;
  const memfix = builtMemfix(resolve(values.cli));
  const peers = names.filter(isPeer).map((name) => obtain(name, resolve(values['peers-folder']), say));
  const stage: Stage = { memfix, peers, here, scratch };
  const conditions: Conditions = {
    runs: whole('runs'),
    patience: whole('patience'),
    timeout: whole('timeout'),
    scratch,
    progress: say,
  };
  const results: WorkResult[] = [];
  for (const work of planned(stage, chosen)) {
    say(work.title);
    const { id, title, sizes } = work;
    const measurements = await interleave(work.contenders, conditions);
    results.push({ id, title, measurements, ...(sizes && { sizes }) });
    write({
      date: new Date().toISOString().slice(0, 10),
      machine: `${cpus()[0]?.model.trim() ?? process.arch}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${release()}, Node ${process.version}`,
      load: [before, loadavg()[0] ?? 0],
      cores: availableParallelism(),
      runs: conditions.runs,
      versions: [
        `${output(memfix.cli, ['--version'])}, ${memfix.ids.length} transforms: ${memfix.ids.join(', ')}`,
        ...peers.map((peer) =>
          'problem' in peer ? `${peer.name}: ${peer.problem}` : `${peer.name}: ${peer.version}`,
        ),
      ],
      notes: ['narrow.yml', 'broad.yml'].map((file) => {
        const rules = ruleIds(stage, file);
        const ours = rules.filter((id) => memfix.ids.includes(id));
        return `ast-grep/${file} has ${rules.length} rules; memfix has ${ours.length} of these transforms`;
      }),
      works: results,
      targets: judge(results),
    });
  }
  process.stdout.write(`${readable}\n`);
}

function* planned(stage: Stage, chosen: readonly Repository[]): Generator<Work> {
  const [home] = [...chosen].filter(({ script }) => script !== undefined).sort((a, b) => b.files - a.files);
  if (works.includes('start-up') && home?.script !== undefined) yield starting(stage, home, home.script);
  if (works.includes('scans')) for (const repository of chosen) yield scanning(stage, repository);
  const limit = whole('timeout');
  // Their ratio shows how time grows; V8 runs differently below 64 KB.
  const bytes = [1e3, 7e4, 2.8e5];
  const shapes = works.includes('shapes') ? SHAPES : [];
  const examples = works.includes('examples') ? exampleShapes(join(root, 'fixtures')) : [];
  for (const shape of [...shapes, ...examples]) {
    const files = filesOfShape(join(scratch, 'shapes'), shape, bytes);
    yield growing(stage, shape.id, `${shape.title}, in so many bytes`, files, limit, shape.select);
  }
  if (!works.includes('growth')) return;
  const sizes = [1e3, 1e4, 1e5, 1e6, 1e7];
  yield growing(
    stage,
    'file size',
    'one file of so many bytes',
    filesBySize(join(scratch, 'sizes'), sizes),
    limit,
  );
  const counts = [10, 100, 1000, 10_000, 50_000];
  yield growing(stage, 'file count', 'so many files', foldersByCount(join(scratch, 'counts'), counts), limit);
}

function builtMemfix(cli: string): Memfix {
  if (!existsSync(cli)) {
    say('building memfix');
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
    if (status !== 0 || !existsSync(cli)) stop(`${cli} is not there, and building did not make it.`);
  }
  const list = JSON.parse(output(cli, ['list', '--output-format', 'json'])) as readonly { id: string }[];
  return {
    cli,
    ids: list.map(({ id }) => id),
    hasCache: output(cli, ['check', '--help']).includes('--no-cache'),
  };
}

function output(cli: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
  if (status !== 0) stop(`${cli} ${args.join(' ')} exited with ${status}: ${stderr.trim()}`);
  return stdout.trim();
}

/** After each work, so that a long run that is ended early leaves what it has. */
function write(results: Results): void {
  const out = resolve(values.out);
  readable = markdown(results);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${readable}\n`);
  writeFileSync(`${out.replace(/\.md$/, '')}.json`, `${JSON.stringify(results, null, 2)}\n`);
}

function whole(name: 'runs' | 'patience' | 'timeout'): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 1)
    stop(`--${name} is ${values[name]}: it must be a whole number above zero.`);
  return value;
}

function isPeer(name: string): name is PeerName {
  return PEERS.some((peer) => peer === name);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function stop(detail: string): never {
  process.stderr.write(`Cannot run the benchmark\n  ${detail}\n  Next: ${USAGE}\n`);
  process.exit(2);
}

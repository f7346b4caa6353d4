import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Files, folderWith, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { toyProgram } from './toy-program.js';

/** Threads start from the bundle, so the toys are bundled as memfix is. */
const main = toyProgram();

/** The parser that a person gets: the native one, where it loads. */
function memfixProcess(cwd: string, ...words: readonly string[]) {
  return memfixWith('', cwd, ...words);
}

function memfixWith(parser: '' | 'wasm', cwd: string, ...words: readonly string[]) {
  const env = { ...process.env, MEMFIX_PARSER: parser, MEMFIX_FILE_LIMIT: '2' };
  const answer = spawnSync(process.execPath, [main, ...words], { cwd, encoding: 'utf8', env });
  const told = answer.stderr.split('\n').filter((line) => !line.startsWith('looking'));
  return { ...answer, told: told.join('\n'), usedThreads: answer.stderr.includes('looking in a thread') };
}

/** Enough work for another thread, each file with something to find; the first names are the smallest files. */
function many(count: number, line = (index: number) => `hold(${index})\nrisk()\n`): Files {
  const names = Array.from({ length: count }, (_, index) => `f${String(index).padStart(3, '0')}.py`);
  return Object.fromEntries(
    names.map((name, index) => [name, `slowly()\n${line(index)}${'#\n'.repeat(index)}`]),
  );
}

const ALL = ['--select', 'all'];
const concise = ['--output-format', 'concise', '--no-cache'];

describe('several threads', () => {
  test('report what one reports, in the same order', async () => {
    const cwd = folderWith({ ...many(40), 'broken.py': 'slowly(:\n', 'g.py': '# @generated\nslowly()\n' });
    for (const words of [
      ['check', ...concise],
      ['diff', '--unsafe-fixes', '--no-cache'],
    ]) {
      const others = ['--ignore', 'slow-toy,endless-toy,deadly-toy'];
      const several = memfixProcess(cwd, ...words, ...ALL, ...others);
      const one = await memfix({ cwd }, ...words, ...ALL);
      expect(several.stdout).toBe(one.stdout);
      expect(several.told.replaceAll(` ${others.join(' ')}`, '')).toBe(one.stderr);
      expect(several.status).toBe(one.code);
    }
    const { stdout, usedThreads } = memfixProcess(cwd, 'check', ...concise);
    expect(usedThreads).toBe(true);
    // Leaks come first.
    for (const id of ['drop-hold', 'slow-toy', 'calm-risk']) {
      const own = stdout.split('\n').filter((line) => line.includes(` ${id} `));
      const places = own.flatMap((line) => /^(f\d+)\.py:/.exec(line)?.[1] ?? []);
      expect(places).toEqual([...places].sort());
      expect(places).toHaveLength(40);
    }
  });

  test('name a file that one of them refuses to read, once', () => {
    const cwd = folderWith(many(40, () => 'asks()\n'));
    spawnSync('mkfifo', [join(cwd, 'setup.cfg')]);
    const { stdout, usedThreads } = memfixProcess(cwd, 'check', ...concise);
    expect(usedThreads).toBe(true);
    expect(stdout.match(/^setup.*$/gm)).toEqual(['setup.cfg: skipped: it is a named pipe, not a file']);
  });

  test('apply what one applies', () => {
    const cwd = repositoryWith(many(40));
    const { status, told, usedThreads } = memfixProcess(cwd, 'apply', '-q', ...concise);
    expect({ status, told, usedThreads }).toEqual({ status: 1, told: '', usedThreads: true });
    for (const name of Object.keys(many(40)))
      expect(readFileSync(join(cwd, name), 'utf8')).toMatch(/^fast\(\)\nrelease\(\d+\)\nrisk\(\)\n#*/);
  });

  test('lose one to a file, and only that file', () => {
    // The main thread survives the deadly ones; whatever another takes of the last 40 costs it.
    const isDeadly = (index: number) => index >= 20;
    const cwd = folderWith(many(60, (index) => (isDeadly(index) ? 'deadly()\n' : 'hold()\n')));
    const { stdout, told, status } = memfixProcess(cwd, 'check', ...concise);
    expect(stdout.match(/drop-hold/g)).toHaveLength(20);
    const lost = [...told.matchAll(/^ {4}f(\d+)\.py: Error: its thread ended$/gm)].map(([, index]) =>
      Number(index),
    );
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.filter((index) => !isDeadly(index))).toEqual([]);
    expect(status).toBe(2);
  });
});

/** So large that it is taken first, which is by the main thread. */
const LARGE = `forever()\n${'#\n'.repeat(40_000)}`;

describe('files that ask the whole project', () => {
  const curious = (index: number) => (index % 6 === 0 ? `wonder(${index})\n` : `hold(${index})\n`);

  test('are looked at by one thread, besides the main one', () => {
    const cwd = folderWith(many(40, curious));
    const { stdout, stderr, usedThreads } = memfixProcess(cwd, 'check', ...concise);
    expect(usedThreads).toBe(true);
    expect(stdout.match(/curious-toy/g)).toHaveLength(7);
    const places = stderr.match(/looking around.*$/gm) ?? [];
    expect(places).toHaveLength(7);
    expect(new Set(places.filter((place) => place !== 'looking around')).size).toBeLessThanOrEqual(1);
  });

  test('are looked at by others where the main thread is stuck', () => {
    const cwd = folderWith({ ...many(40, curious), 'large.py': LARGE });
    const { stdout, stderr, status } = memfixProcess(cwd, 'check', ...concise);
    expect(stdout.match(/curious-toy/g)).toHaveLength(7);
    expect(stdout).toContain('large.py: skipped: it took too long');
    expect(stderr).toContain('looking around from afar');
    expect(status).toBe(1);
  });
});

test('a single file starts no thread', () => {
  const cwd = folderWith({ 'a.py': 'slowly()\nhold()\n' });
  const { stdout, stderr } = memfixProcess(cwd, 'check', ...concise, 'a.py');
  expect(stdout).toContain('drop-hold');
  expect(stderr).not.toContain('from a thread');
});

describe.each(['', 'wasm'] as const)('a file that takes for ever (MEMFIX_PARSER=%s)', (parser) => {
  const memfixProcess = (cwd: string, ...words: readonly string[]) => memfixWith(parser, cwd, ...words);
  const message = (name: string) => `${name}: skipped: it took too long: more than 2 s\n`;

  test('is skipped where it is alone', () => {
    const cwd = folderWith({ 'a.py': 'forever()\n' });
    const { stdout, status } = memfixProcess(cwd, 'check', ...concise, '.');
    expect({ stdout, status }).toEqual({ stdout: message('a.py'), status: 2 });
  });

  test.each([['check'], ['diff'], ['apply', '--allow-no-vcs']])(
    'alone, is no all-clear of %s',
    (...words) => {
      const cwd = folderWith({ 'a.py': 'forever()\n' });
      const { stderr, status } = memfixProcess(cwd, ...words, '--no-cache');
      expect(stderr.replace(/\s+/g, ' ')).toContain(
        'No file was looked at 1 file took longer than one may take, and so nothing is known Next: Try again',
      );
      expect(status).toBe(2);
    },
  );

  test.each(['check', 'diff'])('does not keep the others from being looked at by %s', (command) => {
    const cwd = folderWith({
      ...many(30),
      'large.py': LARGE,
      'small.py': 'forever()',
    });
    const format = command === 'check' ? concise : ['--no-cache'];
    const { stdout, told } = memfixProcess(cwd, command, ...format);
    expect(stdout.match(command === 'check' ? /drop-hold/g : /^\+release/gm)).toHaveLength(30);
    const said = command === 'check' ? stdout : told;
    expect(said).toContain(message('large.py'));
    expect(said).toContain(message('small.py'));
  });

  test('is skipped inside the parser, and the others are looked at', () => {
    // Comments that may end a string are left as they are, and the grammar reads on from each of them.
    const slow = `hold()\n${"# '''\n".repeat(60_000)}`;
    const cwd = folderWith({ ...many(30), 'large.py': slow, 'also-large.py': `${slow}#\n` });
    const { stdout, stderr, status } = memfixProcess(cwd, 'check', ...concise);
    expect(stderr).not.toContain('Napi');
    expect(stdout.match(/drop-hold/g)).toHaveLength(30);
    expect(stdout).toContain(message('large.py'));
    expect(stdout).toContain(message('also-large.py'));
    expect(status).toBe(1);
  });

  test('is none because of line continuations in a row', () => {
    const cwd = folderWith({ 'a.py': `hold()\nx = \\\n${'\\\n'.repeat(50_000)}1\n`, 'b.py': 'hold()\n' });
    const { stdout, status } = memfixProcess(cwd, 'check', ...concise);
    expect(stdout.match(/drop-hold/g)).toHaveLength(2);
    expect(status).toBe(1);
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies } from 'semver';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { SIZES, seen } from '../support/seen.js';

/** The oldest Node that memfix runs on, and the releases that are kept up. */
const OLDEST = '20.19.0';
const OTHERS = ['22.13.0', '24.21.0'];

interface Locked {
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

test('no package that is installed with memfix asks for a newer Node', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages = Object.entries<Locked>(lock.packages).filter(([, { dev }]) => dev !== true);
  expect(packages.length).toBeGreaterThan(20);
  for (const node of [OLDEST, ...OTHERS]) {
    const refusing = packages.filter(([, { engines }]) => !satisfies(node, engines?.node ?? '*'));
    expect(refusing.map(([name, { engines }]) => `${name}: ${engines?.node}`)).toEqual([]);
  }
});

describe.each(OTHERS)('Node %s', (version) => {
  test('says what the one that runs the tests says', { timeout: 300_000 }, () => {
    const other = nodeOf(version);
    expect(execFileSync(other, ['--version'], { encoding: 'utf8' })).toBe(`v${version}\n`);
    for (const words of [['check'], ['diff'], ['list']])
      expect(run(other, words)).toEqual(run(process.execPath, words));
  });

  test.each(SIZES)('shows the same in a terminal of $cols × $rows', { timeout: 300_000 }, async (size) => {
    const cwd = join(root, 'fixtures', '_demo');
    const shown = async (node: string) => seen({ cwd, ...size, node }, 'check', '--no-cache', '.');
    const { code, text } = await shown(nodeOf(version));
    expect({ code, text }).toEqual({ code: 1, text: (await shown(process.execPath)).text });
    expect(text).not.toMatch(/warning|EBADENGINE/i);
  });
});

function run(node: string, words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(
    node,
    [join(root, 'dist', 'cli.js'), ...words, ...(words[0] === 'list' ? [] : ['--no-cache', '.'])],
    { cwd: join(root, 'fixtures', '_demo'), encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

/** Fetched from npm's registry, and kept for later runs. */
function nodeOf(version: string): string {
  const folder = join(root, 'node_modules', '.cache', 'memfix', `node-${version}`);
  const program = join(folder, 'package', 'bin', 'node');
  if (existsSync(program)) return program;
  const draft = `${folder}-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const name = `node-${process.platform}-${process.arch}@${version}`;
  const packed = execFileSync('npm', ['pack', '--silent', name], { cwd: draft, encoding: 'utf8' });
  execFileSync('tar', ['-xzf', packed.trim().split('\n').at(-1) ?? '', 'package/bin/node'], { cwd: draft });
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return program;
}

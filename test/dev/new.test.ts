import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { expect, test, vi } from 'vitest';
import { root } from '../../src/dev/project.js';
import { folderWith, listing } from '../workspace/folders.js';

/** It runs a test run of its own. */
vi.setConfig({ testTimeout: 300_000 });

/** The project without its history and what is built, with the same packages. */
function copyOfProject(): string {
  const copy = folderWith();
  const isLeftOut = (path: string) =>
    ['node_modules', 'dist', '.git'].includes(relative(root, path).split(sep)[0] ?? '');
  cpSync(root, copy, { recursive: true, filter: (path) => !isLeftOut(path) });
  mkdirSync(join(copy, 'node_modules'));
  // Not what tools keep there.
  const packages = readdirSync(join(root, 'node_modules')).filter((name) => /^[^.]|^\.bin$/.test(name));
  for (const name of packages)
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  return copy;
}

test('a new transform is begun, and recorded by the command that is printed, alone', () => {
  const copy = copyOfProject();
  const { CI: _, ...env } = process.env;
  const npm = (...words: readonly string[]) =>
    spawnSync('npm', ['run', '--silent', ...words], {
      cwd: copy,
      encoding: 'utf8',
      env: { ...env, NO_COLOR: '1' },
    });
  const others = () => listing(join(copy, 'fixtures')).filter((name) => !name.startsWith('pin-the-thing/'));
  const before = others();

  const begun = npm('new', '--', 'pin-the-thing');
  expect(begun.status, begun.stderr).toBe(0);
  expect(begun.stdout).toContain('  npm run record -- pin-the-thing ');
  expect(begun.stdout).toContain('  npm test -- pin-the-thing ');

  const style = spawnSync(
    'node_modules/.bin/biome',
    ['check', '--vcs-enabled=false', 'transforms/pin-the-thing.ts'],
    {
      cwd: copy,
      encoding: 'utf8',
    },
  );
  expect(style.status, style.stdout + style.stderr).toBe(0);

  const recorded = npm('record', '--', 'pin-the-thing');
  expect(recorded.status, recorded.stdout + recorded.stderr).toBe(0);
  // Of the fixtures of all transforms there are tens of thousands.
  expect(recorded.stdout).toMatch(/Tests .* \(\d\d\)/);
  const fixtures = join(copy, 'fixtures/pin-the-thing');
  expect(readFileSync(join(fixtures, 'fix-plain/output.py'), 'utf8')).toBe(
    'import torch\n\n\ndef clean():\n    print("a")\n',
  );
  expect(JSON.parse(readFileSync(join(fixtures, 'fix-plain/findings.json'), 'utf8'))).toMatchObject([
    {
      line: 6,
      safety: 'unsafe',
      questions: [
        'cache-unneeded(torch.cuda.empty_cache()): Does what follows `torch.cuda.empty_cache()` do without the memory it gives back?',
      ],
    },
  ]);
  expect(existsSync(join(fixtures, 'keep-already-right/output.py'))).toBe(false);
  expect(others()).toEqual(before);
});

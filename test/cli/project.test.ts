import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { definedElsewhere } from '../../src/semantic/elsewhere.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { qualifiedName } from '../../src/toolkit/index.js';
import { Neighbourhood } from '../../src/workspace/neighbourhood.js';
import { toy } from '../support/toy.js';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

/** Says of every call of `hold` where it is defined. */
function curious() {
  const looked: string[] = [];
  const plain = toy('find-hold', 'hold()', (edit, node) => void edit.replace(node, 'held'));
  const transform: Transform = {
    ...plain,
    *detect(module) {
      looked.push(module.path);
      for (const node of module.at('hold()')) {
        const path = qualifiedName(module, node);
        const found = path === undefined ? undefined : definedElsewhere(module, path);
        yield { node, message: `it is in ${found?.module.path ?? 'no file'}` };
      }
    },
  };
  return { transforms: [transform], seen: () => looked.splice(0).sort() };
}

const FILES = {
  'train.py': 'from lib.parts import hold\n\nhold()\n',
  'lib/__init__.py': '',
  'lib/parts.py': 'from .deep import hold\n',
  'lib/deep.py': 'def hold(x): ...\n',
  'alone.py': 'from elsewhere import hold\n\nhold()\n',
};

describe('a result that depends on other files', () => {
  test('is looked at again when one of them changes, comes or goes, and only then', async () => {
    const cwd = repositoryWith(FILES);
    await wait(2100);
    const { transforms, seen } = curious();
    const check = async () => {
      const { stdout } = await memfix({ cwd, transforms, build: '1' }, 'check', '--output-format', 'concise');
      return [...stdout.split('\n').map((line) => line.replace(/:.*it is/, '')), ...seen()].filter(Boolean);
    };
    const both = ['alone.py in no file', 'train.py in lib/deep.py'];
    expect((await check()).slice(0, 2)).toEqual(both);
    expect(await check()).toEqual(both);
    put(cwd, { 'lib/deep.py': '# moved down\n\n\ndef hold(x): ...\n' });
    expect(await check()).toEqual([...both, 'train.py']);
    put(cwd, { 'lib/other.py': 'def hold(x): ...\n', 'lib/deep.py': '' });
    expect(await check()).toEqual(['alone.py in no file', 'train.py in no file', 'train.py']);
    put(cwd, { 'elsewhere.py': 'def hold(x): ...\n', 'lib/parts.py': 'from .other import hold\n' });
    const now = ['alone.py in elsewhere.py', 'train.py in lib/other.py'];
    expect(await check()).toEqual([...now, 'alone.py', 'train.py']);
    expect(await check()).toEqual(now);
  });

  test('is the same without the cache, and for a text on standard input', async () => {
    const cwd = folderWith(FILES);
    const { transforms } = curious();
    const setting = { cwd, transforms, stdin: FILES['train.py'] };
    const words = ['--output-format', 'concise'];
    const { stdout } = await memfix(setting, 'check', 'train.py', ...words);
    expect(stdout).toBe('train.py:3:1: find-hold [safe] it is in lib/deep.py\n');
    const piped = await memfix(setting, 'check', '-', '--stdin-filename', 'train.py', ...words);
    expect(piped.stdout).toBe(stdout);
    const other = await memfix(setting, 'check', '-', '--stdin-filename', 'lib/x.py', ...words);
    expect(other.stdout).toBe('lib/x.py:3:1: find-hold [safe] it is in lib/deep.py\n');
  });
});

/** Says of every `def hold` who calls it. */
function asking() {
  const looked: string[] = [];
  const plain = toy('find-callers', 'hold', (edit, node) => void edit.replace(node, 'held'));
  const transform: Transform = {
    ...plain,
    *detect(module) {
      looked.push(module.path);
      for (const node of module.at('hold')) {
        if (node.parent?.type !== 'function_definition') continue;
        const { uses, unread } = usesElsewhere(module, node, { may: () => true, byName: true });
        const places = uses.map(({ module: there, node: use }) => {
          return `${there.path}:${there.lines.position(use.start).line}`;
        });
        yield { node, message: `it is called by ${places.join() || 'nobody'}${unread ?? ''}` };
      }
    },
  };
  return { transforms: [transform], seen: () => [...new Set(looked.splice(0))].sort() };
}

describe('a result that depends on callers', () => {
  const CALLED = {
    'lib/parts.py': 'def hold(x): ...\n',
    'lib/__init__.py': '',
    'train.py': 'from lib.parts import hold\n\nhold(1)\n',
    'other.py': 'print("nothing")\n',
  };

  test('is looked at again when one of them changes, comes or goes, and only then', async () => {
    const cwd = repositoryWith(CALLED);
    await wait(2100);
    const { transforms, seen } = asking();
    const check = async () => {
      const words = ['check', 'lib', '--output-format', 'concise'];
      const { stdout } = await memfix({ cwd, transforms, build: '1' }, ...words);
      return [stdout.replace(/.* called by |\n/g, ''), ...seen()];
    };
    expect(await check()).toEqual(['train.py:3', 'lib/parts.py']);
    expect(await check()).toEqual(['train.py:3']);
    put(cwd, { 'other.py': 'print("still nothing")\n' });
    expect(await check()).toEqual(['train.py:3']);
    put(cwd, { 'train.py': '# now\nfrom lib.parts import hold\n\nhold(1)\n' });
    expect(await check()).toEqual(['train.py:4', 'lib/parts.py']);
    put(cwd, { 'deep/run.py': 'import lib.parts\n\nlib.parts.hold(2)\n' });
    expect(await check()).toEqual(['deep/run.py:3,train.py:4', 'lib/parts.py']);
    rmSync(join(cwd, 'train.py'));
    expect(await check()).toEqual(['deep/run.py:3', 'lib/parts.py']);
    rmSync(join(cwd, 'deep'), { recursive: true });
    expect(await check()).toEqual(['nobody', 'lib/parts.py']);
    expect(await check()).toEqual(['nobody']);
  });

  test.each([
    ['a caller', { 'train.py': '# now\nfrom lib.parts import hold\n\nhold(1)\n' }, 'train.py:4'],
    [
      'a new caller',
      { 'deep/run.py': 'import lib.parts\n\nlib.parts.hold(2)\n' },
      'deep/run.py:3,train.py:3',
    ],
    ['a version', { 'requirements.txt': 'torch==2.1\n' }, 'train.py:3'],
    ['the file itself', { 'lib/parts.py': '\ndef hold(x): ...\n' }, 'train.py:3'],
    ['a rule', { '.gitignore': 'train.py\n' }, 'train.py:3'],
  ])('is asked for only where something has changed: %s', async (_, change, callers) => {
    const cwd = repositoryWith(CALLED);
    const cache = folderWith();
    await wait(2100);
    const asked = vi.spyOn(Neighbourhood.prototype, 'answersAsBefore');
    onTestFinished(() => asked.mockRestore());
    const { transforms } = asking();
    const check = async () => {
      const words = ['check', 'lib', '--output-format', 'concise', '--cache-dir', cache];
      const { stdout } = await memfix({ cwd, transforms, build: '1' }, ...words);
      return stdout.replace(/.* called by |\n/g, '');
    };
    expect(await check()).toBe('train.py:3');
    asked.mockClear();
    expect(await check()).toBe('train.py:3');
    expect(asked).not.toHaveBeenCalled();
    put(cwd, change);
    expect(await check()).toBe(callers);
    expect(asked).toHaveBeenCalled();
  });

  test('that another run found out about counts for nothing here', async () => {
    const cwd = repositoryWith({ ...CALLED, 'lib/more.py': 'x = 1\n' });
    const cache = folderWith();
    await wait(2100);
    const { transforms } = asking();
    const check = async (path: string) => {
      const words = ['check', path, '--output-format', 'concise', '--cache-dir', cache];
      const { stdout } = await memfix({ cwd, transforms, build: '1' }, ...words);
      return stdout.replace(/.* called by |\n/g, '');
    };
    expect(await check('lib')).toBe('train.py:3');
    put(cwd, { 'lib/more.py': 'def hold(x): ...\n', 'late.py': 'from lib.more import hold\n\nhold(1)\n' });
    await wait(2100);
    expect(await check('lib/more.py')).toContain('late.py:3');
    expect(await check('lib')).toContain('late.py:3');
    put(cwd, { 'late.py': '' });
    expect(await check('lib')).not.toContain('late.py');
  });

  test('is the same for one file, and for a text on standard input, whatever its name looks like', async () => {
    const cwd = repositoryWith(CALLED);
    const { transforms } = asking();
    const setting = { cwd, transforms, stdin: `# changed\n${CALLED['lib/parts.py']}` };
    const words = ['--output-format', 'concise'];
    const message = 'find-callers [safe] it is called by train.py:3\n';
    const { stdout } = await memfix(setting, 'check', 'lib/parts.py', ...words);
    expect(stdout).toBe(`lib/parts.py:1:5: ${message}`);
    for (const name of ['lib/parts.py', './lib/../lib/parts.py', join(cwd, 'lib/parts.py')]) {
      const piped = await memfix(setting, 'check', '-', '--stdin-filename', name, ...words);
      expect(piped.stdout).toMatch(new RegExp(`:2:5: ${message.replace('[', '\\[')}`));
    }
  });
});

import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { definedElsewhere } from '../../src/semantic/elsewhere.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { qualifiedName } from '../../src/toolkit/index.js';
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

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { plainFiles } from '../../src/workspace/attributes.js';
import { memfix } from '../cli/command-line.js';
import { folderWith, git, listing, repositoryWith } from './folders.js';

/** `system.posix_acl_access`: the owner and user 1234 may write, the group may only read. */
const ACL = [
  '02000000',
  ...['01000600ffffffff', '02000600d2040000', '04000400ffffffff', '10000600ffffffff', '20000000ffffffff'],
].join('');

function python(program: string, ...words: readonly string[]): string {
  const { status, stdout } = spawnSync('python3', ['-c', `import os, sys\n${program}`, ...words], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() : 'failed';
}

function setAttribute(path: string, name: string, hex: string): boolean {
  return python('os.setxattr(sys.argv[1], sys.argv[2], bytes.fromhex(sys.argv[3]))', path, name, hex) === '';
}

function attributesOf(path: string): string {
  return python('print({n: os.getxattr(sys.argv[1], n).hex() for n in os.listxattr(sys.argv[1])})', path);
}

/** Whether the file system of temporary files keeps ACLs. */
function hasAttributes(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = mkdtempSync(join(tmpdir(), 'memfix-'));
  try {
    return setAttribute(folder, 'user.a', '61') && setAttribute(folder, 'system.posix_acl_default', ACL);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.runIf(hasAttributes())('files with extended attributes', () => {
  test('are told from plain ones, and so are those whose folder would give a new file an ACL', () => {
    const folder = folderWith({ 'plain.py': '', 'user.py': '', 'acl.py': '', 'sub/a.py': '' });
    const at = (name: string) => join(folder, name);
    expect(setAttribute(at('user.py'), 'user.origin', '61')).toBe(true);
    expect(setAttribute(at('acl.py'), 'system.posix_acl_access', ACL)).toBe(true);
    expect(setAttribute(at('sub'), 'system.posix_acl_default', ACL)).toBe(true);
    const names = ['plain.py', 'user.py', 'acl.py', 'sub/a.py', 'gone.py'].map(at);
    expect(plainFiles(names)).toEqual(new Set([at('plain.py')]));
  });

  test('keep them, their ACL and their inode through apply and undo', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n' });
    const path = join(cwd, 'a.py');
    chmodSync(path, 0o640);
    setAttribute(path, 'user.origin', '61');
    expect(setAttribute(path, 'system.posix_acl_access', ACL)).toBe(true);
    git(cwd, 'add', '--all');
    const before = { attributes: attributesOf(path), ino: statSync(path).ino, mode: statSync(path).mode };
    const now = () => ({
      attributes: attributesOf(path),
      ino: statSync(path).ino,
      mode: statSync(path).mode,
    });
    expect((await memfix({ cwd }, 'apply', '--allow-dirty')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('release()\n');
    expect(now()).toEqual(before);
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('hold()\n');
    expect(now()).toEqual(before);
    expect(listing(cwd)).toEqual(['a.py', 'b.py']);
  });

  test('a plain file does not get the ACL that its folder gives to new ones', async () => {
    const cwd = repositoryWith({ 'sub/a.py': 'hold()\n' });
    setAttribute(join(cwd, 'sub'), 'system.posix_acl_default', ACL);
    expect((await memfix({ cwd }, 'apply')).code).toBe(0);
    expect(attributesOf(join(cwd, 'sub/a.py'))).toBe('{}');
  });
});

test('where nobody can be asked, no file counts as plain', () => {
  const folder = folderWith({ 'a.py': '' });
  const path = process.env['PATH'];
  mkdirSync(join(folder, 'bin'));
  process.env['PATH'] = join(folder, 'bin');
  try {
    expect(plainFiles([join(folder, 'a.py')])).toEqual(new Set());
  } finally {
    process.env['PATH'] = path;
  }
});

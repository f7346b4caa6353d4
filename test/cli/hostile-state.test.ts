import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, folderWith, git, listing, put, repositoryWith, stateOf } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TOY_MAIN = join(import.meta.dirname, 'toy-main.ts');
const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');

/** The page of a journal as memfix wrote it into projects once. */
function oldPage(path: string, before: string, after: string): string {
  const digest = createHash('sha256').update(after).digest('hex');
  const entry = { path, after: digest, before: Buffer.from(before).toString('base64') };
  return `{"version":1}\n${JSON.stringify(entry)}\n`;
}

describe('a journal that a repository brings with it', () => {
  test('is not read, and undo says why', async () => {
    const home = folderWith({ '.bashrc': 'usual\n' });
    const cwd = repositoryWith({
      'a.py': 'x = 1\n',
      '.memfix/journal/000001.jsonl': oldPage('d/.bashrc', 'evil\n', 'usual\n'),
    });
    symlinkSync(home, join(cwd, 'd'));
    commit(cwd);
    const answer = await memfix({ cwd }, 'undo');
    expect(read(home, '.bashrc')).toBe('usual\n');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain(
      `${cwd}/.memfix is not read: whoever wrote the repository could have made it.`,
    );
    expect(answer.stderr).toContain(stateOf(cwd).folder);
  });

  test.each([
    ['of 240 digits', `${'9'.repeat(240)}.jsonl`],
    ['beyond the integers', '9007199254740992.jsonl'],
  ])('does not come before the apply of the user by a number %s', async (_, name) => {
    const cwd = repositoryWith({
      'a.py': 'hold()\n',
      'run.sh': 'good\n',
      [`.memfix/journal/${name}`]: oldPage('run.sh', 'evil\n', 'good\n'),
    });
    expect((await memfix({ cwd }, 'apply')).code).toBe(0);
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect([read(cwd, 'a.py'), read(cwd, 'run.sh')]).toEqual(['hold()\n', 'good\n']);
  });

  test('that is a link gets no sources', async () => {
    const trap = folderWith();
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    symlinkSync(trap, join(cwd, '.memfix'));
    commit(cwd);
    expect((await memfix({ cwd }, 'apply')).code).toBe(0);
    expect(listing(trap)).toEqual([]);
  });
});

describe('a cache that a repository brings with it', () => {
  /** A cache of this project whose finding has other words. */
  async function forged() {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    const folder = join(cwd, '.memfix_cache');
    await memfix({ cwd, build: '1' }, 'check', '--cache-dir', '.memfix_cache');
    rmSync(join(folder, '.gitignore'));
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name), 'latin1');
      writeFileSync(
        join(folder, name),
        bytes.replaceAll('hold costs memory', 'hold costs NOTHING'),
        'latin1',
      );
    }
    commit(cwd);
    return cwd;
  }

  test('shows nothing', async () => {
    const cwd = await forged();
    const { stdout } = await memfix({ cwd, build: '1' }, 'check', '--output-format', 'concise');
    expect(stdout).toContain('hold costs memory');
  });

  test('shows nothing where it is named, and that is said', async () => {
    const cwd = await forged();
    const words = ['check', '--cache-dir', '.memfix_cache', '--output-format', 'concise'];
    const { stdout, stderr } = await memfix({ cwd, build: '1' }, ...words);
    expect(stdout).toContain('hold costs memory');
    expect(stderr).toContain(
      `memfix: The cache could not be kept\n  .memfix_cache: the repository ${cwd} tracks files in it\n`,
    );
    expect(git(cwd, 'status', '--porcelain')).toBe('');
  });

  test('a file of rules that a full disk left empty is written again', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    put(cwd, { 'kept/.gitignore': '' });
    await memfix({ cwd, build: '1' }, 'check', '--cache-dir', 'kept');
    expect(read(cwd, 'kept/.gitignore')).toBe('*\n');
  });
});

describe.runIf(process.platform !== 'win32')('what is no regular file', () => {
  const run = (cwd: string, ...words: readonly string[]) =>
    spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), TOY_MAIN, ...words], {
      cwd,
      encoding: 'utf8',
      timeout: 40_000,
      killSignal: 'SIGKILL',
    });

  /** Every file that memfix keeps about a project becomes a named pipe, or a link to a device. */
  function spoil(folder: string, how: (path: string) => void): void {
    for (const name of listing(folder).filter((each) => each !== 'root')) {
      rmSync(join(folder, name));
      how(join(folder, name));
    }
  }

  test.each<readonly [string, (path: string) => void]>([
    ['a named pipe', (path) => spawnSync('mkfifo', [path])],
    ['a device', (path) => symlinkSync('/dev/zero', path)],
  ])(
    '%s in place of a cache or a page is passed over',
    (_, how) => {
      const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n' });
      expect(run(cwd, 'apply', 'a.py').status).toBe(0);
      const fresh = run(cwd, 'check', '--no-cache', '--output-format', 'concise');
      const { folder } = stateOf(cwd);
      expect(listing(folder).filter((name) => name.endsWith('.cache'))).not.toEqual([]);
      spoil(folder, how);
      const { status, stdout, stderr } = run(cwd, 'check', '--output-format', 'concise');
      expect({ status, stdout, stderr }).toEqual({
        status: fresh.status,
        stdout: fresh.stdout,
        stderr: fresh.stderr,
      });
      const undone = run(cwd, 'undo');
      expect(undone.stderr).toMatch(
        /^memfix: The undo journal cannot be read\n.+it is (?:not a regular|a named pipe, not a) file\n/,
      );
      expect(run(cwd, 'apply', 'b.py').status).toBe(0);
      expect(read(cwd, 'b.py')).toBe('release()\n');
    },
    200_000,
  );
});

describe('links', () => {
  test('a link into another repository is passed over, and not edited even where it is named', async () => {
    const other = repositoryWith({ 'theirs.py': 'hold()\n' });
    const cwd = repositoryWith({ 'a.py': 'x = 1\n' });
    symlinkSync(join(other, 'theirs.py'), join(cwd, 'link.py'));
    commit(cwd);
    const walked = await memfix({ cwd }, 'apply', '--output-format', 'concise');
    expect(walked.stdout).toContain('link.py: skipped: it is a symlink out of the project');
    const named = await memfix({ cwd }, 'apply', 'link.py');
    expect(named.code).toBe(2);
    expect(named.stderr).toContain('    link.py: it is a symlink out of the project\n');
    expect(read(other, 'theirs.py')).toBe('hold()\n');
    expect((await memfix({ cwd }, 'check', 'link.py')).code).toBe(1);
    expect((await memfix({ cwd: other }, 'apply')).code).toBe(0);
  });

  test('so is a link out of a folder without git, and a folder that leads into a repository', async () => {
    const outside = repositoryWith({ 'sub/theirs.py': 'hold()\n' });
    const cwd = folderWith({ 'a.py': 'x = 1\n' });
    symlinkSync(join(outside, 'sub/theirs.py'), join(cwd, 'link.py'));
    symlinkSync(join(outside, 'sub'), join(cwd, 'folder'));
    const walked = await memfix({ cwd }, 'apply', '--allow-no-vcs', '--output-format', 'concise');
    expect(walked.stdout).toContain('link.py: skipped: it is a symlink out of the project');
    const named = await memfix({ cwd }, 'apply', '--allow-no-vcs', 'folder');
    expect(named.stderr).toContain('    folder/theirs.py: it is a symlink out of the project\n');
    expect(read(outside, 'sub/theirs.py')).toBe('hold()\n');
  });

  test('a link to a repository as a whole is that repository', async () => {
    const other = repositoryWith({ 'theirs.py': 'hold()\n' });
    const cwd = folderWith();
    symlinkSync(other, join(cwd, 'link'));
    expect((await memfix({ cwd }, 'apply', 'link')).code).toBe(0);
    expect(read(other, 'theirs.py')).toBe('release()\n');
  });

  test('a hard link is neither cut off nor changed, and that is said', async () => {
    const elsewhere = folderWith({ 'a.py': 'hold()\n' });
    const cwd = repositoryWith({ 'b.py': 'hold()\n' });
    linkSync(join(elsewhere, 'a.py'), join(cwd, 'a.py'));
    commit(cwd);
    const answer = await memfix({ cwd }, 'apply');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('    a.py: it is one of 2 hard links to the same file; ');
    expect([read(elsewhere, 'a.py'), read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual([
      'hold()\n',
      'hold()\n',
      'release()\n',
    ]);
  });
});

describe('after kill -9', () => {
  /** Kills memfix when a draft is complete and about to take the place of its file. */
  const KILLER = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { renameSync } = fs;
    fs.renameSync = (from, to) => {
      if (from.includes('.memfix-')) process.kill(process.pid, 'SIGKILL');
      renameSync(from, to);
    };
    syncBuiltinESMExports();
  `;

  /** Kills it when half of a file is overwritten. */
  const HALF_KILLER = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { writeSync } = fs;
    fs.writeSync = (file, bytes, ...where) => {
      if (!Buffer.from(bytes).toString().startsWith('release')) return writeSync(file, bytes, ...where);
      writeSync(file, bytes, 0, 20, 0);
      process.kill(process.pid, 'SIGKILL');
    };
    syncBuiltinESMExports();
  `;

  function killed(cwd: string, how: string, words: readonly string[], env = process.env): void {
    const killer = join(folderWith({ 'killer.mjs': how }), 'killer.mjs');
    const program = ['--import', killer, '--import', import.meta.resolve('tsx'), TOY_MAIN];
    const answer = spawnSync(process.execPath, [...program, ...words], { cwd, encoding: 'utf8', env });
    expect(answer.signal).toBe('SIGKILL');
  }

  const drafts = (cwd: string) => listing(cwd).filter((name) => name.includes('.memfix-'));

  test.each([
    ['apply', ['apply', '--allow-dirty'], 0],
    ['check', ['check'], 1],
    ['undo', ['undo'], 0],
  ] as const)('in the middle of an apply, %s removes the draft', async (_, words, code) => {
    const cwd = repositoryWith({ 'sub/a.py': 'hold()\n', 'sub/.memfix-other.tmp': 'not ours' });
    killed(cwd, KILLER, ['apply']);
    expect(drafts(cwd)).toHaveLength(2);
    const answer = await memfix({ cwd, build: '1' }, ...words);
    expect(answer.stderr).toContain('Removed 1 draft that a killed memfix had left.\n');
    expect(answer.code).toBe(code);
    expect(drafts(cwd)).toEqual(['sub/.memfix-other.tmp']);
  });

  test('in the middle of an undo, the next one removes the draft and finishes', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    await memfix({ cwd }, 'apply');
    killed(cwd, KILLER, ['undo']);
    expect(drafts(cwd)).toHaveLength(1);
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect([listing(cwd), read(cwd, 'a.py')]).toEqual([['a.py'], 'hold()\n']);
  });

  test('in the middle of overwriting a file, the next apply writes the rest', async () => {
    const text = 'hold()\n'.repeat(9);
    const cwd = repositoryWith({ 'a.py': text });
    // Without Python to ask, no file is replaced by a new one; without git, none is asked either.
    killed(cwd, HALF_KILLER, ['apply', '--allow-dirty'], { ...process.env, PATH: folderWith() });
    expect(read(cwd, 'a.py')).toBe('release()\n'.repeat(2) + text.slice(20));
    const answer = await memfix({ cwd }, 'apply', '--allow-dirty');
    expect(answer.stderr).toContain('a.py: wrote the rest, which a killed memfix had not written\n');
    expect(read(cwd, 'a.py')).toBe('release()\n'.repeat(9));
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect(read(cwd, 'a.py')).toBe(text);
  });
});

test('a project gets nothing from memfix but its fixes', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  await memfix({ cwd, build: '1' }, 'check');
  await memfix({ cwd, build: '1' }, 'apply');
  await memfix({ cwd, build: '1' }, 'undo');
  expect(git(cwd, 'status', '--porcelain', '--ignored')).toBe('');
  expect(existsSync(join(stateOf(cwd).folder, 'cache'))).toBe(true);
});

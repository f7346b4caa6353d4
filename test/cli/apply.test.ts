import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Transform } from '../../src/toolkit/contract.js';
import { transforms } from '../../transforms/index.js';
import { folderWith, git, listing, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { TOYS } from './toys.js';

const read = (cwd: string, name: string) => readFileSync(join(cwd, name), 'latin1');

describe('apply', () => {
  test('writes safe fixes, byte for byte, and exits with 0 when nothing remains', async () => {
    const cwd = repositoryWith({
      'a.py': '\xef\xbb\xbfhold()\r\n'.replace('\xef\xbb\xbf', '\ufeff'),
      'l.py': Buffer.from('# coding: latin-1\nhold("\xe9")', 'latin1'),
    });
    const answer = await memfix({ cwd }, 'apply');
    expect(answer).toMatchObject({
      code: 0,
      stdout: 'fixed  a.py:1  drop-hold  Change hold\nfixed  l.py:2  drop-hold  Change hold\n',
      stderr:
        'Fixed 2 findings in 2 files: 2 free memory.\nNothing else was found.\n`memfix undo` takes it back.\n',
    });
    expect(read(cwd, 'a.py')).toBe('\xef\xbb\xbfrelease()\r\n');
    expect(read(cwd, 'l.py')).toBe('# coding: latin-1\nrelease("\xe9")');
    expect(git(cwd, 'status', '--porcelain')).toBe(' M a.py\n M l.py\n');
  });

  test('leaves unsafe fixes and advice, and exits with 1', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\nrisk()\nhint()\n' });
    const answer = await memfix({ cwd }, 'apply', '--output-format', 'concise');
    expect(answer.code).toBe(1);
    expect(answer.stdout).toBe(
      'a.py:2:1: calm-risk [unsafe] risk costs memory\na.py:3:1: hear-hint [advice] hint costs memory\n',
    );
    expect(read(cwd, 'a.py')).toBe('release()\nrisk()\nhint()\n');
  });

  test('--unsafe-fixes takes unsafe ones, never advice; config can ask for it and the flag can deny it', async () => {
    const cwd = repositoryWith({ 'a.py': 'risk()\nhint()\n', 'memfix.toml': 'unsafe-fixes = true\n' });
    await memfix({ cwd }, 'apply', '--no-unsafe-fixes');
    expect(read(cwd, 'a.py')).toBe('risk()\nhint()\n');
    await memfix({ cwd }, 'apply', '--yes');
    expect(read(cwd, 'a.py')).toBe('calm()\nhint()\n');
  });

  test('--fixable and --unfixable', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\nrisk()\n' });
    expect((await memfix({ cwd }, 'apply', '--unfixable', 'drop-hold')).code).toBe(1);
    expect(read(cwd, 'a.py')).toBe('hold()\nrisk()\n');
    await memfix({ cwd }, 'apply', '--unsafe-fixes', '--fixable', 'peak');
    expect(read(cwd, 'a.py')).toBe('hold()\ncalm()\n');
  });

  test('--dry-run prints the patch', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    const { code, stdout } = await memfix({ cwd }, 'apply', '--dry-run');
    expect([code, stdout]).toEqual([0, (await memfix({ cwd }, 'diff')).stdout]);
    expect(stdout).toContain('+release()');
    expect(read(cwd, 'a.py')).toBe('hold()\n');
    expect(listing(cwd)).toEqual(['a.py']);
  });

  test('follows a symlink and keeps the mode', async () => {
    const cwd = repositoryWith({ 'real.py': 'hold()\n' });
    chmodSync(join(cwd, 'real.py'), 0o755);
    symlinkSync('real.py', join(cwd, 'a.py'));
    git(cwd, 'commit', '--quiet', '--all', '--message', 'mode');
    expect((await memfix({ cwd }, 'apply', 'a.py')).code).toBe(0);
    expect(read(cwd, 'real.py')).toBe('release()\n');
    expect(statSync(join(cwd, 'real.py')).mode & 0o777).toBe(0o755);
  });
});

describe('guards', () => {
  test('a file with uncommitted changes', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n', 'clean.py': 'x = 1\n' });
    put(cwd, { 'a.py': 'hold()\n\n', 'clean.py': 'x = 2\n', 'new.py': 'hold()\n' });
    expect(await memfix({ cwd }, 'apply', 'a.py', 'new.py')).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'memfix: Files have uncommitted changes\n  a fix would mix with your own work in\n    a.py\n    new.py\n' +
        '  Next: Commit or stash them first; add `--staged` for what you are about to commit, `--changed` for all that you have changed, or `--allow-dirty`. Nothing was written.\n',
    });
    const answer = await memfix({ cwd }, 'apply');
    expect(answer).toMatchObject({ code: 1, stdout: 'fixed  b.py:1  drop-hold  Change hold\n' });
    expect(answer.stderr).toContain(
      'a.py: left alone: it has uncommitted changes\nnew.py: left alone: it has uncommitted changes\n',
    );
    expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['hold()\n\n', 'release()\n']);
    expect((await memfix({ cwd }, 'apply', '--allow-dirty')).code).toBe(0);
    expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['release()\n\n', 'release()\n']);
  });

  test('--changed writes changed files, and leaves the index as it is', async () => {
    const cwd = repositoryWith({ 'a.py': 'x = 1\n', 'b.py': 'hold()\n' });
    put(cwd, { 'a.py': 'x = 1\nhold()\n' });
    const { code, stdout } = await memfix({ cwd }, 'apply', '--changed');
    expect([code, stdout]).toEqual([0, 'fixed  a.py:2  drop-hold  Change hold\n']);
    expect(git(cwd, 'status', '--porcelain')).toBe(' M a.py\n');
    expect(read(cwd, 'b.py')).toBe('hold()\n');
  });

  test('--staged writes and stages files that are staged as they are, and leaves the others alone', async () => {
    const cwd = repositoryWith({ 'a.py': 'x = 1\n', 'b.py': 'y = 1\n' });
    put(cwd, { 'a.py': 'x = 1\nhold()\n', 'b.py': 'y = 1\nhold()\n' });
    git(cwd, 'add', '.');
    put(cwd, { 'b.py': 'y = 1\nhold()\nz = 1\n' });
    const { code, stdout, stderr } = await memfix({ cwd }, 'apply', '--staged');
    expect([code, stdout]).toEqual([1, 'fixed  a.py:2  drop-hold  Change hold\n']);
    expect(stderr).toContain('b.py: left alone: it has unstaged changes\n');
    expect(stderr).toContain('\nStaged 1 file.\n');
    expect(git(cwd, 'status', '--porcelain')).toBe('M  a.py\nMM b.py\n');
    expect(git(cwd, 'show', ':a.py')).toBe('x = 1\nrelease()\n');
    expect((await memfix({ cwd }, 'apply', '--staged')).stderr).toContain('Files have unstaged changes');
  });

  test('--staged leaves it to the user to stage what a git filter is in charge of', async () => {
    const cwd = repositoryWith({ 'a.py': 'x = 1\n', '.gitattributes': '*.py filter=mine\n' });
    put(cwd, { 'a.py': 'x = 1\nhold()\n' });
    git(cwd, 'add', '.');
    const { stderr } = await memfix({ cwd }, 'apply', '--staged');
    expect(stderr).toContain('a.py: written, but not staged: a git filter is in charge of it\n');
    expect(git(cwd, 'show', ':a.py')).toBe('x = 1\nhold()\n');
  });

  test('only files that would be written count', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'risk()\n' });
    put(cwd, { 'b.py': 'risk()\n\n' });
    expect((await memfix({ cwd }, 'apply')).code).toBe(1);
    expect(read(cwd, 'a.py')).toBe('release()\n');
  });

  test('a file outside a repository', async () => {
    const cwd = folderWith({ 'a.py': 'hold()\n' });
    expect(await memfix({ cwd }, 'apply')).toMatchObject({
      code: 2,
      stderr:
        'memfix: Not in a git repository\n  nothing but `memfix undo` could bring back the old content of\n    a.py\n' +
        '  Next: Run `git init` and commit first, or add `--allow-no-vcs`. Nothing was written.\n',
    });
    expect((await memfix({ cwd }, 'apply', '--allow-no-vcs')).code).toBe(0);
    expect(read(cwd, 'a.py')).toBe('release()\n');
    expect((await memfix({ cwd }, 'undo')).code).toBe(0);
    expect(read(cwd, 'a.py')).toBe('hold()\n');
  });

  test('a nested repository answers for its own files, and keeps its own journal', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'inner/b.py': 'hold()\n' });
    git(join(cwd, 'inner'), 'init', '--quiet');
    expect((await memfix({ cwd }, 'apply')).stderr).toContain(
      'inner/b.py: left alone: it has uncommitted changes\n',
    );
    expect(read(cwd, 'a.py')).toBe('release()\n');
    git(join(cwd, 'inner'), 'add', 'b.py');
    git(join(cwd, 'inner'), 'commit', '--quiet', '--message', 'b');
    const answer = await memfix({ cwd }, 'apply');
    expect(answer.stderr).toContain(`\`memfix undo inner\` takes back what changed there.\n`);
    await memfix({ cwd }, 'undo', 'inner');
    expect([read(cwd, 'a.py'), read(cwd, 'inner/b.py')]).toEqual(['release()\n', 'hold()\n']);
  });

  test('--interactive without a terminal', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    for (const terminals of [[], ['stdin'], ['stderr']] as const) {
      expect(await memfix({ cwd, terminals, env: { NO_COLOR: '1' } }, 'apply', '-i')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /^memfix: Wrong usage\n {2}`--interactive` needs a terminal on standard input and standard error\./,
        ),
      });
    }
    expect((await memfix({ cwd }, 'apply', '-i', '-')).stderr).toContain('asks questions on standard input');
  });
});

describe('a file that cannot be written', () => {
  test('is reported and left whole; the others finish', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n' });
    chmodSync(join(cwd, 'a.py'), 0o444);
    const answer = await memfix({ cwd }, 'apply', '--output-format', 'concise');
    expect(answer.code).toBe(2);
    expect(answer.stdout).toBe('a.py:1:1: drop-hold [safe] hold costs memory\n');
    expect(answer.stderr).toContain(
      'memfix: 1 file could not be written\n  left as it is:\n    a.py: it is read-only\n' +
        '  Next: Remove the cause and run `memfix apply` again; the other files are done.\n',
    );
    expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['hold()\n', 'release()\n']);
    expect(listing(cwd).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  test('because it changed meanwhile', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n' });
    const meddling: Transform[] = TOYS.map((transform) => ({
      ...transform,
      fix: (...call) => {
        writeFileSync(join(cwd, 'a.py'), 'mine = hold()\n');
        return transform.fix(...call);
      },
    }));
    const answer = await memfix({ cwd, transforms: meddling }, 'apply', '--allow-dirty');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('    a.py: it changed on disk after it was read\n');
    expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['mine = hold()\n', 'release()\n']);
  });

  test('because its journal cannot be', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n' });
    const file = join(folderWith({ 'in-the-way': '' }), 'in-the-way');
    const answer = await memfix({ cwd, env: { MEMFIX_STATE_DIR: file } }, 'apply');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toMatch(
      /^memfix: The state folder of memfix cannot be used\n {2}\S+in-the-way\/projects\/\S+: a part of its path is not a folder\n {2}Next: Remove the cause, or set MEMFIX_STATE_DIR .+ Nothing was written\.\n$/,
    );
    expect(read(cwd, 'a.py')).toBe('hold()\n');
  });
});

describe('undo', () => {
  test('takes back one apply after the other', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\nrisk()\n', 'sub/b.py': 'hold()\n' });
    await memfix({ cwd }, 'apply');
    await memfix({ cwd }, 'apply', '--unsafe-fixes', '--allow-dirty');
    expect(read(cwd, 'a.py')).toBe('release()\ncalm()\n');
    expect(await memfix({ cwd: join(cwd, 'sub') }, 'undo')).toMatchObject({
      code: 0,
      stdout: '',
      stderr:
        `restored ${cwd}/a.py\n1 file restored.\n` +
        'An earlier apply changed 2 files: `memfix undo` again takes that back.\n',
    });
    expect(read(cwd, 'a.py')).toBe('release()\nrisk()\n');
    await memfix({ cwd }, 'undo');
    expect(git(cwd, 'status', '--porcelain')).toBe('');
    expect(await memfix({ cwd }, 'undo')).toMatchObject({
      code: 2,
      stderr:
        `memfix: Nothing to undo\n  there is no apply left to take back in ${cwd}\n` +
        '  Next: Run it in the repository (or, without git, in the folder) where `memfix apply` was run.\n',
    });
  });

  test('leaves what changed since, and says so', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'b.py': 'hold()\n' });
    await memfix({ cwd }, 'apply');
    put(cwd, { 'b.py': 'release()  # mine\n' });
    const answer = await memfix({ cwd }, 'undo');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain(
      'memfix: 1 file left as it is\n  not restored:\n    b.py: it changed after memfix wrote it\n',
    );
    expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['hold()\n', 'release()  # mine\n']);
  });
});

test('Ctrl-C before the first write writes nothing', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  const answer = await memfix({ cwd, signal: AbortSignal.abort() }, 'apply');
  expect(answer.code).toBe(130);
  expect(read(cwd, 'a.py')).toBe('hold()\n');
  expect(listing(cwd)).toEqual(['a.py']);
});

test('what is left to a person after a fix is said where it is found, and when it is done', async () => {
  const loop = `import torch


def fit(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
`;
  const cwd = repositoryWith({ 'fit.py': loop });
  const select = ['--select', 'gradient-accumulation-loop'];
  const then = "make the loader's batch smaller by as much: memory falls only then.";
  const { stdout } = await memfix({ cwd, transforms }, 'check', ...select, 'fit.py');
  expect(stdout).toContain(`  then: ${then}`);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('each 4 times smaller (which is what frees memory)?');
  const done = await memfix({ cwd, transforms }, 'apply', '--unsafe-fixes', ...select, 'fit.py');
  expect(done.stdout + done.stderr).toContain(`After \`gradient-accumulation-loop\`: ${then}`);
});

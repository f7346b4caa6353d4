import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changedLines, stage, uncommitted, unstaged } from '../../src/workspace/git.js';
import { folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

/** Each program that git starts from the repository's own settings leaves a file in `ran`. */
function hostileRepository() {
  const ran = folderWith();
  const programs = folderWith();
  const program = (name: string, then = 'cat') => {
    put(programs, { [name]: `#!/bin/sh\ntouch '${ran}/${name}'\n${then}\n` });
    chmodSync(join(programs, name), 0o755);
    return join(programs, name);
  };
  const root = repositoryWith({
    '.gitattributes':
      'a.py filter=evil diff=evil\nb.py filter=a.b\nc.py filter=included\nd.py filter=multi\n',
    'a.py': 'hold()\n',
    'b.py': 'hold()\n',
    'c.py': 'hold()\n',
    'd.py': 'hold()\n',
    'e.py': 'other()\n',
  });
  const inner = join(root, 'inner');
  git(
    root,
    '-c',
    'protocol.file.allow=always',
    'submodule',
    '--quiet',
    'add',
    repositoryWith({ 'x.py': '' }),
    'inner',
  );
  git(root, 'commit', '--quiet', '--message', 'a submodule');
  for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction', 'pre-commit'])
    program(hook, 'exit 0');
  const included = folderWith({
    config: `[filter "included"]\n\tclean = ${program('filter-included')}\n`,
  });
  const settings: readonly (readonly [string, string])[] = [
    ['filter.evil.clean', program('filter-clean')],
    ['filter.evil.smudge', program('filter-smudge')],
    ['filter.evil.required', 'true'],
    ['filter.a.b.clean', program('filter-dot')],
    ['filter.multi.process', program('filter-process')],
    ['filter.multi.required', 'true'],
    ['include.path', join(included, 'config')],
    ['core.fsmonitor', program('fsmonitor')],
    ['core.hooksPath', programs],
    ['core.pager', program('pager')],
    ['core.sshCommand', program('ssh')],
    ['diff.external', program('diff-external')],
    ['diff.evil.command', program('diff-command')],
    ['diff.evil.textconv', program('diff-textconv')],
    ['status.submoduleSummary', 'true'],
    ['alias.status', `!${program('alias')}`],
  ];
  for (const [key, value] of settings)
    git(root, 'config', '--file', join(root, '.git', 'config'), key, value);
  git(inner, 'config', 'core.fsmonitor', program('submodule-fsmonitor'));
  // Touched: git looks at what is in them.
  const touch = () => {
    for (const name of ['a.py', 'b.py', 'c.py', 'd.py', 'e.py', 'inner/x.py'])
      utimesSync(join(root, name), 1_000_000_000, 1_000_000_000 + Math.random() * 1000);
  };
  touch();
  return { root, touch, ran: () => readdirSync(ran).sort() };
}

describe('a repository whose git config names programs', () => {
  test('runs them when git is asked without care', () => {
    const { root, ran } = hostileRepository();
    // One of the filters does not answer as git expects, so that git fails in the end.
    expect(() => git(root, 'status')).toThrow("clean filter 'multi' failed");
    git(root, 'config', '--remove-section', 'filter.multi');
    git(root, 'status');
    expect(ran()).toEqual(
      expect.arrayContaining(['filter-clean', 'filter-dot', 'filter-included', 'filter-process']),
    );
    expect(ran()).toEqual(expect.arrayContaining(['fsmonitor', 'post-index-change', 'submodule-fsmonitor']));
  });

  test.each([
    [['check', '--changed'], 1],
    [['check', '--staged'], 0],
    [['check', '--since', 'HEAD'], 1],
    [['diff'], 0],
    [['apply'], 0],
    [['prove', '--', 'true'], 0],
  ])('`memfix %s` runs none of them', async (words, code) => {
    const { root, ran } = hostileRepository();
    if (words[0] === 'check') put(root, { 'e.py': 'hold()\n' });
    const answer = await memfix({ cwd: root }, ...words);
    expect(ran()).toEqual([]);
    expect(answer).toMatchObject({ code });
  });

  test('staging and looking for changed lines run none of them', () => {
    const { root, ran } = hostileRepository();
    put(root, { 'e.py': 'hold()\n' });
    stage(root, [join(root, 'e.py')]);
    changedLines(root, 'HEAD');
    expect(unstaged(root, [join(root, 'e.py')]).size).toBeLessThan(2);
    expect(ran()).toEqual([]);
  });

  test('is fixed and taken back without them', async () => {
    const { root, ran, touch } = hostileRepository();
    expect(await memfix({ cwd: root }, 'apply')).toMatchObject({ code: 0 });
    expect(readFileSync(join(root, 'a.py'), 'utf8')).toBe('release()\n');
    expect(await memfix({ cwd: root }, 'undo')).toMatchObject({ code: 0 });
    expect(readFileSync(join(root, 'a.py'), 'utf8')).toBe('hold()\n');
    touch();
    expect(uncommitted(root, [join(root, 'a.py')]).size).toBe(0);
    expect(ran()).toEqual([]);
  });

  test.each([
    ['they are too many', Array.from({ length: 1001 }, (_, index) => `f${index}`)],
    ['git would not understand their name', ['a=b']],
    ['their name is no UTF-8', ['\xff']],
  ])('is left alone where they cannot be turned off: %s', async (_, names) => {
    const root = repositoryWith({ 'a.py': 'hold()\n', '.gitattributes': 'a.py filter=a=b\n' });
    const filters = names.map((name) => `[filter "${name}"]\n\tclean = cat\n`).join('');
    const config = readFileSync(join(root, '.git/config'), 'latin1');
    put(root, { '.git/config': Buffer.from(config + filters, 'latin1') });
    expect(await memfix({ cwd: root }, 'check', '--changed')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Git could run programs of the repository'),
    });
  });
});

test('what a repository lacks is not fetched from where it says', async () => {
  const root = repositoryWith({ 'a.py': 'hold()\n' });
  const ran = join(folderWith(), 'ran');
  const tree = git(root, 'rev-parse', 'HEAD^{tree}').trim();
  rmSync(join(root, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
  for (const [key, value] of [
    ['core.repositoryFormatVersion', '1'],
    ['extensions.partialClone', 'origin'],
    ['remote.origin.promisor', 'true'],
    ['remote.origin.url', `ext::sh -c touch% ${ran}`],
    ['protocol.ext.allow', 'always'],
  ] as const)
    git(root, 'config', key, value);
  expect(() => git(root, 'diff', 'HEAD')).toThrow();
  expect(existsSync(ran)).toBe(true);
  rmSync(ran);
  expect(await memfix({ cwd: root }, 'check', '--changed')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Git did not answer'),
  });
  expect(existsSync(ran)).toBe(false);
});

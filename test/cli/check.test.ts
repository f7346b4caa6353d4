import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commit, folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';
import { BROKEN, TOYS } from './toys.js';

const concise = ['check', '--output-format', 'concise'] as const;

describe('exit codes', () => {
  test('0 when there is nothing to say', async () => {
    const cwd = folderWith({ 'a.py': 'x = 1\n', 'b.py': 'pass\n' });
    expect(await memfix({ cwd }, 'check')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No findings in 2 files.\n',
    });
  });

  test('1 with findings, which go to standard output', async () => {
    const cwd = folderWith({ 'a.py': 'hold()\nrisk()\nhint()\nfine()\n' });
    const answer = await memfix({ cwd }, ...concise);
    expect(answer).toMatchObject({
      code: 1,
      stdout: [
        'a.py:1:1: drop-hold [safe] hold costs memory',
        'a.py:2:1: calm-risk [unsafe] risk costs memory',
        'a.py:3:1: hear-hint [advice] hint costs memory',
        '',
      ].join('\n'),
    });
    expect(answer.stderr).toMatch(
      /^3 findings \(1 safe, 1 unsafe, 1 advice\) in 1 file: 2 free memory, 1 saves time; 1 suspicious site \(1 leak\) left alone \(`-v`\)\. /,
    );
  });

  test('2 on our own bug, with the other files done', async () => {
    const cwd = folderWith({ 'a.py': 'boom()\n', 'b.py': 'hold()\n' });
    const answer = await memfix({ cwd, transforms: [BROKEN, ...TOYS] }, ...concise);
    expect(answer.code).toBe(2);
    expect(answer.stdout).toBe('b.py:1:1: drop-hold [safe] hold costs memory\n');
    expect(answer.stderr).toContain(
      'memfix: Internal error\n  memfix failed here, and left the files as they are:\n    a.py: TypeError: toys break\n' +
        '  Next: Please report this with the code it happened on; add `-v` for details.\n',
    );
    expect(answer.stderr).not.toContain('    at ');
  });
});

describe('output', () => {
  const cwd = () => folderWith({ 'a.py': 'hold()\nhold()\n', 'b.py': 'risk()\nfine()\n' });

  test('full shows the frame and the change', async () => {
    const { stdout } = await memfix({ cwd: cwd() }, 'check', '--output-format', 'full');
    expect(stdout).toContain('a.py:1:1  drop-hold  safe');
    expect(stdout).toContain('  +release()');
  });

  test('json is one document, skipped files included', async () => {
    const folder = cwd();
    put(folder, { 'bad.py': 'hold(:\n' });
    const { stdout } = await memfix({ cwd: folder }, 'check', '--output-format=json');
    expect(JSON.parse(stdout)).toMatchObject({
      version: 2,
      findings: [{ path: 'a.py', id: 'drop-hold' }, { line: 2 }, { id: 'calm-risk' }],
      leftAlone: [{ refusal: 'the caller needs it' }],
      applied: null,
      skipped: [{ path: 'bad.py', line: 1 }],
      summary: { findings: 3, checked: 2 },
    });
  });

  test('statistics are JSON where that is asked for', async () => {
    const { stdout, stderr } = await memfix(
      { cwd: cwd() },
      'check',
      '--statistics',
      '--output-format',
      'json',
    );
    expect(JSON.parse(stdout)).toEqual({
      version: 1,
      transforms: [
        { id: 'drop-hold', effect: 'frees-memory', findings: 2, safe: 2, unsafe: 0, advice: 0, refused: 0 },
        { id: 'calm-risk', effect: 'frees-memory', findings: 1, safe: 0, unsafe: 1, advice: 0, refused: 0 },
        { id: 'spare-fine', effect: 'frees-memory', findings: 0, safe: 0, unsafe: 0, advice: 0, refused: 1 },
      ],
      summary: { checked: 2, findings: 3, safe: 2, unsafe: 1, advice: 0, refused: 1 },
    });
    expect(stderr).toMatch(/^3 findings /);
  });

  test('advice alone is no failure, unless --strict says so', async () => {
    const folder = folderWith({ 'a.py': 'hint()\n' });
    expect((await memfix({ cwd: folder }, 'check')).code).toBe(0);
    expect((await memfix({ cwd: folder }, 'check', '--strict')).code).toBe(1);
  });

  test('more than five like findings of a file are told together', async () => {
    const folder = folderWith({ 'a.py': 'hold()\n'.repeat(9), 'b.py': 'hold()\n'.repeat(5) });
    const { stdout } = await memfix({ cwd: folder }, 'check');
    expect(stdout).toContain('\n  and 7 more like this, lines 3, 4, 5, 6, 7, 8, 9\n');
    expect(stdout.match(/^\w\.py:\d+/gm)).toEqual([
      ...['a.py:1', 'a.py:2', 'b.py:1', 'b.py:2', 'b.py:3', 'b.py:4', 'b.py:5'],
    ]);
    expect(stdout.match(/hold costs memory/g)).toHaveLength(2);
  });

  test('ends with what is most worth fixing, and how', async () => {
    const folder = folderWith({ 'a b.py': 'risk()\nhint()\nrisk()\n', 'c.py': 'hold()\n' });
    const { stderr } = await memfix({ cwd: folder }, 'check');
    expect(stderr).toMatch(/\nMost worth fixing:\n/);
    expect(
      stderr
        .split('\n')
        .slice(-4, -1)
        .map((line) => line.replace(/ +/g, ' ')),
    ).toEqual([
      ' c.py:1 safe memfix apply --select drop-hold --allow-no-vcs c.py',
      " a b.py:1 unsafe memfix apply -i --select calm-risk --allow-no-vcs 'a b.py'",
      " a b.py:2 advice memfix apply -i --select hear-hint --allow-no-vcs 'a b.py'",
    ]);
  });

  test('growing memory that was left alone is shown', async () => {
    const { code, stdout, stderr } = await memfix({ cwd: folderWith({ 'a.py': 'fine()\n' }) }, 'check');
    expect(code).toBe(0);
    expect(stdout).toBe(
      'Memory may grow here too; left alone:\n  a.py:1  spare-fine because the caller needs it\n\n',
    );
    expect(stderr).toBe('No fixes. 1 suspicious site was left alone, a leak: `memfix check -v` says why.\n');
  });

  test('statistics count', async () => {
    const { stdout } = await memfix({ cwd: cwd() }, 'check', '--statistics');
    expect(stdout).toMatch(/2 +2 .*drop-hold +frees memory\n/);
    expect(stdout).not.toContain('a.py');
  });

  test('-q leaves only data; -v tells more', async () => {
    const folder = cwd();
    expect((await memfix({ cwd: folder }, ...concise, '-q')).stderr).toBe('');
    const { stdout, stderr } = await memfix({ cwd: folder }, ...concise, '-v');
    expect(stdout).toContain(
      'spare-fine [left alone] fine costs memory; left alone because the caller needs it',
    );
    expect(stderr).toMatch(/^parser: (?:native|wasm)\nconfig: none\ntransforms: drop-hold, calm-risk, /);
  });

  test('-o writes a file, without colour', async () => {
    const folder = cwd();
    const answer = await memfix({ cwd: folder, terminals: ['stdout'] }, ...concise, '-o', 'out.txt');
    expect(answer.stdout).toBe('');
    expect(readFileSync(join(folder, 'out.txt'), 'utf8')).toMatch(/^a\.py:1:1: drop-hold \[safe\]/);
    const failed = await memfix({ cwd: folder }, ...concise, '-o', 'no/where.txt');
    expect(failed).toMatchObject({
      code: 2,
      stderr:
        'memfix: Output could not be written\n  no/where.txt: it does not exist\n' +
        '  Next: Give `--output` a file in a folder that exists and that you may write to.\n',
    });
  });

  const colorCases: readonly (readonly ['terminal' | 'pipe', Record<string, string>, string, boolean])[] = [
    ['pipe', {}, 'auto', false],
    ['terminal', {}, 'auto', true],
    ['terminal', { NO_COLOR: '1' }, 'auto', false],
    ['terminal', { NO_COLOR: '' }, 'auto', true],
    ['terminal', { TERM: 'dumb' }, 'auto', false],
    ['pipe', { FORCE_COLOR: '1' }, 'auto', true],
    ['terminal', { FORCE_COLOR: '0' }, 'auto', false],
    ['terminal', { NO_COLOR: '1' }, 'always', true],
    ['terminal', { FORCE_COLOR: '1' }, 'never', false],
  ];
  test.each(colorCases)('colour: %s, %j, --color %s → %j', async (kind, env, choice, expected) => {
    const terminals = kind === 'terminal' ? (['stdout'] as const) : [];
    const { stdout } = await memfix({ cwd: cwd(), terminals, env }, ...concise, '--color', choice);
    expect(stdout.includes('\x1b[')).toBe(expected);
  });

  test('progress only on a terminal', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`f${index}.py`, 'hold()\n'.repeat(200)]),
    );
    const folder = folderWith(files);
    const plain = await memfix({ cwd: folder }, 'check', '--statistics');
    expect(plain.stderr).not.toContain('\x1b');
    const shown = await memfix({ cwd: folder, terminals: ['stderr'] }, 'check', '--statistics');
    expect(shown.stderr).toMatch(/\x1b\[G\x1b\[K\d+\/60 files\x1b\[G/);
  });
});

describe('selection', () => {
  const files = { 'a.py': 'hold()\nrisk()\nhint()\nrare()\ntold()\n' };
  test.each([
    [[], ['drop-hold', 'calm-risk', 'hear-hint']],
    [['--select', 'leak'], ['drop-hold']],
    [
      ['--select', 'drop-hold,rare-word'],
      ['drop-hold', 'rare-word'],
    ],
    [
      ['--select', 'drop-hold', '--select', 'rare-word'],
      ['drop-hold', 'rare-word'],
    ],
    [
      ['--select', 'all', '--ignore', 'sync'],
      ['drop-hold', 'calm-risk', 'rare-word'],
    ],
    [
      ['--extend-select', 'documented'],
      ['drop-hold', 'told-tale', 'calm-risk', 'hear-hint'],
    ],
  ])('%j', async (flags, ids) => {
    const { stdout } = await memfix({ cwd: folderWith(files) }, ...concise, ...flags);
    expect(stdout.match(/(?<=: )[a-z-]+(?= \[)/g)).toEqual(ids);
  });

  test('an unfixable finding is reported without its fix', async () => {
    const { stdout, stderr } = await memfix(
      { cwd: folderWith({ 'a.py': 'hold()\n' }) },
      'check',
      '--unfixable',
      'leak',
    );
    expect(stdout).toContain('drop-hold');
    expect(stdout).not.toContain('release');
    expect(stderr).toBe('1 safe finding in 1 file: 1 frees memory.\n');
  });

  test('only changed files, within the paths given', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\n', 'sub/b.py': 'hold()\n', 'sub/c.py': 'hold()\n' });
    put(cwd, { 'a.py': 'hold()\n\n', 'sub/b.py': 'hold()\n\n' });
    const paths = async (...flags: readonly string[]) =>
      (await memfix({ cwd }, ...concise, ...flags)).stdout.match(/^[^:]+/gm);
    expect(await paths('--changed')).toEqual(['a.py', 'sub/b.py']);
    expect(await paths('--changed', 'sub')).toEqual(['sub/b.py']);
    git(cwd, 'add', 'a.py');
    expect(await paths('--staged')).toEqual(['a.py']);
    commit(cwd);
    expect(await paths('--since', 'HEAD~1', '--whole-files')).toEqual(['a.py', 'sub/b.py']);
  });

  test('with --since, only what stands on changed lines, or is changed there', async () => {
    const cwd = repositoryWith({ 'a.py': 'hold()\nx = 1\nrisk()\n', 'b.py': 'hold()\n' });
    git(cwd, 'tag', 'start');
    put(cwd, { 'a.py': 'hold()\nx = 1\ny = 2\nhold(y)\nrisk()\n', 'new.py': 'hold()\n' });
    const found = async (...flags: readonly string[]) =>
      (await memfix({ cwd }, ...concise, ...flags)).stdout.match(/^[^ ]+(?=: )/gm);
    expect(await found('--since', 'start')).toEqual(['a.py:4:1', 'new.py:1:1']);
    expect(await found('--since', 'start', '--whole-files')).toEqual([
      ...['a.py:1:1', 'a.py:4:1', 'new.py:1:1', 'a.py:5:1'],
    ]);
    expect((await memfix({ cwd }, 'check', '--whole-files')).stderr).toContain('goes with `--since`');
    commit(cwd);
    const { code, stdout, stderr } = await memfix({ cwd }, 'apply', '--since', 'start');
    expect([code, stdout]).toEqual([
      0,
      'fixed  a.py:4    drop-hold  Change hold\nfixed  new.py:1  drop-hold  Change hold\n',
    ]);
    expect(stderr).toContain('Nothing else was found with `--since start`.');
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('hold()\nx = 1\ny = 2\nrelease(y)\nrisk()\n');
  });

  test('vendored folders are passed over, unless they are named', async () => {
    const cwd = folderWith({
      'own.py': 'hold()\n',
      'lib/third_party/other.py': 'hold()\n',
      'vendor/x/y.py': 'hold()\n',
      'vendors.py': 'hold()\n',
    });
    const names = async (at: string, ...words: string[]) =>
      (await memfix({ cwd: at }, ...concise, ...words)).stdout.match(/^[^:]+/gm);
    expect(await names(cwd)).toEqual(['own.py', 'vendors.py']);
    expect((await memfix({ cwd }, ...concise)).stderr).toContain('as generated or vendored: 2 files');
    expect((await memfix({ cwd }, ...concise, '-v')).stderr).toContain(
      'y.py: passed over: others wrote it\n',
    );
    expect(await names(cwd, 'vendor')).toEqual(['vendor/x/y.py']);
    expect(await names(cwd, 'vendor/x/y.py')).toEqual(['vendor/x/y.py']);
    expect(await names(join(cwd, 'vendor'))).toEqual(['x/y.py']);
  });

  test('generated files are passed over, unless named', async () => {
    const cwd = folderWith({
      'gen.py': '# This file is @generated by a tool.\nhold()\n',
      'compiled.py': '# -*- coding: utf-8 -*-\n# Generated by the compiler.  DO NOT EDIT!\nhold()\n',
      'unrolled.py': '#  Automatically generated from parts.py.\n#  Do NOT edit this file.\nhold()\n',
      'notebook.py': '# AUTOGENERATED! DO NOT EDIT! File to edit: train.ipynb.\nhold()\n',
      'text.py': 'x = "@generated"\nhold()\n',
      'about.py': '# Reads what was generated by the runner.\nhold()  # do edit\n',
      'said.py': '"""Generated text. Do not edit."""\nhold()\n',
    });
    const walked = await memfix({ cwd }, ...concise, '-v');
    expect(walked.stdout.match(/^[^:]+/gm)).toEqual(['about.py', 'said.py', 'text.py']);
    for (const name of ['gen', 'compiled', 'unrolled', 'notebook'])
      expect(walked.stderr).toContain(`${name}.py: passed over: by its own words a tool wrote it\n`);
    const brief = await memfix({ cwd }, ...concise);
    expect(brief.stderr).toContain('Passed over, as generated or vendored: 4 files (-v names them).\n');
    expect((await memfix({ cwd }, ...concise, 'gen.py')).stdout).toContain('gen.py:2:1');
  });

  test('excluded files are passed over, unless named', async () => {
    const cwd = folderWith({ 'memfix.toml': 'exclude = ["old/"]\n', 'old/a.py': 'hold()\n' });
    expect((await memfix({ cwd }, ...concise)).stdout).toBe('');
    expect((await memfix({ cwd }, ...concise, 'old/a.py')).stdout).toContain('old/a.py:1:1');
  });

  test('selecting nothing is said', async () => {
    const cwd = folderWith(files);
    const { stderr } = await memfix({ cwd }, 'check', '--select', 'host-memory');
    expect(stderr).toMatch(/^No transform is selected, so there is nothing to look for\.\n/);
  });
});

test('suppression comments silence, and unused ones are reported without an effect on the exit code', async () => {
  const cwd = folderWith({
    'a.py': 'hold()  # memfix: ignore[drop-hold] measured\nx = 1  # memfix: ignore[drop-hold]\n',
  });
  const { code, stdout } = await memfix({ cwd }, ...concise);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^a\.py:2:\d+: note: .+\n$/);
});

/** `apply --interactive` from the command line to the disk; the session's own tests are beside this one. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { expect, test } from 'vitest';
import { folderWith, git, listing, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const MAIN = join(import.meta.dirname, 'toy-main.ts');

interface Ended {
  readonly code: number;
  readonly text: string;
}

/** Runs memfix in a pseudo-terminal; `react` sees the text so far at every change and types. */
function inTerminal(
  cwd: string,
  words: readonly string[],
  react: (text: string, terminal: { type(keys: string): void; kill(signal: string): void }) => void,
): Promise<Ended> {
  const pty = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN, ...words], {
    cwd,
    cols: 100,
    rows: 40,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      MEMFIX_STATE_DIR: process.env['MEMFIX_STATE_DIR'] ?? '',
      TERM: 'xterm',
      NO_COLOR: '1',
    },
  });
  let raw = '';
  const text = () =>
    raw
      .replace(/[^\n]*\x1b\[G\x1b\[K/g, '')
      .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, '')
      .replaceAll('\r', '');
  pty.onData((data) => {
    raw += data;
    react(text(), { type: (keys) => pty.write(keys), kill: (signal) => pty.kill(signal) });
  });
  return new Promise((done) => pty.onExit(({ exitCode }) => done({ code: exitCode, text: text() })));
}

/** Answers the questions in order, each once it is on the screen. */
function answers(...keys: readonly string[]) {
  let asked = 0;
  return (text: string, terminal: { type(keys: string): void }) => {
    const open = [...text.matchAll(/\((\d+)\/\d+\) [^\n]*\?=more /g)].length;
    if (open > asked && asked < keys.length) terminal.type(keys[asked++] ?? '');
  };
}

const read = (cwd: string, name: string) => readFileSync(join(cwd, name), 'utf8');

test('what was accepted is written, what was declined remains, and undo takes it back', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\nrisk()\n', 'b.py': 'hint()\n', 'bad.py': 'hold(:\n' });
  const ended = await inTerminal(cwd, ['apply', '-i'], answers('y', 'n', 'y'));
  expect(ended.text).toContain('bad.py:1:6: skipped: not valid Python 3');
  expect(ended.text).toContain('2 fixes applied in 2 files, 1 declined.');
  expect(ended.text).toContain('`memfix undo` takes it back.');
  expect(ended.code).toBe(1);
  expect([read(cwd, 'a.py'), read(cwd, 'b.py')]).toEqual(['release()\nrisk()\n', 'heard()\n']);
  expect((await memfix({ cwd }, 'undo')).stderr).toContain('2 files restored.\n');
  expect(git(cwd, 'status', '--porcelain')).toBe('');
});

test('exits with 0 when nothing remains', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  expect((await inTerminal(cwd, ['apply', '-i'], answers('y'))).code).toBe(0);
});

test('a yes for good is in the config, and no longer asked', async () => {
  const before = '[project]\nname = "x"\n';
  const cwd = repositoryWith({ 'pyproject.toml': before, 'a.py': 'risk()\n', 'sub/b.py': 'risk()\n' });
  let answered = 0;
  const ended = await inTerminal(cwd, ['apply', '-i'], (text, terminal) => {
    const open = [...text.matchAll(/\((\d+)\/\d+\) [^\n]*\?=more /g)].length;
    const typed = ['Y', 't\r', 'q'] as const;
    const isNext = [open === 1, text.includes('[t]his, [f]ile or [a]ll'), open === 2][answered];
    if (isNext === true) terminal.type(typed[answered++] ?? '');
  });
  expect(ended.text).toContain('written to `assume` of pyproject.toml');
  expect(read(cwd, 'pyproject.toml')).toBe(
    `${before}\n[tool.memfix]\nassume = [\n    "calm-risk/read-here(risk)@a.py",\n]\n`,
  );
  expect([read(cwd, 'a.py'), read(cwd, 'sub/b.py')]).toEqual(['calm()\n', 'risk()\n']);
  put(cwd, { 'a.py': 'risk()\n' });
  const json = JSON.parse((await memfix({ cwd }, 'check', '--output-format', 'json')).stdout);
  expect(json.findings).toMatchObject([
    { path: 'a.py', safety: 'safe' },
    { path: 'sub/b.py', safety: 'unsafe' },
  ]);
});

test('a yes for this place is one for its function, in the session and later', async () => {
  const two = 'def one():\n    risk()\n\n\nclass Net:\n    def one(self):\n        risk()\n';
  const cwd = repositoryWith({ 'sub/a.py': two });
  let answered = 0;
  const ended = await inTerminal(join(cwd, 'sub'), ['apply', '-i'], (text, terminal) => {
    const open = [...text.matchAll(/\((\d+)\/\d+\) [^\n]*\?=more /g)].length;
    const typed = ['Y', 't\r', 'q'] as const;
    const isNext = [open === 1, text.includes('[t]his, [f]ile or [a]ll'), open === 2][answered];
    if (isNext === true) terminal.type(typed[answered++] ?? '');
  });
  expect(ended.text.replace(/\s+/g, ' ')).toContain('For this question in `one` of this file only (t)');
  expect(read(cwd, 'memfix.toml')).toBe('assume = [\n    "calm-risk/read-here(risk)@sub/a.py:one",\n]\n');
  expect(read(cwd, 'sub/a.py')).toBe(two.replace('risk', 'calm'));
  put(cwd, { 'sub/a.py': two });
  const json = JSON.parse((await memfix({ cwd }, 'check', '--output-format', 'json')).stdout);
  expect(json.findings).toMatchObject([{ safety: 'safe' }, { safety: 'unsafe' }]);
});

test('the guards come before the first question', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\n' });
  put(cwd, { 'a.py': 'hold()\n\n' });
  const dirty = await inTerminal(cwd, ['apply', '-i'], answers());
  expect([dirty.code, dirty.text]).toEqual([2, expect.stringContaining('Files have uncommitted changes')]);
  const loose = await inTerminal(folderWith({ 'a.py': 'hold()\n' }), ['apply', '-i'], answers());
  expect([loose.code, loose.text]).toEqual([2, expect.stringContaining('Not in a git repository')]);
});

test('a transform that may not be fixed is not asked about', async () => {
  const cwd = repositoryWith({ 'a.py': 'hold()\nrisk()\n' });
  const ended = await inTerminal(cwd, ['apply', '-i', '--unfixable', 'peak'], answers('y'));
  expect(ended.text).toContain('(1/1)');
  expect([ended.code, read(cwd, 'a.py')]).toEqual([1, 'release()\nrisk()\n']);
});

test('nothing to review is said', async () => {
  const cwd = repositoryWith({ 'a.py': 'x = 1\n' });
  const ended = await inTerminal(cwd, ['apply', '-i'], answers());
  expect(ended).toEqual({ code: 0, text: 'There is nothing to review.\n' });
});

test.each([
  ['Ctrl-C', 130, (terminal: { type(keys: string): void }) => terminal.type('\x03')],
  ['SIGINT', 130, (terminal: { kill(signal: string): void }) => terminal.kill('SIGINT')],
  ['SIGTERM', 143, (terminal: { kill(signal: string): void }) => terminal.kill('SIGTERM')],
] as const)('%s at a question ends with %i and leaves the file', async (_, code, stop) => {
  const cwd = repositoryWith({ 'a.py': 'hold()\nhold()\n' });
  let isStopped = false;
  const ended = await inTerminal(cwd, ['apply', '-i'], (text, terminal) => {
    if (isStopped || !/\(1\/2\) [^\n]*\?=more /.test(text)) return;
    isStopped = true;
    stop(terminal);
  });
  expect(ended.code).toBe(code);
  expect(read(cwd, 'a.py')).toBe('hold()\nhold()\n');
  expect(listing(cwd)).toEqual(['a.py']);
});

test('a notebook is asked about cell by cell, and its other bytes stay', async () => {
  const book = `{"cells": [{"cell_type": "code", "source": ["!ls\\n", "hold()"]},
    {"cell_type": "code", "source": "risk()"}], "metadata": {}}`;
  const cwd = repositoryWith({ 'a.ipynb': book });
  const ended = await inTerminal(cwd, ['apply', '-i'], answers('y', 'i', 'n'));
  expect(ended.text).toContain('── a.ipynb: cell 1, line 2 ──');
  expect(ended.text).toContain('1   !ls\n2 - hold()\n  + release()\n');
  expect(ended.text).toContain('1 fix applied in 1 file, 1 declined.');
  expect(read(cwd, 'a.ipynb')).toBe(book.replace('hold', 'release'));
});

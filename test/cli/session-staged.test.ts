import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Terminal } from '../support/terminal.js';
import { git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const LOADS = `import torch
from torch import nn

model = nn.Linear(8, 8)
model.load_state_dict(torch.load("a.pt"))
`;
const FIXED = LOADS.replace('"a.pt"', '"a.pt", map_location="cpu"');

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.dispose();
});

function start(cwd: string, cols: number, rows: number, ...words: readonly string[]): Terminal {
  const terminal = new Terminal({ cwd, cols, rows, env: { NO_COLOR: '1' } }, ...words);
  open.push(terminal);
  return terminal;
}

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;

test.each(SIZES)('at %i×%i, what was typed before the first card answers nothing', async (cols, rows) => {
  const cwd = repositoryWith({ 'a.py': LOADS });
  const session = start(cwd, cols, rows, 'apply', '-p');
  session.type('ay');
  await session.sees('(1/1)');
  expect(session.text).toContain('What was typed before this card was dropped.');
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe(LOADS);
  session.type('q');
  expect(await session.ended()).toBe(1);
  expect(session.text).toContain('No fix applied, 1 left open.');
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe(LOADS);
});

test('a window that was resized while the session was stopped counts when it goes on', async () => {
  const cwd = repositoryWith({ 'a.py': LOADS });
  const session = new Terminal(
    { cwd, cols: 120, rows: 40, env: { NO_COLOR: '1' }, hasJobs: true },
    ...['apply', '-i'],
  );
  open.push(session);
  await session.sees('(1/1)');
  const isWide = session.text.includes('─'.repeat(80));
  const before = session.raw.length;
  session.type('\x1a');
  await new Promise((done) => setTimeout(done, 500));
  session.resize(60, 20);
  session.type('\n');
  await session.sees('(1/1)', 2);
  const again = session.raw.slice(before);
  expect([isWide, again.includes('─'.repeat(61))]).toEqual([true, false]);
  session.type('q');
  expect(await session.ended()).toBe(1);
});

test.each(SIZES)('at %i×%i, what is accepted of staged files is staged', async (cols, rows) => {
  const cwd = repositoryWith({ 'a.py': '' });
  put(cwd, { 'a.py': LOADS });
  git(cwd, 'add', 'a.py');
  const session = start(cwd, cols, rows, 'apply', '-i', '--staged');
  await session.sees('(1/1)');
  session.type('y');
  expect(await session.ended()).toBe(0);
  expect(session.text).toContain('Staged 1 file.');
  expect(session.text).toContain('`memfix undo` takes it back, out of the index too.');
  expect(session.text).not.toContain('writing file');
  expect(git(cwd, 'status', '--porcelain').trimEnd()).toBe('M  a.py');
  expect(git(cwd, 'show', ':a.py').trimEnd()).toBe(FIXED.trimEnd());
  const { stderr } = await memfix({ cwd }, 'undo');
  expect(stderr).toContain('unstaged the fixes of a.py: the index has again what you had staged\n');
  expect(stderr).not.toContain('has staged changes');
  expect(git(cwd, 'status', '--porcelain').trimEnd()).toBe('M  a.py');
  expect(git(cwd, 'show', ':a.py').trimEnd()).toBe(LOADS.trimEnd());
});

test.each([
  [
    'staged more',
    'MM a.py',
    (cwd: string) => {
      put(cwd, { 'a.py': `${FIXED}# more\n` });
      git(cwd, 'add', 'a.py');
      put(cwd, { 'a.py': FIXED });
    },
  ],
  ['committed it', ' M a.py', (cwd: string) => git(cwd, 'commit', '-qm', 'fixed')],
] as const)('undo leaves the index of who has %s', async (_, status, then) => {
  const cwd = repositoryWith({ 'a.py': '' });
  put(cwd, { 'a.py': LOADS });
  git(cwd, 'add', 'a.py');
  const session = start(cwd, 120, 40, 'apply', '--staged');
  await session.ended();
  expect(session.text).toContain('out of the index too.');
  then(cwd);
  const index = git(cwd, 'show', ':a.py');
  const { stderr } = await memfix({ cwd }, 'undo');
  expect(stderr).not.toContain('unstaged the fixes');
  expect(git(cwd, 'show', ':a.py')).toBe(index);
  expect(git(cwd, 'status', '--porcelain').trimEnd()).toBe(status);
  expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe(LOADS);
});

test.each([
  [60, 20, ['apply', '-p', '--staged', '--allow-dirty']],
  [80, 24, ['apply', '--staged', '--allow-dirty']],
] as const)(
  'at %i×%i, %s adds no line to the index that its owner has not staged',
  async (cols, rows, words) => {
    const cwd = repositoryWith({ 'a.py': '', 'b.py': '' });
    put(cwd, { 'a.py': LOADS, 'b.py': LOADS });
    git(cwd, 'add', 'a.py', 'b.py');
    put(cwd, { 'a.py': `${LOADS}# not staged\n` });
    const session = start(cwd, cols, rows, ...words);
    if (words.length === 4) {
      await session.sees('(1/2)');
      session.type('A');
    }
    expect(await session.ended()).toBe(0);
    const said = session.text.replace(/\s+/g, ' ');
    expect(said).toContain('Staged 1 file.');
    expect(said).toContain('`memfix undo` takes it back, out of the index too.');
    expect(said).toContain(
      'a.py: written, but not staged: it has changes of your own that are not; `git add -p a.py` lets you choose',
    );
    expect(git(cwd, 'show', ':a.py').trimEnd()).toBe(LOADS.trimEnd());
    expect(git(cwd, 'show', ':b.py').trimEnd()).toBe(FIXED.trimEnd());
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe(`${FIXED}# not staged\n`);
  },
);

test('a file with lines that are not staged is left alone, and the hint says what to stage', async () => {
  const cwd = repositoryWith({ 'a.py': '', 'b.py': '' });
  put(cwd, { 'a.py': LOADS, 'b.py': LOADS });
  git(cwd, 'add', 'a.py', 'b.py');
  put(cwd, { 'a.py': `${LOADS}# not staged\n` });
  const session = start(cwd, 120, 40, 'apply', '--staged');
  expect(await session.ended()).toBe(1);
  expect(session.text).toContain('a.py: left alone: it has unstaged changes\n');
  expect(session.text).toContain('Stage the rest of these files (`git add`), or add `--allow-dirty`');
});

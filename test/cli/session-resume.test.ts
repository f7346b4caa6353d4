/** A session that was left, in a real repository: what goes on, what is forgotten, and whose changes are in the way. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Terminal } from '../support/terminal.js';
import { git, put, repositoryWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const TWO = `import torch
from torch import nn

model = nn.Linear(8, 8)
model.load_state_dict(torch.load("a.pt"))
model.load_state_dict(torch.load("b.pt"))
`;
const FIRST = TWO.replace('"a.pt"', '"a.pt", map_location="cpu"');
const BOTH = FIRST.replace('"b.pt"', '"b.pt", map_location="cpu"');
/** The question is about rounding. */
const ASKS = `import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
other = torch.optim.Adam(model.parameters(), lr=1e-4)
`;
const SELECT = ['--select', 'fused-optimizer', '--target-version', 'torch=2.6'] as const;

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.dispose();
});

function start(cwd: string, ...words: readonly string[]): Terminal {
  const terminal = new Terminal({ cwd, env: { NO_COLOR: '1' } }, ...words);
  open.push(terminal);
  return terminal;
}

function read(cwd: string, name: string): string {
  return readFileSync(join(cwd, name), 'utf8');
}

async function run(cwd: string, ...words: readonly string[]): Promise<{ code: number; text: string }> {
  const terminal = start(cwd, ...words);
  const code = await terminal.ended();
  return { code, text: terminal.text };
}

test('a fix of its own does not keep a file from being asked about again', async () => {
  const cwd = repositoryWith({ 'a.py': TWO });
  const first = start(cwd, 'apply', '-p');
  await first.sees('(1/2)');
  first.type('y');
  await first.sees('(2/2)');
  first.type('q');
  await first.ended();
  expect(read(cwd, 'a.py')).toBe(FIRST);
  const second = start(cwd, 'apply', '-i', '--resume');
  await second.sees('(1/1)');
  expect(second.text).not.toContain('left alone');
  second.type('y');
  expect(await second.ended()).toBe(0);
  expect(read(cwd, 'a.py')).toBe(BOTH);
  // Each step is taken back by itself.
  await memfix({ cwd }, 'undo');
  expect(read(cwd, 'a.py')).toBe(FIRST);
  await memfix({ cwd }, 'undo');
  expect(read(cwd, 'a.py')).toBe(TWO);
});

test.each(['before', 'after'])('a change of the person %s a fix does', async (order) => {
  const cwd = repositoryWith({ 'a.py': TWO });
  if (order === 'before') put(cwd, { 'a.py': `${TWO}# mine\n` });
  expect((await run(cwd, 'apply', '--allow-dirty')).code).toBe(0);
  const now = read(cwd, 'a.py');
  // Another place to fix, which is the person's own where it comes after the fix.
  const more = 'other = nn.Linear(8, 8)\nother.load_state_dict(torch.load("c.pt"))\n';
  if (order === 'after') put(cwd, { 'a.py': now + more });
  else put(cwd, { 'a.py': now.replace('"b.pt", map_location="cpu"', '"b.pt"') });
  const { code, text } = await run(cwd, 'apply');
  expect(text).toContain('Files have uncommitted changes');
  expect(code).toBe(2);
});

test('a file that git does not know is the person’s own, with a fix of memfix or without', async () => {
  const cwd = repositoryWith({ 'b.py': '' });
  put(cwd, { 'a.py': TWO });
  expect((await run(cwd, 'apply')).text).toContain('Files have uncommitted changes');
});

test('answers that were undone are not given again', async () => {
  const cwd = repositoryWith({ 'a.py': TWO, 'b.py': TWO });
  const first = start(cwd, 'apply', '-p');
  await first.sees('(1/4)');
  first.type('a');
  await first.sees('(3/4)');
  first.type('n');
  await first.sees('(4/4)');
  first.type('q');
  await first.ended();
  expect(read(cwd, 'a.py')).toBe(BOTH);
  await memfix({ cwd }, 'undo');
  const second = start(cwd, 'apply', '-p', '--resume');
  await second.sees('(1/4)');
  expect(second.text).toContain('Went on with 1 earlier answer.');
  second.type('q');
  await second.ended();
  expect(read(cwd, 'a.py')).toBe(TWO);
});

test('answers about other findings are not offered', async () => {
  const cwd = repositoryWith({ 'a.py': TWO, 'b.py': ASKS });
  const first = start(cwd, 'apply', '-p', 'a.py');
  await first.sees('(1/2)');
  first.type('n');
  await first.sees('(2/2)');
  first.type('q');
  await first.ended();
  const other = start(cwd, 'apply', '-p', ...SELECT, 'b.py');
  await other.sees('(1/2)');
  expect(other.text).not.toContain('An earlier session');
  other.type('q');
  await other.ended();
  // Nothing was answered, so there is nothing to go on with.
  expect(other.text.replace(/\s+/g, ' ')).toMatch(/`memfix apply -i .*b\.py` asks again\./);
  expect(other.text).not.toContain('--resume');
  const same = start(cwd, 'apply', '-p', 'a.py');
  await same.sees('(1/2)');
  expect(same.text).toContain('An earlier session left 1 answer here.');
});

test('a yes for good stays when its answer and its fix are taken back, and that is said', async () => {
  const cwd = repositoryWith({ 'b.py': ASKS });
  const session = start(cwd, 'apply', '-p', ...SELECT);
  await session.sees('(1/2)');
  session.type('Y');
  await session.sees('this, file or all');
  // What is typed before the line is there to read answers nothing else.
  session.type('\r');
  await session.sees('(2/2)');
  session.type('u');
  await session.sees('Took back the last answer.');
  expect(session.text.replace(/\s+/g, ' ')).toContain(
    'Took back the last answer. The yes stays in `assume` of memfix.toml: take it out there to be asked again.',
  );
  session.type('yq');
  await session.ended();
  expect(session.text.replace(/\s+/g, ' ')).toContain(
    'What you answered for good stays in `assume` of memfix.toml, also after `memfix undo`: take it out there to be asked again.',
  );
  const { stderr } = await memfix({ cwd }, 'undo');
  expect(stderr).toContain(
    'memfix.toml still says yes to 1 question for good: take them out of its `assume` to be asked again.',
  );
  expect(read(cwd, 'b.py')).toBe(ASKS);
  expect(existsSync(join(cwd, 'memfix.toml'))).toBe(true);
  expect(git(cwd, 'status', '--porcelain').trim()).toBe('?? memfix.toml');
});

test('a session without a staged file says so', async () => {
  const cwd = repositoryWith({ 'a.py': TWO });
  const session = start(cwd, 'apply', '-p', '--staged');
  expect(await session.ended()).toBe(0);
  expect(session.text).toContain('There is nothing to review among staged files.');
});

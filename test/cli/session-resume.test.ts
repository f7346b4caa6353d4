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
  expect(second.text.replace(/\s+/g, ' ')).toContain(
    'Went on with 1 earlier answer. 2 changes of the earlier session are no longer in the files: they are asked about again.',
  );
  second.type('q');
  await second.ended();
  expect(read(cwd, 'a.py')).toBe(TWO);
});

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;

test.each(SIZES)('at %i×%i, what was written and put away by git is asked again', async (cols, rows) => {
  const cwd = repositoryWith({ 'a.py': TWO, 'b.py': TWO });
  const terminal = (...words: readonly string[]) => {
    const each = new Terminal({ cwd, cols, rows, env: { NO_COLOR: '1' } }, ...words);
    open.push(each);
    return each;
  };
  const first = terminal('apply', '-p');
  await first.sees('(1/4)');
  first.type('y');
  await first.sees('(2/4)');
  first.type('n');
  await first.sees('(3/4)');
  first.type('q');
  await first.ended();
  expect(read(cwd, 'a.py')).toBe(FIRST);
  git(cwd, 'stash');
  const second = terminal('apply', '-p', '--resume');
  await second.sees('(1/4)');
  expect(second.text.replace(/\s+/g, ' ')).toContain(
    'Went on with 1 earlier answer. 1 change of the earlier session is no longer in the files: it is asked about again.',
  );
  second.type('q');
  await second.ended();
  expect(second.text).toContain('No fix applied');
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
  expect(other.text.replace(/\s+/g, ' ')).toMatch(/`memfix apply -i .*b\.py` asks about what is left open\./);
  expect(other.text).not.toContain('--resume');
  const same = start(cwd, 'apply', '-p', 'a.py');
  await same.sees('(1/2)');
  expect(same.text).toContain('An earlier session left 1 answer here.');
});

test.each(SIZES)('at %i×%i, u takes a yes for good back, and so does undo', async (cols, rows) => {
  const cwd = repositoryWith({ 'b.py': ASKS });
  const session = new Terminal({ cwd, cols, rows, env: { NO_COLOR: '1' } }, 'apply', '-p', ...SELECT);
  open.push(session);
  const flat = () => session.text.replace(/\s+/g, ' ');
  await session.sees('(1/2)');
  // A habit of other tools chooses nothing.
  session.type('Y');
  await session.sees('[t]his, [f]ile or [a]ll');
  session.type('\r');
  await session.sees('answers nothing here');
  session.type('\x1b');
  await session.sees('(1/2)', 2);
  session.type('Y');
  await session.sees('The yes to this', 2);
  session.type('t\r');
  await session.sees('(2/2)');
  expect(read(cwd, 'memfix.toml')).toContain('fused-optimizer/');
  session.type('u');
  await session.sees('(1/2)', 3);
  expect(flat()).toContain('Took back the last answer. The yes was taken out of memfix.toml too.');
  expect(existsSync(join(cwd, 'memfix.toml'))).toBe(false);
  session.type('Y');
  await session.sees('The yes to this', 3);
  session.type('f\r');
  await session.sees('(2/2)', 2);
  expect(session.text).toContain('safe by assumption');
  session.type('q');
  await session.ended();
  expect(flat()).toContain(
    'What you answered for good is in `assume` of memfix.toml; `memfix undo` takes it back too.',
  );
  const { stderr } = await memfix({ cwd }, 'undo');
  expect(stderr).toContain('restored b.py\nremoved memfix.toml, which memfix had made\n1 file restored.\n');
  expect(stderr).not.toContain('still says yes');
  expect(read(cwd, 'b.py')).toBe(ASKS);
  expect(git(cwd, 'status', '--porcelain').trim()).toBe('');
});

test('a yes in a config of the person goes by itself, and not where the config has changed since', async () => {
  const cwd = repositoryWith({ 'b.py': ASKS, 'memfix.toml': '# mine\n' });
  const session = start(cwd, 'apply', '-p', ...SELECT);
  await session.sees('(1/2)');
  session.type('Y');
  await session.sees('[t]his, [f]ile or [a]ll');
  session.type('t\r');
  await session.sees('(2/2)');
  session.type('u');
  await session.sees('(1/2)', 2);
  expect(read(cwd, 'memfix.toml')).toBe('# mine\n');
  session.type('Y');
  await session.sees('The yes to this', 2);
  session.type('t\r');
  await session.sees('(2/2)', 2);
  put(cwd, { 'memfix.toml': `${read(cwd, 'memfix.toml')}# later\n` });
  session.type('u');
  await session.sees('The yes stays in `assume`');
  session.type('q');
  await session.ended();
  expect(read(cwd, 'memfix.toml')).toContain('# later\n');
});

test('a session without a staged file says so', async () => {
  const cwd = repositoryWith({ 'a.py': TWO });
  const session = start(cwd, 'apply', '-p', '--staged');
  expect(await session.ended()).toBe(0);
  expect(session.text).toContain('There is nothing to review among staged files.');
});

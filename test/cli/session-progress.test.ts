import { afterEach, expect, test } from 'vitest';
import { Terminal } from '../support/terminal.js';
import { repositoryWith } from '../workspace/folders.js';

const head = 'import torch\nfrom torch import nn\n\nmodel = nn.Linear(8, 8)\n';
const loads = (count: number) =>
  head +
  Array.from({ length: count }, (_, at) => `model.load_state_dict(torch.load("a${at}.pt"))\n`).join('');

let session: Terminal | undefined;
afterEach(() => session?.dispose());

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
] as const;

test.each(SIZES)(
  'at %i×%i, the share is what is answered, and what is skipped together is said',
  async (cols, rows) => {
    const cwd = repositoryWith({ 'a.py': loads(6), 'b.py': loads(6) });
    session = new Terminal(
      { cwd, cols, rows, env: { NO_COLOR: '1', PAGER: 'head -n 999', NO_PAGER: '' } },
      ...['apply', '-i'],
    );
    await session.sees('(1/12)');
    session.type('d');
    await session.sees('7/12 · 50 %');
    await session.sees('Skipped 6 of the rest of this file; u takes it back.');
    session.type('u');
    await session.sees('Took back the last 6 answers.');
    session.type('j');
    await session.sees('2/12 · 0 %');
    // Through a pager the change is gone from the screen; then it is shown again.
    session.type('i');
    await session.sees('Suppress it');
    const below = () => session?.text.split('Suppress it')[1] ?? '';
    const card = /── 2\/12[\s\S]*torch\.load\("a1\.pt", map_loca[\s\S]*\?=more/;
    await expect.poll(below).toMatch(card);
    session.type('z');
    await session.sees('“z” is not a key here');
    session.type('D');
    expect(await session.ended()).toBe(1);
  },
);

test.each(SIZES)('at %i×%i, a pager that fails leaves the text on the screen', async (cols, rows) => {
  const cwd = repositoryWith({ 'a.py': loads(1) });
  const env = { NO_COLOR: '1', NO_PAGER: '', PAGER: 'false' };
  session = new Terminal({ cwd, cols, rows, env }, 'apply', '-p');
  await session.sees('(1/1)');
  session.type('i');
  await session.sees('(1/1)', 2);
  expect(session.text).toContain('Suppress it');
  session.type('q');
  await session.ended();
});

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Terminal } from '../support/terminal.js';
import { put, repositoryWith } from '../workspace/folders.js';

const LOADS = 'import torch\nfrom torch import nn\n\nmodel = nn.Linear(8, 8)\n';
const LOAD = 'model.load_state_dict(torch.load("a.pt"))\n';

let terminal: Terminal | undefined;
afterEach(() => terminal?.dispose());

test.each([
  [60, 20],
  [80, 24],
  [120, 40],
])('--watch at %i×%i looks again at what changes, is new or is mended, until Ctrl-C', async (cols, rows) => {
  const cwd = repositoryWith({ 'a.py': LOADS });
  terminal = new Terminal(
    { cwd, cols, rows, env: { NO_COLOR: '1' } },
    'check',
    '--watch',
    '--output-format',
    'concise',
  );
  await terminal.sees('No findings in 1 file.');
  await terminal.sees('Ctrl-C ends.');
  put(cwd, { 'a.py': LOADS + LOAD });
  await terminal.sees('a.py:5:29: load-map-location');
  put(cwd, { 'b.py': LOADS + LOAD });
  await terminal.sees('2 safe findings in 2 files');
  put(cwd, { 'memfix.toml': 'selct = []\n' });
  await terminal.sees('Did you mean');
  rmSync(join(cwd, 'memfix.toml'));
  put(cwd, { 'c.py': LOADS + LOAD });
  await terminal.sees('3 safe findings in 3 files');
  terminal.type('\x03');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).not.toContain('Interrupted');
  expect(terminal.text).not.toContain('\\u001b');
});

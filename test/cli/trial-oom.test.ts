/** What somebody complained of whose run had just died of CUDA out of memory. */
import { expect, test } from 'vitest';
import { transforms } from '../../transforms/index.js';
import { SIZES, start } from '../support/seen.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const SAID =
  'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.76 GiB total capacity; 9.80 GiB already allocated; 3.69 MiB free; 9.90 GiB reserved in total by PyTorch)\n';

test('a log without a traceback is said to have none', async () => {
  const cwd = folderWith({ 'a.py': 'hold()\n', 'run.log': SAID });
  expect((await memfix({ cwd }, '--oom', 'run.log')).stdout.replace(/\s+/g, ' ')).toContain(
    'The log has no traceback of it, so nothing says where: give all that the run printed, its errors too.',
  );
  const traced = `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    hold()\n${SAID}`;
  const { stdout } = await memfix({ cwd, stdin: traced }, '--oom', '-');
  expect(stdout).not.toContain('no traceback');
});

test('what only an opt-in transform says of a line is explained, too', async () => {
  const cwd = folderWith({ 'a.py': 'rare()\n\n\nother = 1\n' });
  const { stdout } = await memfix({ cwd }, 'explain', 'a.py:1');
  expect(stdout).toContain('Nothing by default at a.py:1; with `--extend-select opt-in` there is:');
  expect(stdout).toContain('rare-word');
  expect((await memfix({ cwd }, 'explain', 'a.py:4')).stderr).toContain(
    'Nothing is found or left alone at a.py:4.',
  );
});

const TOTAL = `import torch
from torch import nn


def main(net, opt, batches):
    total = 0
    for x, y in batches:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        total += loss
    print(total.item())
`;

test('what stays in host memory explains no GPU that ran out, and may explain the host', async () => {
  const cwd = folderWith({ 'train.py': TOTAL });
  const traced = (said: string) =>
    `Traceback (most recent call last):\n  File "train.py", line 9, in main\n    loss = nn.functional.mse_loss(net(x), y)\n${said}`;
  const explained = async (stdin: string) =>
    (await memfix({ cwd, transforms, stdin }, '--oom', '-', '-v', '--select', 'detach-accumulated-loss'))
      .stdout;
  expect(await explained(traced(SAID))).toContain('what it keeps is in host memory, not on the GPU');
  const host = await explained(
    traced("RuntimeError: [enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory\n"),
  );
  expect(host).toContain('#1 in frame 1 of the traceback, `main`');
});

test.each(SIZES)('at $cols×$rows, a log that is to be typed is asked for', async (size) => {
  const cwd = folderWith({ 'a.py': 'hold()\n' });
  const terminal = start({ ...size, cwd, env: { NO_COLOR: '1' } }, '--oom', '-');
  await terminal.sees('Paste the output of the run, then press Enter and Ctrl-D.');
  terminal.type(`${SAID}\x04`);
  await terminal.sees('Out of memory: CUDA on GPU 0');
});

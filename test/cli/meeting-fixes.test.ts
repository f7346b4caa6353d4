/** Where fixes change the same lines, fewer are made than were found: what is promised says so. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { repositoryWith } from '../workspace/folders.js';

const TRAIN = `import torch
import torch.nn.functional as F


def train(model, loader, opt, val):
    for epoch in range(3):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        total = 0
        for x, y in val:
            loss = F.cross_entropy(model(x), y)
            total += loss
        print(total.item() / len(val))
`;

test('check promises no more than apply does', () => {
  const cwd = repositoryWith({ 'e.py': TRAIN });
  const run = (...words: readonly string[]) =>
    spawnSync(process.execPath, [join(root, 'dist/cli.js'), ...words], { cwd, encoding: 'utf8' }).stderr;
  expect(run('check', '--no-cache')).toContain('to fix up to 3.');
  expect(run('diff', '--no-cache')).toContain('1 fix in 1 file');
});

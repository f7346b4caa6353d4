/** What somebody complained of who works in notebooks. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { SIZES, seen, start } from '../support/seen.js';
import { repositoryWith } from '../workspace/folders.js';

interface Cell {
  readonly source: string;
  readonly count?: number;
  readonly traceback?: readonly string[];
}

function notebook(...cells: readonly Cell[]): string {
  return JSON.stringify({
    cells: cells.map(({ source, count = null, traceback }) => ({
      ...{ cell_type: 'code', metadata: {}, execution_count: count, source },
      outputs:
        traceback === undefined
          ? []
          : [{ output_type: 'error', ename: 'OutOfMemoryError', evalue: '', traceback }],
    })),
    ...{ metadata: { language_info: { name: 'python' } }, nbformat: 4, nbformat_minor: 5 },
  });
}

const SETUP = 'import torch\nfrom torch import nn\n\nmodel = nn.Linear(4, 1)\ncriterion = nn.MSELoss()\n';
const EVALUATE = `def evaluate(model, loader):
    model.eval()
    n = 0.0
    for x, y in loader:
        n += criterion(model(x), y).item()
    return n
`;
const LOOP = `model.eval()
total = 0.0
for x, y in held_out:
    # The first of many lines, of which a window of twenty has no room for all.
    x, y = x.cuda(), y.cuda()
    out = model(x)
    error = criterion(out, y)
    total += error.item()
    first = out.argmax(1)
    second = first.eq(y)
    hits = second.sum().item()
    misses = len(y) - hits
    print(hits)
    print(misses)
    print(hits / len(y))
    print(misses / len(y))
print(total)
`;

function check(cwd: string, ...words: readonly string[]): string {
  return spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), 'check', ...words], {
    ...{ cwd, encoding: 'utf8' },
  }).stdout;
}

describe.each(SIZES)('a loop that is put under no_grad, at $cols × $rows', (size) => {
  const files = { 'a.ipynb': notebook({ source: SETUP }, { source: LOOP }) };

  test('`check` shows what is added, and names a command that shows the rest', async () => {
    const cwd = repositoryWith(files);
    const { lines } = await seen({ cwd, ...size }, 'check', '--no-pager');
    const added = lines.findIndex((line) => line.includes('│ + with torch.no_grad():'));
    expect(lines[added + 1]).toMatch(/^ +3 │ → {5}for x, y in held_out:$/);
    expect(lines.some((line) => /\d │ - /.test(line))).toBe(false);
    const rest = lines.find((line) => line.includes('more lines, indented: '));
    expect(rest).toContain('memfix diff --unsafe-fixes');
    const shown = await seen({ cwd, ...size }, 'diff', '--unsafe-fixes', '--no-pager', 'a.ipynb');
    expect(shown.text).toContain('+    for x, y in held_out:');
  });

  test('the card shows what is added before it asks', async () => {
    const terminal = start({ cwd: repositoryWith(files), ...size }, 'apply', '-i');
    await terminal.sees('?=more');
    const card = terminal.text;
    expect(card).toContain('+ with torch.no_grad():');
    expect(card).toMatch(/ 3 → {5}for x, y in held_out:/);
    terminal.type('q');
    await terminal.ended();
  });

  test('a cell is found by its number', async () => {
    const cells = [SETUP, 'x = 1\n', 'x = 2\n', EVALUATE, 'torch.load("a.pt")\n', LOOP];
    const cwd = repositoryWith({ 'a.ipynb': notebook(...cells.map((source) => ({ source }))) });
    const terminal = start({ cwd, ...size }, 'apply', '-i');
    await terminal.sees('?=more');
    terminal.type('/');
    await terminal.sees('file:line or words');
    terminal.type('6\r');
    await terminal.sees('a.ipynb: cell 6, line');
    await terminal.sees('?=more');
    terminal.type('q');
    await terminal.ended();
  });
});

test('a fix is as safe for a file that is named as in its folder, beside a file that is no Python', () => {
  const cwd = repositoryWith({
    'a.ipynb': notebook({ source: SETUP }, { source: EVALUATE }),
    'exported.py': '# %%\nimport torch\n%time\nloss = torch.zeros(1)\nloss.backward()\n',
  });
  const [named, all] = [check(cwd, '-f', 'concise', 'a.ipynb'), check(cwd, '-f', 'concise')];
  expect(named.match(/no-grad \[\w+\]/g)).toEqual(all.match(/no-grad \[\w+\]/g));
});

describe('a cell that ran out of memory', () => {
  const traceback = [
    'Cell In[5], line 1',
    '----> 1 evaluate(model, loader)',
    '',
    'Cell In[12], line 5, in evaluate(model, loader)',
    '      4 for x, y in loader:',
    '----> 5     n += criterion(model(x), y).item()',
    '',
    'OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB',
  ];
  const cells = [
    { source: SETUP, count: 2 },
    { source: EVALUATE, count: 12 },
  ];
  const failed = notebook(...cells, { source: 'evaluate(model, loader)\n', count: 5, traceback });
  const files = {
    'run.ipynb': failed,
    'copy.ipynb': notebook(...cells, { source: 'evaluate(model, loader)\n', count: 5 }),
    'run.log': `${traceback.join('\n')}\n`,
  };

  test('is one of the notebook that has the traceback, whatever else is in the folder', () => {
    const out = check(repositoryWith(files), '--oom', 'run.ipynb');
    expect(out).toContain('2  run.ipynb: cell 2, line 5');
    expect(out).toContain('1 finding may explain it');
  });

  test('is of no known notebook where two have it: name it', () => {
    const out = check(repositoryWith(files), '--oom', 'run.log').replace(/\s+/g, ' ');
    expect(out).toContain('name the one that ran after the log');
    expect(out).not.toContain('are of another program');
  });
});

function checked(cwd: string, id: string): readonly (readonly [string | undefined, string])[] {
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, 'dist/cli.js'), 'check', '--no-cache', '--output-format', 'json', '--select', id, cwd],
    { encoding: 'utf8' },
  );
  const { findings } = JSON.parse(stdout) as { findings: { path: string; safety: string }[] };
  return findings.map(({ path, safety }) => [path.split('/').at(-1), safety]);
}

test('what a cell leaves behind with its graph may be differentiated by hand, whichever fix it is', () => {
  const TEACHER = `teacher = nn.Linear(4, 1).eval()
target = teacher(torch.ones(2, 4))
`;
  const TRAIN = `loss = criterion(model(torch.ones(2, 4)), target)
loss.backward()
torch.optim.SGD(model.parameters(), lr=0.1).step()
`;
  const cwd = repositoryWith({
    'a.ipynb': notebook({ source: SETUP }, { source: TEACHER }, { source: TRAIN }),
  });
  expect(checked(cwd, 'frozen-teacher')).toEqual([['a.ipynb', 'unsafe']]);
});

test('a cell that names no torch, and nothing of the cell that imports it, is not given a torch', () => {
  const ALONE = `from transformers import AutoModel

net = AutoModel.from_pretrained("tiny")


def score(x):
    net.eval()
    return net(x).logits.sum().item()
`;
  const cwd = repositoryWith({
    'a.ipynb': notebook({ source: 'import torch\nweights = torch.ones(3)\n' }, { source: ALONE }),
    'b.ipynb': notebook({ source: SETUP }, { source: EVALUATE }),
  });
  expect(checked(cwd, 'no-grad')).toEqual([
    ['a.ipynb', 'unsafe'],
    ['b.ipynb', 'safe'],
  ]);
});

test('what goes on to other layers is left in a variable that whoever has the notebook open may differentiate', () => {
  const shapes = 'x = torch.ones(64, 20, 7, 7)\nprint(x.shape)\nnn.PixelShuffle(2)(x).shape\n';
  const layers =
    'x = torch.ones(64, 20)\nfc = nn.Linear(20, 1568)\nx = fc(x)\nprint(x.shape)\nx = x.view(64, 32, 7, 7)\n' +
    'conv = nn.Sequential(nn.Conv2d(32, 8, 5), nn.ReLU())\nx = conv(x)\nprint(x.shape)\n';
  const cwd = repositoryWith({
    'a.ipynb': notebook(
      { source: 'import torch\nimport torch.utils.data\nfrom torch import nn, optim\n', count: 1 },
      { source: shapes, count: 2 },
      { source: layers, count: 3 },
    ),
  });
  expect(check(cwd, '-f', 'concise', '--select', 'no-grad-block', 'a.ipynb')).not.toContain('[safe]');
});

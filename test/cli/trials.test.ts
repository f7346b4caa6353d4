/** What people complained of who tried it on notebooks and on a run that was out of memory. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { SIZES, seen, start, widest } from '../support/seen.js';
import { commit, folderWith, repositoryWith } from '../workspace/folders.js';

const CHECKPOINTS = `import torch
from torch import nn

model = nn.Linear(8, 8)
${Array.from({ length: 9 }, (_, index) => `model.load_state_dict(torch.load("runs/checkpoint-${index}-with-a-name-that-is-rather-long.pt"))`).join('\n')}
`;

const NESTED = `import torch
from torch import nn

model = nn.Linear(8, 8)


def load(which):
                    first = which
                    second = which
                    third = which
                    model.load_state_dict(torch.load("runs/checkpoint.pt"))
`;
const LONG = '02-Some Tasks/08-a_solution_with_a_long_name/classification_demo';

describe.each(SIZES)('a long path, at $cols × $rows', (size) => {
  const book = JSON.stringify({
    cells: [{ cell_type: 'code', source: NESTED }],
    metadata: {},
    ...{ nbformat: 4, nbformat_minor: 5 },
  });

  test('keeps its end on the card, and code keeps no indentation that nobody needs', async () => {
    const cwd = repositoryWith({ [`${LONG}.ipynb`]: book });
    const terminal = start({ cwd, ...size }, 'apply', '-i');
    await terminal.sees('?=more');
    expect(terminal.lines.find((line) => line.startsWith('── 1/1'))).toMatch(
      /classification_demo\.ipynb: cell 1, line 11 ─*$/,
    );
    const added = terminal.lines.find((line) => line.includes('+ '));
    if (size.cols === 60) expect(added).toMatch(/\+ model\.load_state_dict/);
    else expect(added).toContain('model.load_state_dict(torch.load("runs/checkpoint');
    terminal.type('q');
    await terminal.ended();
  });

  test('is not broken by the terminal where fixes are named', async () => {
    const cwd = repositoryWith({ [`${LONG}.py`]: NESTED });
    const { lines } = await seen({ cwd, ...size }, 'apply');
    const fixed = lines.find((line) => line.startsWith('fixed'));
    expect(fixed).toMatch(/classification_demo\.py:11 +load-map-location/);
    expect(fixed?.length).toBeLessThanOrEqual(size.cols);
  });
});

test('the overview counts notebooks, and finds torch in them', async () => {
  const cell = { cell_type: 'code', source: ['import torch\n', 'from transformers import Trainer'] };
  const book = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1);
  const cwd = folderWith({
    'a.ipynb': book,
    'b.ipynb': book.replace('import torch', 'import os'),
    'c.py': 'x = 1\n',
  });
  const { text } = await seen({ cwd });
  expect(text).toContain('1 Python file and 2 notebooks, torch in 1 (with transformers)');
});

test('a session about memory that ran out asks in the order of the report, and says where', async () => {
  const cwd = repositoryWith({});
  cpSync(join(root, 'fixtures/_demo'), cwd, { recursive: true });
  commit(cwd);
  const terminal = start({ cwd }, 'apply', '-i', '--oom', 'oom.log');
  await terminal.sees('?=more');
  expect(terminal.text).toMatch(/── 1\/\d+ ── evaluate\.py:7:5/);
  expect(terminal.text).toContain('#1      in frame 3 of the traceback, `evaluate`');
  terminal.type('y');
  terminal.type('q');
  await terminal.ended();
  expect(terminal.text).not.toContain('showed up only now');
});

describe.each(SIZES)('tables and headings, at $cols × $rows', (size) => {
  const cell = { cell_type: 'code', metadata: {}, outputs: [], source: CHECKPOINTS };
  const book = JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 });

  test('stay in the window', async () => {
    const script = `from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
args = TrainingArguments(output_dir="out", per_device_train_batch_size=8, gradient_checkpointing=True)
Trainer(model=model, args=args, train_dataset=data).train()
`;
    const cwd = repositoryWith({ 'checkpoints.py': CHECKPOINTS, 'finetune.py': script });
    const budget = await seen({ cwd, ...size }, 'budget', 'finetune.py', '--fit', '24GB');
    expect(budget.text).toContain('What the files say');
    expect(widest(budget.lines)).toBeLessThanOrEqual(size.cols);
    const counted = await seen({ cwd, ...size }, 'check', '--statistics', '--select', 'ALL');
    expect(counted.text).toContain('gradient-checkpointing-kwargs');
    expect(widest(counted.lines)).toBeLessThanOrEqual(size.cols);
  });

  test('name the cell where the path is too long for it', async () => {
    const path = `${LONG}_of_another_hundred_columns_${'x'.repeat(60)}.ipynb`;
    const { lines, text } = await seen({ cwd: repositoryWith({ [path]: book }), ...size }, 'check');
    expect(lines.slice(0, 2)).toEqual([path, '  cell 1, line 5  load-map-location  safe · frees memory']);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'and 7 more like this, cell 1, lines 7, 8, 9, 10, 11, 12, 13',
    );
  });
});

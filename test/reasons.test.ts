import { describe, expect, test } from 'vitest';
import { casesOf } from '../src/dev/fixtures.js';
import { doorOf } from '../src/testing/fixtures.js';
import { engineFor, sourceFile } from '../src/testing/laws.js';
import { chosenParser } from '../src/workspace/parser-choice.js';
import { transforms } from '../transforms/index.js';
import { memfix } from './cli/command-line.js';
import { folderWith } from './workspace/folders.js';

const parser = await chosenParser(process.env['MEMFIX_PARSER']);
const COURT = { parser, transforms, all: transforms, withId: false, records: false, compiles: () => {} };

/** What these free is worth most, and what makes them safe is the hardest to see. */
const TRACED = [
  'no-grad',
  'no-grad-block',
  'frozen-teacher',
  'detach-accumulated-loss',
  'detach-appended-loss',
];

describe('why a fix is safe', () => {
  test.each(TRACED)('%s: every fixture says it, with places', (id) => {
    const chosen = transforms.filter(({ meta }) => meta.id === id);
    const safe = casesOf(id).flatMap((fixture) => {
      const engine = engineFor(COURT, chosen, fixture.options, doorOf(fixture));
      const scan = engine.scan(sourceFile(fixture.input));
      const findings = scan.kind === 'scan' ? scan.findings : [];
      return findings.flatMap(({ safety, reasons = [] }) =>
        safety === 'safe' ? [{ name: fixture.name, reasons }] : [],
      );
    });
    expect(safe.length).toBeGreaterThan(5);
    for (const { name, reasons } of safe) {
      expect(reasons.length, name).toBeGreaterThan(0);
      for (const { text } of reasons) expect(text, name).toMatch(/^[`\w][^\n]*[^.\s]$/);
    }
    expect(
      safe.filter(({ reasons }) => reasons.some(({ text }) => /\(input\.py:\d+\)/.test(text))).length,
    ).toBeGreaterThan(safe.length / 2);
  });

  test.each(transforms.filter(({ meta }) => meta.safety === 'safe').map(({ meta }) => meta.id))(
    '%s: what the code answers reads as a question without what is at stake',
    (id) => {
      const chosen = transforms.filter(({ meta }) => meta.id === id);
      const [fixture] = casesOf(id).filter(({ name }) => name === chosen[0]?.meta.example);
      if (fixture === undefined) throw new Error(`${id} has no example`);
      const scan = engineFor(COURT, chosen, fixture.options, doorOf(fixture)).scan(sourceFile(fixture.input));
      const answered = (scan.kind === 'scan' ? scan.findings : []).flatMap(
        (finding) => finding.answered ?? [],
      );
      for (const { text } of answered) {
        expect(text).toMatch(/^(?:Is|Are|Does|Do|May|Can|Has) .*[^\s`]?\?$/);
        expect(text).not.toMatch(/undefined|``| {2}| [?,;)]|of \?/);
      }
    },
  );
});

const PROGRAM = `import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def accuracy(loader):
    model.eval()
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item()
    return right


def train(loader):
    model.train()
    for x, y in loader:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    data = [(torch.randn(3, 4), torch.zeros(3, dtype=torch.long))]
    train(data)
    print(accuracy(data))
`;

describe('memfix explain FILE:LINE', () => {
  const explain = (place: string) => {
    const cwd = folderWith({ 'train.py': PROGRAM, 'calm.py': 'print(1)\n' });
    return memfix({ cwd, transforms }, 'explain', place);
  };

  test('shows what is found there, and each step of why', async () => {
    const { code, stdout, stderr } = await explain('train.py:8');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('train.py:8:5  no-grad  safe');
    expect(stdout).toContain('the library says: `model(x).argmax(1)` (train.py:12) hands on no graph');
    expect(stdout).toContain('the code says: `return right` (train.py:13) hands out no graph');
    expect(stdout).toContain('counts on: torch 1.0 or newer: nothing pins torch: 2.2 or newer is assumed');
    expect(stdout).toContain('+@torch.no_grad()');
  });

  test('shows the nearest where there is nothing, and says so', async () => {
    const { code, stdout, stderr } = await explain('train.py:13');
    expect([code, stderr]).toEqual([0, '']);
    // On the page itself: what is said before a pager is gone from the screen.
    expect(stdout).toMatch(/^Nothing is found or left alone at train\.py:13\. The nearest of the file:\n\n/);
    expect(stdout).toContain('train.py:8:5  no-grad');
  });

  test('finds what only its fix changes at that line', async () => {
    const loop = `${PROGRAM}    model.eval()\n    for x, y in data:\n        print(model(x).sum().item())\n`;
    const cwd = folderWith({ 'train.py': loop });
    const { stdout, stderr } = await memfix(
      { cwd, transforms },
      'explain',
      `train.py:${loop.split('\n').length - 1}`,
    );
    expect(stderr).toBe('');
    expect(stdout).toContain('no-grad-block');
  });

  test('takes the whole file without a line', async () => {
    expect((await explain('train.py')).stdout).toContain('train.py:8:5  no-grad');
  });

  test('names what is not there', async () => {
    const { code, stderr } = await explain('nothere.py:3');
    expect(code).toBe(2);
    expect(stderr).toContain('nothere.py');
  });

  test('a file with nothing to say says so', async () => {
    const { code, stdout, stderr } = await explain('calm.py:1');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toBe('Nothing is found or left alone at calm.py:1.\n');
  });
});

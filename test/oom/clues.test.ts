import { describe, expect, test } from 'vitest';
import { cluesIn } from '../../src/oom/clues.js';
import type { Frame } from '../../src/oom/frame.js';
import { Places } from '../../src/oom/places.js';
import { programAround } from '../../src/oom/program.js';
import { PyModule } from '../../src/semantic/module.js';
import { loadParser } from '../../src/syntax/parser.js';
import type { Moment } from '../../src/toolkit/contract.js';

const files = (texts: Readonly<Record<string, string>>) => ({
  paths: new Map(Object.keys(texts).map((name) => [name, `/home/me/${name}`])),
  text: (name: string) => texts[name],
});

const parser = await loadParser();

function cluesAt(text: string, name: string, source: string, ...moments: readonly Moment[]) {
  const places = new Places({
    ...files({ 'a/net.py': text }),
    module: (path) => new PyModule(path, text, parser.parse(text)),
  });
  const frame: Frame = { path: '/app/a/net.py', line: 1, name, source };
  const spot = places.find(frame);
  if (spot === undefined) throw new Error(`${source} is not there`);
  return cluesIn([{ frame, spot }], moments, places, false);
}

const attention = (scores: string, rest: string) => `def run(a, b, c):
    s = ${scores}
    s = torch.softmax(s, dim=-1)
    return s @ c


def other(a, b):
    """softmax(a @ b.transpose(1, 2))"""
    ${rest}
`;

describe('attention that is written out', () => {
  test.each(['a @ b.transpose(-2, -1)', 'torch.matmul(a, b.mT)', "torch.einsum('bid,bjd->bij', a, b)"])(
    '%s',
    (scores) => {
      const text = attention(scores, 'return a @ b');
      expect(cluesAt(text, 'run', `s = ${scores}`)).toEqual([
        expect.stringMatching(/^`run` writes attention out: .*scaled_dot_product_attention/),
      ]);
      expect(cluesAt(text, 'run', 's = torch.softmax(s, dim=-1)')).toHaveLength(1);
    },
  );

  test('says where the function can do without it', () => {
    const text = attention('a @ b.transpose(-2, -1)', 'return a').replace(
      '    s = a',
      '    if fast:\n        return F.scaled_dot_product_attention(a, b, c)\n    s = a',
    );
    expect(cluesAt(text, 'run', 's = a @ b.transpose(-2, -1)')).toEqual([
      expect.stringContaining('in a branch that did not run'),
    ]);
  });

  test.each<readonly [what: string, source: string]>([
    ['a product alone', 'return a @ b'],
    ['a linear layer', 'return self.out(a)'],
  ])('is not %s', (_, source) => {
    expect(cluesAt(attention('a @ b.transpose(-2, -1)', source), 'other', source)).toEqual([]);
  });
});

describe('an evaluation that collects', () => {
  const loop = (line: string) => `def score(model, data):
    kept = []
    for x in data:
        out = model(x)
        ${line}
    return kept
`;

  test('names the line', () => {
    const [clue] = cluesAt(loop('kept.append(out)'), 'score', 'out = model(x)', 'evaluation');
    expect(clue).toMatch(
      /^`kept\.append\(out\)` in `score` \(a\/net\.py:5\) keeps an output of every pass on the GPU/,
    );
  });

  test('names a tensor of torch, and a part of an output', () => {
    for (const line of ['kept.append(torch.sigmoid(out))', 'kept.append(out.logits[0])'])
      expect(cluesAt(`import torch\n${loop(line)}`, 'score', 'out = model(x)', 'evaluation')).toHaveLength(1);
  });

  test.each([
    ...['kept.append(out.cpu())', 'kept.append(float(out))', 'print(out)', 'kept.append()'],
    ...['kept.append(tokenizer.decode(out[0]).strip())', 'kept.append(x["label"])', 'kept.append(unknown)'],
  ])('is silent about %s', (line) => {
    expect(cluesAt(loop(line), 'score', 'out = model(x)', 'evaluation')).toEqual([]);
  });

  test('is told of evaluations only', () => {
    expect(cluesAt(loop('kept.append(out)'), 'score', 'out = model(x)', 'forward')).toEqual([]);
  });
});

describe('the program around a traceback', () => {
  const texts = {
    'src/train.py': 'from net import Net\nimport tools.io as io\n',
    'src/net.py': 'from .layers import (\n    Block,\n)\n',
    'src/layers.py': 'import torch\n',
    'src/tools/io.py': '',
    'src/other.py': 'from net import Net\n',
  };

  test('is what its files import', () => {
    expect([...(programAround(files(texts), ['src/train.py']) ?? [])].sort()).toEqual([
      ...['src/layers.py', 'src/net.py', 'src/tools/io.py', 'src/train.py'],
    ]);
  });

  test('is not known where a file imports by a name that is made at run time', () => {
    const dynamic = { ...texts, 'src/layers.py': 'import importlib\n' };
    expect(programAround(files(dynamic), ['src/train.py'])).toBe(undefined);
  });
});

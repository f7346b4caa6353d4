import type { Finding, ProposedFix, Scan, SourceFile } from '../../src/engine/outcome.js';
import type { Report } from '../../src/report/report.js';
import { ask } from '../../src/semantic/question.js';
import { Lines } from '../../src/text/lines.js';

export const TRAIN = `import torch
from torch import nn


def train(model, loader, optimizer):
    total_loss = 0
    for step, batch in enumerate(loader):
        loss = model(batch).loss
        loss.backward()
        optimizer.step()
        total_loss += loss
    return total_loss / len(loader)


def validate(model, loader):
    model.eval()
    for batch in loader:
        print(model(batch).loss.item())
`;

interface Words {
  readonly id: string;
  readonly message: string;
  readonly effect?: Finding['effect'];
  readonly safety?: Finding['safety'];
  readonly numerics?: Finding['numerics'];
  readonly questions?: Finding['questions'];
  readonly refusal?: string;
  readonly advice?: string;
  readonly fix?: ProposedFix;
}

export function file(path: string, text: string): SourceFile {
  return { path, source: { text, encoding: 'utf-8', bom: false } };
}

/** A finding on the first occurrence of `snippet`. */
export function findingAt(text: string, snippet: string, words: Words): Finding {
  const start = text.indexOf(snippet);
  if (start < 0) throw new Error(`the sample lacks ${snippet}`);
  const lines = new Lines(text);
  const { id, ...rest } = words;
  return {
    transform: id,
    symptom: id === 'detach-accumulated-loss' ? 'leak' : 'peak',
    effect: 'frees-memory',
    key: `${id}:${snippet}:0`,
    span: { start, end: start + snippet.length },
    at: lines.position(start),
    end: lines.position(start + snippet.length),
    safety: 'safe',
    numerics: 'bit-identical',
    questions: [],
    ...rest,
  };
}

export function scanOf(
  path: string,
  text: string,
  findings: readonly Finding[],
  extra: Partial<Scan> = {},
): Scan {
  return { kind: 'scan', file: file(path, text), findings, suppressed: [], notes: [], ...extra };
}

export function replaceIn(text: string, before: string, after: string): ProposedFix['edits'][number] {
  const start = text.indexOf(before);
  if (start < 0) throw new Error(`the sample lacks ${before}`);
  return { start, end: start + before.length, text: after };
}

const detach = findingAt(TRAIN, 'total_loss += loss', {
  id: 'detach-accumulated-loss',
  message: "`total_loss` keeps every step's autograd graph alive until the epoch ends",
  fix: {
    title: 'Detach the loss before adding it',
    edits: [replaceIn(TRAIN, 'total_loss += loss', 'total_loss += loss.detach()')],
    importEdits: [],
  },
});

const noGrad = findingAt(TRAIN, 'def validate(model, loader):', {
  id: 'no-grad',
  message: '`validate` records a graph for every batch that nothing differentiates',
  safety: 'unsafe',
  questions: [
    ask('returned-only-read')`Is what \`${'validate'}\` returns only read and never differentiated?`,
    ask('works-without-graph')`Do the hooks of \`${'model'}\` work without the graph?`,
  ],
  fix: {
    title: 'Run `validate` without recording gradients',
    edits: [replaceIn(TRAIN, 'def validate', '@torch.no_grad()\ndef validate')],
    importEdits: [],
  },
});

const stack = findingAt(TRAIN, 'total_loss / len(loader)', {
  id: 'stack-losses',
  effect: 'tidy',
  message: '`total_loss` sums graphs of all steps',
  numerics: 'rounding',
  refusal: '`total_loss` is returned and may be differentiated by the caller',
});

export const SAMPLE: Report = {
  scans: [
    scanOf('src/train.py', TRAIN, [detach, stack, noGrad], {
      notes: [{ at: { line: 3, column: 1 }, message: 'unused suppression of `no-grad`' }],
    }),
  ],
  skipped: [
    { kind: 'skipped', path: 'old/py2.py', reason: 'it does not parse', at: { line: 7, column: 12 } },
  ],
  checked: 12,
};

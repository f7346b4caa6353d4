import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transforms } from '../transforms/index.js';

/** A file of one odd shape that grows: what a usual file has a few of, this one has very many of, in one place. */
export interface Shape {
  readonly id: string;
  readonly title: string;
  /** So many times the part that is repeated. */
  readonly text: (count: number) => string;
  /** The transform to run, where not all of the default set. */
  readonly select?: string;
}

const HEAD = `import torch
import torch.nn as nn
from transformers import TrainingArguments

`;

/** Each has been quadratic, or worse, or would be the first to become so. */
export const SHAPES: readonly Shape[] = [
  {
    id: 'methods',
    title: 'one class with so many methods',
    text: (count) => `${HEAD}class Trainer:\n${times(count, method)}`,
  },
  {
    id: 'family',
    title: 'so many subclasses of one class, with an attribute of one name',
    text: (count) => `${HEAD}class Base(nn.Module):\n    pass\n${times(count, subclass)}`,
  },
  {
    id: 'heirs',
    title: 'so many subclasses that average an attribute of their base',
    text: (count) => `${HEAD}${averaging}${times(count, heir)}`,
  },
  {
    id: 'strangers',
    title: 'so many classes with an attribute of one name, each read by who knows whom',
    text: (count) => `${HEAD}${times(count, (at) => subclass(at, 'nn.Module') + reader(at))}`,
  },
  {
    id: 'totals',
    title: 'one loop with so many running totals',
    text: (count) => `${HEAD}def train(model, batches, optimizer):
${times(count, (at) => `    total_${at} = 0\n`)}    for batch in batches:
${times(count, total)}        optimizer.step()
    return [${times(count, (at) => `total_${at} / len(batches), `)}]
`,
  },
  {
    id: 'loops',
    title: 'one function with so many loops',
    text: (count) => `${HEAD}def train(model, batches, optimizer):\n${times(count, loop)}`,
  },
  {
    id: 'validations',
    title: 'so many functions that evaluate, called by one another',
    text: (count) => `${HEAD}${times(count, validation)}`,
  },
  {
    id: 'calls',
    title: 'one function with so many calls, which set one variable',
    text: (count) => `${HEAD}def train(model):\n${times(count, load)}`,
  },
  {
    id: 'namesakes',
    title: 'so many functions of one name',
    text: (count) => `${HEAD}${times(count, () => namesake)}`,
  },
  {
    id: 'display',
    title: 'one dict with so many entries',
    text: (count) => `${HEAD}TABLE = {\n${times(count, entry)}}\n`,
  },
  {
    id: 'line',
    title: 'one line with so many statements',
    text: (count) =>
      `${HEAD}def load(model):\n    ${times(count, (at) => `y${at} = torch.load("${at}.pt"); `)}pass\n`,
  },
  {
    id: 'imports',
    title: 'so many imports, each used in a function',
    text: (count) =>
      `${HEAD}${times(count, (at) => `from package_${at} import build_${at}\n`)}${times(count, built)}`,
  },
  {
    id: 'ignored',
    title: 'so many findings with a comment that silences them',
    text: (count) => `${HEAD}${times(count, ignored)}`,
  },
];

/** What each transform is about, so many times in one file: by and by any of its questions is asked very often. */
export function exampleShapes(fixtures: string): readonly Shape[] {
  return transforms.map(({ meta: { id, example } }) => {
    const source = readFileSync(join(fixtures, id, example, 'input.py'), 'utf8');
    return {
      id: `example of ${id}`,
      title: `so many times the example of ${id}`,
      text: (count) => times(count, (at) => `${withOwnNames(source, at)}\n`),
      select: id,
    };
  });
}

/** Its functions and classes get a number of their own. */
function withOwnNames(source: string, at: number): string {
  const defined = new Set(
    Array.from(source.matchAll(/^(?:async )?(?:def|class) (\w+)/gm), ([, name]) => name),
  );
  const plain = source.replace(/^from __future__.*\n/gm, '');
  return plain.replace(/\w+/g, (word) => (defined.has(word) ? `${word}_${at}` : word));
}

function times(count: number, part: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => part(at)).join('');
}

function method(at: number): string {
  return `
    def train_${at}(self, model, batches, optimizer):
        total = 0
        for batch in batches:
            loss = model(batch["x"]).pow(2).mean()
            loss.backward()
            optimizer.step()
            total += loss
        self.mean_${at} = 0.9 * self.mean_${at} + 0.1 * total
        return total / len(batches)
`;
}

function subclass(at: number, base = 'Base'): string {
  return `

class Net${at}(${base}):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.mean = torch.zeros(8)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return self.linear(x) - self.mean.to(x.device)
`;
}

const averaging = `class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = torch.zeros(8)
`;

function heir(at: number): string {
  return `

class Net${at}(Base):
    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean
`;
}

function reader(at: number): string {
  return `

def shown_${at}(net):
    return float(net.mean.sum())
`;
}

function validation(at: number): string {
  return `
def validate_${at}(model, batches):
    model.eval()
    losses = []
    for batch in batches:
        losses.append(model(batch["x"]).pow(2).mean().item())
    return sum(losses) / len(losses) + validate_${at + 1}(model, batches)

`;
}

function total(at: number): string {
  return `        loss_${at} = model(batch["${at}"]).pow(2).mean()
        loss_${at}.backward()
        total_${at} += loss_${at}
`;
}

function loop(at: number): string {
  return `    total_${at} = 0
    for batch in batches:
        loss = model(batch["x"]).pow(2).mean()
        loss.backward()
        optimizer.step()
        total_${at} += loss
    print(total_${at} / len(batches))
`;
}

function load(at: number): string {
  return `    state = torch.load("${at}.pt")
    model.load_state_dict(state)
    torch.save(model.state_dict(), "${at}.pt")
    args = TrainingArguments("${at}", gradient_checkpointing=True)
`;
}

const namesake = `
def train(model, batches, optimizer):
    total = 0
    for batch in batches:
        loss = model(batch["x"]).pow(2).mean()
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(batches)
`;

function entry(at: number): string {
  return `    "key_${at}": TrainingArguments("${at}", gradient_checkpointing=True),\n`;
}

function built(at: number): string {
  return `

def train_${at}(batches):
    model = build_${at}()
    total = 0
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        total += loss
    return total
`;
}

function ignored(at: number): string {
  return `
def train_${at}(model, batches):
    total = 0
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        total += loss  # memfix: ignore[detach-accumulated-loss]
    return total
`;
}

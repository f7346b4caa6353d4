import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Shape } from './shapes.js';

export interface Repository {
  readonly name: string;
  readonly at: string;
  readonly files: number;
  readonly bytes: number;
  /** A training script of middling size: what an editor or a commit hook hands over. */
  readonly script: string | undefined;
}

/** The checkouts in a folder that hold any Python; `owner+name` and `name` are both good names for one. */
export function repositoriesIn(folder: string, wanted: readonly string[]): readonly Repository[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .filter((entry) => wanted.length === 0 || wanted.some((name) => isCalled(entry.name, name)))
    .map((entry) => survey(join(folder, entry.name)))
    .filter(({ files }) => files > 0);
}

export function isCalled(folder: string, name: string): boolean {
  return folder === name || folder.endsWith(`+${name}`);
}

function survey(at: string): Repository {
  const files = pythonFiles(at).map((path) => ({ path, size: statSync(path).size }));
  const scripts = files
    .filter(({ path }) => readFileSync(path).includes('.backward('))
    .sort((a, b) => a.size - b.size);
  const script = scripts[scripts.length >> 1]?.path;
  return {
    name: basename(at),
    at,
    files: files.length,
    bytes: files.reduce((total, { size }) => total + size, 0),
    script: script && relative(at, script),
  };
}

function pythonFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === '.git' ? [] : pythonFiles(path);
    return entry.isFile() && entry.name.endsWith('.py') ? [path] : [];
  });
}

export interface Sized {
  readonly size: number;
  readonly at: string;
  readonly home: string;
}

/** Training scripts of growing size, each of functions that every kind of trigger occurs in. */
export function filesBySize(folder: string, sizes: readonly number[]): readonly Sized[] {
  return sizes.map((size) => {
    // Each by itself: a file is looked at together with those around it.
    const home = join(folder, `${size}`);
    mkdirSync(home, { recursive: true });
    const at = join(home, 'train.py');
    const parts = [HEAD];
    for (let length = HEAD.length, index = 0; length < size; index++) {
      const part = training(index);
      parts.push(part);
      length += part.length;
    }
    writeFileSync(at, parts.join(''));
    return { size, at, home };
  });
}

/** Files of one shape: of a function, a class or a line of growing size. */
export function filesOfShape(
  folder: string,
  { id, text }: Shape,
  sizes: readonly number[],
): readonly Sized[] {
  const few = 10;
  const least = text(few).length;
  const perPart = (text(2 * few).length - least) / few;
  return sizes.map((size) => {
    const home = join(folder, id, `${size}`);
    mkdirSync(home, { recursive: true });
    const at = join(home, 'train.py');
    writeFileSync(at, text(Math.max(1, few + Math.round((size - least) / perPart))));
    return { size, at, home };
  });
}

/** Folders of growing size in which, as in real ones, one file in ten trains something. */
export function foldersByCount(folder: string, counts: readonly number[]): readonly Sized[] {
  return counts.map((size) => {
    const at = join(folder, `files_${size}`);
    for (let index = 0; index < size; index++) {
      const inner = join(at, `package_${Math.floor(index / 100)}`);
      if (index % 100 === 0) mkdirSync(inner, { recursive: true });
      writeFileSync(
        join(inner, `module_${index}.py`),
        index % 10 === 0 ? HEAD + training(index) : plain(index),
      );
    }
    return { size, at, home: at };
  });
}

const HEAD = `import torch
import torch.nn as nn
from transformers import TrainingArguments

`;

function training(index: number): string {
  return `
class Net${index}(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.mean = torch.zeros(8)

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return self.linear(x) - self.mean.to(x.device)


def train_${index}(model, batches, optimizer):
    model.train()
    total = 0
    for batch in batches:
        loss = model(batch["x"]).pow(2).mean() / len(batches)
        loss.backward()
        optimizer.step()
        total += loss
    args = TrainingArguments("out", gradient_checkpointing=True)
    torch.save(model.state_dict(), "model_${index}.pt")
    return total / len(batches), args


def evaluate_${index}(model, batches):
    model.eval()
    return sum(model(batch["x"]).sum().item() for batch in batches)

`;
}

function plain(index: number): string {
  return `"""Settings number ${index}."""

from dataclasses import dataclass


@dataclass
class Settings${index}:
    name: str = "settings-${index}"
    rate: float = ${index} * 0.5

    def describe(self) -> str:
        lines = [f"{self.name}: {self.rate}"]
        for number in range(3):
            lines.append(str(number + ${index}))
        return "\\n".join(lines)
`;
}

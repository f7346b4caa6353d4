/*
 * self.register_buffer("history", torch.zeros(steps, width))       ← said, when nothing reads `history`
 *
 * The buffer must be large, as far as its maker shows, and its name occur nowhere else in the file: not as an attribute, not
 * in a string, not in a comment. A class that walks over its buffers, builds names, or has a base from elsewhere may read
 * it in another way, and is passed over. No edit is offered: without the buffer the state dict has another key set.
 */
import type { PyModule, PyNode, Transform } from '../src/toolkit/index.js';
import {
  ancestryOf,
  argumentsOf,
  attributeUsesElsewhere,
  classAround,
  keywordValue,
  methodName,
  methodNamed,
  moduleKind,
  NN_MODULE,
  PLAIN_BASES,
  plainString,
  positionalArguments,
  qualifiedName,
  receiverOf,
  row,
} from '../src/toolkit/index.js';

const LARGE = 1_000_000;

export const unusedBuffer: Transform = {
  meta: {
    id: 'unused-buffer',
    summary: 'Point out large buffers that nothing reads',
    symptom: 'peak',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A buffer takes memory on the GPU for as long as the module lives, is broadcast by DDP, and is saved with every checkpoint. One that nothing reads is only cost.',
      does: 'Names buffers of two or more dimensions (or of a million elements and more) whose name occurs nowhere else in the file, nor as an attribute in other files of the project.',
      refuses: [],
      limits: [
        'Removing the buffer changes the keys of the state dict: old checkpoints then need `strict=False`, or a hook that drops the key. This is why no edit is offered.',
        'A buffer that code outside the project reads, or another file by a built name, is named wrongly; classes with a base from elsewhere are passed over.',
        'Classes that walk over their buffers, or build attribute names, are passed over.',
      ],
    },
    evidence: {
      verdict:
        'Saves the size of the buffer, on the GPU and in each checkpoint: 33 MiB instead of 189 MiB for a small layer that had 10,000 × 4096 numbers beside it',
      measurements: [],
    },
    origin: [],
    example: 'report-history',
  },

  skipsTests: true,
  prefilter: ['register_buffer('],

  *detect(module) {
    if (module.mentions(WALKS)) return;
    for (const hit of module.at('register_buffer(')) {
      const call = hit.parent?.parent;
      const receiver =
        call?.type === 'call' && methodName(call) === 'register_buffer' ? receiverOf(call) : undefined;
      const around = call && classAround(call);
      if (call === undefined || around === undefined || receiver?.text !== around.self) continue;
      const [first, value] = argumentsOf(call);
      const name = first?.type === 'string' ? plainString(first) : undefined;
      if (first === undefined || value === undefined || name === undefined) continue;
      if (!isOwnModule(module, around.classNode) || !isLarge(module, value) || isMentioned(module, name))
        continue;
      if (isReadElsewhere(module, around.classNode, name)) continue;
      const saved =
        keywordValue(call, 'persistent')?.text === 'False' ? '' : ', and is saved with every checkpoint';
      yield {
        node: first,
        message: `nothing in this project reads the buffer \`${name}\`; it takes memory on the GPU for as long as the module lives${saved}`,
      };
    }
  },

  fix(_site, edit) {
    return edit.advise(
      'Remove it if no other project reads it; checkpoints that hold it then need `strict=False` or a hook that drops the key',
    );
  },
};

/** Ways to reach a buffer without its name. */
const WALKS =
  /\b(?:named_buffers|buffers\(\)|_buffers|__dict__|vars\(|[gs]etattr\(\s*\w+\s*,\s*(?!["'])|getattr\(\s*\w+\s*,\s*f["'])/;

/** A module that computes something here, and whose bases are torch's or stand in this file. */
function isOwnModule(module: PyModule, classNode: PyNode): boolean {
  const { imported, unknown } = ancestryOf(module, classNode);
  if (unknown || moduleKind(module, classNode).isModule !== 'yes') return false;
  if (!imported.every((path) => path === NN_MODULE || PLAIN_BASES.has(path))) return false;
  return methodNamed(module, classNode, 'forward') !== undefined;
}

function isMentioned(module: PyModule, name: string): boolean {
  return [...module.code.matchAll(new RegExp(`(?<![\\w])${name}(?![\\w])`, 'g'))].length > 1;
}

/** An object that may be of the class has an attribute of this name in another file, or nobody could look at all of them. */
function isReadElsewhere(module: PyModule, classNode: PyNode, name: string): boolean {
  const { uses, unread } = attributeUsesElsewhere(module, classNode, name, {
    may: () => true,
    byName: true,
  });
  return uses.length > 0 || unread !== undefined;
}

/** A maker with two sizes or more, or with a million elements as written. */
function isLarge(module: PyModule, value: PyNode): boolean {
  const callee = value.type === 'call' ? value.function : undefined;
  const path = callee && qualifiedName(module, callee);
  if (path === undefined || row(path)?.makes !== 'sizes') return false;
  const written = positionalArguments(value);
  const [first] = written;
  const listed = first?.type === 'tuple' || first?.type === 'list';
  const sizes = listed ? first.named : path.endsWith('.full') ? [] : written;
  const numbers = sizes.map(({ text }) => Number(text));
  const product = numbers.reduce((total, size) => total * size, 1);
  return Number.isNaN(product) ? numbers.filter((size) => size !== 1).length >= 2 : product >= LARGE;
}

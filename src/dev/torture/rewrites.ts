import type { Edit } from '../../edit/edit.js';
import type { PyNode } from '../../syntax/node.js';
import { indentationAt, insertion, type Mutator } from './mutators.js';
import type { Random } from './random.js';
import type { Subject } from './subject.js';

function around(node: PyNode, before: string, after: string): readonly Edit[] {
  return [
    { start: node.start, end: node.start, text: before },
    { start: node.end, end: node.end, text: after },
  ];
}

/** Whole lines of a statement: from the start of its first to the start of the line after it. */
function linesOf(
  { text }: Subject,
  first: PyNode,
  last = first,
): { readonly start: number; readonly end: number } {
  const start = text.lastIndexOf('\n', first.start - 1) + 1;
  const newline = text.indexOf('\n', last.end);
  return { start, end: newline === -1 ? text.length : newline + 1 };
}

function indented(text: string, step: string): string {
  return text.replace(/^(?=[^\n])/gm, step);
}

/** A header above the lines of a statement, which go one step further in. */
function nested(subject: Subject, random: Random, headers: readonly string[]): readonly Edit[] | undefined {
  const first = random.pick(subject.statements);
  const header = random.pick(headers);
  if (first === undefined || header === undefined) return undefined;
  const { named } = first.parent ?? first;
  const last = named[Math.min(named.length - 1, named.indexOf(first) + random.below(3))] ?? first;
  const { start, end } = linesOf(subject, first, last);
  const indentation = indentationAt(subject.text, first.start);
  const step = random.oneOf('    ', '  ', '\t');
  const body = indented(subject.text.slice(start, end), step);
  return [{ start, end, text: `${indentation}${header}\n${body}` }];
}

function isInOneLine({ text }: Subject, node: PyNode): boolean {
  return !text.slice(node.start, node.end).includes('\n');
}

/** Other ways to write the same, or nearly the same: expressions. */
export const EXPRESSIONS: readonly Mutator[] = [
  function parentheses({ expressions }, random) {
    const node = random.pick(expressions);
    return node && around(node, random.oneOf('(', '( ', '(\n', '(  # why\n'), random.oneOf(')', ' )', '\n)'));
  },
  function walrus({ expressions }, random) {
    const node = random.pick(expressions);
    return node && around(node, '(value_ := ', ')');
  },
  function wrapped({ expressions }, random) {
    const node = random.pick(expressions);
    const [before, after] = random.oneOf(
      ['(lambda: ', ')()'],
      ['[', ' for _ in (0,)][0]'],
      ['(', ' if True else None)'],
      ['(await ', ')'],
      ['f"{', '}"'],
      ['(yield ', ')'],
      ['not ', ''],
      ['-', ''],
      ['*', ''],
      ['', ' or None'],
      ['', '[0]'],
      ['dict(', ')'],
    );
    return node && around(node, before, after);
  },
  function moreArguments({ calls }, random) {
    const list = random.pick(calls)?.arguments;
    if (list?.type !== 'argument_list') return undefined;
    const added = random.oneOf('**kwargs', '*args', 'extra=None', '**{}', '*args, **kwargs', 'key = 1');
    const last = list.named.at(-1);
    return last === undefined
      ? insertion(list.start + 1, added)
      : insertion(last.end, `${random.oneOf(',', ', ', ',\n')}${added}`);
  },
  function argumentsAway({ calls }, random) {
    const list = random.pick(calls)?.arguments;
    if (list?.type !== 'argument_list') return undefined;
    const text = random.oneOf(
      '()',
      '(  # none\n)',
      '( \\\n)',
      '(\n)',
      '(x for x in y)',
      '(*a)',
      '(**k)',
      '(\n    # none\n)',
    );
    return [{ start: list.start, end: list.end, text }];
  },
  function argumentLines({ calls, text }, random) {
    const list = random.pick(calls)?.arguments;
    if (list?.type !== 'argument_list' || list.named.length === 0) return undefined;
    const indentation = `${indentationAt(text, list.start)}${random.oneOf('    ', '', '\t')}`;
    const style = random.below(4);
    const edits: Edit[] = [];
    for (const node of list.named) {
      const comma = text.indexOf(',', node.end);
      if (style === 0 || style === 3)
        edits.push({ start: node.start, end: node.start, text: `\n${indentation}` });
      if (style === 1 && comma === node.end)
        edits.push({ start: comma, end: comma, text: `\n${indentation}` });
      if (style === 2 && comma === node.end)
        edits.push({ start: comma + 1, end: comma + 1, text: `  # one\n${indentation}` });
    }
    if (style === 3) edits.push({ start: list.end - 1, end: list.end - 1, text: `  # end\n` });
    return edits;
  },
  function unicodeName({ tokens }, random) {
    const names = tokens.filter(({ type, text }) => type === 'identifier' && /^[a-z_]+$/.test(text));
    const chosen = random.pick(names);
    if (chosen === undefined) return undefined;
    const name = random.oneOf(
      'gr\u00f6\u00dfe',
      '\u5909\u6570',
      'x\u0301',
      '\u{1d4cd}',
      'self',
      'torch',
      'model',
    );
    return names
      .filter(({ text }) => text === chosen.text)
      .map(({ start, end }) => ({ start, end, text: name }));
  },
];

/** A name that a mutant also assigns to: no fix may take that away. */
export const KEPT = 'kept_on';

/** The same for statements and blocks. */
export const STATEMENTS: readonly Mutator[] = [
  function chainedAssignment({ assignments, text }, random) {
    const node = random.pick(assignments);
    const left = node?.left;
    if (left === undefined) return undefined;
    const target = text.slice(left.start, left.end);
    return insertion(left.start, `${random.oneOf(target, KEPT, `self.${KEPT}`, 'a, b', 'x[0]')} = `);
  },
  function annotation({ assignments }, random) {
    const left = random.pick(assignments)?.left;
    return left && insertion(left.end, random.oneOf(': object', ' : "int"', ' +', ': int =  1; y'));
  },
  function repeated(subject, random) {
    const node = random.pick(subject.statements);
    if (node === undefined) return undefined;
    const { start, end } = linesOf(subject, node);
    return insertion(end, subject.text.slice(start, end));
  },
  function joined(subject, random) {
    const node = random.pick(subject.simple);
    const next = node?.parent?.named[node.parent.named.indexOf(node) + 1];
    if (node === undefined || next === undefined || !subject.simple.includes(next)) return undefined;
    if (!/^\s*$/.test(subject.text.slice(node.end, next.start))) return undefined;
    return [{ start: node.end, end: next.start, text: random.oneOf('; ', ';', ' ;  ', ';\\\n    ') }];
  },
  function twoOnALine({ simple }, random) {
    const node = random.pick(simple);
    return (
      node &&
      random.oneOf(insertion(node.start, 'pass; '), insertion(node.end, '; pass'), insertion(node.end, ';'))
    );
  },
  function oneLineSuite(subject, random) {
    const node = random.pick(subject.simple.filter((each) => isInOneLine(subject, each)));
    const block = node?.parent;
    if (node === undefined || block?.type !== 'block' || block.named.length !== 1) return undefined;
    const colon = subject.text.lastIndexOf(':', node.start);
    if (!/^:\s*$/.test(subject.text.slice(colon, node.start))) return undefined;
    return [{ start: colon, end: node.start, text: random.oneOf(': ', ':', ': \\\n  ') }];
  },
  (subject, random) =>
    nested(subject, random, [
      'if True:',
      'with open("x") as f:',
      'while flag:',
      'for _ in range(2):',
      'def inner():',
      'async def inner():',
      'class Inner:',
      'if True:  # why',
      'if (True and\n        flag):',
      '@decorated\ndef inner(self, *args, **kwargs):',
    ]),
  function tried(subject, random) {
    const node = random.pick(subject.statements);
    if (node === undefined) return undefined;
    const { start, end } = linesOf(subject, node);
    const indentation = indentationAt(subject.text, node.start);
    const lines = subject.text.slice(start, end);
    const body = indented(lines.endsWith('\n') ? lines : `${lines}\n`, '    ');
    const rest = random.oneOf(
      'except Exception: pass',
      'finally:\n%    pass',
      'except (A, B) as e:\n%    raise',
    );
    return [
      { start, end, text: `${indentation}try:\n${body}${indentation}${rest.replace('%', indentation)}\n` },
    ];
  },
  function decorated({ functions, text }, random) {
    const node = random.pick(functions);
    if (node === undefined) return undefined;
    const start = text.lastIndexOf('\n', node.start - 1) + 1;
    const indentation = indentationAt(text, node.start);
    const decorator = random.oneOf(
      '@wraps',
      '@staticmethod',
      '@a.b(c)',
      '@(yes)',
      '@property  # why',
      '@torch.no_grad()',
    );
    return insertion(start, `${indentation}${decorator}\n`);
  },
  function asynchronous({ functions }, random) {
    const node = random.pick(functions);
    return node && insertion(node.start, random.oneOf('async ', 'async\t', 'async \\\n '));
  },
  function otherOrder(subject, random) {
    const node = random.pick(subject.simple);
    const next = node?.parent?.named[node.parent.named.indexOf(node) + 1];
    if (node === undefined || next === undefined || !subject.simple.includes(next)) return undefined;
    return [
      { start: node.start, end: node.end, text: next.text },
      { start: next.start, end: next.end, text: node.text },
    ];
  },
  function docstring({ functions }, random) {
    const body = random.pick(functions)?.body;
    if (body === undefined) return undefined;
    return insertion(
      body.start,
      random.oneOf('"""Says."""; ', 'global total; ', 'nonlocal x; ', 'import torch; '),
    );
  },
  function firstLine(_subject, random) {
    return insertion(
      0,
      random.oneOf(
        '\n',
        '"""Says."""\n',
        'from __future__ import annotations\n',
        '#!/usr/bin/env python\n',
        '"""Says."""; import os\n',
        'import os; import sys\n',
        'if True: import torch\n',
        '\f',
        'import torch; x = 1\n',
        'from os import (  # why\n    path,\n)\n',
        'try:\n    import torch\nexcept ImportError: torch = None\n',
      ),
    );
  },
];

/** Of all bytes of a text, after everything else. */
export const BYTES: readonly ((text: string, random: Random) => string)[] = [
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll('\n', '\r'),
  (text, random) => text.replace(/\n/g, (newline) => (random.chance(0.3) ? '\r\n' : newline)),
  (text) => `\ufeff${text}`,
  (text) => text.replace(/\s+$/, ''),
  (text) => text.replace(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4)),
  (text) => text.replace(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2)),
  (text) => text.replace(/^(?=[ \t])/gm, '\f'),
  (text) => `${text}\n\n  \n`,
  (text) => `${text}\\`,
  (text) => `${text}    # last`,
];

import { describe, expect, it } from 'vitest';
import { type ControlFlow, controlFlowOf } from '../../src/semantic/cfg.js';
import type { Block } from '../../src/semantic/cfg-block.js';
import { moduleOf, nodeAt } from '../support/module.js';

function flowOf(body: string): ControlFlow {
  const module = moduleOf(`def f(p):\n${body.replace(/^/gm, '    ')}\n`);
  const owner = nodeAt(module, 'def').closest('function_definition');
  if (owner === undefined) throw new Error('no function');
  return controlFlowOf(module, owner);
}

/** The ways through the code, without those of errors, as the elements on them; a block is passed at most twice. */
function waysOf(body: string): readonly string[] {
  const { entry, exit } = flowOf(body);
  const found: string[] = [];
  const follow = (block: Block, passed: readonly Block[]): void => {
    if (passed.filter((each) => each === block).length > 1) return;
    const way = [...passed, block];
    if (block === exit) found.push(way.flatMap(({ elements }) => elements.map(({ text }) => text)).join(' '));
    for (const next of block.successors) follow(next, way);
  };
  follow(entry, []);
  return [...new Set(found)].sort();
}

describe('the ways through', () => {
  it.each([
    ['a\nb', ['a b']],
    ['if c:\n    a\nb', ['c a b', 'c b']],
    ['if c:\n    a\nelif d:\n    b\nelse:\n    e', ['c a', 'c d b', 'c d e']],
    ['if c and d or not e:\n    a', ['c d a', 'c d e', 'c d e a', 'c e', 'c e a']],
    ['if c:\n    return\na', ['c a', 'c return']],
    ['while c:\n    a', ['c', 'c a c']],
    ['while True:\n    if c: break\n    a\nb', ['True c a True c break b', 'True c break b']],
    ['for x in y:\n    a\nelse:\n    b', ['y b', 'y x a b']],
    ['for x in y:\n    if c: continue\n    a', ['y', 'y x c a', 'y x c continue']],
    ['for x in y:\n    break\nelse:\n    b', ['y b', 'y x break']],
    ['with a as b, c:\n    d', ['a as b c d']],
    ['try:\n    a\nexcept E:\n    b\nelse:\n    c\nd', ['a c d']],
    ['try:\n    if c: return\nfinally:\n    b\na', ['c b a', 'c return b']],
    ['match p:\n    case 1:\n        a\n    case x if c:\n        b', ['p 1 a', 'p x c', 'p x c b']],
    ['match p:\n    case 1:\n        a\n    case _:\n        b', ['p 1 a', 'p _ b']],
    ['def g(): pass\nclass C: pass', ['def g(): pass class C: pass']],
  ])('%j', (body, expected) => {
    expect(waysOf(body)).toEqual([...expected].sort());
  });
});

it('lets every block of a `try` raise to its handlers, and the handlers beyond', () => {
  const body = 'try:\n    a\n    if b: c\nexcept E: d\nexcept F: e';
  const flow = flowOf(body);
  const landing = flow.entry.successors[0]?.successors[0]?.landing;
  expect(landing?.raisers.flatMap(({ elements }) => elements.map(({ text }) => text))).toEqual(
    expect.arrayContaining(['a', 'b', 'c']),
  );
  expect(landing?.successors.flatMap(({ elements }) => elements.map(({ text }) => text))).toEqual(['E']);
});

it('has code of a `finally` once for each way there, and once where it is nested too deep', () => {
  const nested = (depth: number): string =>
    depth === 0 ? 'a()' : `try:\n    b\nfinally:\n${nested(depth - 1).replace(/^/gm, '    ')}`;
  const copies = [1, 2, 3, 4, 9].map((depth) => {
    const module = moduleOf(`${nested(depth)}\n`);
    const flow = controlFlowOf(module, module.root);
    return flow.pointsOf(flow.elementOf(nodeAt(module, 'a()'))).length;
  });
  expect(copies).toEqual([2, 4, 8, 8, 8]);
});

it('survives conditions that are nested very deep', () => {
  const flow = flowOf(`if ${'not '.repeat(500)}a: b`);
  expect(flow.exit.isReachable).toBe(true);
});

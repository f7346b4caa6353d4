import { describe, expect, test } from 'vitest';
import { attributeWritesElsewhere } from '../../src/semantic/attribute-writes.js';
import { moduleIn } from '../support/module.js';

const TARGETS = [
  'trainer.net',
  'trainer. net',
  'trainer.\\\n    net',
  '(trainer.\n    net)',
  'trainer.net.scale',
  'trainer.net[0]',
  'trainer.net .head [0]',
];

const WRITES = [
  (target: string) => `${target} = other`,
  (target: string) => `${target}=other`,
  (target: string) => `first, ${target} = pair`,
  (target: string) => `(${target}, last) = pair`,
  (target: string) => `for ${target} in nets: pass`,
  (target: string) => `with opened() as ${target}: pass`,
  (target: string) => `del ${target}`,
];

const ADDED = ['+', '-', '*', '/', '//', '**', '%', '@', '&', '|', '^', '<<', '>>'];

function writesIn(code: string): number | undefined {
  const files = { 'train.py': 'import far\n', 'far.py': `${code}\n` };
  return attributeWritesElsewhere(moduleIn(files, 'train.py'), 'net')?.length;
}

describe('where other files set an attribute', () => {
  for (const target of TARGETS)
    test.each(WRITES.map((write) => write(target)))('%j', (code) => expect(writesIn(code)).toBe(1));

  test.each(ADDED.map((operator) => `trainer.net ${operator}= 2`))('%s', (code) =>
    expect(writesIn(code)).toBe(1),
  );

  test.each([
    'trainer.net(x).scale = 2',
    'net = trainer.net',
    'f(net=trainer.net)',
    'trainer.net == other',
    'y = trainer.net ** 2',
    'trainer.netto = other',
    'net.trainer = other',
    '# trainer.net = other',
  ])('not by %s', (code) => expect(writesIn(code)).toBe(0));
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOutput } from '../../../src/workspace/prove/output.js';
import { folderWith } from '../folders.js';

function printed(text: string): string {
  return join(folderWith({ 'log.txt': text }), 'log.txt');
}

const LOSS = /loss ([0-9.]+)|acc (\S+)/g;

test('the numbers of a pattern, line by line, also where a line is redrawn', () => {
  const text = 'loss 1.5\rloss 1.25\r\nloss 3 acc 0.5\nacc none\nloss 2';
  expect(readOutput(printed(text), LOSS).logged).toEqual([1.5, 1.25, 3, 0.5, 2]);
  expect(readOutput(printed(text)).logged).toEqual([]);
  expect(readOutput(printed('7\n8\n'), /\d/g).logged).toEqual([7, 8]);
});

test('the last lines that say something', () => {
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}\n\n`);
  const { tail } = readOutput(printed(lines.join('')));
  expect(tail.split('\n')).toEqual(Array.from({ length: 25 }, (_, index) => `line ${index + 35}`));
  expect(readOutput(printed('')).tail).toBe('');
});

test('a large log is read in pieces, with nothing lost between them', () => {
  const path = printed('');
  const line = `${'é'.repeat(1000)} loss 0.5\n`;
  writeFileSync(path, line.repeat(10_000));
  expect(readOutput(path, LOSS).logged).toEqual(Array(10_000).fill(0.5));
});

test('a log that is not there is said to be so', () => {
  expect(readOutput(join(folderWith(), 'log.txt')).tail).toBe(
    '(its output could not be read: it does not exist)',
  );
});

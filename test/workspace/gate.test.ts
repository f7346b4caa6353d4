import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { inSection, pauseSection, watchSections } from '../../src/syntax/section.js';
import { bundled } from '../cli/toy-program.js';

const program = bundled(fileURLToPath(import.meta.resolve('./gate-main.ts')));

test('a thread that is ended behind its gate takes nothing with it', () => {
  const { status, signal, stderr } = spawnSync(process.execPath, [program, '40'], { encoding: 'utf8' });
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
});

test('sections tell the watch of their thread, also when they pause or fail', () => {
  const told: string[] = [];
  watchSections({ begin: () => told.push('begin'), end: () => told.push('end') });
  const fail = () => {
    pauseSection();
    throw new Error('inside');
  };
  try {
    expect(() => inSection(fail)).toThrow('inside');
  } finally {
    watchSections(undefined);
  }
  expect(told).toEqual(['begin', 'end', 'begin', 'end']);
  expect(inSection(() => 2)).toBe(2);
});

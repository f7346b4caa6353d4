import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outlet } from '../../src/cli/outlet.js';
import { folderWith } from '../workspace/folders.js';

/** A stream that keeps what it is given. */
function kept() {
  const chunks: Buffer[] = [];
  const stream = {
    write: (data: string | Uint8Array) => chunks.push(Buffer.from(data)),
    on: () => undefined,
  };
  return { stream, text: () => Buffer.concat(chunks).toString() };
}

function pipe(): { readonly reader: number; readonly writer: number } {
  const path = join(folderWith(), 'pipe');
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

const never = () => {
  throw new Error('nobody should ask for this');
};

test('a file is written to without a stream', () => {
  const file = join(folderWith(), 'out');
  const out = outlet(openSync(file, 'w'), never, never);
  out.write('one ');
  out.write(Buffer.from('two'));
  expect([readFileSync(file, 'utf8'), out.isTTY]).toEqual(['one two', undefined]);
});

test('what a full pipe does not take goes to the stream, and so does all that follows', () => {
  const { reader, writer } = pipe();
  const { stream, text } = kept();
  const out = outlet(writer, () => stream, never);
  const long = 'abcdefgh'.repeat(64 * 1024);
  out.write(long);
  out.write('end');
  const taken = Buffer.alloc(long.length);
  const length = readSync(reader, taken);
  expect(length).toBeGreaterThan(0);
  expect(taken.toString('utf8', 0, length) + text()).toBe(`${long}end`);
});

test('what nobody reads any more is heard of', () => {
  const { reader, writer } = pipe();
  closeSync(reader);
  const heard: unknown[] = [];
  outlet(writer, never, (error) => heard.push(error)).write('x');
  expect(heard).toMatchObject([{ code: 'EPIPE' }]);
});

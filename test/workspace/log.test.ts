import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { eachLine, openLog } from '../../src/workspace/log.js';
import { folderWith } from './folders.js';

const quiet = new AbortController().signal;

async function linesOf(input: Readable): Promise<readonly (readonly [string, number])[]> {
  const lines: [string, number][] = [];
  await eachLine(input, 'run.log', quiet, (line, number) => lines.push([line, number]));
  return lines;
}

/** In pieces of `size` bytes, as a pipe may hand them out. */
function inPieces(bytes: Buffer, size: number): Readable {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return Readable.from(pieces);
}

const TEXT = 'erste Zeile: größer\nzweite 😀\n\nlast';
const LINES = [
  ['erste Zeile: größer', 1],
  ['zweite 😀', 2],
  ['', 3],
  ['last', 4],
];

describe.each([1, 3, 7, 4096])('in pieces of %i bytes', (size) => {
  test.each<readonly [what: string, bytes: Buffer]>([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`)],
    ['CRLF', Buffer.from(TEXT.replaceAll('\n', '\r\n'))],
    ['UTF-16, little end first', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16 with CRLF', Buffer.from(`\ufeff${TEXT.replaceAll('\n', '\r\n')}`, 'utf16le')],
    ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le')],
    ['UTF-16, big end first', Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16()],
  ])('%s', async (_, bytes) => {
    expect(await linesOf(inPieces(bytes, size))).toEqual(LINES);
  });

  test('a progress bar writes over its line', async () => {
    const bytes = Buffer.from('10%\r20%\rTraceback\r\nx\r\ny\r');
    expect(await linesOf(inPieces(bytes, size))).toEqual([
      ['10%', 1],
      ['20%', 1],
      ['Traceback', 1],
      ['x', 2],
      ['y', 3],
    ]);
  });
});

test('bytes that are no UTF-8 are passed over', async () => {
  expect(await linesOf(Readable.from([Buffer.from([0x61, 0xff, 0x62, 0x0a, 0x63])]))).toEqual([
    ['a\ufffdb', 1],
    ['c', 2],
  ]);
});

test('a line without an end takes no memory, and the next is read', async () => {
  const flood = Buffer.alloc(1024 * 1024, 'x');
  const input = Readable.from([...Array.from({ length: 64 }, () => flood), Buffer.from('\nnext\n')]);
  const lines = await linesOf(input);
  expect(lines.map(([line, number]) => [line.length, number])).toEqual([
    [64 * 1024, 1],
    [4, 2],
  ]);
});

test('nothing is nothing', async () => {
  expect(await linesOf(Readable.from([]))).toEqual([]);
});

describe('what cannot be read', () => {
  test('a log that is not there, and one that is a folder', async () => {
    const folder = folderWith();
    mkdirSync(join(folder, 'logs'));
    await expect(linesOf(openLog(join(folder, 'none.log')))).rejects.toMatchObject({
      title: 'Log could not be read',
      detail: 'run.log: it does not exist',
    });
    await expect(linesOf(openLog(join(folder, 'logs')))).rejects.toMatchObject({
      detail: 'run.log: it is a folder, not a file',
    });
  });

  test('Ctrl-C ends the reading', async () => {
    const folder = folderWith();
    writeFileSync(join(folder, 'a.log'), 'x\n'.repeat(1_000_000));
    const stop = new AbortController();
    const input = createReadStream(join(folder, 'a.log'), { highWaterMark: 1024 });
    const reading = eachLine(input, 'a.log', stop.signal, () => stop.abort(new Error('enough')));
    await expect(reading).rejects.toThrow('enough');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { LARGEST_FILE } from '../../src/workspace/bounded.js';
import { Reader } from '../../src/workspace/read.js';

const folder = mkdtempSync(join(tmpdir(), 'memfix-read-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a reader makes of a file with these bytes. */
function opened(reader: Reader, bytes: Buffer) {
  const target = join(folder, 'file.py');
  writeFileSync(target, bytes);
  return reader.open({ path: 'file.py', target, explicit: false });
}

describe('a reader', () => {
  test('reads files of any size one after the other, each as it is', () => {
    const reader = new Reader();
    for (const size of [0, 1, 16_383, 16_384, 16_385, 3, 200_000, 16_384, 0, 70_000]) {
      const bytes = Buffer.alloc(size, `${size} `);
      const read = opened(reader, bytes);
      expect(read.kind === 'opened' && read.bytes.equals(bytes)).toBe(true);
    }
  });

  test('says why it does not read a file', () => {
    const reader = new Reader();
    expect(opened(reader, Buffer.alloc(LARGEST_FILE + 1))).toMatchObject({
      kind: 'skipped',
      reason: 'it is 20 MB, over the limit of 20 MB',
    });
    const missing = { path: 'no.py', target: join(folder, 'no.py'), explicit: false };
    expect(reader.open(missing).kind).toBe('skipped');
    expect(reader.open({ ...missing, target: folder })).toMatchObject({
      reason: 'it is a folder, not a file',
    });
  });
});

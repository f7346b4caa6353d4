import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure, reasonOf } from '../failure.js';
import { writeAll } from '../write.js';

/** Writes a file so that a reader sees the old bytes or the new ones, never a part, also after a crash. */
export function writeWhole(path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(draft, 'w');
    try {
      writeAll(descriptor, typeof bytes === 'string' ? Buffer.from(bytes) : bytes, 0);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new Failure(
      'A file of the campaign cannot be written',
      `${path}: ${reasonOf(error)}`,
      'Remove the cause; `memfix migrate resume` goes on from here.',
    );
  }
}

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { codeOf } from './failure.js';

/** Follows no link, and does not wait for the other end of a named pipe. */
export const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The bytes of a regular file. Throws an error of the file system where there is something else under that name
 * (a link, a named pipe, a device, a folder), or more than `largest` bytes.
 */
export function regularBytes(path: string, largest: number): Buffer {
  const descriptor = opened(path);
  try {
    return bytesOf(descriptor, largest);
  } finally {
    closeSync(descriptor);
  }
}

/** The same of a file that is open. */
export function bytesOf(descriptor: number, largest: number): Buffer {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) throw problem('ENOTREG');
  if (stats.size > largest) throw problem('ETOOLARGE');
  const bytes = Buffer.allocUnsafe(stats.size);
  let length = 0;
  while (length < bytes.length) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}

function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | CAREFULLY);
  } catch (error) {
    // What the system says about a link that is not to be followed, and about a socket.
    throw ['ELOOP', 'EMLINK', 'ENXIO'].includes(codeOf(error) ?? '') ? problem('ENOTREG') : error;
  }
}

function problem(code: 'ENOTREG' | 'ETOOLARGE'): Error {
  return Object.assign(new Error(code), { code });
}

import { fstatSync, writeSync } from 'node:fs';
import { codeOf } from '../workspace/failure.js';
import type { Outlet } from './io.js';

type Stream = Outlet & { on(event: 'error', listener: (error: Error) => void): unknown };

/**
 * Standard output or standard error. Node's own streams take milliseconds to load: a file or a pipe does without them as
 * long as it takes what it is given. `lost` hears what could not be written.
 */
export function outlet(descriptor: number, open: () => Stream, lost: (error: unknown) => void): Outlet {
  const stream = () => {
    const opened = open();
    opened.on('error', lost);
    return opened;
  };
  return isPlain(descriptor) ? new PlainOutlet(descriptor, stream, lost) : stream();
}

class PlainOutlet implements Outlet {
  #stream: Outlet | undefined;

  constructor(
    private readonly descriptor: number,
    private readonly open: () => Outlet,
    private readonly lost: (error: unknown) => void,
  ) {}

  write(data: string | Uint8Array): void {
    let rest: Uint8Array = typeof data === 'string' ? Buffer.from(data) : data;
    try {
      while (rest.length > 0 && this.#stream === undefined)
        rest = rest.subarray(writeSync(this.descriptor, rest));
    } catch (error) {
      // A full pipe that does not wait: a stream knows how to.
      if (codeOf(error) === 'EAGAIN') this.#stream = this.open();
      else this.lost(error);
    }
    if (rest.length > 0) this.#stream?.write(rest);
  }
}

function isPlain(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO();
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

import { forTerminal } from '../report/terminal.js';
import type { Io, Outlet } from './io.js';

/** An outlet through which nothing passes that a terminal would obey, except what is our own. */
class Door implements Outlet {
  constructor(private readonly outlet: Outlet) {}

  get isTTY(): boolean | undefined {
    return this.outlet.isTTY;
  }

  get columns(): number | undefined {
    return this.outlet.columns;
  }

  get rows(): number | undefined {
    return this.outlet.rows;
  }

  /** Bytes are a patch or a file: exact, except for eyes. */
  write(data: string | Uint8Array): unknown {
    if (typeof data === 'string') return this.outlet.write(forTerminal(data));
    return this.outlet.write(this.isTTY === true ? forTerminal(Buffer.from(data).toString()) : data);
  }
}

/** The same with doors before both outlets. What else it has is asked for when it is needed. */
export function behindDoors(io: Io): Io {
  return Object.create(io, {
    stdout: { value: new Door(io.stdout) },
    stderr: { value: new Door(io.stderr) },
    screen: { value: io.stderr },
  }) as Io;
}

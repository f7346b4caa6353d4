import { setFlagsFromString } from 'node:v8';

/**
 * V8 lets a heap grow as long as there is memory, and a scan is as fast with a third of it. These settings are read as it
 * runs, except for how large the space for new objects may be: threads that start from now on go by that, and this one
 * keeps what it has.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=30');
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--min-semi-space-size=4');
  setFlagsFromString('--max-semi-space-size=4');
}

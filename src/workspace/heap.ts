import { setFlagsFromString } from 'node:v8';

/**
 * V8 lets a heap grow as long as there is memory, and a scan is as fast with half of it. How much a heap may grow is read
 * as it runs; how large the space for new objects may be only where a thread starts.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=30');
  setFlagsFromString('--min-semi-space-size=4');
  setFlagsFromString('--max-semi-space-size=4');
}

import type { Answer } from './answer.js';

/** What a project asks of one package: at least `from`, below `below`; and where it says so. */
export interface Pin {
  readonly from?: string;
  readonly below?: string;
  /** For people: `requirements.txt:3`. */
  readonly source: string;
}

/** The packages that a project pins, as far as its own files say. */
export class Versions {
  constructor(private readonly pins: ReadonlyMap<string, Pin> = new Map()) {}

  pinOf(name: string): Pin | undefined {
    return this.pins.get(name);
  }

  /** Whether every version that the project allows is `version` or newer; `no` when none of them is. */
  isAtLeast(name: string, version: string): Answer {
    const pin = this.pins.get(name);
    if (pin?.from !== undefined && compareVersions(pin.from, version) >= 0) return 'yes';
    if (pin?.below !== undefined && compareVersions(pin.below, version) <= 0) return 'no';
    return 'unknown';
  }
}

/** By release numbers alone: `4.46.0.dev0` counts as `4.46.0`. */
export function compareVersions(a: string, b: string): number {
  const left = releaseOf(a);
  const right = releaseOf(b);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function releaseOf(version: string): readonly number[] {
  return /^v?(\d+(?:\.\d+)*)/.exec(version.trim())?.[1]?.split('.').map(Number) ?? [];
}

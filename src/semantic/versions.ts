import type { Answer } from './answer.js';

/** What one line of a project says about one package. Without bounds it says that nobody can tell: a URL, a git reference. */
export interface Pin {
  readonly from?: string;
  /** Exclusive. */
  readonly below?: string;
  /** Inclusive. */
  readonly upTo?: string;
  /** Holds only on some systems or with some Pythons. */
  readonly isConditional?: boolean;
  /** One revision for good, of a version that nobody can tell. */
  readonly isFrozen?: boolean;
  /** As written: `>=4.40,<4.46`. */
  readonly text: string;
  /** For people: `requirements.txt:3`. */
  readonly source: string;
}

/** The packages that a project pins, as far as its own files say. */
export class Versions {
  constructor(private readonly pins: ReadonlyMap<string, readonly Pin[]> = new Map()) {}

  pinsOf(name: string): readonly Pin[] {
    return this.pins.get(name) ?? [];
  }

  /** `yes` when every line that speaks of the package allows this version and newer ones only; `no` as `pinBelow`. */
  isAtLeast(name: string, version: string): Answer {
    const pins = this.pinsOf(name);
    if (this.pinBelow(name, version) !== undefined) return 'no';
    return pins.length > 0 && pins.every((pin) => startsAt(pin, version)) ? 'yes' : 'unknown';
  }

  /** The line that keeps a package below `version`. One that does so only on some systems needs the others to agree. */
  pinBelow(name: string, version: string): Pin | undefined {
    const pins = this.pinsOf(name);
    const below = pins.filter((pin) => isBelow(pin, version));
    return (
      below.find(({ isConditional }) => isConditional !== true) ??
      (below.length === pins.length ? below[0] : undefined)
    );
  }
}

/** A release candidate of 4.46 is not yet 4.46. */
function startsAt({ from }: Pin, version: string): boolean {
  if (from === undefined) return false;
  const difference = compareVersions(from, version);
  return difference > 0 || (difference === 0 && !/\d(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|dev))/i.test(from));
}

function isBelow({ below, upTo }: Pin, version: string): boolean {
  if (below !== undefined && compareVersions(below, version) <= 0) return true;
  return upTo !== undefined && compareVersions(upTo, version) < 0;
}

/** What is longer was not written to be understood. */
export const LONGEST_SPECIFIER = 300;

/**
 * A version specifier (PEP 440), read as the range that holds everything it allows. Undefined where it allows any version,
 * some single ones aside. What is no specifier is a pin without bounds.
 */
export function pinOf(specifier: string, source: string): Pin | undefined {
  const text = specifier
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\((.*)\)$/, '$1');
  if (text.length > LONGEST_SPECIFIER) return { text: `${text.slice(0, LONGEST_SPECIFIER)}…`, source };
  if (/^(?:\*|(?:!=[\w.*+\s-]*,?\s*)*)$/.test(text)) return undefined;
  let pin: Pin = { text, source };
  for (const clause of text.split(',')) {
    const range = rangeOf(clause.trim());
    if (range === undefined) return { text, source };
    pin = narrowed(pin, range);
  }
  return pin;
}

type Range = Pick<Pin, 'from' | 'below' | 'upTo'>;

function rangeOf(clause: string): Range | undefined {
  if (clause === '') return {};
  const [, operator, version = '', series] =
    /^(===?|~=|!=|>=?|<=?)\s*(v?\d[\w.!+-]*?)(\.\*)?$/.exec(clause) ?? [];
  switch (operator) {
    case '===':
    case '==':
      return series === undefined
        ? { from: version, upTo: version }
        : { from: version, below: next(version) };
    case '~=':
      return { from: version, below: next(version.replace(/\.\d+[^.]*$/, '')) };
    case '>=':
    case '>':
      return { from: version };
    case '<':
      return { below: version };
    case '<=':
      return { upTo: version };
    case '!=':
      return {};
    default:
      return undefined;
  }
}

/** The end of a series: 4.46 ends at 4.47. */
export function next(version: string): string {
  const release = releaseOf(version);
  return [...release.slice(0, -1), (release.at(-1) ?? 0) + 1].join('.');
}

function narrowed(pin: Pin, { from, below, upTo }: Range): Pin {
  return {
    ...pin,
    ...(from !== undefined && (pin.from === undefined || compareVersions(from, pin.from) > 0) && { from }),
    ...(below !== undefined &&
      (pin.below === undefined || compareVersions(below, pin.below) < 0) && { below }),
    ...(upTo !== undefined && (pin.upTo === undefined || compareVersions(upTo, pin.upTo) < 0) && { upTo }),
  };
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
  return /^v?(?:\d+!)?(\d+(?:\.\d+)*)/.exec(version.trim())?.[1]?.split('.').map(Number) ?? [];
}

import type { Answer } from './answer.js';

/** Who says something about a package. Of several, the first of this list is believed about what is installed. */
export const AUTHORITIES = ['target', 'environment', 'lock', 'request'] as const;
export type Authority = (typeof AUTHORITIES)[number];

/** What one line of a project says about one package. Without bounds it says that nobody can tell: a URL, a git reference. */
export interface Pin {
  readonly from?: string;
  /** Exclusive. */
  readonly below?: string;
  /** Inclusive. */
  readonly upTo?: string;
  /** Holds only on some systems or with some Pythons. */
  readonly isConditional?: boolean;
  /** Installed only with an extra or a group of dependencies. */
  readonly isOptional?: boolean;
  /** One revision for good, of a version that nobody can tell. */
  readonly isFrozen?: boolean;
  /** The newest one there is: no version is named, or a branch that moves with time. */
  readonly isAny?: boolean;
  /** A package that others install asks for it: what an environment or a lock file has here is not what they have. */
  readonly isPromise?: boolean;
  /** `request` where it is absent. */
  readonly authority?: Authority;
  /** As written: `>=4.40,<4.46`. */
  readonly text: string;
  /** For people: `requirements.txt:3`. */
  readonly source: string;
}

/** What makes a version certain that a fix needs. */
export interface Premise {
  readonly package: string;
  readonly atLeast: string;
  /** A sentence: "uv.lock:3 says `torch ==2.4.0`". */
  readonly because: string;
  /** The default floor of the package, where nothing speaks of it. */
  readonly assumed?: string;
}

/** The packages that a project pins, as far as its own files, its environment and the user say. */
export class Versions {
  constructor(private readonly pins: ReadonlyMap<string, readonly Pin[]> = new Map()) {}

  pinsOf(name: string): readonly Pin[] {
    return this.pins.get(name) ?? [];
  }

  /** The same, and what else is said. */
  with(more: readonly (readonly [name: string, pin: Pin])[]): Versions {
    const pins = new Map(this.pins);
    for (const [name, pin] of more) pins.set(name, [...(pins.get(name) ?? []), pin]);
    return new Versions(pins);
  }

  get packages(): Iterable<string> {
    return this.pins.keys();
  }

  /** The lines that decide which version is installed; empty where any may be. */
  decisive(name: string): readonly Pin[] {
    const pins = this.pinsOf(name).filter(({ isAny }) => isAny !== true);
    const first = AUTHORITIES.find((each) => pins.some((pin) => authorityOf(pin) === each));
    return pins.filter((pin) => authorityOf(pin) === first || (first !== 'target' && pin.isPromise === true));
  }

  /** `yes` when every line that decides allows this version and newer ones only; `no` as `pinBelow`. */
  isAtLeast(name: string, version: string): Answer {
    if (this.pinBelow(name, version) !== undefined) return 'no';
    const pins = this.decisive(name);
    return pins.length > 0 && pins.every((pin) => startsAt(pin, version)) ? 'yes' : 'unknown';
  }

  /** A line that decides and allows older ones too. */
  allowingOlder(name: string, version: string): Pin | undefined {
    return this.decisive(name).find((pin) => !startsAt(pin, version));
  }

  /**
   * The line that keeps a package below `version`: of any file, unless the user names a version. One that does so only on
   * some systems needs the others to agree.
   */
  pinBelow(name: string, version: string): Pin | undefined {
    const decisive = this.decisive(name);
    const isAimed = decisive.some((pin) => authorityOf(pin) === 'target');
    const pins = isAimed ? decisive : this.pinsOf(name).filter(({ isAny }) => isAny !== true);
    const below = pins.filter((pin) => isBelow(pin, version));
    return (
      below.find(({ isConditional }) => isConditional !== true) ??
      (below.length === pins.length ? below[0] : undefined)
    );
  }

  /** The line by which a package is installed wherever the project runs. */
  installs(name: string): Pin | undefined {
    return this.pinsOf(name).find(
      ({ isConditional, isOptional }) => isConditional !== true && isOptional !== true,
    );
  }
}

function authorityOf({ authority = 'request' }: Pin): Authority {
  return authority;
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
 * A version specifier (PEP 440), read as the range that holds everything it allows; some single versions aside, that may be
 * any. What is no specifier is a pin without bounds.
 */
export function pinOf(specifier: string, source: string): Pin {
  const text = specifier
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\((.*)\)$/, '$1');
  if (text.length > LONGEST_SPECIFIER) return { text: `${text.slice(0, LONGEST_SPECIFIER)}…`, source };
  if (/^(?:\*|(?:!=[\w.*+\s-]*,?\s*)*)$/.test(text)) return { text: text || '*', source, isAny: true };
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

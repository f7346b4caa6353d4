import type { Finding, Scan } from '../engine/outcome.js';
import { isRefused } from './report.js';

/** A finding that was there before: its file, from the folder of the baseline, and the finding's key, which no line moves. */
export interface Known {
  readonly path: string;
  readonly id: string;
  readonly key: string;
}

/** How today's findings stand to the recorded ones. */
export interface Compared {
  /** Without the findings that are known. */
  readonly scans: readonly Scan[];
  readonly known: readonly Known[];
  readonly gone: readonly Known[];
  /** Recorded ones that this run says nothing about, since it did not look for them. */
  readonly unseen: readonly Known[];
}

export interface Files {
  /** The path of a file as the baseline calls it. */
  nameOf(path: string): string;
  /** Whether this run would have found a recorded finding that is still there. */
  isLookedFor(entry: Known): boolean;
  isGone(name: string): boolean;
}

const VERSION = 1;

/** One finding in each line, so that a diff of the file shows which came and went. */
export function renderBaseline(findings: readonly Known[]): string {
  const lines = [...findings]
    .sort((a, b) => compare(a.path, b.path) || compare(a.id, b.id) || compare(a.key, b.key))
    .map(({ path, id, key }) => `    ${JSON.stringify({ path, id, key })}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n  "version": ${VERSION},\n  "findings": ${list}\n}\n`;
}

/** Undefined for a text that is no baseline. */
export function parseBaseline(text: string): readonly Known[] | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isRecord(document) || document['version'] !== VERSION) return undefined;
  const { findings } = document;
  if (!Array.isArray(findings)) return undefined;
  const all: readonly unknown[] = findings;
  return all.every(isKnown) ? all : undefined;
}

export function findingsIn(scans: readonly Scan[], { nameOf }: Pick<Files, 'nameOf'>): readonly Known[] {
  return scans.flatMap(({ file, findings }) =>
    findings
      .filter((finding) => !isRefused(finding))
      .map(({ transform, key }) => ({ path: nameOf(file.path), id: transform, key })),
  );
}

/** Each recorded finding stands for one of today's; that of a file which is gone, for one that came up elsewhere. */
export function compared(scans: readonly Scan[], baseline: readonly Known[], files: Files): Compared {
  const left = new Stock(baseline);
  const known: Known[] = [];
  const take = (all: readonly Scan[], name: (path: string, finding: Finding) => Known | undefined) =>
    all.map((scan) => ({
      ...scan,
      findings: scan.findings.filter((finding) => {
        if (isRefused(finding)) return true;
        const found = name(scan.file.path, finding);
        if (found !== undefined) known.push(found);
        return found === undefined;
      }),
    }));
  const fresh = take(scans, (path, finding) => left.take(entryOf(files.nameOf(path), finding)));
  const moved = new Stock(
    left.rest().filter(({ path }) => files.isGone(path)),
    '',
  );
  const remaining = take(fresh, (_, finding) => moved.take(entryOf('', finding)));
  const taken = new Set(known);
  const rest = left.rest().filter((entry) => !taken.has(entry));
  return {
    scans: remaining,
    known,
    gone: rest.filter((entry) => files.isLookedFor(entry)),
    unseen: rest.filter((entry) => !files.isLookedFor(entry)),
  };
}

function entryOf(path: string, { transform, key }: Finding): Known {
  return { path, id: transform, key };
}

/** Recorded findings, each to be taken once. */
class Stock {
  readonly #byName = new Map<string, Known[]>();

  /** `path`: one for all of them, where the path does not matter. */
  constructor(findings: readonly Known[], path?: string) {
    for (const finding of findings) {
      const name = nameOf({ ...finding, ...(path !== undefined && { path }) });
      const equals = this.#byName.get(name);
      if (equals === undefined) this.#byName.set(name, [finding]);
      else equals.push(finding);
    }
  }

  take(like: Known): Known | undefined {
    return this.#byName.get(nameOf(like))?.pop();
  }

  rest(): readonly Known[] {
    return [...this.#byName.values()].flat();
  }
}

function nameOf({ path, id, key }: Known): string {
  return `${path}\0${id}\0${key}`;
}

function isKnown(entry: unknown): entry is Known {
  return isRecord(entry) && ['path', 'id', 'key'].every((name) => typeof entry[name] === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

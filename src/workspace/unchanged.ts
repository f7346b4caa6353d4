import { realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { Scan, Skipped, SourceFile } from '../engine/outcome.js';
import { withFile } from './cache.js';
import type { Lead } from './cache-file.js';
import { repositoryRoot } from './places.js';
import { interpret, Reader } from './read.js';
import { UNREAD, type Visit } from './visit.js';

/**
 * What an earlier run saw below a folder, where nothing that it looked at has changed since; else undefined. Asks the
 * system for one stamp after the other and for nothing else, so that a run with no news takes no time to speak of.
 */
export function unchanged(folder: string, lead: Lead, isTextWanted: boolean): Visit | undefined {
  const inPlace = lead.place.endsWith(sep) ? lead.place : lead.place + sep;
  const targetOf = (row: number) => inPlace + nativeName((lead.names[row] ?? '').slice(lead.shown.length));
  if (!isAsItWas(folder, lead, targetOf)) return undefined;
  const reader = new Reader();
  const scans: Scan[] = [];
  const skipped: Skipped[] = [];
  const foreign: string[] = [];
  for (const [row, lesson] of lead.lessons) {
    const path = lead.names[row];
    if (row >= lead.files || path === undefined) continue;
    if (lesson.kind === 'foreign') foreign.push(path);
    else if (lesson.kind === 'skipped') skipped.push({ ...lesson.skipped, path });
    else if (lesson.kind === 'scan') {
      const file = isTextWanted ? read(reader, path, targetOf(row), lead, row) : { path, source: UNREAD };
      if (file === undefined) return undefined;
      scans.push(withFile(lesson.scan, file));
    }
  }
  return { scans, outcomes: [], skipped, foreign, crashes: [], files: lead.files - skipped.length };
}

function isAsItWas(folder: string, lead: Lead, targetOf: (row: number) => string): boolean {
  const { root, place, others, names, stamps, files } = lead;
  if (repositoryRoot(folder) !== root || realpathSync.native(folder) !== place) return false;
  for (let row = others; row < names.length; row++)
    if (!isStamp(stampNow(names[row] ?? '') ?? ABSENT, stamps, row)) return false;
  for (let row = 0; row < files; row++) if (!isStamp(stampNow(targetOf(row)), stamps, row)) return false;
  return true;
}

interface StampNow {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly size: number;
  readonly ino: number;
}

const ABSENT: StampNow = { mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0 };

/** What cannot be looked at is as good as absent. */
function stampNow(path: string): StampNow | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isStamp(now: StampNow | undefined, stamps: Float64Array, row: number): boolean {
  const at = row * 4;
  return (
    now !== undefined &&
    now.mtimeMs === stamps[at] &&
    now.ctimeMs === stamps[at + 1] &&
    now.size === stamps[at + 2] &&
    now.ino === stamps[at + 3]
  );
}

/** The text of a file that is still as it was. */
function read(
  reader: Reader,
  path: string,
  target: string,
  { stamps }: Lead,
  row: number,
): SourceFile | undefined {
  const candidate = { path, target, explicit: false };
  const opened = reader.open(candidate);
  if (opened.kind === 'skipped' || !opened.stamp.every((part, at) => part === stamps[row * 4 + at]))
    return undefined;
  const read = interpret(candidate, opened.bytes);
  return read.kind === 'file' ? read.file : undefined;
}

function nativeName(name: string): string {
  return sep === '/' ? name : name.replaceAll('/', sep);
}

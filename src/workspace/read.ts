import { type Stats, statSync } from 'node:fs';
import type { Skipped, SourceFile } from '../engine/outcome.js';
import { notPythonIfDoubtful } from '../engine/scan.js';
import type { PythonParser } from '../syntax/parser.js';
import { pythonProblem, type SyntaxProblem } from '../syntax/soundness.js';
import { type Decoded, decode, decodeNotebook } from '../text/decode.js';
import { cellsIn, isNotebookName, type Unread, withUnread } from '../text/notebook/notebook.js';
import { strayStatement } from '../text/notebook/unread.js';
import { BoundedReader, LARGEST_FILE, megabytes, tooLarge } from './bounded.js';
import type { Candidate } from './discover.js';
import { reasonOf } from './failure.js';
import { isVendored, realPath } from './places.js';

export const LONGEST_LINE = 1024 * 1024;

const COMMENT = /^[ \t]*#.*$/gm;
/** How much of a file's head may say that a tool wrote it. */
const HEAD = 1024;

/** What the system says about a file without reading it: modified, changed, size, inode. */
export type Stamp = readonly [number, number, number, number];

function stampOf({ mtimeMs, ctimeMs, size, ino }: Stats): Stamp {
  return [mtimeMs, ctimeMs, size, ino];
}

/** A file that changed so shortly before it was looked at may change again without its times telling. */
const CLOCK_GRAIN = 2000;

export function sameStamp(a: Stamp, b: Stamp): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2] && a[3] === b[3];
}

/** Whether the stamp, taken at that time, will tell of every later change. */
export function isSettled([modified, changed]: Stamp, takenAt: number): boolean {
  return Math.max(modified, changed) < takenAt - CLOCK_GRAIN;
}

/** Undefined where there is no file, or none that may be looked at. */
export function stampAt(path: string): Stamp | undefined {
  try {
    return stampOf(statSync(path));
  } catch {
    // Reading it says why it cannot be seen.
    return undefined;
  }
}

/** Bytes that hold until the next file is read, and the file's stamp from before they were. */
export interface Opened {
  readonly kind: 'opened';
  readonly bytes: Buffer;
  readonly stamp: Stamp;
}

/** Reads sources one after the other: most of them hold no literal of any transform and are let go. */
export class Reader {
  readonly #reader = new BoundedReader();

  /** `instead`: what counts as the bytes of some files, by their real paths. */
  constructor(private readonly instead?: ReadonlyMap<string, Uint8Array>) {}

  /** `root`: where the file has to be by its real path, unless whoever found it has seen to that. */
  open({ path, target }: Candidate, root?: string): Opened | Skipped {
    try {
      const { bytes, stats } = this.#reader.read(target, {
        most: LARGEST_FILE,
        ...(root !== undefined && { root }),
      });
      const other = this.instead?.get(target) ?? this.instead?.get(realPath(target));
      return { kind: 'opened', bytes: other ? Buffer.from(other) : bytes, stamp: stampOf(stats) };
    } catch (error) {
      return skipped(path, reasonOf(error));
    }
  }
}

/** Whoever names a file hears why it cannot be read, also where no transform would look at it. */
export function isWorthReading(
  { explicit, path }: Candidate,
  bytes: Buffer,
  mayMatch: boolean,
): 'yes' | 'nothing' | 'foreign' {
  if (explicit) return 'yes';
  if (!mayMatch) return 'nothing';
  return isVendored(path) || isGenerated(bytes) ? 'foreign' : 'yes';
}

/** The text of bytes from anywhere, or why they cannot be Python source. */
export function interpret(
  { path, explicit }: Pick<Candidate, 'path' | 'explicit'>,
  bytes: Uint8Array,
): { kind: 'file'; file: SourceFile } | Skipped {
  if (bytes.length > LARGEST_FILE) return skipped(path, tooLarge(bytes.length, LARGEST_FILE));
  // What a notebook shows may be a line of any length.
  const isNotebook = isNotebookName(path);
  const line = bytes.length > LONGEST_LINE && !isNotebook ? longestLine(bytes) : 0;
  if (line > LONGEST_LINE) {
    return skipped(path, `it has a line of ${megabytes(line)}, over the limit of ${megabytes(LONGEST_LINE)}`);
  }
  const decoded = isNotebook ? ofWholeCells(decodeNotebook(bytes)) : decode(bytes);
  if (!decoded.ok) return skipped(path, decoded.reason);
  return { kind: 'file', file: { path, source: decoded.source, ...(explicit && { named: true }) } };
}

/**
 * Why a file of a folder cannot be read, where no transform would look at it anyway: a notebook that is none, and code with
 * torch in it that is no Python 3. Undefined where nothing is against it.
 */
export function unreadable(candidate: Candidate, bytes: Buffer, parser: PythonParser): Skipped | undefined {
  const { path } = candidate;
  if (isVendored(path) || isGenerated(bytes)) return undefined;
  if (isNotebookName(path)) {
    const decoded = decodeNotebook(bytes);
    return decoded.ok ? undefined : skipped(path, decoded.reason);
  }
  if (!bytes.includes('torch')) return undefined;
  const read = interpret(candidate, bytes);
  return read.kind === 'skipped' ? read : notPythonIfDoubtful(parser, read.file);
}

/** A cell that is no Python by itself never runs, or IPython makes something else of it: what it does is not known. */
function ofWholeCells(decoded: Decoded): Decoded {
  if (!decoded.ok || decoded.source.notebook === undefined) return decoded;
  const { text, notebook } = decoded.source;
  const unread = cellsIn(text).flatMap(({ number, start, end }): Unread[] => {
    const problem = problemIn(text.slice(start, end));
    return problem === undefined
      ? []
      : [{ cell: number, at: problem.at ?? { line: 1, column: 1 }, message: problem.message }];
  });
  if (unread.length === 0) return decoded;
  const whole = withUnread(notebook, unread);
  return { ok: true, source: { ...decoded.source, text: whole.program, notebook: whole } };
}

function problemIn(cell: string): SyntaxProblem | undefined {
  const problem = pythonProblem(cell);
  if (problem !== undefined)
    return isIndented(cell) ? { ...problem, message: 'it is indented as a whole' } : problem;
  const stray = strayStatement(cell);
  if (stray === undefined) return undefined;
  const where = stray.word === 'return' ? 'a function' : 'a loop';
  return { message: `\`${stray.word}\` outside ${where}`, at: { line: stray.line, column: 1 } };
}

/** IPython takes the indentation of the first line away from all lines of a cell, and runs it. */
function isIndented(cell: string): boolean {
  const indent = /^(?:[ \t]*\n)*([ \t]+)\S/.exec(cell)?.[1];
  if (indent === undefined) return false;
  const lines = cell.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
  return pythonProblem(lines.join('\n')) === undefined;
}

/** What to look for literals in: the program of a notebook, of which its JSON writes quotes in another way. */
export function searched(path: string, bytes: Buffer): Buffer {
  if (!isNotebookName(path)) return bytes;
  const decoded = decodeNotebook(bytes);
  // What cannot be read may still be worth a word, such as one with a merge conflict in it.
  return decoded.ok ? Buffer.from(decoded.source.text) : bytes;
}

/** Marked `@generated`, or said to be generated and not to be edited: what changes it is its source. */
function isGenerated(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, Math.min(bytes.length, HEAD));
  const comments = head.match(COMMENT)?.join('\n') ?? '';
  return /@generated\b|generated[\s\S]*\bdo not edit\b|\bdo not edit\b[\s\S]*generated/i.test(comments);
}

function longestLine(bytes: Uint8Array): number {
  let longest = 0;
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== 0x0a && byte !== 0x0d && byte !== undefined) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}

function skipped(path: string, reason: string): Skipped {
  return { kind: 'skipped', path, reason };
}

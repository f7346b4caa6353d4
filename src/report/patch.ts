import { encode, type SourceText } from '../text/decode.js';
import { changedCells } from './by-cell.js';
import { formatHunk, hunksBetween } from './diff.js';

export interface FileChange {
  /** Relative to the repository root, with forward slashes. */
  readonly path: string;
  readonly source: SourceText;
  readonly after: string;
  /** Lines for a reader, which `git apply` and `patch` pass over. */
  readonly comments?: readonly string[];
}

/** A patch for `git apply` and `patch -p1`; empty when nothing changes. Its first lines may be comments, too. */
export function patchOf(changes: readonly FileChange[], comments: readonly string[] = []): Buffer {
  const patches = changes.map(patchOfFile);
  const isEmpty = patches.every(({ length }) => length === 0);
  return Buffer.concat(isEmpty ? [] : [commentLines(comments), ...patches]);
}

/** The same for a reader: of a notebook, the Python of its cells instead of its JSON. Nothing for `git apply`. */
export function patchForEyes(changes: readonly FileChange[], comments: readonly string[] = []): Buffer {
  const patches = changes.map((change) =>
    change.source.notebook === undefined ? patchOfFile(change) : patchOfCells(change),
  );
  return Buffer.concat([commentLines(comments), ...patches]);
}

function patchOfCells({ path, source, after, comments = [] }: FileChange): Buffer {
  const cells = (changedCells(source, { before: source.text, after }) ?? []).map((cell) => {
    const name = (side: string) => `${quotePath(`${side}/${path}`)}: ${cell.title}`;
    const hunks = hunksBetween(cell.before, cell.after);
    return `--- ${name('a')}\n+++ ${name('b')}\n${hunks.map(formatHunk).join('')}`;
  });
  return Buffer.concat([commentLines(comments), Buffer.from(cells.join(''))]);
}

/** Whatever starts with `#` is nothing to git; a line break in one would end that. */
function commentLines(comments: readonly string[]): Buffer {
  return Buffer.from(comments.map((line) => `# ${line.replaceAll(/[\r\n]+/g, ' ')}\n`).join(''), 'utf8');
}

/**
 * A patch is about bytes: git knows neither encodings nor byte order marks, and ends lines at 0x0A.
 * So both sides are encoded whole and compared with one character per byte.
 */
function patchOfFile(change: FileChange): Buffer {
  const hunks = hunksBetween(asBytes(change, change.source.text), asBytes(change, change.after));
  if (hunks.length === 0) return Buffer.alloc(0);
  const patch = fileHeader(change.path) + hunks.map(formatHunk).join('');
  return Buffer.concat([commentLines(change.comments ?? []), Buffer.from(patch, 'latin1')]);
}

function asBytes({ path, source }: FileChange, text: string): string {
  const bytes = encode(source, text);
  if (bytes === undefined)
    throw new RangeError(`the new text of ${path} cannot be written in ${source.encoding}`);
  return bytes.toString('latin1');
}

/** The `diff --git` line keeps git from taking a change of an empty file for its creation. */
function fileHeader(path: string): string {
  const old = quotePath(`a/${path}`);
  const now = quotePath(`b/${path}`);
  // The TAB ends a name that GNU patch would otherwise cut at its first space.
  const end = path.includes(' ') ? '\t\n' : '\n';
  return `diff --git ${old} ${now}\n--- ${old}${end}+++ ${now}${end}`;
}

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
]);

/** As git with its default `core.quotePath`: plain ASCII stays as it is, all else is escaped byte by byte in quotes. */
export function quotePath(path: string): string {
  let quoted = '';
  for (const byte of Buffer.from(path, 'utf8')) {
    const isPlain = byte >= 0x20 && byte < 0x7f;
    const octal = () => `\\${byte.toString(8).padStart(3, '0')}`;
    quoted += SHORT_ESCAPES.get(byte) ?? (isPlain ? String.fromCharCode(byte) : octal());
  }
  return quoted === path ? path : `"${quoted}"`;
}

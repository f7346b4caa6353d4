import type { Position, Span } from '../lines.js';
import { Lines } from '../lines.js';
import { memberOf, partsOf, skipSpace } from './json.js';
import { type Mask, masksOf } from './magics.js';
import { unreadCell } from './unread.js';

/**
 * A notebook as it was read. Its code cells are one Python program, in order: each follows a comment with its number, and
 * what only IPython understands is masked by Python on lines that end in a comment with a number of their own.
 */
export interface Notebook {
  readonly json: string;
  /** What the text was before anything was changed. */
  readonly program: string;
  readonly cells: readonly CodeCell[];
  /** In the order of the program. */
  readonly masks: readonly Masked[];
  /** The cells that are no Python, in their order; absent where all are. */
  readonly unread?: readonly Unread[];
}

/** A cell that is no Python, and what is against it. */
export interface Unread {
  readonly cell: number;
  /** In the cell, where that is known. */
  readonly at: Position;
  readonly message: string;
}

export interface CodeCell {
  /** Among all cells, counted from 1. */
  readonly number: number;
  /** Its `source`, a string or an array of strings, in the JSON. */
  readonly place: Span;
  readonly source: string;
}

/** A line of the program, and what the cell has there. Both without the newline. */
export interface Masked {
  readonly shown: string;
  readonly source: string;
}

/** A cell in a program. */
export interface CellPlace extends Span {
  readonly number: number;
}

export function isNotebookName(path: string): boolean {
  return path.endsWith('.ipynb');
}

function whyNoJson(text: string): string {
  if (text.trim() === '') return 'it is empty';
  if (/^\s*(?:<<<<<<<|>>>>>>>) /m.test(text)) return 'it has the marks of a merge conflict';
  return 'it is not valid JSON, as a notebook has to be';
}

/** The notebook in a JSON text, or why there is none to look at. */
export function readNotebook(json: string): Notebook | { readonly reason: string } {
  const parsed = parse(json);
  if (parsed === undefined) return { reason: whyNoJson(json) };
  if (!isRecord(parsed)) return NO_NOTEBOOK;
  const language = otherLanguage(parsed);
  if (language !== undefined) return { reason: `it is a notebook for ${language}, not for Python` };
  const cells = codeCells(json);
  return cells === undefined ? NO_NOTEBOOK : assembled(json, cells, new Set());
}

const NO_NOTEBOOK = { reason: 'it is JSON, but not a notebook of version 2, 3 or 4' };

/** The same notebook with all of some cells masked: nobody knows what they do with what they name. */
export function withUnread({ json, cells }: Notebook, unread: readonly Unread[]): Notebook {
  return { ...assembled(json, cells, new Set(unread.map(({ cell }) => cell))), unread };
}

function assembled(json: string, cells: readonly CodeCell[], unread: ReadonlySet<number>): Notebook {
  let mark = '#:';
  while (cells.some(({ source }) => source.includes(mark))) mark += ':';
  const masks: Masked[] = [];
  let program = '';
  for (const { number, source } of cells) {
    const lines = new Lines(source);
    const contents = Array.from({ length: lines.count }, (_, index) => lines.content(index + 1));
    const found = unread.has(number) ? unreadCell(contents) : masksOf(contents);
    const byLine = new Map(found.map((mask: Mask) => [mask.line, mask]));
    program += `${mark}cell ${number}\n`;
    contents.forEach((content, index) => {
      const mask = byLine.get(index);
      const shown =
        mask === undefined
          ? content
          : `${mask.python}${mask.python === '' ? '' : '  '}${mark}magic ${masks.length + 1}.`;
      if (mask !== undefined) masks.push({ shown, source: content });
      program += shown + (lines.newline(index + 1) ?? '');
    });
    program += '\n';
  }
  return { json, program, cells, masks };
}

const FIRST = /^(#:+)cell \d+\n/;

/** The cells in the program of a notebook, whatever was changed in it; of other programs, none. */
export function cellsIn(program: string): readonly CellPlace[] {
  const mark = FIRST.exec(program)?.[1];
  if (mark === undefined) return [];
  const heads = [...program.matchAll(new RegExp(`^${mark}cell (\\d+)\n`, 'gm'))];
  return heads.map((head, index) => {
    const next = heads[index + 1]?.index ?? program.length;
    const start = head.index + head[0].length;
    return { number: Number(head[1]), start, end: Math.max(start, next - 1) };
  });
}

/** The cell that an offset of a program belongs to: also the place right behind its last line. */
export function cellAt(cells: readonly CellPlace[], offset: number): CellPlace | undefined {
  return cells.findLast(({ start }) => start <= offset);
}

/** The same for an offset of any program: undefined where that has no cells. */
export function cellWith(program: string, offset: number): CellPlace | undefined {
  return cellAt(cellsIn(program), offset);
}

/** Positions in the program of a notebook are told by cell. */
export function positionInCells(lines: Lines, cells: readonly CellPlace[]): (at: Position) => Position {
  const firsts = cells.map(({ number, start }) => ({ number, line: lines.lineAt(start) }));
  return (at) => {
    const cell = firsts.findLast(({ line }) => line <= at.line);
    return cell === undefined ? at : { ...at, line: at.line - cell.line + 1, cell: cell.number };
  };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a notebook says its language is, where that is not Python. */
function otherLanguage({ metadata }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isRecord(metadata)) return undefined;
  const { kernelspec, language_info: info } = metadata;
  const said = [
    isRecord(info) ? info['name'] : undefined,
    isRecord(kernelspec) ? kernelspec['language'] : undefined,
  ];
  return said.find((name): name is string => typeof name === 'string' && !/^i?python\d?$/i.test(name));
}

/** Undefined where the JSON is no notebook. */
function codeCells(json: string): readonly CodeCell[] | undefined {
  const root = skipSpace(json, 0);
  const lists = listsOfCells(json, root);
  if (lists === undefined) return undefined;
  const found: CodeCell[] = [];
  let number = 0;
  for (const list of lists)
    for (const { start } of partsOf(json, list)) {
      number++;
      if (json[start] !== '{' || !isPythonCell(json, start)) continue;
      const place = memberOf(json, start, 'source') ?? memberOf(json, start, 'input');
      const source = place && textOf(json, place);
      if (place === undefined || source === undefined || !source.isWellFormed()) return undefined;
      found.push({ number, place, source });
    }
  return found;
}

/** Version 4 has its cells at the top, earlier ones in worksheets. */
function listsOfCells(json: string, root: number): readonly number[] | undefined {
  const cells = memberOf(json, root, 'cells');
  if (cells !== undefined) return json[cells.start] === '[' ? [cells.start] : undefined;
  const sheets = memberOf(json, root, 'worksheets');
  if (sheets === undefined || json[sheets.start] !== '[') return undefined;
  return [...partsOf(json, sheets.start)].flatMap(({ start }) => {
    const list = memberOf(json, start, 'cells');
    return list !== undefined && json[list.start] === '[' ? [list.start] : [];
  });
}

function isPythonCell(json: string, at: number): boolean {
  const said = (key: string, from = at) => {
    const place = memberOf(json, from, key);
    return place && (JSON.parse(json.slice(place.start, place.end)) as unknown);
  };
  if (said('cell_type') !== 'code') return false;
  const language = said('language');
  if (typeof language === 'string' && language !== 'python') return false;
  const metadata = said('metadata');
  const editor = isRecord(metadata) ? metadata['vscode'] : undefined;
  const id = isRecord(editor) ? editor['languageId'] : undefined;
  return id === undefined || id === 'python';
}

/** The line of the JSON that holds a line of a cell: what everybody sees who does not know notebooks. */
export function jsonLine({ json, cells }: Notebook, number: number, line: number): number {
  const place = cells.find((cell) => cell.number === number)?.place;
  if (place === undefined) return 1;
  let at = place.start;
  let before = 0;
  for (const { start, end } of stringsOf(json, place) ?? []) {
    if (before >= line) break;
    at = start;
    before += (JSON.parse(json.slice(start, end)) as string).split('\n').length - 1;
  }
  return json.slice(0, at).split('\n').length;
}

/** The strings of a source; undefined where there is anything else. */
export function stringsOf(json: string, { start, end }: Span): readonly Span[] | undefined {
  if (json[start] === '"') return [{ start, end }];
  if (json[start] !== '[') return undefined;
  const parts = [...partsOf(json, start)];
  return parts.every((part) => json[part.start] === '"') ? parts : undefined;
}

function textOf(json: string, place: Span): string | undefined {
  const strings = stringsOf(json, place);
  return strings?.map(({ start, end }) => JSON.parse(json.slice(start, end)) as string).join('');
}

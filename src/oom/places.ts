import type { PyModule } from '../semantic/module.js';
import { outlineOf } from '../syntax/outline.js';
import { Lines, type Position } from '../text/lines.js';
import { cellsIn, isNotebookName, positionInCells } from '../text/notebook/notebook.js';
import { type Frame, installedPath, isCell, isLibrary } from './frame.js';

/** The files that were looked through, by the names they are reported under. */
export interface CheckedFiles {
  /** Whole paths with forward slashes, by name. */
  readonly paths: ReadonlyMap<string, string>;
  /** Those of them that were not looked through: of the same repository, and in the traceback. */
  readonly beyond?: ReadonlySet<string>;
  /** Of a notebook, the program of its cells. */
  text(name: string): string | undefined;
  /** The same text, parsed; undefined where it is no Python. */
  module?(name: string): PyModule | undefined;
}

/** A function or a loop. Lines count from 1, and the last is included. */
export interface Block {
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

/** Where a frame of a log stands in the files as they are now. */
export interface Spot {
  /** The name that the file is reported under. */
  readonly file: string;
  /** Undefined where the statement is no longer there. Of a notebook, a line of its program. */
  readonly line: number | undefined;
  /** The same as it is told: of a notebook, the line of a cell. */
  readonly told: Told | undefined;
  /** Undefined at the top of the file. */
  readonly within: Block | undefined;
  /** Neither the statement nor the function is there any more: only the file is known. */
  readonly isFileOnly: boolean;
}

/** A line, and its cell where the file is a notebook. */
export type Told = Pick<Position, 'line' | 'cell'>;

/** Finds frames of another machine, and perhaps of an earlier day, in the files at hand. */
export class Places {
  readonly #byName = new Map<string, { readonly file: string; readonly parts: readonly string[] }[]>();
  /** Files by the paths of frames. */
  readonly #known = new Map<string, string>();
  readonly #texts = new Map<string, Text | undefined>();

  /** `notebook`: the one whose outputs are the log, which its cells are of. */
  constructor(
    private readonly files: CheckedFiles,
    private readonly notebook?: string,
  ) {
    for (const [file, path] of files.paths) {
      const parts = partsOf(path);
      const name = parts[0] ?? '';
      this.#byName.set(name, [...(this.#byName.get(name) ?? []), { file, parts }]);
    }
  }

  /** What one frame of a file shows, such as a function, tells which file the others are in. */
  acquaint(frames: Iterable<Frame>): void {
    for (const frame of frames) {
      const key = keyOf(frame);
      const file = this.#known.has(key) ? undefined : this.#fileOf(frame);
      if (file !== undefined) this.#known.set(key, file);
    }
  }

  find(frame: Frame): Spot | undefined {
    const file = this.#known.get(keyOf(frame)) ?? this.#fileOf(frame);
    const text = file === undefined ? undefined : this.textOf(file);
    return file === undefined || text === undefined ? undefined : spotIn(file, text, frame);
  }

  moduleOf(file: string): PyModule | undefined {
    return this.files.module?.(file);
  }

  textOf(file: string): Text | undefined {
    if (!this.#texts.has(file)) {
      const text = this.files.text(file);
      this.#texts.set(file, text === undefined ? undefined : new Text(text));
    }
    return this.#texts.get(file);
  }

  /** The one file whose path ends most like the frame's; where only the name agrees, it must also hold what the frame shows. */
  #fileOf(frame: Frame): string | undefined {
    if (isCell(frame)) {
      const all = [...this.files.paths.keys()].filter(isNotebookName);
      return all.find((name) => name === this.notebook) ?? this.#holderOf(frame, all);
    }
    const isForeign = isLibrary(frame);
    const parts = partsOf(isForeign ? installedPath(frame) : frame.path);
    const alike = (this.#byName.get(parts[0] ?? '') ?? []).map(({ file, parts: own }) => ({
      file,
      shared: sharedStart(parts, own),
    }));
    const most = Math.max(0, ...alike.map(({ shared }) => shared));
    if (most === 0 || (isForeign && most < parts.length)) return undefined;
    const best = alike.filter(({ shared }) => shared === most).map(({ file }) => file);
    const [only, another] = best;
    if (another === undefined && most > 1) return only;
    return this.#holderOf(frame, best);
  }

  /** The one of several files that holds the statement of a frame, or at least its function. */
  #holderOf(frame: Frame, best: readonly string[]): string | undefined {
    const holding = best.filter((file) => this.textOf(file)?.holdsStatement(frame) === true);
    if (holding.length === 1) return holding[0];
    const having = best.filter((file) => this.textOf(file)?.hasFunction(frame) === true);
    return holding.length === 0 && having.length === 1 ? having[0] : undefined;
  }
}

/** What the frames of one file share; the cells of a traceback are of one notebook. */
function keyOf(frame: Frame): string {
  return isCell(frame) ? 'In[]' : frame.path;
}

/** The parts of a path, its end first. */
function partsOf(path: string): readonly string[] {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .reverse();
}

function sharedStart(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}

function spotIn(file: string, text: Text, frame: Frame): Spot {
  const named = text.functions.filter(({ name }) => name === frame.name);
  const isTop = frame.name === '<module>';
  // `<lambda>` and `<listcomp>` are in whatever function they are written in.
  const isNameless = !isTop && frame.name.startsWith('<');
  const line = nearest(text, text.linesWith(frame), frame.line, (at) =>
    isTop
      ? text.functionAt(at) === undefined
      : isNameless || named.some((range) => text.functionAt(at) === range),
  );
  // What is called later is no part of the function that made it.
  const isDeferred = frame.name === '<lambda>' || frame.name === '<genexpr>';
  const own = line === undefined || !isDeferred ? undefined : { name: frame.name, first: line, last: line };
  const within =
    own ??
    (line === undefined ? undefined : text.functionAt(line)) ??
    (isTop ? undefined : closest(named, frame.line));
  const told = line === undefined ? undefined : text.told(line);
  return { file, line, told, within, isFileOnly: !isTop && line === undefined && within === undefined };
}

/** Of the lines that could be it, one that `fits`, nearest to where it was. */
function nearest(
  text: Text,
  lines: readonly number[],
  wanted: number,
  fits: (line: number) => boolean,
): number | undefined {
  const distance = (line: number) => Math.abs(text.told(line).line - wanted);
  return lines
    .filter(fits)
    .reduce<number | undefined>(
      (best, line) => (best === undefined || distance(line) < distance(best) ? line : best),
      undefined,
    );
}

function closest(ranges: readonly Block[], wanted: number): Block | undefined {
  const distance = ({ first, last }: Block) => Math.max(first - wanted, wanted - last, 0);
  return ranges.reduce<Block | undefined>(
    (best, range) => (best === undefined || distance(range) < distance(best) ? range : best),
    undefined,
  );
}

/** So much of a statement tells it from others. */
const LONG_ENOUGH = 12;
const NEWLINE = /\r\n|\r|\n/;
const DEFINITION = /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)/;
const BRACKETS: ReadonlyMap<string, number> = new Map([
  ...[...'([{'].map((sign) => [sign, 1] as const),
  ...[...')]}'].map((sign) => [sign, -1] as const),
]);
const LOOP = /^[ \t]*(?:async[ \t]+)?(for|while)\b/;

/** A Python text as far as a traceback cares: its statements, and the lines of its functions. */
export class Text {
  readonly #lines: readonly string[];
  readonly #offsets: Lines;
  #blanked: readonly string[] | undefined;
  #functions: readonly Block[] | undefined;
  #loops: readonly Block[] | undefined;
  /** The first line of each cell of a notebook's program; none in other texts. */
  readonly #cells: ReadonlyMap<number, number>;
  /** A line of the text as it is told. */
  readonly told: (line: number) => Told;

  constructor(private readonly text: string) {
    this.#lines = text.split(NEWLINE);
    const lines = new Lines(text);
    this.#offsets = lines;
    const cells = cellsIn(text);
    this.#cells = new Map(cells.map(({ number, start }) => [number, lines.lineAt(start)]));
    const inCells = positionInCells(lines, cells);
    this.told = (line) => inCells({ line, column: 1 });
  }

  /** The line of the text that is told so. */
  lineAt({ line, cell }: Told): number {
    return cell === undefined ? line : line + (this.#cells.get(cell) ?? 1) - 1;
  }

  /** The line of an offset of the text. */
  lineOf(offset: number): number {
    return this.#offsets.lineAt(offset);
  }

  lineWith(line: number): string {
    return this.#lines[line - 1] ?? '';
  }

  /** The last line of the statement that begins on a line, by its brackets. */
  endOf(line: number): number {
    let open = 0;
    for (let at = line; at <= this.#code.length; at++) {
      for (const sign of this.#code[at - 1] ?? '') open += BRACKETS.get(sign) ?? 0;
      if (open <= 0) return at;
    }
    return line;
  }

  /** Whether a line can run more than once in one call of its function, or in one run of the file. */
  isInLoop(line: number): boolean {
    const from = this.functionAt(line)?.first ?? 0;
    return this.#allLoops.some(({ first, last }) => first >= from && line > first && line <= last);
  }

  get functions(): readonly Block[] {
    this.#functions ??= blocksOf(this.#code, DEFINITION);
    return this.#functions;
  }

  get #code(): readonly string[] {
    this.#blanked ??= withoutStrings(this.text).split(NEWLINE);
    return this.#blanked;
  }

  /** The innermost function around a line, its decorators included. */
  functionAt(line: number): Block | undefined {
    return this.functions.findLast(({ first, last }) => line >= first && line <= last);
  }

  /** Whether what stands on one line can have run before what stands on the other, further up, ran again. */
  shareLoop(above: number, below: number): boolean {
    return this.#allLoops.some(({ first, last }) => above >= first && below <= last);
  }

  /** The loops around a line within a function, the outermost first. */
  loopsAround(line: number, within: Block): readonly Block[] {
    return this.#allLoops.filter(
      ({ first, last }) => first >= within.first && last <= within.last && line > first && line <= last,
    );
  }

  /** The lines of a block, with blanks for strings and comments. */
  codeOf({ first, last }: Block): readonly string[] {
    return this.#code.slice(first - 1, last);
  }

  get #allLoops(): readonly Block[] {
    this.#loops ??= blocksOf(this.#code, LOOP);
    return this.#loops;
  }

  holdsStatement({ source }: Frame): boolean {
    return source !== undefined && this.#lines.some((line) => line.trim() === source);
  }

  hasFunction({ name }: Frame): boolean {
    return this.functions.some((known) => known.name === name);
  }

  /** Where the statement of a frame could be now. Where the log does not show it, its number is all there is. */
  linesWith({ path, line, source }: Frame): readonly number[] {
    if (source === undefined && isCell({ path })) return [];
    if (source === undefined) return line >= 1 && line <= this.#lines.length ? [line] : [];
    const same = this.#lines.flatMap((content, index) => (content.trim() === source ? [index + 1] : []));
    // A box of Rich cuts what is too long for it.
    const isCut = same.length === 0 && source.length >= LONG_ENOUGH;
    return isCut && this.#lines[line - 1]?.trim().startsWith(source) === true ? [line] : same;
  }
}

/** The same lines with blanks in place of strings and comments, so that neither looks like code. */
function withoutStrings(text: string): string {
  const quiet = outlineOf(text)?.quiet ?? [];
  let code = '';
  let at = 0;
  for (let index = 0; index < quiet.length; index += 2) {
    const end = quiet[index + 1] ?? text.length;
    code += text.slice(at, quiet[index]) + text.slice(quiet[index], end).replace(/[^\r\n]/g, ' ');
    at = end;
  }
  return code + text.slice(at);
}

/** The statements with a block that `head` starts and names, in source order, an outer one before those in it. */
function blocksOf(lines: readonly string[], head: RegExp): readonly Block[] {
  const found: { name: string; first: number; last: number; indent: number }[] = [];
  const open: (typeof found)[number][] = [];
  let decorated: number | undefined;
  for (const [index, line] of lines.entries()) {
    const content = line.trimStart();
    if (content === '') continue;
    const indent = line.length - content.length;
    // The end of a signature may stand as far left as its `def`.
    if (!/^[)\]}]/.test(content)) while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    for (const around of open) around.last = index + 1;
    const name = head.exec(line)?.[1];
    if (name !== undefined) {
      const added = { name, first: decorated ?? index + 1, last: index + 1, indent };
      found.push(added);
      open.push(added);
    }
    if (content.startsWith('@')) decorated ??= index + 1;
    else decorated = undefined;
  }
  return found;
}

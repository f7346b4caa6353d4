/** What one line of a file imports. */
export interface Imported {
  /** Of a relative import. */
  readonly dots: number;
  /** The first part of the module's name, and the others. */
  readonly name: string;
  readonly rest: readonly string[];
  /** What is taken from it; empty where the module itself is, or all of it. */
  readonly names: readonly string[];
}

const STATEMENT =
  /(?:^|[;:\\])[ \t]*(?:from[ \t]*(\.*)[ \t]*([\w.]*)[ \t]*import\b[ \t]*(\([^)]*|[\w., \t]*)|import[ \t]+(\w[\w., \t]*))/g;

/** By the lines that have the word: in strings, too, which joins more than need be. */
export function* importsIn(bytes: Buffer, known: Map<string, readonly Imported[]>): Generator<Imported> {
  for (let at = bytes.indexOf('import'); at !== -1; at = bytes.indexOf('import', at)) {
    const start = bytes.lastIndexOf(0x0a, at) + 1;
    // A line that is continued begins on the line before.
    const before = bytes[start - 2] === 0x5c ? bytes.lastIndexOf(0x0a, start - 2) + 1 : start;
    const end = endOf(bytes, at);
    const line = bytes.toString('latin1', before, Math.min(end, before + LONGEST_LINE));
    at = end;
    const imports = known.get(line) ?? [...importsOf(line.replace(/\\\r?\n/g, ' '))];
    known.set(line, imports);
    yield* imports;
  }
}

function* importsOf(line: string): Generator<Imported> {
  for (const [, dots = '', from, taken = '', plain = ''] of line.matchAll(STATEMENT)) {
    if (from !== undefined) yield { dots: dots.length, ...partsOf(from), names: namesIn(taken) };
    for (const each of plain === '' ? [] : plain.split(','))
      yield { dots: 0, ...partsOf(each.trim().split(/\s/)[0] ?? ''), names: [] };
  }
}

/** Of the line, or of the brackets that are opened behind the word. */
function endOf(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0x0a, at);
  const line = end === -1 ? bytes.length : end;
  const open = bytes.indexOf(0x28, at);
  const close = open !== -1 && open < line ? bytes.indexOf(0x29, open) : -1;
  return close === -1 || close > at + LONGEST_LINE ? line : Math.max(line, close);
}

function partsOf(dotted: string): Pick<Imported, 'name' | 'rest'> {
  const [name = '', ...rest] = dotted.split('.').filter((part) => part !== '');
  return { name, rest };
}

function namesIn(taken: string): readonly string[] {
  return taken
    .replace(/#.*/g, '')
    .split(/[(),]/)
    .flatMap((each) => /\w+/.exec(each)?.[0] ?? []);
}

const LONGEST_LINE = 2000;

import type { Span } from '../lines.js';

/** A member of an object or an element of an array, by where its value stands. */
interface Part extends Span {
  /** Undefined in an array. */
  readonly key: string | undefined;
}

/** The parts of the object or array that begins at `at`. The text is valid JSON: whoever asks has parsed it. */
export function* partsOf(json: string, at: number): Generator<Part> {
  const isObject = json[at] === '{';
  let next = skipSpace(json, at + 1);
  while (json[next] !== '}' && json[next] !== ']') {
    let key: string | undefined;
    if (isObject) {
      const end = stringEnd(json, next);
      key = JSON.parse(json.slice(next, end)) as string;
      next = skipSpace(json, skipSpace(json, end) + 1);
    }
    const end = valueEnd(json, next);
    yield { key, start: next, end };
    next = skipSpace(json, end);
    if (json[next] === ',') next = skipSpace(json, next + 1);
  }
}

/** The value of a member; of several with the same name the last, as every reader takes it. */
export function memberOf(json: string, at: number, key: string): Span | undefined {
  if (json[at] !== '{') return undefined;
  let found: Span | undefined;
  for (const part of partsOf(json, at)) if (part.key === key) found = part;
  return found;
}

export function skipSpace(json: string, at: number): number {
  let next = at;
  for (let code = json.charCodeAt(next); isSpace(code); code = json.charCodeAt(next)) next++;
  return next;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Behind the string that begins at `at`. */
function stringEnd(json: string, at: number): number {
  let quote = at;
  do {
    quote = json.indexOf('"', quote + 1);
  } while (isEscaped(json, quote));
  return quote + 1;
}

function isEscaped(json: string, at: number): boolean {
  let slashes = 0;
  while (json[at - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

function valueEnd(json: string, at: number): number {
  const first = json[at];
  if (first === '"') return stringEnd(json, at);
  if (first !== '{' && first !== '[') {
    const scalar = /[^\s,\]}]*/y;
    scalar.lastIndex = at;
    return at + (scalar.exec(json)?.[0].length ?? 0);
  }
  let depth = 0;
  let next = at;
  do {
    const mark = /["[\]{}]/g;
    mark.lastIndex = next;
    const found = mark.exec(json);
    if (found === null) throw new RangeError('a value of JSON has no end');
    if (found[0] === '"') next = stringEnd(json, found.index);
    else {
      depth += found[0] === '{' || found[0] === '[' ? 1 : -1;
      next = found.index + 1;
    }
  } while (depth > 0);
  return next;
}

/** Where each code unit of a string's value is written: one place more than there are units, for the end. */
export function unitPlaces(json: string, { start, end }: Span): readonly number[] {
  const places: number[] = [];
  let at = start + 1;
  while (at < end - 1) {
    places.push(at);
    if (json[at] !== '\\') at++;
    else at += json[at + 1] === 'u' ? 6 : 2;
  }
  places.push(at);
  return places;
}

/** The inside of a JSON string for a text. `ascii`: as writers do that escape every other character. */
export function escaped(text: string, ascii: boolean): string {
  const inside = JSON.stringify(text).slice(1, -1);
  if (!ascii) return inside;
  return inside.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

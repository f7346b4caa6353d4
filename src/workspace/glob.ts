/**
 * Patterns in the language of gitignore. A path is compared with a pattern in time that grows with the length of both, at
 * most with their product, whatever the pattern: whoever writes one may mean harm.
 */

/** One character: itself, any, or one of a set. A star is any number of them. */
type Token = string | typeof ANY | typeof STAR | CharacterSet;

const ANY = Symbol('?');
const STAR = Symbol('*');

interface CharacterSet {
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [from: string, to: string])[];
}

type Glob = readonly Token[];
/** Any number of folders. */
const FOLDERS = Symbol('**');

/** One for each folder of a path, and one for its name. */
export type Parts = readonly (Glob | typeof FOLDERS)[];

/** What a pattern is about: a name or the end of a name, anywhere; one path; or all that its wildcards allow. */
type About =
  | { readonly kind: 'name' | 'ending' | 'path'; readonly text: string }
  | { readonly kind: 'wild'; readonly parts: Parts };

export interface Pattern {
  readonly isNegated: boolean;
  readonly isForFolders: boolean;
  readonly about: About;
}

/** No path is longer. */
const LONGEST = 4096;

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'azAZ09',
  alpha: 'azAZ',
  blank: '  \t\t',
  cntrl: '\x00\x1f\x7f\x7f',
  digit: '09',
  graph: '!~',
  lower: 'az',
  print: ' ~',
  punct: '!/:@[`{~',
  space: '  \t\r',
  upper: 'AZ',
  xdigit: 'afAF09',
};

/** What a line of rules means; undefined where it means nothing. */
export function patternIn(line: string): Pattern | undefined {
  if (line === '' || line.startsWith('#') || line.length > LONGEST) return undefined;
  let text = withoutTrailingSpaces(line);
  const isNegated = text.startsWith('!');
  if (isNegated) text = text.slice(1);
  const isForFolders = text.endsWith('/');
  if (isForFolders) text = text.slice(0, -1);
  const isAnchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  const about = text === '' ? undefined : aboutIn(text, isAnchored);
  return about && { isNegated, isForFolders, about };
}

const SPECIAL = /[*?[\\]/;

function aboutIn(text: string, isAnchored: boolean): About | undefined {
  if (!SPECIAL.test(text)) return { kind: isAnchored ? 'path' : 'name', text };
  const [, ending] = isAnchored ? [] : (/^\*+([^*?[\\]+)$/.exec(text) ?? []);
  if (ending !== undefined) return { kind: 'ending', text: ending };
  const parts: (Glob | typeof FOLDERS)[] = isAnchored ? [] : [FOLDERS];
  for (const part of text.split('/')) {
    const found = part === '**' ? FOLDERS : globIn(part);
    if (found === undefined) return undefined;
    if (found !== FOLDERS || parts.at(-1) !== FOLDERS) parts.push(found);
  }
  // At the end, they mean everything inside and not the folder itself.
  if (isAnchored && parts.at(-1) === FOLDERS) parts.push([STAR]);
  return { kind: 'wild', parts };
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end--;
  const isEscaped = end < line.length && /(?:^|[^\\])(?:\\\\)*\\$/.test(line.slice(0, end));
  return line.slice(0, isEscaped ? end + 1 : end);
}

/** Undefined where git takes it for a mistake, which matches nothing. */
function globIn(part: string): Glob | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; at++) {
    const character = part[at] as string;
    if (character === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else if (character === '?') tokens.push(ANY);
    else if (character === '\\') {
      at++;
      if (at === part.length) return undefined;
      tokens.push(part[at] as string);
    } else if (character === '[') {
      const found = setIn(part, at);
      if (found === undefined) return undefined;
      tokens.push(found.set);
      at = found.end;
    } else tokens.push(character);
  }
  return tokens;
}

/** The set that begins at a bracket, and where it ends. */
function setIn(
  part: string,
  start: number,
): { readonly set: CharacterSet; readonly end: number } | undefined {
  let at = start + 1;
  const isNegated = part[at] === '!' || part[at] === '^';
  if (isNegated) at++;
  const ranges: [string, string][] = [];
  for (let isFirst = true; at < part.length; isFirst = false, at++) {
    if (part[at] === ']' && !isFirst) return { set: { isNegated, ranges }, end: at };
    const [, name] = /^\[:(\w{1,10}):\]/.exec(part.slice(at, at + 16)) ?? [];
    if (name !== undefined) {
      const pairs = CLASSES[name];
      if (pairs === undefined) return undefined;
      for (let pair = 0; pair < pairs.length; pair += 2)
        ranges.push([pairs[pair] ?? '', pairs[pair + 1] ?? '']);
      at += name.length + 3;
      continue;
    }
    if (part[at] === '\\') at++;
    const from = part[at];
    if (from === undefined) return undefined;
    let to = from;
    if (part[at + 1] === '-' && part[at + 2] !== ']' && part[at + 2] !== undefined) {
      at += part[at + 2] === '\\' ? 3 : 2;
      to = part[at] ?? '';
    }
    ranges.push([from, to]);
  }
  return undefined;
}

/** Whether a path, whose parts these are, is one that wildcards allow. */
export function isAllowed(parts: Parts, path: readonly string[]): boolean {
  return isMatch(
    parts,
    path.length,
    (part) => part === FOLDERS,
    (part, at) => part !== FOLDERS && isNamed(part, path[at] ?? ''),
  );
}

/** A quick look at the last part of a path alone. */
export function mayBeAllowed(parts: Parts, name: string): boolean {
  const last = parts[parts.length - 1];
  return last === undefined || last === FOLDERS || isNamed(last, name);
}

function isNamed(glob: Glob, name: string): boolean {
  // Most names do not even end or begin as they should.
  const last = glob[glob.length - 1];
  if (last !== undefined && last !== STAR && !isOne(last, name[name.length - 1] ?? '')) return false;
  const first = glob[0];
  if (first !== undefined && first !== STAR && !isOne(first, name[0] ?? '')) return false;
  return isMatch(
    glob,
    name.length,
    (token) => token === STAR,
    (token, at) => isOne(token, name[at] ?? ''),
  );
}

function isOne(token: Token, character: string): boolean {
  if (typeof token === 'string') return token === character;
  if (token === ANY) return true;
  if (typeof token === 'symbol') return false;
  return token.ranges.some(([from, to]) => character >= from && character <= to) !== token.isNegated;
}

/** Only the last star that was passed can be given more: what those before it took was enough. */
function isMatch<T>(
  wanted: readonly T[],
  length: number,
  isMany: (each: T) => boolean,
  isAt: (each: T, at: number) => boolean,
): boolean {
  let next = 0;
  let at = 0;
  let star = -1;
  let taken = 0;
  while (at < length) {
    const each = wanted[next];
    if (each !== undefined && isMany(each)) {
      star = next++;
      taken = at;
    } else if (each !== undefined && isAt(each, at)) {
      next++;
      at++;
    } else if (star === -1) return false;
    else {
      next = star + 1;
      at = ++taken;
    }
  }
  while (next < wanted.length && isMany(wanted[next] as T)) next++;
  return next === wanted.length;
}

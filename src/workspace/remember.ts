import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BoundedReader, LARGEST_TOML, textOf } from './bounded.js';
import { isTable, type Table, tomlIn } from './config-file.js';
import { codeOf, Failure, reasonOf } from './failure.js';
import { draftName, replaceBytes, type Written } from './write.js';

/** Where `assume` goes: the config that is in force, else the `pyproject.toml` or a new `memfix.toml` of the folder. */
export function assumeFile(config: string | undefined, folder: string): string {
  if (config !== undefined) return config;
  const shared = join(folder, 'pyproject.toml');
  return existsSync(shared) ? shared : join(folder, 'memfix.toml');
}

/** The answers for good in the config files of a folder, by file. */
export function rememberedIn(folder: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const name of ['memfix.toml', 'pyproject.toml']) {
    const path = join(folder, name);
    const text = existsSync(path) ? textOf(path) : undefined;
    const entries = text === undefined ? [] : assumedIn(text, name === 'pyproject.toml');
    if (entries !== undefined && entries.length > 0) found.set(path, entries.length);
  }
  return found;
}

/** What was written into a config; `before` is undefined where there was none. */
export interface Remembered {
  readonly path: string;
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/** Gives a config its old bytes back, or takes a new one away; false where it has changed since. */
export function takeBackAssumptions({ path, before, after }: Remembered): boolean {
  if (before !== undefined) return replaceBytes(path, after, before, draftName()).ok;
  try {
    if (!bytesOf(path).equals(after)) return false;
    rmSync(path);
    return true;
  } catch (error) {
    if (!(error instanceof Failure) && codeOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Adds entries to `assume` of a config file; undefined where they are there. `expect` is told before it is done. Not one byte changes outside of that list; where the file is written in a way
 * in which that is not certain, nothing is, and the failure says what to write by hand.
 */
export function writeAssumptions(
  path: string,
  entries: readonly string[],
  expect: (change: Remembered) => Written = () => ({ ok: true }),
): Remembered | undefined {
  const before = existsSync(path) ? bytesOf(path) : undefined;
  const text = before?.toString('utf8') ?? '';
  const isShared = basename(path) === 'pyproject.toml';
  const known = assumedIn(text, isShared);
  const fresh = [...new Set(entries)].filter((entry) => !known?.includes(entry));
  if (fresh.length === 0) return undefined;
  const after = withEntries(text, fresh, isShared);
  const isRight =
    known !== undefined && after !== undefined && says(after, text, [...known, ...fresh], isShared);
  if (!isRight || (before !== undefined && !before.equals(Buffer.from(text, 'utf8')))) {
    throw new Failure(
      'The answer was not written down',
      `${path} is written in a way that memfix does not change`,
      `Add to \`assume\` there: ${fresh.map(quoted).join(', ')}`,
    );
  }
  const change = { path, before, after: Buffer.from(after, 'utf8') };
  const expected = expect(change);
  if (!expected.ok) throw unwritten(path, expected.reason);
  const written =
    before === undefined
      ? created(path, change.after)
      : replaceBytes(path, before, change.after, draftName());
  if (!written.ok) throw unwritten(path, written.reason);
  return change;
}

function bytesOf(path: string): Buffer {
  try {
    return new BoundedReader().read(path, { most: LARGEST_TOML }).bytes;
  } catch (error) {
    throw unwritten(path, reasonOf(error));
  }
}

function created(path: string, bytes: Buffer): Written {
  try {
    writeFileSync(path, bytes, { flag: 'wx' });
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}

function unwritten(path: string, reason: string): Failure {
  return new Failure('The answer was not written down', `${path}: ${reason}`, 'Write it there yourself.');
}

/** The text with more entries in the list, or with a new list; undefined where no place for it is certain. */
function withEntries(text: string, entries: readonly string[], isShared: boolean): string | undefined {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const list = `assume = [${newline}${entries.map((entry) => `    ${quoted(entry)},${newline}`).join('')}]${newline}`;
  const section = sectionIn(text, isShared);
  if (section === undefined) {
    if (!isShared) return undefined;
    const gap = text === '' || text.endsWith(newline) ? '' : newline;
    return `${text}${gap}${text === '' ? '' : newline}[tool.memfix]${newline}${list}`;
  }
  const own = text.slice(section.start, section.end);
  const found = /^[ \t]*assume[ \t]*=[ \t]*\[/m.exec(own);
  if (found === null) return text.slice(0, section.start) + list + text.slice(section.start);
  const from = section.start + found.index + found[0].length;
  const close = endOfList(text, from);
  return close === undefined ? undefined : withMore(text, from, close, entries, newline);
}

/** The lines of our table, from behind its header to the next one. */
function sectionIn(
  text: string,
  isShared: boolean,
): { readonly start: number; readonly end: number } | undefined {
  const header = isShared
    ? /^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*memfix[ \t]*\][^\n]*(?:\n|$)/m.exec(text)
    : undefined;
  if (header === null) return undefined;
  const start = header === undefined ? 0 : header.index + header[0].length;
  if (header !== undefined && !header[0].endsWith('\n')) return undefined;
  const next = /^[ \t]*\[/m.exec(withoutLists(text.slice(start)));
  return { start, end: next === null ? text.length : start + next.index };
}

/** Lists that go over several lines begin lines with brackets, too: those become spaces. */
function withoutLists(text: string): string {
  return text.replace(/=[ \t]*\[(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[^\]"'#])*\]/g, (list) =>
    list.replace(/[^\n]/g, ' '),
  );
}

/** The `]` of a list of strings whose `[` is right before `from`. */
function endOfList(text: string, from: number): number | undefined {
  const rest = /^(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|[^\]"'#])*/.exec(text.slice(from));
  const end = from + (rest?.[0].length ?? 0);
  return text[end] === ']' ? end : undefined;
}

/** Behind the last entry, in the style of the list: on lines of their own where it has lines. */
function withMore(
  text: string,
  from: number,
  close: number,
  entries: readonly string[],
  newline: string,
): string | undefined {
  const inside = text.slice(from, close);
  const items = [...inside.matchAll(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*/g)].filter(
    ([word]) => !word.startsWith('#'),
  );
  const last = items.at(-1);
  if (last === undefined) {
    if (inside.trim() !== '') return undefined;
    return `${text.slice(0, from)}${entries.map(quoted).join(', ')}${text.slice(close)}`;
  }
  const end = from + last.index + last[0].length;
  const hasComma = /^[ \t]*,/.exec(text.slice(end, close));
  const at = end + (hasComma?.[0].length ?? 0);
  const isLined = inside.includes('\n');
  const indent = /(?:^|\n)([ \t]*)$/.exec(text.slice(0, from + last.index))?.[1];
  const apart = isLined && indent !== undefined ? newline + indent : ' ';
  const more = entries.map((entry) => apart + quoted(entry)).join(',');
  return `${text.slice(0, at)}${hasComma === null ? ',' : ''}${more}${hasComma === null ? '' : ','}${text.slice(at)}`;
}

function quoted(entry: string): string {
  return /^[^'\n]*$/.test(entry) && /["\\]/.test(entry) ? `'${entry}'` : JSON.stringify(entry);
}

/** The entries of a text; undefined where it is no TOML, or has no such list where there should be one. */
function assumedIn(text: string, isShared: boolean): readonly string[] | undefined {
  const table = tableIn(text, isShared);
  if (table === undefined) return undefined;
  const { assume = [] } = table;
  return Array.isArray(assume) && assume.every((each) => typeof each === 'string') ? assume : undefined;
}

function tableIn(text: string, isShared: boolean): Table | undefined {
  const whole = tomlIn(text);
  if (!isShared || whole === undefined) return whole;
  const { tool = {} } = whole;
  const own = isTable(tool) ? (tool['memfix'] ?? {}) : undefined;
  return isTable(own) ? own : undefined;
}

/** It says what the old text says, with these entries. */
function says(after: string, before: string, entries: readonly string[], isShared: boolean): boolean {
  const [now, old] = [tomlIn(after), tomlIn(before)];
  if (now === undefined || old === undefined) return false;
  return (
    JSON.stringify(withAssume(now, entries, isShared)) === JSON.stringify(now) &&
    isRestSame(now, old, isShared)
  );
}

function withAssume(whole: Table, entries: readonly string[], isShared: boolean): Table {
  if (!isShared) return { ...whole, assume: [...entries] };
  const tool = isTable(whole['tool']) ? whole['tool'] : {};
  const own = isTable(tool['memfix']) ? tool['memfix'] : {};
  return { ...whole, tool: { ...tool, memfix: { ...own, assume: [...entries] } } };
}

function isRestSame(now: Table, old: Table, isShared: boolean): boolean {
  const [a, b] = [withAssume(now, [], isShared), withAssume(old, [], isShared)];
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

import { createRequire } from 'node:module';
import type { Pair, Scalar, YAMLMap } from 'yaml';
import type { Edit } from '../edit/edit.js';
import { Lines, type Span } from '../text/lines.js';

const require = createRequire(import.meta.url);

export type YamlScalar = string | number | boolean | null;

/** A key with a plain value on one line: what can be changed by its span. */
export interface YamlEntry {
  readonly key: string;
  readonly value: YamlScalar;
  /** Of the value, quotes included. */
  readonly span: Span;
}

/** The mapping at some keys of a YAML file. Keys whose value is no plain scalar on one line are `others`. */
export interface YamlSection {
  readonly entries: ReadonlyMap<string, YamlEntry>;
  readonly others: ReadonlySet<string>;
  /** Where a new key can go: behind an entry that ends its line, with that entry's indentation. */
  readonly room: { readonly at: number; readonly indent: string; readonly newline: string } | undefined;
}

/** The parser takes time that grows with the square of both, and very deep nesting ends the process. */
const LONGEST = 32 * 1024;
const DEEPEST = 64;

/** Counts brackets wherever they stand, and dashes that begin a line. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth = Math.max(0, depth - 1);
    if (depth > DEEPEST) return true;
  }
  return new RegExp(`^[ \\t]*(?:[-?:][ \\t]+){${DEEPEST}}`, 'm').test(text);
}

/** Reads the mapping that `keys` lead to, as YAML 1.1, which is what Python's readers read; or says why it cannot. */
export function readYaml(text: string, keys: readonly string[]): YamlSection | string {
  if (text.length > LONGEST) return `it is longer than ${LONGEST / 1024} KB`;
  if (isDeep(text)) return `it is nested deeper than ${DEEPEST} levels`;
  const yaml: typeof import('yaml') = require('yaml');
  const document = yaml.parseDocument(text, { version: '1.1' });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) return `it is not sound YAML: ${problem.message.split(/ at line|[;\n]/, 1)[0]}`;
  let at: unknown = document.contents;
  for (const key of keys) {
    at = yaml.isMap(at) ? at.items.find((pair) => keyOf(pair) === key)?.value : undefined;
  }
  if (!yaml.isMap(at))
    return keys.length === 0 ? 'it is not a mapping' : `it has no mapping at \`${keys.join('.')}\``;
  return sectionOf(at, new Lines(text), yaml.isScalar);
}

function sectionOf(map: YAMLMap, lines: Lines, isScalar: (node: unknown) => node is Scalar): YamlSection {
  const entries = new Map<string, YamlEntry>();
  const others = new Set<string>();
  let room: YamlSection['room'];
  for (const pair of map.items) {
    const key = keyOf(pair);
    const entry = key !== undefined && isScalar(pair.value) ? entryOf(key, pair.value, lines) : undefined;
    if (entry === undefined) others.add(key ?? '');
    else {
      entries.set(entry.key, entry);
      room = (map.flow === true ? undefined : roomBehind(pair, entry, lines)) ?? room;
    }
  }
  return { entries, others, room };
}

function keyOf(pair: Pair): string | undefined {
  const { key } = pair as Pair<Partial<Scalar> | null>;
  return typeof key?.value === 'string' && key.anchor === undefined ? key.value : undefined;
}

/** No anchor, no tag, no alias, no interpolation: the text is all there is to it. */
function entryOf(key: string, node: Scalar, lines: Lines): YamlEntry | undefined {
  const { value, range, anchor, tag, type } = node;
  if (range == null || anchor !== undefined || tag !== undefined || !isYamlScalar(value)) return undefined;
  const span = { start: range[0], end: range[1] };
  const isOnOneLine = span.end > span.start && lines.lineAt(span.start) === lines.lineAt(span.end);
  const isSimple = type === 'PLAIN' || type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
  const isComputed = typeof value === 'string' && value.includes('${');
  return isOnOneLine && isSimple && !isComputed ? { key, value, span } : undefined;
}

function isYamlScalar(value: unknown): value is YamlScalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function roomBehind({ key }: Pair, { span }: YamlEntry, lines: Lines): YamlSection['room'] {
  const [start] = (key as Partial<Scalar>).range ?? [];
  if (start === undefined) return undefined;
  const line = lines.lineAt(start);
  const indent = lines.text.slice(lines.start(line), start);
  const rest = lines.text.slice(span.end, lines.end(line));
  const isAlone = /^ *$/.test(indent) && /^\s*(?:#.*)?$/.test(rest) && lines.lineAt(span.end) === line;
  return isAlone ? { at: lines.end(line), indent, newline: lines.newlineNear(line) } : undefined;
}

/** The value's own place gets another value, written the way the old one was. */
export function setEntry(text: string, { span, value: old }: YamlEntry, value: YamlScalar): Edit {
  const written = text.slice(span.start, span.end);
  const quote = /^(["']).*\1$/.exec(written)?.[1] ?? '';
  return { ...span, text: quote + scalarText(value, typeof old === 'boolean' ? written : '') + quote };
}

/** New keys, each on a line of its own. */
export function addEntries(
  { at, indent, newline }: NonNullable<YamlSection['room']>,
  added: Readonly<Record<string, YamlScalar>>,
): Edit {
  const lines = Object.entries(added).map(
    ([key, value]) => `${newline}${indent}${key}: ${scalarText(value, '')}`,
  );
  return { start: at, end: at, text: lines.join('') };
}

/** YAML 1.1 has many words for true and false: the one beside the old one. */
const OPPOSITES: readonly (readonly [string, string])[] = [
  ['true', 'false'],
  ['yes', 'no'],
  ['on', 'off'],
  ['y', 'n'],
];

function scalarText(value: YamlScalar, like: string): string {
  if (typeof value !== 'boolean') return String(value);
  const [yes, no] = OPPOSITES.find((pair) => pair.includes(like.toLowerCase())) ?? ['true', 'false'];
  const word = value ? yes : no;
  if (like !== '' && like === like.toUpperCase()) return word.toUpperCase();
  return /^[A-Z]/.test(like) ? word.charAt(0).toUpperCase() + word.slice(1) : word;
}

/** Why a text is not sound YAML, if it is not. */
export function yamlProblem(text: string): string | undefined {
  const yaml: typeof import('yaml') = require('yaml');
  const [problem] = yaml.parseDocument(text, { version: '1.1' }).errors;
  return problem?.message.split('\n', 1)[0];
}

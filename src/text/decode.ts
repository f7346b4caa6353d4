import { isAscii, isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { type Notebook, readNotebook } from './notebook/notebook.js';
import { rewritten } from './notebook/rewrite.js';

/** A file's text and everything needed to write it back in the same bytes. Offsets never count the BOM. */
export interface SourceText {
  readonly text: string;
  /** Canonical encoding name: `utf-8`, `latin-1`, `ascii`, or a name iconv-lite knows. */
  readonly encoding: string;
  readonly bom: boolean;
  /** Where the text is the program of a notebook. */
  readonly notebook?: Notebook;
}

export type Decoded =
  | { readonly ok: true; readonly source: SourceText }
  | { readonly ok: false; readonly reason: string };

/** PEP 263, in CPython's own words. */
const COOKIE = /^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)/;
const BLANK_OR_COMMENT = /^[ \t\f]*(?:#.*)?$/;
const UTF8_BOM = [0xef, 0xbb, 0xbf] as const;

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['utf8', 'utf-8'],
  ['utf-8-sig', 'utf-8'],
  // A package of this name makes older Pythons read f-strings, and leaves the others to UTF-8.
  ['future-fstrings', 'utf-8'],
  ['latin1', 'latin-1'],
  ['latin', 'latin-1'],
  ['l1', 'latin-1'],
  ['iso-8859-1', 'latin-1'],
  ['iso8859-1', 'latin-1'],
  ['iso-latin-1', 'latin-1'],
  ['8859', 'latin-1'],
  ['us-ascii', 'ascii'],
  ['sjis', 'shift-jis'],
  ['s-jis', 'shift-jis'],
  ['ms-kanji', 'shift-jis'],
]);

/** Names iconv-lite knows that no Python source can be written in. */
const NO_TEXT_CODEC = /^(?:utf|ucs|unicode|cesu|hex|base64|binary)/;

/** Decodes Python source the way CPython would, or says why it cannot. Never yields U+FFFD for a bad byte. */
export function decode(bytes: Uint8Array): Decoded {
  const bom = hasBom(bytes);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(bom ? 3 : 0);
  if (isUtf16Or32(bytes)) return refuse('it is UTF-16 or UTF-32, which Python source may not be');
  if (body.includes(0)) return refuse('it contains NUL bytes');

  const declared = cookie(body);
  const encoding = declared === undefined ? 'utf-8' : canonical(declared);
  if (encoding === undefined) return refuse(`its coding cookie names an unknown encoding "${declared}"`);
  if (bom && encoding !== 'utf-8') {
    return refuse(`it has a UTF-8 byte order mark but declares "${declared}"`);
  }
  const text = toText(body, encoding);
  if (text === undefined) {
    const declaration =
      declared === undefined ? 'the default for Python source' : 'as its coding cookie says';
    return refuse(`its bytes are not valid ${encoding} (${declaration})`);
  }
  const source: SourceText = { text, encoding, bom };
  if (!isReversible(encoding)) {
    const back = encode(source, text);
    if (back === undefined || Buffer.compare(back, bytes) !== 0) {
      return refuse(`its bytes would not survive a round trip through ${encoding}`);
    }
  }
  return { ok: true, source };
}

/** Decodes a notebook to the program of its cells, or says why it cannot. */
export function decodeNotebook(bytes: Uint8Array): Decoded {
  const bom = hasBom(bytes);
  const json = toText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(bom ? 3 : 0),
    'utf-8',
  );
  if (json === undefined) return refuse('its bytes are not valid utf-8, as a notebook has to be');
  const notebook = readNotebook(json);
  if ('reason' in notebook) return refuse(notebook.reason);
  return { ok: true, source: { text: notebook.program, encoding: 'utf-8', bom, notebook } };
}

/**
 * The bytes of `text` in the encoding of `source`; undefined when a character cannot be written in it, or when a notebook
 * would change outside the Python of its cells.
 */
export function encode(source: SourceText, text: string): Buffer | undefined {
  const written = source.notebook === undefined ? text : rewritten(source.notebook, text);
  const body = written === undefined ? undefined : toBytes(written, source.encoding);
  if (body === undefined) return undefined;
  return source.bom ? Buffer.concat([Buffer.from(UTF8_BOM), body]) : body;
}

/** Encodings in which every text has one spelling only. */
function isReversible(encoding: string): boolean {
  return encoding === 'utf-8' || encoding === 'latin-1' || encoding === 'ascii';
}

const require = createRequire(import.meta.url);

/** Loaded when a file first needs it, which is next to never. */
function iconv(): typeof import('iconv-lite') {
  return require('iconv-lite');
}

function hasBom(bytes: Uint8Array): boolean {
  return UTF8_BOM.every((byte, index) => bytes[index] === byte);
}

function refuse(reason: string): Decoded {
  return { ok: false, reason };
}

function isUtf16Or32(bytes: Uint8Array): boolean {
  const [a, b] = bytes;
  return (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff);
}

function cookie(body: Buffer): string | undefined {
  const [first, second] = body
    .subarray(0, 4096)
    .toString('latin1')
    .split(/\r\n|\r|\n/, 2);
  const onFirst = COOKIE.exec(first ?? '')?.[1];
  if (onFirst !== undefined) return onFirst;
  if (!BLANK_OR_COMMENT.test(first ?? '')) return undefined;
  return COOKIE.exec(second ?? '')?.[1];
}

function canonical(declared: string): string | undefined {
  const name = declared.toLowerCase().replaceAll('_', '-');
  if (/^(?:utf-?8|latin-?1|iso-?8859-?1|iso-latin-1)-/.test(name) && name !== 'utf-8-sig') {
    // CPython accepts editor suffixes such as `utf-8-unix` and `latin-1-dos`.
    return name.startsWith('utf')
      ? 'utf-8'
      : /^(?:latin-?1|iso-?8859-?1|iso-latin-1)-/.test(name)
        ? 'latin-1'
        : undefined;
  }
  const known = ALIASES.get(name) ?? name;
  if (known === 'utf-8' || known === 'latin-1' || known === 'ascii') return known;
  if (NO_TEXT_CODEC.test(known)) return undefined;
  return iconv().encodingExists(known) ? known : undefined;
}

function toText(body: Buffer, encoding: string): string | undefined {
  if (encoding === 'latin-1') return body.toString('latin1');
  if (encoding === 'ascii') return isAscii(body) ? body.toString('latin1') : undefined;
  if (encoding === 'utf-8') {
    if (isAscii(body)) return body.toString('latin1');
    return isUtf8(body) ? body.toString('utf8') : undefined;
  }
  const text = iconv().decode(body, encoding, { stripBOM: false });
  return text.includes('\uFFFD') ? undefined : text;
}

function toBytes(text: string, encoding: string): Buffer | undefined {
  if (encoding === 'utf-8') return text.isWellFormed() ? Buffer.from(text, 'utf8') : undefined;
  if (encoding === 'latin-1') return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
  if (encoding === 'ascii') return /^[\0-\x7f]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
  const bytes = iconv().encode(text, encoding, { addBOM: false });
  return iconv().decode(bytes, encoding, { stripBOM: false }) === text ? bytes : undefined;
}

/** The same program in other bytes. What `vary` does to the input it also does to the expected output. */
export interface Variant {
  readonly name: string;
  /** Lines that the variant puts above the program. */
  readonly linesAbove: number;
  /** Whether the input can be varied this way and stay the same program. */
  fits(input: Buffer): boolean;
  vary(bytes: Buffer): Buffer;
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const COOKIE = Buffer.from('# -*- coding: latin-1 -*- caf\xe9\n', 'latin1');

export const VARIANTS: readonly Variant[] = [
  {
    name: 'CRLF',
    linesAbove: 0,
    fits: (input) => !input.includes('\r'),
    vary: (bytes) => inLatin1(bytes, (text) => text.replaceAll('\n', '\r\n')),
  },
  {
    name: 'BOM',
    linesAbove: 0,
    fits: (input) => !hasBom(input) && !hasCookie(input),
    vary: (bytes) => Buffer.concat([BOM, bytes]),
  },
  {
    name: 'no final newline',
    linesAbove: 0,
    // A statement behind a lone backslash or blank lines would end elsewhere.
    fits: (input) => /[^\s\\]\r?\n$/.test(input.toString('latin1')),
    vary: (bytes) => inLatin1(bytes, (text) => text.replace(/\r?\n$/, '')),
  },
  {
    name: 'tabs',
    linesAbove: 0,
    fits: (input) => indentsByFour(input.toString('latin1')),
    vary: (bytes) =>
      inLatin1(bytes, (text) => text.replace(/^(?: {4})+/gm, (indent) => '\t'.repeat(indent.length / 4))),
  },
  {
    name: 'latin-1 cookie',
    linesAbove: 1,
    fits: (input) => !hasBom(input) && !hasCookie(input) && !input.includes('\r') && fitsLatin1(input),
    vary: (bytes) => {
      const body = Buffer.from(bytes.toString('utf8'), 'latin1');
      const shebang = body.subarray(0, 2).toString('latin1') === '#!' ? body.indexOf('\n') + 1 : 0;
      return Buffer.concat([body.subarray(0, shebang), COOKIE, body.subarray(shebang)]);
    },
  },
];

/** Byte for byte, whatever the encoding: every change here is to ASCII characters. */
function inLatin1(bytes: Buffer, change: (text: string) => string): Buffer {
  return Buffer.from(change(bytes.toString('latin1')), 'latin1');
}

function hasBom(input: Buffer): boolean {
  return input.subarray(0, 3).equals(BOM);
}

function hasCookie(input: Buffer): boolean {
  return /coding[:=]/.test(input.toString('latin1').split('\n', 2).join('\n'));
}

function fitsLatin1(input: Buffer): boolean {
  return /^[\0-\xff]*$/.test(input.toString('utf8'));
}

function indentsByFour(text: string): boolean {
  const indents = [...text.matchAll(/^[ \t]+/gm)].map(([indent]) => indent);
  return indents.length > 0 && indents.every((indent) => !indent.includes('\t') && indent.length % 4 === 0);
}

import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decode, encode } from '../../src/text/decode.js';

function accepted(bytes: Uint8Array) {
  const decoded = decode(bytes);
  if (!decoded.ok) throw new Error(`refused: ${decoded.reason}`);
  return decoded.source;
}

function refusal(bytes: Uint8Array): string {
  const decoded = decode(bytes);
  if (decoded.ok) throw new Error(`accepted as ${decoded.source.encoding}`);
  return decoded.reason;
}

describe('decode', () => {
  it.each([
    ['plain UTF-8', Buffer.from('x = "é😀"\n'), 'utf-8', 'x = "é😀"\n'],
    ['an empty file', Buffer.alloc(0), 'utf-8', ''],
    ['a byte order mark', Buffer.from('\uFEFFx = 1\r\n'), 'utf-8', 'x = 1\r\n'],
    [
      'a byte order mark with a UTF-8 cookie',
      Buffer.from('\uFEFF# coding: utf-8-sig\n'),
      'utf-8',
      '# coding: utf-8-sig\n',
    ],
    [
      'a cookie for f-strings in old Pythons',
      Buffer.from('# -*- coding: future_fstrings -*-\nx = f"é"\n'),
      'utf-8',
      undefined,
    ],
    [
      'a latin-1 cookie',
      Buffer.from('# -*- coding: latin-1 -*-\nx = "\xe9\x80"\n', 'latin1'),
      'latin-1',
      undefined,
    ],
    [
      'an ISO-8859-1 cookie with an editor suffix',
      Buffer.from('# vim: set fileencoding=iso-8859-1-unix :\ny\xe9\n', 'latin1'),
      'latin-1',
      undefined,
    ],
    [
      'a cookie on the second line',
      Buffer.from('#!/usr/bin/python\n# coding=cp1252\nx = "\x80"\n', 'latin1'),
      'cp1252',
      '#!/usr/bin/python\n# coding=cp1252\nx = "€"\n',
    ],
    [
      'a cookie after a lone carriage return',
      Buffer.from('#!python\r# coding: latin1\rx = "\xff"\r', 'latin1'),
      'latin-1',
      undefined,
    ],
    [
      'shift-jis',
      iconv.encode('# coding: shift_jis\nx = "メモリ表"\n', 'shift-jis'),
      'shift-jis',
      '# coding: shift_jis\nx = "メモリ表"\n',
    ],
    [
      'euc-jp',
      iconv.encode('# coding: euc-jp\nx = "メモリ"\n', 'euc-jp'),
      'euc-jp',
      '# coding: euc-jp\nx = "メモリ"\n',
    ],
    ['gbk', iconv.encode('# coding: gbk\nx = "内存"\n', 'gbk'), 'gbk', '# coding: gbk\nx = "内存"\n'],
    ['no cookie on the third line', Buffer.from('\n\n# coding: latin-1\n'), 'utf-8', undefined],
    ['no cookie behind code', Buffer.from('x = 1\n# coding: latin-1\n'), 'utf-8', undefined],
  ])('takes %s', (_name, bytes, encoding, text) => {
    const source = accepted(bytes);
    expect(source.encoding).toBe(encoding);
    if (text !== undefined) expect(source.text).toBe(text);
    expect(encode(source, source.text)).toEqual(Buffer.from(bytes));
  });

  it.each([
    [
      'bytes that are not UTF-8',
      Buffer.from([0x78, 0xff, 0x0a]),
      'its bytes are not valid utf-8 (the default for Python source)',
    ],
    [
      'an overlong UTF-8 sequence',
      Buffer.from([0xc0, 0xaf]),
      'its bytes are not valid utf-8 (the default for Python source)',
    ],
    [
      'an encoded surrogate',
      Buffer.from([0xed, 0xa0, 0x80]),
      'its bytes are not valid utf-8 (the default for Python source)',
    ],
    ['NUL bytes', Buffer.from('x = 1\0\n'), 'it contains NUL bytes'],
    [
      'UTF-16',
      Buffer.from('\uFEFFx = 1', 'utf16le'),
      'it is UTF-16 or UTF-32, which Python source may not be',
    ],
    [
      'an unknown cookie',
      Buffer.from('# coding: klingon\n'),
      'its coding cookie names an unknown encoding "klingon"',
    ],
    [
      'a UTF-16 cookie',
      Buffer.from('# coding: utf-16\n'),
      'its coding cookie names an unknown encoding "utf-16"',
    ],
    [
      'a cookie that names no text encoding',
      Buffer.from('# coding: hex\n'),
      'its coding cookie names an unknown encoding "hex"',
    ],
    [
      'a high byte in ASCII',
      Buffer.from('# coding: ascii\nx = "\xe9"\n', 'latin1'),
      'its bytes are not valid ascii (as its coding cookie says)',
    ],
    [
      'a byte that cp1252 leaves undefined',
      Buffer.from('# coding: cp1252\nx = "\x81"\n', 'latin1'),
      undefined,
    ],
    [
      'a byte order mark against the cookie',
      Buffer.from('\uFEFF# coding: latin-1\n'),
      'it has a UTF-8 byte order mark but declares "latin-1"',
    ],
  ])('refuses %s', (_name, bytes, reason) => {
    const given = refusal(bytes);
    if (reason !== undefined) expect(given).toBe(reason);
  });

  it('never invents a replacement character', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = decode(bytes);
        if (!decoded.ok) return;
        expect(encode(decoded.source, decoded.source.text)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('keeps a replacement character that is really in the file', () => {
    const bytes = Buffer.from('x = "\uFFFD"\n');
    expect(accepted(bytes).text).toBe('x = "\uFFFD"\n');
  });

  it('says when new text cannot be written in the encoding', () => {
    const source = accepted(Buffer.from('# coding: latin-1\n'));
    expect(encode(source, '# coding: latin-1\n€')).toBeUndefined();
    expect(encode(accepted(Buffer.from('x')), 'x\uD800')).toBeUndefined();
  });
});

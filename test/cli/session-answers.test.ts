import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AnswerBook, type Asked, contentHash } from '../../src/workspace/answers.js';
import { Failure } from '../../src/workspace/failure.js';

const asked = (key: string, hash = 'h1'): Asked => ({ path: 'a.py', hash, key });

describe('the journal of answers', () => {
  let root: string;
  const file = () => join(root, '.memfix', 'answers.jsonl');
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'memfix-answers-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('gives back what was said last, to the same finding of the same bytes', () => {
    const book = new AnswerBook(root, false);
    book.record([
      { ...asked('1'), decision: { kind: 'apply' } },
      { ...asked('2'), decision: { kind: 'suppress', reason: 'wanted' } },
      { ...asked('3'), decision: { kind: 'edited', text: 'x\r\n' } },
    ]);
    book.record([
      { ...asked('1'), decision: { kind: 'skip' } },
      { ...asked('2'), decision: null },
    ]);
    book.record([{ ...asked('1'), draft: 'half done' }]);
    const later = new AnswerBook(root, true);
    expect(later.left).toBe(2);
    expect(later.recall(asked('1'))).toEqual({ kind: 'skip' });
    expect(later.recallDraft(asked('1'))).toBe('half done');
    expect(later.recall(asked('2'))).toBeUndefined();
    expect(later.recall(asked('3'))).toEqual({ kind: 'edited', text: 'x\r\n' });
    expect(later.recall(asked('1', 'h2'))).toBeUndefined();
    expect(new AnswerBook(root, false).recall(asked('1'))).toBeUndefined();
  });

  it('writes nothing before the first answer, and git looks away', () => {
    new AnswerBook(root, false).record([]);
    expect(() => readFileSync(file())).toThrow('ENOENT');
    new AnswerBook(root, false).record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    expect(readFileSync(join(root, '.memfix', '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('ignores a torn line, and goes on below it', () => {
    new AnswerBook(root, false).record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    writeFileSync(file(), `${readFileSync(file(), 'utf8')}{"path":"a.py","hash":"h1","key":"2","decis`);
    const book = new AnswerBook(root, true);
    book.record([{ ...asked('3'), decision: { kind: 'skip' } }]);
    const later = new AnswerBook(root, true);
    expect(later.left).toBe(2);
    expect(later.recall(asked('3'))).toEqual({ kind: 'skip' });
  });

  it.each(['null', '[]', '7', '{}', '{"path":"a.py","hash":"h1","key":"1","decision":{"kind":"explode"}}'])(
    'does not believe %s',
    (line) => {
      mkdirSync(join(root, '.memfix'));
      writeFileSync(file(), `${line}\n`);
      expect(new AnswerBook(root, true).left).toBe(0);
    },
  );

  it('is gone after `remove`, also when it never was', () => {
    const book = new AnswerBook(root, false);
    book.remove();
    book.record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    book.remove();
    expect(new AnswerBook(root, true).left).toBe(0);
  });

  it('says what to do when it cannot be read', () => {
    mkdirSync(file(), { recursive: true });
    expect(() => new AnswerBook(root, true)).toThrow(Failure);
  });

  it('hashes the bytes, not the text', () => {
    const text = 'é = 1\n';
    const hashes = [
      contentHash({ text, encoding: 'utf-8', bom: false }),
      contentHash({ text, encoding: 'utf-8', bom: true }),
      contentHash({ text, encoding: 'latin-1', bom: false }),
    ];
    expect(new Set(hashes).size).toBe(3);
  });
});

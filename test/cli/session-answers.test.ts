import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Decision } from '../../src/engine/outcome.js';
import { AnswerBook, type Asked, contentHash } from '../../src/workspace/answers.js';
import { Failure } from '../../src/workspace/failure.js';
import { stateOf } from '../workspace/folders.js';

const said = (decision: Decision) => ({ decision, isWritten: false });
const asked = (key: string, hash = 'h1'): Asked => ({ path: 'a.py', hash, key });

describe('the journal of answers', () => {
  let root: string;
  const state = () => stateOf(root);
  const file = () => join(state().folder, 'answers.jsonl');
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'memfix-answers-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('gives back what was said last, to what was shown', () => {
    const book = new AnswerBook(state(), false);
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
    const later = new AnswerBook(state(), true);
    expect(later.recall(asked('1'))).toEqual(said({ kind: 'skip' }));
    expect(later.recallDraft(asked('1'))).toBe('half done');
    expect(later.recall(asked('2'))).toBeUndefined();
    expect(later.recall(asked('3'))).toEqual(said({ kind: 'edited', text: 'x\r\n' }));
    // A file may change elsewhere.
    expect(later.recall(asked('1', 'h2'))).toEqual(said({ kind: 'skip' }));
    // Also for a session that does not go on with it: it says that there is something.
    expect(new AnswerBook(state(), false).recall(asked('1'))).toEqual(said({ kind: 'skip' }));
  });

  it('writes nothing before the first answer, and nothing into the project', () => {
    new AnswerBook(state(), false).record([]);
    expect(() => readFileSync(file())).toThrow('ENOENT');
    new AnswerBook(state(), false).record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    expect(readFileSync(file(), 'utf8')).toContain('"apply"');
    expect(readdirSync(root)).toEqual([]);
  });

  it('reads none that the project brings with it', () => {
    const line = JSON.stringify({ ...asked('1'), decision: { kind: 'edited', text: 'evil()' } });
    mkdirSync(join(root, '.memfix'));
    writeFileSync(join(root, '.memfix', 'answers.jsonl'), `${line}\n`);
    expect(new AnswerBook(state(), true).recall(asked('1'))).toBeUndefined();
  });

  it('ignores a torn line, and goes on below it', () => {
    new AnswerBook(state(), false).record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    writeFileSync(file(), `${readFileSync(file(), 'utf8')}{"path":"a.py","hash":"h1","key":"2","decis`);
    const book = new AnswerBook(state(), true);
    book.record([{ ...asked('3'), decision: { kind: 'skip' } }]);
    const later = new AnswerBook(state(), true);
    expect(later.recall(asked('1'))).toEqual(said({ kind: 'apply' }));
    expect(later.recall(asked('2'))).toBeUndefined();
    expect(later.recall(asked('3'))).toEqual(said({ kind: 'skip' }));
  });

  it.each(['null', '[]', '7', '{}', '{"path":"a.py","hash":"h1","key":"1","decision":{"kind":"explode"}}'])(
    'does not believe %s',
    (line) => {
      state().open();
      writeFileSync(file(), `${line}\n`);
      expect(new AnswerBook(state(), true).recall(asked('1'))).toBeUndefined();
    },
  );

  it('is gone after `remove`, also when it never was', () => {
    const book = new AnswerBook(state(), false);
    book.remove();
    book.record([{ ...asked('1'), decision: { kind: 'apply' } }]);
    book.remove();
    expect(new AnswerBook(state(), true).recall(asked('1'))).toBeUndefined();
  });

  it('knows what was carried out from what was only said', () => {
    new AnswerBook(state(), false).record([
      { ...asked('1'), decision: { kind: 'apply' } },
      { ...asked('1'), decision: { kind: 'apply' }, isWritten: true },
      { ...asked('2'), decision: { kind: 'apply' }, isWritten: true },
      { ...asked('2'), decision: { kind: 'apply' } },
    ]);
    const later = new AnswerBook(state(), true);
    expect(later.recall(asked('1'))).toEqual({ decision: { kind: 'apply' }, isWritten: true });
    expect(later.recall(asked('2'))).toEqual(said({ kind: 'apply' }));
  });

  it('replaces what it asks about, and keeps what was said of other files and findings', () => {
    const other = { path: 'b.py', hash: 'h1', key: '1' };
    new AnswerBook(state(), false).record([
      { ...asked('1'), decision: { kind: 'apply' } },
      { ...asked('2'), decision: { kind: 'apply' } },
      { ...asked('3', 'h0'), decision: { kind: 'apply' } },
      { ...other, decision: { kind: 'apply' } },
    ]);
    const book = new AnswerBook(state(), false);
    expect(book.recall(asked('1'))).toEqual(said({ kind: 'apply' }));
    book.record([{ ...asked('1'), decision: { kind: 'skip' } }]);
    const later = new AnswerBook(state(), true);
    expect(later.recall(asked('1'))).toEqual(said({ kind: 'skip' }));
    expect(later.recall(asked('2'))).toEqual(said({ kind: 'apply' }));
    // Of what the file held before, nobody will ask again.
    expect(later.recall(asked('3', 'h0'))).toBeUndefined();
    expect(later.recall(other)).toEqual(said({ kind: 'apply' }));
    book.remove();
    const last = new AnswerBook(state(), true);
    expect(last.recall(asked('1'))).toBeUndefined();
    expect(last.recall(asked('2'))).toEqual(said({ kind: 'apply' }));
    expect(last.recall(other)).toEqual(said({ kind: 'apply' }));
  });

  it('says what to do when it cannot be read', () => {
    state().open();
    mkdirSync(file());
    expect(() => new AnswerBook(state(), true)).toThrow(Failure);
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

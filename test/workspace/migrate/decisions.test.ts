import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Decided, Decisions, writeDown } from '../../../src/workspace/migrate/decisions.js';
import { folderWith } from '../folders.js';

const MATTER = { path: 'a.py', hash: 'h1', key: 'k1', likeness: 'l1' };
const said = (verdict: Decided['verdict'], more: Partial<Decided> = {}): Decided => ({
  ...MATTER,
  verdict,
  ...more,
});

describe('decisions', () => {
  test('hold for the same bytes; later ones win, and can be taken back', () => {
    expect(new Decisions().about(MATTER)).toBeUndefined();
    expect(new Decisions([said('reject')]).about(MATTER)).toBe('reject');
    expect(new Decisions([said('reject'), said('accept')]).about(MATTER)).toBe('accept');
    expect(new Decisions([said('reject'), said(null)]).about(MATTER)).toBeUndefined();
    expect(new Decisions([said('reject')]).about({ ...MATTER, key: 'k2', likeness: 'l2' })).toBeUndefined();
    expect(new Decisions([said('reject')]).about({ ...MATTER, path: 'b.py' })).toBeUndefined();
  });

  test('hold back the likes of a rejected fix where the file is another, until someone looks again', () => {
    const now = { ...MATTER, hash: 'h2', key: 'k7' };
    expect(new Decisions([said('reject')]).about(now)).toBe('hold');
    expect(new Decisions([said('accept')]).about(now)).toBeUndefined();
    expect(new Decisions([said('reject')]).about({ ...now, likeness: 'l2' })).toBeUndefined();
    expect(new Decisions([said('reject'), { ...now, verdict: 'accept' }]).about(now)).toBe('accept');
    // In the same bytes, the likes are told apart.
    expect(new Decisions([said('reject')]).about({ ...MATTER, key: 'k2' })).toBeUndefined();
  });

  test('make another plan only where they change one', () => {
    const { digest } = new Decisions([said('reject')]);
    expect(new Decisions([said('accept')]).digest).toBe('');
    expect(new Decisions([said('reject'), said(null)]).digest).toBe('');
    expect(digest).not.toBe('');
    const other = said('accept', { key: 'k2', likeness: 'l2' });
    expect(new Decisions([other, said('reject')]).digest).toBe(digest);
    expect(new Decisions([said('reject'), said('accept', { hash: 'h2' })]).digest).not.toBe(digest);
  });

  test('are whole lines; a torn one counts for nothing and spoils no other', () => {
    const file = join(folderWith(), 'decisions', 'one.jsonl');
    writeDown(file, [said('accept')]);
    appendFileSync(file, JSON.stringify(said('reject')).slice(0, -4));
    expect(Decisions.read(file).about(MATTER)).toBe('accept');
    writeDown(file, [said('reject', { path: 'b.py' })]);
    expect(Decisions.read(file).all).toEqual([said('accept'), said('reject', { path: 'b.py' })]);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4);
    appendFileSync(file, 'null\n{"path": 1}\n');
    expect(Decisions.read(file).all).toHaveLength(2);
  });
});

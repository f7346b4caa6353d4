import { describe, expect, it } from 'vitest';
import { KEYS } from '../../src/cli/key-help.js';
import {
  begin,
  CTRL_C,
  current,
  finishedPaths,
  type Item,
  openOfTransform,
  press,
  type Review,
  resume,
  rewrite,
  suppress,
} from '../../src/cli/keys.js';
import { goneIn, rescanned as rescan } from '../../src/cli/session-rescan.js';
import type { Decision, SourceFile } from '../../src/engine/outcome.js';

const item = (path: string, name: string, transform = 'no-grad', safety: Item['safety'] = 'safe'): Item => ({
  ref: `${path}\0${name}`,
  path,
  key: name,
  shown: name,
  transform,
  safety,
  rank: 0,
  at: name === 'new' ? 1.5 : Number(name),
  like: transform,
  rivals: [],
  covers: [],
  twins: [],
});

// a.py: no-grad, stack, no-grad (unsafe) · b.py: advice, no-grad · c.py: stack
const ITEMS = [
  item('a.py', '1'),
  item('a.py', '2', 'stack-losses'),
  item('a.py', '3', 'no-grad', 'unsafe'),
  item('b.py', '4', 'no-grad', 'advice'),
  item('b.py', '5'),
  item('c.py', '6', 'stack-losses'),
];

const play = (keys: string, from: Review = begin(ITEMS)): Review => [...keys].reduce(press, from);

/** One letter per finding: y n s e, or a dot where there is no answer. */
const marks = (review: Review): string => {
  const letter = { apply: 'y', skip: 'n', suppress: 's', edited: 'e' } as const;
  return review.items
    .map(({ ref }) => {
      const answer = review.answers.get(ref);
      return answer === undefined ? '.' : letter[answer.kind];
    })
    .join('');
};

describe('two ways of one transform at one place', () => {
  const pair = (one: string, other: string): Item[] => [
    { ...item('a.py', one, 'no-grad'), rivals: [`a.py\0${other}`] },
    { ...item('a.py', other, 'no-grad', 'unsafe'), rivals: [`a.py\0${one}`] },
  ];

  it('are one of their kind, one answer, and one to take back', () => {
    const review = begin(pair('1', '2'));
    expect(openOfTransform(review)).toEqual({ kin: 1, reach: 1 });
    const accepted = play('2A', begin([...pair('1', '2'), item('b.py', '3', 'stack-losses')]));
    // The one on the screen is taken.
    expect(marks(accepted)).toBe('ny.');
    expect(accepted.note).toContain('Accepted 1 of no-grad');
    const back = play('u', accepted);
    expect([marks(back), back.note]).toEqual(['...', 'Took back the last answer.']);
  });

  it('of an earlier session have answers, of which u says how to change them', () => {
    const answers = new Map([['a.py\x001', { kind: 'apply' }]]) as ReadonlyMap<string, Decision>;
    expect(play('u', begin(ITEMS, answers)).note).toContain('k goes back to an earlier one');
    expect(play('u').note).toBe('There is no answer to undo.');
  });
});

describe('one answer', () => {
  it.each([
    ['y', 'y.....', 1],
    ['n', 'n.....', 1],
    ['yny', 'yny...', 3],
    ['jy', '.y....', 2],
    ['jjjjjy', '.....y', 0],
    ['jjjjjyn', 'n....y', 1],
  ])('%s leaves %s and asks finding %i', (keys, expected, cursor) => {
    const review = play(keys);
    expect(marks(review)).toBe(expected);
    expect(review.cursor).toBe(cursor);
    expect(review.mode).toBe('asking');
  });

  it('ends when the last open finding gets its answer, wherever it is', () => {
    expect(play('yyyyyy').mode).toBe('finished');
    expect(play('jyyyyyn')).toMatchObject({ mode: 'finished' });
    expect(marks(play('jyyyyyn'))).toBe('nyyyyy');
  });

  it('can be changed by going back, and then goes on to the next open finding', () => {
    const review = play('yyykkn');
    expect(marks(review)).toBe('yny...');
    expect(review.cursor).toBe(3);
  });

  it('suppresses with and without a reason', () => {
    const asked = play('s');
    expect(asked.mode).toBe('suppress');
    expect(suppress(asked, 'frozen').answers.get('a.py\x001')).toEqual({
      kind: 'suppress',
      reason: 'frozen',
    });
    expect(suppress(asked, '').answers.get('a.py\x001')).toEqual({ kind: 'suppress' });
    expect(suppress(asked, '').cursor).toBe(1);
  });

  it('applies the person’s own text once there is one, and the proposed fix again without', () => {
    const edited = rewrite(play('e'), 'x = 1\n', 'shown');
    expect(edited).toMatchObject({ mode: 'asking', cursor: 0, note: 'shown' });
    expect(press(edited, 'y').answers.get('a.py\x001')).toEqual({ kind: 'edited', text: 'x = 1\n' });
    expect(marks(press(edited, 'a'))).toBe('ey....');
    expect(marks(press(rewrite(edited, undefined, ''), 'y'))).toBe('y.....');
  });
});

describe('many answers', () => {
  it.each([
    ['a', 'yy....', 2],
    ['jja', '..y...', 3],
    ['d', 'nnn...', 3],
    ['A', 'y...y.', 1],
    ['jjA', 'y.y.y.', 3],
    ['D', 'n.nnn.', 1],
    ['na', 'ny....', 2],
    ['jA', '.y...y', 2],
    ['jD', '.n...n', 2],
    // what was answered stays answered; what came before the cursor is not the rest
    ['jjnkka', '.yn...', 3],
    ['jjd', '..n...', 3],
    // the finding on screen is meant even where it has an answer
    ['nka', 'yy....', 2],
    ['nkA', 'y...y.', 1],
  ])('%s leaves %s and asks finding %i', (keys, expected, cursor) => {
    const review = play(keys);
    expect(marks(review)).toBe(expected);
    expect(review.cursor).toBe(cursor);
  });

  it.each(['a', 'd', 'A', 'D', 'y', 'n'])('%s then u is as if nothing was said', (key) => {
    for (let at = 0; at < ITEMS.length; at++) {
      const before = play('j'.repeat(at));
      const after = play(`${key}u`, before);
      expect(after.cursor).toBe(at);
      expect(marks(after)).toBe('......');
    }
  });

  it('restores earlier answers that a bulk answer changed', () => {
    const review = play('nkau');
    expect(marks(review)).toBe('n.....');
    expect(review.cursor).toBe(0);
  });

  it('never takes advice, and says so', () => {
    const onAdvice = play('jjj');
    const all = press(onAdvice, 'a');
    expect(marks(all)).toBe('....y.');
    expect(all.note).toContain('1 advice');
    const alone = press(play('jjj', begin(ITEMS.slice(0, 4))), 'a');
    expect(marks(alone)).toBe('....');
    expect(alone.steps).toEqual([]);
    expect(alone.note).toContain('needs its own y');
    expect(marks(press(onAdvice, 'y'))).toBe('...y..');
  });

  it('says how many unproven ones it took', () => {
    expect(play('jjA').note).toBe(
      'Accepted 3 of no-grad, 1 of them unsafe; u takes it back. Left open: 1 advice, which needs its own y.',
    );
  });

  it('takes nothing unsafe that no unsafe one was asked about, and says so', () => {
    expect(play('a').note).toBe(
      'Accepted 2 of this file; u takes it back. Left open: 1 unsafe, which is asked about.',
    );
  });
});

describe('moving', () => {
  it.each([
    ['k', 0, 'This is the first finding.'],
    ['jjjjjj', 5, 'This is the last finding.'],
    ['jjk', 1, undefined],
    ['u', 0, 'There is no answer to undo.'],
    ['x', 0, '“x” is not a key here; ? lists them.'],
    ['\r', 0, 'That is not a key here; ? lists them.'],
  ])('%j stays within the list', (keys, cursor, note) => {
    const review = play(keys);
    expect(review.cursor).toBe(cursor);
    expect(review.note).toBe(note);
    expect(marks(review)).toBe('......');
  });

  it('undoes step by step, back to the start', () => {
    expect(marks(play('yanuu'))).toBe('y.....');
    expect(marks(play('yanuuu'))).toBe('......');
    expect(play('yanuuu').cursor).toBe(0);
  });

  it.each([
    ['e', 'edit'],
    ['s', 'suppress'],
    ['i', 'explain'],
    ['?', 'help'],
    ['p', 'print'],
    ['q', 'quit'],
    [CTRL_C, 'interrupted'],
  ])('%j is %s on the first and on the last finding and changes no answer', (key, mode) => {
    for (const at of ['', 'jjjjj', 'yyyyy']) {
      const before = play(at);
      const after = press(before, key);
      expect(after.mode).toBe(mode);
      expect(after.cursor).toBe(before.cursor);
      expect(after.answers).toBe(before.answers);
      expect(resume(after)).toMatchObject({ mode: 'asking', cursor: before.cursor });
    }
  });

  it('explains every key it knows, and knows every key it explains', () => {
    // The session scrolls by itself, and a digit stands for all of them.
    const keys = KEYS.map(({ key }) => (key === '1-9' ? '1' : key)).filter((key) => key !== 'Space');
    for (const key of keys) expect(press(begin(ITEMS), key).note ?? '').not.toContain('not a key');
  });

  it('forgets the last sentence with the next key', () => {
    expect(play('xj').note).toBeUndefined();
  });
});

describe('starting with answers', () => {
  const answered = (...refs: string[]) =>
    new Map<string, Decision>(refs.map((ref) => [ref, { kind: 'skip' }]));

  it('asks the first open finding', () => {
    expect(begin(ITEMS, answered('a.py\x001', 'a.py\x003')).cursor).toBe(1);
    expect(marks(play('y', begin(ITEMS, answered('a.py\x001', 'a.py\x003'))))).toBe('nyn...');
  });

  it('asks nothing when all have one', () => {
    expect(begin(ITEMS, answered(...ITEMS.map(({ ref }) => ref))).mode).toBe('finished');
    expect(begin([]).mode).toBe('finished');
  });
});

describe('finished files', () => {
  it('are those with an answer to every finding', () => {
    expect([...finishedPaths(play('yyy'))]).toEqual(['a.py']);
    expect([...finishedPaths(play('yyyk'))]).toEqual(['a.py']);
    expect([...finishedPaths(play('yy'))]).toEqual([]);
    expect([...finishedPaths(play('yyyu'))]).toEqual([]);
    expect([...finishedPaths(play('yyyyyy'))]).toEqual(['a.py', 'b.py', 'c.py']);
  });
});

describe('a file that changed on disk', () => {
  const before: SourceFile = { path: 'a.py', source: { text: '', encoding: 'utf-8', bom: false } };
  const rescanned = (review: Review, path: string, items: readonly Item[]): Review =>
    rescan(review, { path, items, before }).review;

  it('keeps the answers to findings that are still there and asks the rest', () => {
    const found = [item('a.py', '1'), item('a.py', 'new'), item('a.py', '3', 'no-grad', 'unsafe')];
    const review = rescanned(play('yyj'), 'a.py', found);
    expect(review.items.map(({ ref }) => ref.slice(-1))).toEqual(['1', 'w', '3', '4', '5', '6']);
    expect(marks(review)).toBe('y.....');
    expect(review).toMatchObject({ cursor: 3, mode: 'asking' });
  });

  it('goes to the first open finding of the file when the one on screen is gone', () => {
    const review = rescanned(play('y'), 'a.py', [item('a.py', '1'), item('a.py', 'new')]);
    expect(current(review).ref).toBe('a.py\0new');
  });

  it('takes a file without findings off the list', () => {
    const review = rescanned(play('yyyj'), 'b.py', []);
    expect(marks(review)).toBe('yyy.');
    expect(current(review).path).toBe('c.py');
    expect(rescanned(begin(ITEMS.slice(0, 3)), 'a.py', []).mode).toBe('finished');
  });

  it('keeps a person’s own text where what was shown is the same, and gives it back where not', () => {
    const edited = press(rewrite(play('e'), 'mine', ''), 'y');
    expect(marks(rescanned(edited, 'a.py', ITEMS.slice(0, 3)))).toBe('e.....');
    const changed = [{ ...item('a.py', '1'), ref: 'a.py\0other' }, ...ITEMS.slice(1, 3)];
    const { review, lapsed } = rescan(edited, { path: 'a.py', items: changed, before });
    expect(marks(review)).toBe('......');
    expect(review.edits.size).toBe(0);
    expect(lapsed).toMatchObject([{ item: ITEMS[0], text: 'mine', now: { ref: 'a.py\0other' } }]);
    expect(review.steps).toEqual([]);
    expect(goneIn(edited, { review, lapsed })).toBe(0);
    const gone = rescan(edited, { path: 'a.py', items: ITEMS.slice(1, 3), before });
    expect(gone.lapsed).toMatchObject([{ text: 'mine', now: undefined }]);
    expect(goneIn(edited, gone)).toBe(1);
  });

  it('reopens a finished review where something new turned up, and only there', () => {
    const done = play('yyyyyy');
    const again = rescanned(done, 'b.py', [...ITEMS.slice(3, 5), item('b.py', 'new')]);
    expect(again.mode).toBe('asking');
    expect(current(again).ref).toBe('b.py\0new');
    expect(rescanned(done, 'b.py', ITEMS.slice(3, 4)).mode).toBe('finished');
  });

  it.each(['q', CTRL_C])('does not reopen a review that %j ended', (key) => {
    expect(rescanned(press(play('y'), key), 'b.py', [item('b.py', 'new')]).mode).not.toBe('asking');
  });
});

import { describe, expect, test } from 'vitest';
import { embedded, pageHtml } from '../../../src/report/migrate/page/html.js';
import { isWanted, NO_WISH, searchText } from '../../../src/report/migrate/page/matching.js';
import { differences, rowsOf } from '../../../src/report/migrate/page/rows.js';
import { visibleParts } from '../../../src/report/migrate/page/visible.js';
import { perTransform, standingOf } from '../../../src/report/migrate/tally.js';
import { changed, offer, samplePage, told } from './sample.js';

describe('embedded data', () => {
  test.each([
    '</script><script>alert(1)</script>',
    '<!-- <script>',
    ']]>',
    '&lt;',
    '\u2028\u2029',
    '\u202e',
    '\ud800',
    '"\\',
  ])('of %j ends nothing and is the same when it is read', (text) => {
    const json = embedded({ [text]: text });
    expect(json).not.toMatch(/[<>&\u2028\u2029\u202e]/);
    expect(JSON.parse(json)).toEqual({ [text]: text });
  });
});

describe('the page', () => {
  test('has one script, which its policy names, and a title that is text', () => {
    const { data, details } = samplePage([told(1, { name: '</script><img src=x onerror=alert(1)>' })]);
    const html = pageHtml({ ...data, title: '</title><script>alert(1)</script>' }, details, {
      script: 'let a = 1;',
      style: 'a { color: red }',
    });
    expect(html.match(/<script>/g)).toHaveLength(1);
    expect(html).not.toContain('<img');
    expect(html).toContain('<title>&#60;/title&#62;');
    expect(html).toMatch(/default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-/);
    expect(html).not.toContain('connect-src');
    expect(html).not.toMatch(/(?:src|href)="/);
  });

  test('counts what its repositories offer', () => {
    const { data } = samplePage([told(2), told(3), told(11)]);
    const totals = perTransform(data.repositories.map(({ tally }) => tally));
    expect(totals.map(({ transform, fixes, repositories }) => [transform, fixes, repositories])).toEqual([
      ['detach-appended-loss', 4, 3],
      ['no-grad', 4, 3],
      ['zero-grad-none', 2, 2],
    ]);
    expect(data.repositories.map(({ status }) => status)).toEqual(['planned', 'planned', 'failed']);
  });

  test('does not count what another fix makes needless', () => {
    const { data } = samplePage([
      told(1, {}, [offer(0), offer(1, { fate: 'dropped' }), offer(2, { fate: 'held' })]),
    ]);
    expect(data.repositories[0]?.tally).toMatchObject({ fixes: 1, held: 1, rejected: 0 });
    expect(data.repositories[0]?.tally.transforms).toEqual({ 'detach-appended-loss': 1 });
  });

  test('says what was decided', () => {
    const { data, details } = samplePage([
      { ...told(3), verdictOf: ({ ref }) => (ref === 'ref1' ? 'reject' : undefined) },
    ]);
    expect(data.repositories[0]?.tally).toMatchObject({ fixes: 2, files: 2, accepted: 0, rejected: 1 });
    expect(details[0]?.offers.map(({ verdict }) => verdict)).toEqual([undefined, 'reject', undefined]);
    expect(details[0]?.offers[0]).not.toHaveProperty('hash');
  });
});

test('what a person said last counts more than what the plan did', () => {
  const fates = ['taken', 'rejected', 'held', 'dropped'] as const;
  const standing = (verdict?: 'accept' | 'reject') =>
    fates.map((fate) => standingOf({ fate, ...(verdict && { verdict }) }));
  expect(standing('reject')).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
  expect(standing('accept')).toEqual(['taken', 'taken', 'taken', 'dropped']);
  // A rejection that was taken back.
  expect(standing()).toEqual(['taken', 'taken', 'held', 'dropped']);
});

test('hidden characters become their numbers', () => {
  const words = (text: string) =>
    visibleParts(text)
      .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
      .join('');
  expect(words('a\u202eb\u2066c')).toBe('a[U+202E]b[U+2066]c');
  expect(words('\u0000\u001b[31m\u200b\ufeff')).toBe('[U+0000][U+001B][31m[U+200B][U+FEFF]');
  expect(words('a b\tc\u00a0d\u3164')).toBe('a b\tc[U+00A0]d[U+3164]');
  expect(words('\u{e0041}\ud800x')).toBe('[U+E0041][U+D800]x');
  expect(words('größe 日本 🎉')).toBe('größe 日本 🎉');
});

describe('the rows of a diff', () => {
  const rows = (before: string, after: string) =>
    changed('a.py', before, after).hunks.flatMap((hunk) =>
      rowsOf(hunk, true).map(({ old, new: now }) => [old?.text ?? null, now?.text ?? null]),
    );

  test('put a line beside what became of it', () => {
    expect(rows('a = f(x)\nb = g(y)\n', 'with c:\n    a = f(x)\nb = g(y)\n')).toEqual([
      [null, 'with c:'],
      ['a = f(x)', '    a = f(x)'],
      ['b = g(y)', 'b = g(y)'],
    ]);
    expect(rows('x.append(loss)\n', 'x.append(loss.detach())\nlog(x)\n')).toEqual([
      ['x.append(loss)', 'x.append(loss.detach())'],
      [null, 'log(x)'],
    ]);
    expect(rows('import a\n', 'raise B from None\n')).toEqual([['import a', 'raise B from None']]);
  });

  test('know what changed in a line, and the numbers of both sides', () => {
    const [hunk] = changed('a.py', '\n\n\n\nx.append(loss)\n', '\n\n\n\nx.append(loss.detach())\n').hunks;
    const row = hunk && rowsOf(hunk, true).at(-1);
    expect(row).toMatchObject({
      isChange: true,
      old: { number: 5, changed: [] },
      new: { number: 5, changed: [[13, 22]] },
    });
    expect(differences(['a', ' ', 'b', ' ', 'c'], ['x', ' ', 'y', ' ', 'c'])).toEqual([[[0, 3]], [[0, 3]]]);
  });

  test('do not take a docstring for code', () => {
    const text = '"""\n'.concat('prose for you\n'.repeat(6), 'x\n"""\n');
    const [hunk] = changed('a.py', text, text.replace('x\n', 'y\n')).hunks;
    expect(hunk?.open).toBe('"""');
    expect(hunk && rowsOf(hunk, true)[0]?.old?.tokens).toEqual([{ kind: 'string', text: 'prose for you' }]);
    const [yaml] = changed('a.yaml', text, text.replace('x\n', 'y\n')).hunks;
    expect(yaml).not.toHaveProperty('open');
  });

  test('take line ends as they look, and no line beyond measure', () => {
    expect(changed('a.py', 'a\r\nb\r\n', 'a\r\nc\r\n').hunks[0]?.lines).toEqual([' a', '-b', '+c']);
    expect(changed('a.py', 'a\n', `${'b'.repeat(9_999)}\n`).hunks[0]?.lines[1]).toHaveLength(2_002);
    const long = 'a b '.repeat(600);
    expect(rows(`${long}c\n`, `${long}d\n`)).toHaveLength(1);
  });
});

test('what is wanted', () => {
  const { data, details } = samplePage([
    told(3, { name: 'Ada/Engine' }, [offer(0, { path: 'src/MiXed.py' })]),
  ]);
  const [repository] = data.repositories;
  const [detail] = details;
  if (repository === undefined || detail === undefined) throw new Error('no sample');
  const wants = (wish: Partial<typeof NO_WISH>) =>
    isWanted(repository, { ...NO_WISH, ...wish }, () => searchText(repository, detail));
  expect(wants({})).toBe(true);
  expect(wants({ text: ' engine  MIXED.py ' })).toBe(true);
  expect(wants({ text: 'loss.detach()' })).toBe(true);
  expect(wants({ text: 'engine nothere' })).toBe(false);
  expect(wants({ statuses: ['planned', 'failed'] })).toBe(true);
  expect(wants({ statuses: ['failed'] })).toBe(false);
  expect(wants({ transform: 'no-grad' })).toBe(false);
  expect(wants({ review: 'open' })).toBe(true);
  expect(wants({ review: 'rejected' })).toBe(false);
});

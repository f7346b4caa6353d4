import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { siteFiles } from '../../src/dev/site/build.js';
import { highlighted } from '../../src/dev/site/highlight.js';
import { Links } from '../../src/dev/site/links.js';
import { draftOf } from '../../src/dev/site/markdown.js';
import { sitePages } from '../../src/dev/site/pages.js';
import { comparisonsOf } from '../../src/report/evidence.js';
import { transforms } from '../../transforms/index.js';

const metas = transforms.map(({ meta }) => meta);
let files: ReadonlyMap<string, string>;
let pages: readonly (readonly [path: string, html: string])[];

beforeAll(async () => {
  files = await siteFiles(metas);
  pages = [...files].filter(([path]) => path.endsWith('.html'));
});

/** The start tags of a page with their attributes. */
function tagsOf(html: string): { name: string; attributes: ReadonlyMap<string, string> }[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>/g)].map(
    ([, name = '', rest = '']) => ({
      name,
      attributes: new Map(
        [...rest.matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(([, key = '', value = '']) => [key, value]),
      ),
    }),
  );
}

function idsOf(html: string): string[] {
  return tagsOf(html).flatMap(({ attributes }) => attributes.get('id') ?? []);
}

describe('the site', () => {
  test('asks no other host for anything: only links in text lead there', () => {
    const outside = /^(?:[a-z]+:)?\/\/|^[a-z]+:/i;
    const loads = ['src', 'href', 'srcset', 'action', 'data', 'poster', 'style'];
    const asked = pages.flatMap(([path, html]) =>
      tagsOf(html).flatMap(({ name, attributes }) =>
        loads
          .filter((key) => (name !== 'a' || key !== 'href') && outside.test(attributes.get(key) ?? ''))
          .map((key) => `${path}: <${name} ${key}="${attributes.get(key)}">`),
      ),
    );
    expect(asked).toEqual([]);
    expect(/url\(|@import/.exec(files.get('site.css') ?? '')).toBeNull();
    expect(/https?:|XMLHttpRequest|sendBeacon|WebSocket/.exec(files.get('site.js') ?? '')).toBeNull();
  });

  test('has no link or anchor that leads nowhere', () => {
    const anchors = new Map(pages.map(([path, html]) => [path, new Set(idsOf(html))]));
    const lost: string[] = [];
    let checked = 0;
    for (const [path, html] of pages)
      for (const { attributes } of tagsOf(html)) {
        const href = attributes.get('href') ?? attributes.get('src');
        if (href === undefined || /^https?:/.test(href)) continue;
        const [to = '', anchor] = href.split('#');
        const target = to === '' ? path : posix.join(posix.dirname(path), to);
        const leads = files.has(target) && (anchor === undefined || anchors.get(target)?.has(anchor));
        if (!leads) lost.push(`${path} links to ${href}`);
        checked++;
      }
    expect(lost).toEqual([]);
    expect(checked).toBeGreaterThan(1_000);
  });

  test('ends the build for a link that leads nowhere', () => {
    const [page] = sitePages();
    if (page === undefined) throw new Error('There are no pages');
    const links = new Links([draftOf(page)]);
    expect(links.from('index.html', 'README.md', '#install')).toBe('#install');
    expect(links.from('files/a.html', 'README.md', 'LICENSE')).toBe('LICENSE.html');
    for (const href of ['#nowhere', 'docs/nothing.md', '../elsewhere.md', 'LICENSE#part'])
      expect(() => links.from('index.html', 'README.md', href), href).toThrow(/leads nowhere/);
  });

  test('is the same each time it is built', async () => {
    expect(await siteFiles(metas)).toEqual(files);
  });

  test('has landmarks, one title, headings in order and names for what is drawn', () => {
    const titles = new Set<string>();
    for (const [path, html] of pages) {
      const tags = tagsOf(html);
      const named = (name: string) => tags.filter((tag) => tag.name === name);
      expect(named('html')[0]?.attributes.get('lang'), path).toBe('en');
      expect([named('main').length, named('h1').length, named('header').length], path).toEqual([1, 1, 1]);
      expect(html, path).toContain('<a class="skip" href="#content">');
      for (const { attributes } of named('nav')) expect(attributes.get('aria-label'), path).toBeTruthy();
      for (const { attributes } of named('svg'))
        expect(
          attributes.has('aria-hidden') || attributes.get('aria-label'),
          `${path}: a drawing`,
        ).toBeTruthy();
      const article = html.slice(html.indexOf('<article>'), html.indexOf('</article>'));
      const levels = tagsOf(article)
        .flatMap(({ name }) => /^h([1-6])$/.exec(name)?.[1] ?? [])
        .map(Number);
      for (const [at, level] of levels.entries())
        expect(level, `${path}: heading ${at}`).toBeLessThanOrEqual((levels[at - 1] ?? 0) + 1);
      const ids = idsOf(html);
      expect(new Set(ids).size, `${path}: ids`).toBe(ids.length);
      titles.add(/<title>(.*?)<\/title>/.exec(html)?.[1] ?? '');
    }
    expect(titles.size).toBe(pages.length);
  });

  test('shows every section of the README, every guide and every transform', () => {
    const text = pages.map(([, html]) => html).join('');
    const sections = readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^## (.+)$/gm);
    for (const [, name = ''] of sections) expect(text).toMatch(new RegExp(`<h[12] id="[^"]+">${name}`));
    for (const { id } of metas) expect(files.has(`transforms/${id}.html`)).toBe(true);
    for (const name of [
      'ci',
      'editors',
      'budget',
      'migrate',
      'plugins',
      'compare',
      'changelog',
      'api',
      'api-toolkit',
    ])
      expect(files.has(`${name}.html`), name).toBe(true);
    expect(files.get('api.html')).toContain('id="createengine"');
  });

  test('draws what was measured, with the figures of the evidence', () => {
    let drawn = 0;
    for (const meta of metas) {
      const html = files.get(`transforms/${meta.id}.html`) ?? '';
      const quantities = comparisonsOf(meta).flatMap((figure) => figure.quantities);
      expect(html.match(/<svg class="bars"/g)?.length ?? 0, meta.id).toBe(quantities.length);
      for (const { name, beforeText, afterText } of quantities)
        expect(html, meta.id).toContain(`${name}: ${beforeText} before, ${afterText} after`);
      drawn += quantities.length;
    }
    expect(drawn).toBeGreaterThan(100);
    expect(files.get('budget.html')?.match(/<circle /g)?.length).toBeGreaterThan(500);
  });
});

describe('the colours of code', () => {
  test('a diff of Python has both', () => {
    expect(highlighted('-x = 1\n+x = "<a>"\n', 'diff')).toBe(
      '<del><span class="sign">-</span>x = <span class="py-number">1</span></del>\n' +
        '<ins><span class="sign">+</span>x = <span class="py-string">&quot;&lt;a&gt;&quot;</span></ins>\n' +
        '<span class="sign"></span>',
    );
  });

  test('a string over several lines stays one on either side', () => {
    const shown = highlighted(' """one\n-two\n+three"""\n+for x in y:', 'diff');
    expect(shown).toContain('<span class="py-string">two</span>');
    expect(shown).toContain('<span class="py-keyword">for</span>');
  });

  test('what is typed is told from what is printed', () => {
    expect(highlighted('$ memfix check .  # all\n30 │ - a\n   │ + <b>', '')).toBe(
      '<span class="prompt">$ </span><strong>memfix check .</strong><span class="hljs-comment">  # all</span>\n' +
        '<del>30 │ - a</del>\n<ins>   │ + &lt;b&gt;</ins>',
    );
  });
});

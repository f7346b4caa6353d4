import type { Heading } from './markdown.js';
import { escaped } from './markup.js';
import { GROUPS, type Page } from './pages.js';

export interface Shown {
  readonly page: Page;
  readonly body: string;
  readonly headings: readonly Heading[];
  /** The first words of it, for search engines. */
  readonly about: string;
}

/** A whole page. Every address in it is relative, so that a site works in any folder, on a disk too. */
export function pageHtml({ page, body, headings, about }: Shown, pages: readonly Page[]): string {
  const up = '../'.repeat(page.path.split('/').length - 1);
  const title =
    page.path === 'index.html' ? 'memfix: proven memory fixes for PyTorch' : `${page.title} · memfix`;
  return `<!doctype html>
<html lang="en" data-root="${up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<meta name="description" content="${escaped(about)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}site.css">
<script src="${up}site.js" defer></script>
<script>try{const t=localStorage.getItem('memfix-theme');if(t)document.documentElement.dataset.theme=t}catch{}document.documentElement.classList.add('js')</script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<a class="brand" href="${up}index.html">${ICON}<span>memfix</span></a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search this documentation" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<ul id="results" role="listbox" aria-label="Results" hidden></ul>
</div>
<button id="theme" type="button" aria-label="Colours: as the system has them">${THEME_ICON}</button>
<button id="menu" type="button" aria-expanded="false" aria-controls="nav">Menu</button>
</header>
<div class="frame">
<nav id="nav" class="side" aria-label="Pages">
${navigation(page, pages, up)}</nav>
<main id="content" tabindex="-1">
<article>
${body}</article>
${neighbours(page, pages, up)}</main>
${contents(headings)}</div>
<p id="told" class="unseen" role="status"></p>
</body>
</html>
`;
}

const ICON =
  '<svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true"><path class="pins" d="M8.5 1v22M15.5 1v22M1 8.5h22M1 15.5h22"/><rect class="chip" x="4" y="4" width="16" height="16" rx="3"/><path class="check" d="M8.2 12.4l2.6 2.6 5-5.6"/></svg>';
const THEME_ICON =
  '<svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="8" fill="none" stroke="currentColor" stroke-width="2"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/></svg>';

/** The icon as a file of its own, for the tab. */
export const ICON_FILE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect x="2" y="2" width="20" height="20" rx="4.5" fill="#0f766e"/><path d="M7.2 12.5l3.2 3.2 6.4-7.2" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/></svg>
`;

function navigation(page: Page, pages: readonly Page[], up: string): string {
  return GROUPS.map((group) => {
    const items = pages.filter((each) => each.group === group);
    const [listed, plain] = [items.filter(isTransform), items.filter((each) => !isTransform(each))];
    const lists = plain.map((each) => {
      const inner =
        each.path === 'transforms/index.html'
          ? `\n<details${page.path.startsWith('transforms/') ? ' open' : ''}><summary>Each of them</summary>\n<ul>\n${listed.map((one) => `<li>${link(one, page, up)}</li>\n`).join('')}</ul>\n</details>`
          : '';
      return `<li>${link(each, page, up)}${inner}</li>\n`;
    });
    return `<h2>${group}</h2>\n<ul>\n${lists.join('')}</ul>\n`;
  }).join('');
}

function isTransform({ path }: Page): boolean {
  return path.startsWith('transforms/') && path !== 'transforms/index.html';
}

function link(to: Page, from: Page, up: string): string {
  const here = to.path === from.path ? ' aria-current="page"' : '';
  const title = to.path === 'index.html' ? 'What it is' : to.title;
  return `<a href="${up}${to.path}"${here}>${escaped(title)}</a>`;
}

function neighbours(page: Page, pages: readonly Page[], up: string): string {
  const at = pages.findIndex(({ path }) => path === page.path);
  if (at < 0) return '';
  const to = (other: Page | undefined, rel: string, word: string) =>
    other === undefined
      ? ''
      : `<a rel="${rel}" href="${up}${other.path}"><small>${word}</small> ${escaped(other.path === 'index.html' ? 'What it is' : other.title)}</a>\n`;
  return `<nav class="next" aria-label="Neighbouring pages">\n${to(pages[at - 1], 'prev', 'Before')}${to(pages[at + 1], 'next', 'Next')}</nav>\n`;
}

/** Longer lists than this have only the upper level. */
const LONGEST = 40;

function contents(headings: readonly Heading[]): string {
  const all = headings.filter(({ level }) => level === 2 || level === 3);
  const shown = all.length > LONGEST ? all.filter(({ level }) => level === 2) : all;
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ id, level, text }) => `<li class="level${level}"><a href="#${id}">${escaped(text)}</a></li>\n`,
  );
  return `<aside class="toc"><nav aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${items.join('')}</ul>\n</nav></aside>\n`;
}

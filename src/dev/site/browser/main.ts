import MiniSearch, { type SearchResult } from 'minisearch';
import { SEARCH } from '../search.js';

declare global {
  /** What `search.js` sets. */
  var memfixIndex: Parameters<typeof MiniSearch.loadJS>[0] | undefined;
}

const page = document.documentElement;
const root = page.dataset['root'] ?? '';

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`The page has no ${id}`);
  return found;
}

themes();
menu();
search();
contents();

/** System, light, dark, and again. */
function themes(): void {
  const button = element('theme', HTMLButtonElement);
  const names: Readonly<Record<string, string>> = {
    '': 'as the system has them',
    light: 'light',
    dark: 'dark',
  };
  const show = () =>
    button.setAttribute('aria-label', `Colours: ${names[page.dataset['theme'] ?? ''] ?? ''}`);
  button.addEventListener('click', () => {
    const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
    // The first press always changes what is seen.
    const order = isDark ? ['', 'light', 'dark'] : ['', 'dark', 'light'];
    const next = order[(order.indexOf(page.dataset['theme'] ?? '') + 1) % order.length] ?? '';
    if (next === '') delete page.dataset['theme'];
    else page.dataset['theme'] = next;
    try {
      localStorage.setItem('memfix-theme', next);
    } catch {
      // A browser that keeps nothing for this page still shows it.
    }
    show();
    element('told', HTMLElement).textContent = button.getAttribute('aria-label');
  });
  show();
}

function menu(): void {
  const button = element('menu', HTMLButtonElement);
  const nav = element('nav', HTMLElement);
  const set = (open: boolean) => {
    button.setAttribute('aria-expanded', String(open));
    nav.classList.toggle('open', open);
  };
  button.addEventListener('click', () => set(button.getAttribute('aria-expanded') !== 'true'));
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.getAttribute('aria-expanded') !== 'true') return;
    set(false);
    button.focus();
  });
  // The page that is open, in a list that scrolls by itself.
  const here = nav.querySelector<HTMLElement>('[aria-current]');
  if (here !== null && here.offsetTop > nav.clientHeight)
    nav.scrollTop = here.offsetTop - nav.clientHeight / 2;
}

function search(): void {
  const input = element('search', HTMLInputElement);
  const list = element('results', HTMLUListElement);
  let chosen = -1;
  let shown: readonly SearchResult[] = [];

  const choose = (index: number) => {
    chosen = index;
    for (const [at, item] of [...list.children].entries())
      item.setAttribute('aria-selected', String(at === index));
    const item = list.children[index];
    if (item === undefined) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', item.id);
      item.scrollIntoView({ block: 'nearest' });
    }
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    choose(-1);
  };
  const update = async () => {
    const words = input.value.trim();
    if (words === '') return close();
    const index = await searchIndex();
    if (words !== input.value.trim()) return;
    shown = index.search(words).slice(0, 12);
    list.replaceChildren(
      ...(shown.length === 0 ? [nothing(words)] : shown.map((result, at) => option(result, at))),
    );
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    choose(shown.length === 0 ? -1 : 0);
    element('told', HTMLElement).textContent = shown.length === 0 ? 'No results' : `${shown.length} results`;
  };
  const go = (index: number) => {
    const url: unknown = shown[index]?.['url'];
    if (typeof url === 'string') location.href = root + url;
    close();
  };

  input.addEventListener('focus', () => void searchIndex());
  input.addEventListener('input', () => void update());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (list.hidden || shown.length === 0) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) choose((chosen + step + shown.length) % shown.length);
    else if (event.key === 'Enter') go(chosen);
    else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    const asked = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey));
    if (!asked) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (target instanceof Node && !list.contains(target) && target !== input) close();
  });
}

function option(result: SearchResult, at: number): HTMLLIElement {
  const item = document.createElement('li');
  item.id = `result-${at}`;
  item.role = 'option';
  const link = document.createElement('a');
  link.href = `${root}${String(result['url'])}`;
  link.tabIndex = -1;
  const heading = String(result['heading']);
  const name = String(result['page']);
  link.append(
    line('b', heading),
    ...(name === heading ? [] : [line('small', name)]),
    line('span', excerpt(String(result['text']), result.terms)),
  );
  item.append(link);
  return item;
}

function line(tag: string, text: string | readonly (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  made.append(...(typeof text === 'string' ? [text] : text));
  return made;
}

/** The text with the words that were found marked. */
function excerpt(text: string, terms: readonly string[]): readonly (Node | string)[] {
  const words = terms.map((term) => term.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  if (words.length === 0) return [text];
  return text
    .split(new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu'))
    .map((part, at) => (at % 2 === 0 ? part : line('mark', part)));
}

function nothing(words: string): HTMLLIElement {
  const item = document.createElement('li');
  item.className = 'nothing';
  item.role = 'option';
  item.append(`Nothing is found for “${words}”`);
  return item;
}

let loaded: Promise<MiniSearch> | undefined;

/** Only who searches waits for the index. */
function searchIndex(): Promise<MiniSearch> {
  loaded ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${root}search.js`;
    script.addEventListener('load', () => {
      if (globalThis.memfixIndex === undefined) reject(new Error('search.js has no index'));
      else resolve(MiniSearch.loadJS(globalThis.memfixIndex, SEARCH));
    });
    script.addEventListener('error', () => reject(new Error('search.js did not load')));
    document.head.append(script);
  });
  return loaded;
}

/** Marks what is being read in the list of headings. */
function contents(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.toc a')].map((link) => [link.hash.slice(1), link]),
  );
  const headings = [...document.querySelectorAll<HTMLElement>('article h2[id], article h3[id]')].filter(
    ({ id }) => links.has(encodeURIComponent(id)) || links.has(id),
  );
  if (headings.length === 0) return;
  const mark = () => {
    const read =
      headings.filter((heading) => heading.getBoundingClientRect().top < 120).at(-1) ?? headings[0];
    for (const [id, link] of links)
      if (decodeURIComponent(id) === read?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
  };
  document.addEventListener('scroll', mark, { passive: true });
  mark();
}

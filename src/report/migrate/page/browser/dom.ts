import { visibleParts } from '../visible.js';

export type Child = Node | string | number | false | undefined | readonly Child[];
type Attribute = string | number | boolean | undefined | ((event: Event) => void);

/** An element. Text stays text: nothing here reads markup. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Attribute>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  append(element, children);
  return element;
}

function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === false) continue;
    if (typeof child === 'string' || typeof child === 'number') parent.appendChild(new Text(String(child)));
    else if (child instanceof Node) parent.appendChild(child);
    else append(parent, child);
  }
}

export function replace(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** Words of other people: kept to themselves, with what is hidden in them shown. */
export function theirs(text: string, attributes: Readonly<Record<string, Attribute>> = {}): HTMLElement {
  return h('bdi', attributes, shown(text));
}

export function shown(text: string): Child {
  return visibleParts(text).map((part) =>
    part.isHidden
      ? h('span', { class: 'hidden-character', title: 'a hidden character' }, part.text)
      : part.text,
  );
}

/** A sentence of memfix's: names of code stand between backticks in it. */
export function prose(text: string): HTMLElement {
  const parts = text.split('`');
  const isPaired = parts.length % 2 === 1;
  return h(
    'bdi',
    {},
    isPaired
      ? parts.map((part, index) => (index % 2 === 1 ? h('code', {}, shown(part)) : shown(part)))
      : shown(text),
  );
}

/** A link only where it leads to the web: any other address is shown and leads nowhere. */
export function address(url: string): HTMLElement {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isWeb) return theirs(url, { class: 'address' });
  return h('a', { href: url, rel: 'noopener noreferrer', target: '_blank', class: 'address' }, shown(url));
}

export function many(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : more}`;
}

import { tallyWords } from '../../tally.js';
import type { PageRepository } from '../data.js';
import { visible } from '../visible.js';
import { h, many, replace, theirs } from './dom.js';
import type { State } from './state.js';

/** More than fit on a screen, and few enough to come with it. */
const AT_ONCE = 60;
const AT_A_TIME = 200;

/**
 * The repositories, one below the other. The first are there at once, the others when the page can be used; what is out of
 * sight is neither laid out nor painted.
 */
export class List {
  readonly element = h('ul', { class: 'list', 'aria-label': 'Repositories' });
  readonly #rows = new Map<string, { item: HTMLElement; link: HTMLAnchorElement }>();

  constructor(
    private readonly state: State,
    private readonly visit: (id: string) => void,
  ) {
    for (const { id } of state.repositories) {
      const link = h('a', { tabindex: -1, href: `#repository=${encodeURIComponent(id)}` });
      const item = h('li', { 'data-id': id }, link);
      this.#rows.set(id, { item, link });
      this.element.append(item);
    }
    this.#fillFrom(0, AT_ONCE);
    this.element.addEventListener('keydown', (event) => this.#walk(event));
    this.element.addEventListener('click', (event) => this.#follow(event));
  }

  #fillFrom(first: number, count: number): void {
    for (const repository of this.state.repositories.slice(first, first + count)) this.fill(repository);
    const next = first + count;
    if (next < this.state.repositories.length) setTimeout(() => this.#fillFrom(next, AT_A_TIME), 0);
  }

  /** A plain click keeps what is searched for; any other is the browser's. */
  #follow(event: MouseEvent): void {
    const item = event.target instanceof Element ? event.target.closest('li') : null;
    if (item === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    this.visit(item.dataset['id'] ?? '');
  }

  fill(repository: PageRepository): void {
    const row = this.#rows.get(repository.id);
    if (row === undefined) return;
    const { name, status, failure } = repository;
    const cut = name.lastIndexOf('/') + 1;
    replace(
      row.link,
      h(
        'span',
        { class: 'name', title: visible(name) },
        theirs(name.slice(0, cut), { class: 'owner' }),
        theirs(name.slice(cut), { class: 'own' }),
      ),
      h(
        'span',
        { class: 'facts' },
        h('span', { class: 'status', 'data-status': status }, status),
        failure === undefined
          ? h('span', { class: 'dim' }, factsOf(repository))
          : theirs(failure.title, { class: 'why' }),
        this.state.data.isReview && progressOf(repository),
      ),
    );
  }

  /** Shows these, in this order, and marks the one that is looked at. */
  show(wanted: readonly PageRepository[]): void {
    const items = wanted.flatMap(({ id }) => this.#rows.get(id)?.item ?? []);
    // Hiding the others one by one takes a browser far longer than to lay the list anew.
    const isSame =
      items.length === this.element.childElementCount &&
      items.every((item, at) => item === this.element.children[at]);
    if (!isSame) this.element.replaceChildren(...items);
    const { open } = this.state;
    const first = wanted.some(({ id }) => id === open) ? open : wanted[0]?.id;
    for (const [id, { link }] of this.#rows) {
      const tabIndex = id === first ? 0 : -1;
      if (link.tabIndex !== tabIndex) link.tabIndex = tabIndex;
      if (id === open) link.setAttribute('aria-current', 'page');
      else if (link.hasAttribute('aria-current')) link.removeAttribute('aria-current');
    }
  }

  reveal(id: string): void {
    this.#rows.get(id)?.item.scrollIntoView({ block: 'nearest' });
  }

  focus(id: string | undefined): void {
    const link = id === undefined ? this.element.querySelector('a[tabindex="0"]') : this.#rows.get(id)?.link;
    if (link instanceof HTMLElement) link.focus();
  }

  #walk(event: KeyboardEvent): void {
    const links = [...this.element.querySelectorAll<HTMLAnchorElement>('li > a')];
    const at = links.findIndex((link) => link.matches(':focus'));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    const next = to === undefined ? undefined : links[to];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  }
}

function factsOf({ tally }: PageRepository): string {
  return tallyWords(tally, many).join(', ');
}

function progressOf({ tally }: PageRepository): HTMLElement | undefined {
  const { fixes, accepted, rejected, held } = tally;
  const all = fixes + rejected + held;
  if (all === 0) return undefined;
  const done = accepted + rejected;
  return h(
    'span',
    {
      class: 'progress',
      'data-done': done === all,
      title: `${accepted} accepted, ${rejected} rejected, ${all - done} open`,
    },
    `${done}/${all}`,
  );
}

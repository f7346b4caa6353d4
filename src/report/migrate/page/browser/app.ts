import type { PageRepository, PageVerdict } from '../data.js';
import { NO_WISH, type Wish } from '../matching.js';
import { visible } from '../visible.js';
import { Detail, type Say } from './detail.js';
import type { Layout } from './diff.js';
import { h, many, replace, theirs } from './dom.js';
import { Filters } from './filters.js';
import { helpOf, type Key, listen } from './keys.js';
import { List } from './list.js';
import { overview } from './overview.js';
import { Reviewer, type Saying } from './reviewer.js';
import type { State } from './state.js';
import { nextTheme, startTheme, type Theme } from './theme.js';

const GLYPHS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };
const NARROW = matchMedia('(max-width: 1100px)');

/** The page: the list on one side, what is looked at on the other. */
export class Page {
  readonly element: HTMLElement;
  readonly #list: List;
  readonly #filters: Filters;
  readonly #main = h('main', { tabindex: -1 });
  readonly #count = h('p', { class: 'shown dim', role: 'status' });
  readonly #notice = h('div', { class: 'notice', role: 'alert', hidden: true });
  readonly #theme = h('button', { type: 'button', class: 'theme', click: () => this.#nextTheme() });
  readonly #help: HTMLDialogElement;
  readonly #reviewer: Reviewer | undefined;
  #detail: Detail | undefined;
  #layout: Layout | undefined;
  #worn = startTheme();

  constructor(private readonly state: State) {
    this.#list = new List(state, (id) => this.#visit(state.addressOf({ open: id })));
    this.#filters = new Filters(state, (wish) => this.#wish(wish));
    this.#reviewer = state.data.isReview
      ? new Reviewer(
          (saying) => this.#decided(saying),
          (words, isOver) => this.#notify(words, isOver),
        )
      : undefined;
    const keys = this.#keys();
    this.#help = helpOf(keys);
    listen(keys);
    this.element = h(
      'div',
      { class: 'page' },
      this.#header(),
      this.#notice,
      h('div', { class: 'body' }, this.#aside(), this.#main),
      this.#help,
    );
  }

  start(): void {
    this.#nameTheme();
    this.#go();
    addEventListener('hashchange', () => this.#go());
    addEventListener('beforeprint', () => this.#detail?.fill());
    NARROW.addEventListener('change', () => this.#show());
    this.#reviewer?.listen();
  }

  #header(): HTMLElement {
    const { title, isReview } = this.state.data;
    return h(
      'header',
      { class: 'top' },
      h(
        'a',
        { class: 'brand', href: '#' },
        h('strong', {}, 'memfix'),
        theirs(title),
        isReview && h('span', { class: 'mode' }, 'review'),
      ),
      h(
        'button',
        {
          type: 'button',
          click: () => this.#switchLayout(),
          title: 'Side by side or one below the other (s)',
        },
        'Layout',
      ),
      this.#theme,
      h(
        'button',
        { type: 'button', click: () => this.#help.showModal(), title: 'Keys (?)' },
        'Keys',
        h('kbd', {}, '?'),
      ),
    );
  }

  #aside(): HTMLElement {
    return h(
      'nav',
      { class: 'side', 'aria-label': 'Repositories' },
      this.#filters.element,
      this.#count,
      this.#list.element,
    );
  }

  #visit(address: string): void {
    history.pushState(null, '', address);
    this.#go();
  }

  /** Where the address leads. */
  #go(): void {
    const { open, wish } = this.state;
    this.state.readAddress();
    this.#filters.show();
    this.#showList();
    const isElsewhere = this.state.open !== open || !this.#main.hasChildNodes();
    if (isElsewhere || this.state.wish.transform !== wish.transform) this.#show();
    if (!isElsewhere) return;
    this.#main.scrollTop = 0;
    if (this.state.open !== undefined) this.#list.reveal(this.state.open);
    this.#main.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }

  #showList(): void {
    const wanted = this.state.wanted();
    this.#list.show(wanted);
    const all = this.state.repositories.length;
    const isAll = wanted.length === all;
    replace(
      this.#count,
      isAll
        ? many(all, 'repository', 'repositories')
        : `${wanted.length.toLocaleString('en')} of ${many(all, 'repository', 'repositories')}`,
      !isAll && [' ', h('a', { href: this.state.addressOf({ wish: NO_WISH }) }, 'Show all')],
    );
  }

  #show(): void {
    const { open } = this.state;
    const repository = open === undefined ? undefined : this.state.repository(open);
    this.#detail?.leave();
    this.#detail =
      repository && new Detail(this.state, repository, this.#laidOut(), this.#sayFor(repository));
    this.element.classList.toggle('is-open', repository !== undefined);
    replace(this.#main, this.#detail?.element ?? overview(this.state));
    document.title = `${visible(repository?.name ?? this.state.data.title)} · memfix`;
  }

  /** What is pushed is decided. */
  #sayFor({ id, plan, isPushed }: PageRepository): Say | undefined {
    const reviewer = this.#reviewer;
    if (reviewer === undefined || plan === undefined || isPushed) return undefined;
    return (refs, verdict) => reviewer.say({ repository: id, plan, refs, verdict });
  }

  /** What was said about another plan than the one that is shown is not about these fixes. */
  #decided({ repository: id, plan, refs, verdict }: Saying): void {
    if (this.state.repository(id)?.plan !== plan) return;
    this.state.decided(id, new Map(refs.map((ref) => [ref, verdict])));
    const repository = this.state.repository(id);
    if (repository === undefined) return;
    this.#list.fill(repository);
    if (this.state.open === id) this.#detail?.update();
    else if (this.state.open === undefined) this.#show();
  }

  #notify(words: string, isOver: boolean): void {
    this.#notice.hidden = words === '';
    this.#notice.classList.toggle('bad', isOver);
    const reload = h('button', { type: 'button', click: () => location.reload() }, 'Reload');
    const close = h('button', { type: 'button', click: () => this.#notify('', false) }, 'Close');
    replace(this.#notice, h('p', {}, words), isOver ? close : [reload, close]);
  }

  #wish(wish: Wish): void {
    history.replaceState(null, '', this.state.addressOf({ wish }));
    this.#go();
  }

  #laidOut(): Layout {
    return this.#layout ?? (NARROW.matches ? 'unified' : 'split');
  }

  #switchLayout(): void {
    this.#layout = this.#laidOut() === 'split' ? 'unified' : 'split';
    this.#show();
  }

  #nextTheme(): void {
    this.#worn = nextTheme(this.#worn);
    this.#nameTheme();
  }

  #nameTheme(): void {
    this.#theme.title = 'Light, dark or as the system has it (t)';
    this.#theme.setAttribute('aria-label', `Theme: ${this.#worn}`);
    replace(this.#theme, GLYPHS[this.#worn], h('span', { class: 'word' }, ` ${this.#worn}`));
  }

  #keys(): readonly Key[] {
    const verdict = (wish: PageVerdict | null) => () => this.#say(wish);
    const all = (wish: PageVerdict) => () => this.#sayToAll(wish);
    return [
      { keys: ['/'], words: 'search', act: () => this.#filters.search.focus() },
      { keys: ['j'], words: 'next fix, or the next repository', act: () => this.#step(1) },
      { keys: ['k'], words: 'previous fix, or the previous repository', act: () => this.#step(-1) },
      { keys: [']', '>'], words: 'next repository', act: () => this.#turn(1) },
      { keys: ['[', '<'], words: 'previous repository', act: () => this.#turn(-1) },
      { keys: ['l'], words: 'to the list', act: () => this.#list.focus(this.state.open) },
      ...(this.#reviewer === undefined
        ? []
        : [
            { keys: ['y'], words: 'accept the fix', act: verdict('accept') },
            { keys: ['n'], words: 'reject the fix', act: verdict('reject') },
            { keys: ['u'], words: 'take the decision back', act: verdict(null) },
            { keys: ['Y'], words: 'accept all that are shown, then the next repository', act: all('accept') },
            { keys: ['N'], words: 'reject all that are shown, then the next repository', act: all('reject') },
          ]),
      { keys: ['s'], words: 'side by side, or one below the other', act: () => this.#switchLayout() },
      { keys: ['t'], words: 'light, dark, or as the system has it', act: () => this.#nextTheme() },
      { keys: ['Escape'], words: 'back to all repositories', act: () => this.#back() },
      { keys: ['?'], words: 'this help', act: () => this.#help.showModal() },
    ];
  }

  #back(): void {
    if (document.activeElement === this.#filters.search && this.#filters.search.value !== '') {
      this.#wish({ ...this.state.wish, text: '' });
      return;
    }
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    this.#visit(this.state.addressOf({ open: '' }));
  }

  #turn(by: number): void {
    const wanted = this.state.wanted();
    const at = wanted.findIndex(({ id }) => id === this.state.open);
    const next = at === -1 && by < 0 ? undefined : wanted[at + by];
    if (next !== undefined) this.#visit(this.state.addressOf({ open: next.id }));
  }

  #step(by: number): void {
    const articles = this.#detail?.articles ?? [];
    const at = articles.findIndex((article) => article.contains(document.activeElement));
    const next = at === -1 && by < 0 ? undefined : articles[at + by];
    if (next === undefined) this.#turn(by);
    else {
      next.focus({ preventScroll: true });
      next.scrollIntoView({ block: 'start' });
    }
  }

  /** About the fix that has the focus; then on to the next. */
  #say(verdict: PageVerdict | null): void {
    const detail = this.#detail;
    const at = detail?.articles.findIndex((article) => article.contains(document.activeElement)) ?? -1;
    const ref = detail?.refs[at];
    if (detail === undefined || ref === undefined) return;
    this.#sayFor(detail.repository)?.([ref], verdict);
    if (verdict !== null && at + 1 < detail.articles.length) this.#step(1);
  }

  #sayToAll(verdict: PageVerdict): void {
    const detail = this.#detail;
    if (detail === undefined || detail.refs.length === 0) return;
    this.#sayFor(detail.repository)?.(detail.refs, verdict);
    this.#turn(1);
  }
}

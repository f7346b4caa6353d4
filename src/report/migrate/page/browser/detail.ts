import { lineText } from '../../../../text/place.js';
import { type Tally, tallyOf, tallyWords } from '../../tally.js';
import type { PageOffer, PageRepository, PageVerdict } from '../data.js';
import { diffOf, type Layout } from './diff.js';
import { address, type Child, h, many, prose, replace, theirs } from './dom.js';
import { leftOver, nothing } from './left-over.js';
import { badge } from './overview.js';
import type { State } from './state.js';

export type Say = (refs: readonly string[], verdict: PageVerdict | null) => void;

/** One repository: where it is, why, and every fix of its plan with its diff. */
export class Detail {
  readonly element = h('div', { class: 'detail' });
  readonly #offers = new Map<string, { article: HTMLElement; verdict: HTMLElement; fill: () => void }>();
  /** What stands of all fixes, and of those in each file. */
  readonly #plan = h('span', {});
  readonly #counts = new Map<string, HTMLElement>();
  readonly #eye = new IntersectionObserver((entries) => this.#seen(entries), { rootMargin: '1200px 0px' });

  constructor(
    private readonly state: State,
    readonly repository: PageRepository,
    private readonly layout: Layout,
    private readonly say: Say | undefined,
  ) {
    const detail = state.detail(repository.id);
    const { transform } = state.wish;
    const shown = detail.offers.filter((offer) => transform === '' || offer.transform === transform);
    const hidden = detail.offers.length - shown.length;
    this.element.append(
      head(state, repository, this.#plan),
      ...(repository.failure === undefined ? [] : [trouble(repository.failure)]),
      ...(say === undefined || shown.length === 0 ? [] : [this.#together(shown, hidden === 0)]),
      ...[...Map.groupBy(shown, ({ path }) => path)].map(([path, offers]) => this.#file(path, offers)),
    );
    this.#count();
    if (hidden > 0) this.element.append(this.#more(hidden));
    if (detail.offers.length === 0 && repository.failure === undefined)
      this.element.append(nothing(repository));
    this.element.append(...leftOver(detail, repository));
  }

  get articles(): readonly HTMLElement[] {
    return [...this.#offers.values()].map(({ article }) => article);
  }

  get refs(): readonly string[] {
    return [...this.#offers.keys()];
  }

  /** Everything, for a printer. */
  fill(): void {
    for (const { fill } of this.#offers.values()) fill();
  }

  leave(): void {
    this.#eye.disconnect();
  }

  /** After a decision. */
  update(): void {
    for (const offer of this.state.detail(this.repository.id).offers) {
      const shown = this.#offers.get(offer.ref);
      if (shown === undefined) continue;
      shown.article.dataset['verdict'] = offer.verdict ?? '';
      this.#renew(shown.verdict, this.#verdict(offer));
    }
    this.#count();
  }

  /** As things stand now. */
  #count(): void {
    const { id, checked = 0 } = this.repository;
    const { tally } = this.state.repository(id) ?? this.repository;
    replace(this.#plan, `${wordsOf(tally)}; ${many(checked, 'Python file')} looked at`);
    const offers = this.state.detail(id).offers;
    for (const [path, count] of this.#counts)
      replace(count, wordsOf(tallyOf(offers.filter((offer) => offer.path === path))));
  }

  /** Whoever was at a button stays at it. */
  #renew(old: HTMLElement, now: HTMLElement): void {
    const pressed = old.contains(document.activeElement) ? document.activeElement?.className : undefined;
    old.replaceWith(now);
    if (pressed !== undefined) now.querySelector<HTMLElement>(`button.${pressed}`)?.focus();
  }

  #together(offers: readonly PageOffer[], isAll: boolean): HTMLElement {
    const all = (verdict: PageVerdict | null) => () =>
      this.say?.(
        offers.map(({ ref }) => ref),
        verdict,
      );
    return h(
      'div',
      { class: 'together', role: 'group', 'aria-label': 'All of these fixes' },
      h(
        'button',
        { type: 'button', class: 'yes', click: all('accept') },
        isAll ? 'Accept all' : 'Accept these',
      ),
      h(
        'button',
        { type: 'button', class: 'no', click: all('reject') },
        isAll ? 'Reject all' : 'Reject these',
      ),
      h('button', { type: 'button', click: all(null) }, 'Clear'),
    );
  }

  #file(path: string, offers: readonly PageOffer[]): HTMLElement {
    const count = h('span', { class: 'dim' });
    this.#counts.set(path, count);
    return h(
      'section',
      { class: 'file' },
      h('h2', {}, theirs(path, { class: 'path' }), count),
      offers.map((offer) => this.#article(offer)),
    );
  }

  #article(offer: PageOffer): HTMLElement {
    const { ref, transform, title, message, safety, numerics, unproven, premises = [], verdict } = offer;
    const diff = h('div', { class: 'changes' });
    diff.style.minHeight = `${heightOf(offer)}px`;
    const id = `offer-${ref}`;
    const article = h(
      'article',
      {
        class: 'offer',
        tabindex: -1,
        id,
        'aria-labelledby': `${id}-title`,
        'data-verdict': verdict ?? '',
        'data-fate': offer.fate,
      },
      h(
        'header',
        {},
        h(
          'div',
          { class: 'what' },
          h('h3', { id: `${id}-title` }, prose(title)),
          h(
            'p',
            { class: 'marks' },
            h('span', { class: 'line' }, lineText(offer)),
            h('code', {}, transform),
            badge(safety),
            badge(numerics),
          ),
        ),
        this.#verdict(offer),
      ),
      h('p', { class: 'message' }, prose(message)),
      unproven.length > 0 && h('p', { class: 'unproven' }, h('strong', {}, prose(unproven.join(' ')))),
      premises.length > 0 && h('p', { class: 'premises' }, 'Counts on: ', prose(premises.join('; '))),
      diff,
    );
    const fill = (): void => {
      if (diff.hasChildNodes()) return;
      diff.append(...offer.changes.map((change) => diffOf(change, offer.path, this.layout)));
      diff.style.minHeight = '';
    };
    const group = article.querySelector<HTMLElement>('.verdict');
    if (group === null) throw new Error('an offer has no place for a verdict');
    this.#offers.set(ref, { article, verdict: group, fill });
    this.#eye.observe(article);
    return article;
  }

  #verdict(offer: PageOffer): HTMLElement {
    const { ref, verdict, fate } = offer;
    const word = h('span', { class: 'word' }, wordFor(offer));
    const shown = this.#offers.get(ref);
    const press = (wish: PageVerdict) => () => this.say?.([ref], verdict === wish ? null : wish);
    const button = (wish: PageVerdict, text: string, key: string) =>
      h(
        'button',
        {
          type: 'button',
          class: wish === 'accept' ? 'yes' : 'no',
          'aria-pressed': String(verdict === wish),
          click: press(wish),
        },
        text,
        h('kbd', {}, key),
      );
    const element = h(
      'div',
      { class: 'verdict', role: 'group', 'aria-label': 'Decision' },
      (verdict !== undefined && this.say !== undefined) || (fate === 'taken' && verdict === undefined)
        ? undefined
        : word,
      this.say !== undefined && [button('accept', 'Accept', 'y'), button('reject', 'Reject', 'n')],
    );
    if (shown !== undefined) this.#offers.set(ref, { ...shown, verdict: element });
    return element;
  }

  #more(hidden: number): HTMLElement {
    const { wish } = this.state;
    return h(
      'p',
      { class: 'dim' },
      `${hidden.toLocaleString('en')} of other transforms. `,
      h('a', { href: this.state.addressOf({ wish: { ...wish, transform: '' } }) }, 'Show all'),
    );
  }

  #seen(entries: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      this.#eye.unobserve(target);
      this.#offers.get(target.id.slice('offer-'.length))?.fill();
    }
  }
}

function wordFor({ verdict, fate }: PageOffer): string {
  if (verdict === 'reject') return 'rejected';
  if (verdict === 'accept') return 'accepted';
  if (fate === 'held') return 'held back: one like it was rejected when the text around it was another';
  return fate === 'dropped'
    ? 'not in the patch: another fix makes it needless, or the result was not sound'
    : '';
}

/** As much as the diff will take, so that nothing jumps when it comes. */
function heightOf({ changes }: PageOffer): number {
  return (
    changes.reduce((sum, { hunks }) => sum + hunks.reduce((lines, hunk) => lines + hunk.lines.length, 0), 0) *
    20
  );
}

function wordsOf(tally: Tally): string {
  return tallyWords(tally, many).join(', ') || 'no fix';
}

function head(state: State, repository: PageRepository, plan: HTMLElement): HTMLElement {
  const { name, url, status, base, branch, commit, checked, proposed } = repository;
  const facts: readonly (readonly [string, Child])[] = [
    ['Repository', address(url)],
    ...(base
      ? ([
          [
            'Base',
            [h('code', {}, base.commit.slice(0, 12)), base.branch !== null && [' on ', theirs(base.branch)]],
          ],
        ] as const)
      : []),
    ...(branch !== undefined
      ? ([
          ['Branch', [theirs(branch), commit !== undefined && [' at ', h('code', {}, commit.slice(0, 12))]]],
        ] as const)
      : []),
    ...(proposed
      ? ([
          [
            'Pull request',
            [
              address(proposed.url),
              ` · ${proposed.isDraft ? 'draft' : proposed.state}, checks ${proposed.checks}`,
            ],
          ],
        ] as const)
      : []),
    ...(checked !== undefined ? ([['Plan', plan]] as const) : []),
  ];
  return h(
    'div',
    { class: 'head' },
    h('a', { class: 'back', href: state.addressOf({ open: '' }) }, '← All repositories'),
    h('h1', { tabindex: -1 }, theirs(name), h('span', { class: 'status', 'data-status': status }, status)),
    h(
      'dl',
      { class: 'facts' },
      facts.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value))),
    ),
  );
}

function trouble({ stage, title, detail, next }: NonNullable<PageRepository['failure']>): HTMLElement {
  return h(
    'section',
    { class: 'failure', 'aria-label': 'Failure' },
    h('h2', {}, theirs(title), h('span', { class: 'dim' }, ` in ${stage}`)),
    h('pre', {}, theirs(detail)),
    h('p', {}, h('strong', {}, 'Next: '), prose(next)),
  );
}

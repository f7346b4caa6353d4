import { STATUSES } from '../../record.js';
import { REVIEW_WISHES, type Wish } from '../matching.js';
import { h } from './dom.js';
import type { State } from './state.js';

/** What is searched and filtered by, above the list. */
export class Filters {
  readonly search = h('input', {
    type: 'search',
    placeholder: 'Search names, paths, code, reasons',
    'aria-label': 'Search',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly element: HTMLElement;
  readonly #transform: HTMLSelectElement;
  readonly #review: HTMLSelectElement;
  readonly #chips = new Map<string, HTMLButtonElement>();
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly state: State,
    private readonly wishing: (wish: Wish) => void,
  ) {
    this.search.addEventListener('input', () => {
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => this.#change({ text: this.search.value }), 90);
    });
    this.#transform = select('Transform', [
      ['', 'All transforms'],
      ...state.data.transforms.map(({ id }) => [id, id] as const),
    ]);
    this.#transform.addEventListener('change', () => this.#change({ transform: this.#transform.value }));
    this.#review = select('Review', [
      ['any', 'Decided or not'],
      ['open', 'With open fixes'],
      ['accepted', 'With accepted fixes'],
      ['rejected', 'With rejected fixes'],
    ]);
    this.#review.addEventListener('change', () =>
      this.#change({ review: REVIEW_WISHES.find((each) => each === this.#review.value) ?? 'any' }),
    );
    const isReviewed =
      state.data.isReview || state.repositories.some(({ tally }) => tally.accepted + tally.rejected > 0);
    this.element = h(
      'div',
      { class: 'filters' },
      this.search,
      h('div', { class: 'selects' }, this.#transform, isReviewed && this.#review),
      h('div', { class: 'chips', role: 'group', 'aria-label': 'Status' }, this.#statusChips()),
    );
  }

  /** As the address says. */
  show(): void {
    const { text, statuses, transform, review } = this.state.wish;
    if (this.search.value !== text) this.search.value = text;
    this.#transform.value = transform;
    this.#review.value = review;
    for (const [status, chip] of this.#chips)
      chip.setAttribute('aria-pressed', String(statuses.some((each) => each === status)));
  }

  #statusChips(): readonly HTMLElement[] {
    return STATUSES.flatMap((status) => {
      const count = this.state.repositories.filter((repository) => repository.status === status).length;
      if (count === 0) return [];
      const press = (): void => {
        const { statuses } = this.state.wish;
        const isOn = statuses.includes(status);
        this.#change({ statuses: isOn ? statuses.filter((each) => each !== status) : [...statuses, status] });
      };
      const chip = h(
        'button',
        { type: 'button', class: 'chip', 'data-status': status, 'aria-pressed': 'false', click: press },
        status,
        h('span', {}, count.toLocaleString('en')),
      );
      this.#chips.set(status, chip);
      return [chip];
    });
  }

  #change(part: Partial<Wish>): void {
    this.wishing({ ...this.state.wish, ...part });
  }
}

function select(label: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return h(
    'select',
    { 'aria-label': label },
    options.map(([value, text]) => h('option', { value }, text)),
  );
}

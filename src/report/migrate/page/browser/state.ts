import { tallyOf } from '../../tally.js';
import type { PageData, PageDetail, PageRepository, PageVerdict } from '../data.js';
import { isWanted, NO_WISH, REVIEW_WISHES, searchText, type Wish } from '../matching.js';

/** Everything the page shows: what it came with, what a reader wants to see of it, and what is decided meanwhile. */
export class State {
  readonly data: PageData;
  /** What the page came with: the whole, then each repository's own. */
  readonly #embedded = [...document.querySelectorAll('script[type="application/json"]')];
  readonly #indices: ReadonlyMap<string, number>;
  readonly #repositories: PageRepository[];
  readonly #details = new Map<number, PageDetail>();
  readonly #texts = new Map<number, string>();
  wish: Wish = NO_WISH;
  /** The repository that is looked at. */
  open: string | undefined;

  constructor() {
    this.data = parsed<PageData>(this.#embedded[0]);
    this.#repositories = [...this.data.repositories];
    this.#indices = new Map(this.data.repositories.map(({ id }, index) => [id, index]));
  }

  get repositories(): readonly PageRepository[] {
    return this.#repositories;
  }

  repository(id: string): PageRepository | undefined {
    return this.#repositories[this.#indices.get(id) ?? -1];
  }

  detail(id: string): PageDetail {
    const index = this.#indices.get(id) ?? -1;
    const known = this.#details.get(index);
    if (known !== undefined) return known;
    const detail = parsed<PageDetail>(this.#embedded[index + 1]);
    this.#details.set(index, detail);
    return detail;
  }

  wanted(): readonly PageRepository[] {
    return this.#repositories.filter((repository, index) =>
      isWanted(repository, this.wish, () => this.#text(repository, index)),
    );
  }

  /** What was decided, here or in another browser. */
  decided(id: string, verdicts: ReadonlyMap<string, PageVerdict | null>): void {
    const index = this.#indices.get(id) ?? -1;
    const detail = this.detail(id);
    const offers = detail.offers.map((offer) => {
      const verdict = verdicts.get(offer.ref);
      if (verdict === undefined) return offer;
      const { verdict: _, ...rest } = offer;
      return verdict === null ? rest : { ...rest, verdict };
    });
    this.#details.set(index, { ...detail, offers });
    const repository = this.#repositories[index];
    if (repository !== undefined) this.#repositories[index] = { ...repository, tally: tallyOf(offers) };
  }

  #text(repository: PageRepository, index: number): string {
    const known = this.#texts.get(index) ?? searchText(repository, this.detail(repository.id));
    this.#texts.set(index, known);
    return known;
  }

  /** The address says what is shown, so that it can be kept, sent and gone back to. */
  readAddress(): void {
    const words = new URLSearchParams(location.hash.slice(1));
    const review = REVIEW_WISHES.find((each) => each === words.get('review')) ?? 'any';
    const known = new Set(this.#repositories.map(({ status }) => status));
    this.wish = {
      text: words.get('text') ?? '',
      statuses: [...known].filter((status) => words.getAll('status').includes(status)),
      transform: words.get('transform') ?? '',
      review,
    };
    const open = words.get('repository') ?? undefined;
    this.open = open !== undefined && this.#indices.has(open) ? open : undefined;
  }

  addressOf({ wish = this.wish, open = this.open }: { wish?: Wish; open?: string | undefined }): string {
    const words = new URLSearchParams();
    if (open !== undefined && open !== '') words.set('repository', open);
    if (wish.text !== '') words.set('text', wish.text);
    for (const status of wish.statuses) words.append('status', status);
    if (wish.transform !== '') words.set('transform', wish.transform);
    if (wish.review !== 'any') words.set('review', wish.review);
    return `#${words}`;
  }
}

function parsed<T>(element: Element | undefined): T {
  if (element === undefined) throw new Error('the page is not whole');
  return JSON.parse(element.textContent ?? '') as T;
}

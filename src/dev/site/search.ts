import MiniSearch, { type Options } from 'minisearch';

/** A passage that can be found. */
export interface Entry {
  readonly id: number;
  /** Relative to the root of the site, with its anchor. */
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** Of the index, and of the page that reads it: both have to agree. */
export const SEARCH: Options<Entry> = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['url', 'page', 'heading', 'text'],
  searchOptions: {
    boost: { heading: 4, page: 3 },
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
    // Who searches wants to use memfix, more often than to extend it.
    boostDocument: (_id, _term, stored) =>
      /^(?:api|contributing|changelog)/.test(String(stored?.['url'])) ? 0.1 : 1,
  },
};

/** What a result shows of its passage. */
const SHOWN = 200;

/** A script, not data: a page that is opened from a disk may load the one, and not the other. */
export function indexScript(entries: readonly Entry[]): string {
  const search = new MiniSearch(SEARCH);
  search.addAll(entries);
  const index = search.toJSON();
  const stored = Object.values(index.storedFields);
  for (const fields of stored)
    if (typeof fields['text'] === 'string') fields['text'] = shortened(fields['text']);
  return `globalThis.memfixIndex=${JSON.stringify(index)};\n`;
}

function shortened(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, text.lastIndexOf(' ', SHOWN))} …`;
}

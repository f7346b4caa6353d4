/** What `--output-format` can be, by what a command has to say; the first is the default. */
export const FINDING_FORMATS = ['short', 'full', 'concise', 'json'] as const;
export const PAGE_FORMATS = ['full', 'json'] as const;

export type FindingFormat = (typeof FINDING_FORMATS)[number];

/** As the help tells it. */
export function formatWords(formats: readonly string[]): string {
  const [first = '', ...others] = formats;
  const last = others.pop();
  return `${[`${first} (default)`, ...others].join(', ')} or ${last}`;
}

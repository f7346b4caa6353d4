import { FORMAT_NAMES } from '../report/formats/formats.js';

/** What `--output-format` can be, by what a command has to say; the first is the default. */
export const FINDING_FORMATS = FORMAT_NAMES;
export const PAGE_FORMATS = ['full', 'json'] as const;

/** As the help tells it. */
export function formatWords(formats: readonly string[]): string {
  const [first = '', ...others] = formats;
  const last = others.pop();
  return `${[`${first} (default)`, ...others].join(', ')} or ${last}`;
}

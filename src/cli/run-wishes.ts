import { parseSeconds } from '../workspace/duration.js';
import type { Arguments } from './arguments.js';

/** What is wished of runs of the user's command, by `prove` and by `apply --verify`: read before anything is run. */
export function secondsIn(args: Arguments, name: 'timeout' | 'budget'): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  const seconds = parseSeconds(text);
  if (seconds !== undefined) return seconds;
  throw args.misuse(`\`--${name}\` cannot be \`${text}\`: it is a time such as 90, 90s, 10m or 2h.`);
}

export function metricIn(args: Arguments): { readonly text: string; readonly pattern: RegExp } | undefined {
  const text = args.text('metric');
  if (text === undefined) return undefined;
  try {
    return { text, pattern: new RegExp(text, 'g') };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw args.misuse(`\`--metric\` is no regular expression: ${error.message}.`);
  }
}

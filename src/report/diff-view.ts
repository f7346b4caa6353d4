import { clip } from './cells.js';
import { type Hunk, type HunkLine, hunkHeader } from './diff.js';
import type { Paint, Tone } from './paint.js';

export interface DiffStyle {
  readonly paint: Paint;
  readonly width: number;
  readonly margin: string;
}

/** Changed lines go beyond the width, for the terminal to fold, up to here: what changes must not be cut off. */
const LONGEST_CHANGE = 2_000;

const TONES: Readonly<Record<HunkLine['kind'], Tone | undefined>> = {
  ' ': undefined,
  '-': 'red',
  '+': 'green',
};

/** A unified diff for eyes. */
export function diffView(hunks: readonly Hunk[], { paint, width, margin }: DiffStyle): string[] {
  const output: string[] = [];
  for (const hunk of hunks) {
    output.push(margin + paint.cyan(hunkHeader(hunk)));
    for (const { kind, text } of hunk.lines) {
      const tone = TONES[kind];
      const room = tone === undefined ? width - margin.length - 1 : Math.max(width, LONGEST_CHANGE);
      const content = kind + clip(text.replace(/\n$/, ''), room);
      const line = tone === undefined ? content.trimEnd() : paint[tone](content);
      output.push(line === '' ? '' : margin + line);
    }
  }
  return output;
}

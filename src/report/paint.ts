import { mark } from './terminal.js';

const CODES = {
  bold: [1, 22],
  // A grey that can be read on black and on white (4.5 to 1): what a terminal makes of faint text often cannot.
  dim: ['38;5;243', 39],
  inverse: [7, 27],
  // The bright ones: the others are hard to read on black in widespread palettes.
  red: [91, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [95, 39],
  cyan: [36, 39],
} as const;

export type Tone = keyof typeof CODES;

/** Colours a text, or leaves it alone; whoever knows the terminal chooses which. */
export type Paint = Readonly<Record<Tone, (text: string) => string>>;

export const noColor: Paint = painter((text) => text);

/** With marks, which become escape sequences where the text goes out. */
export const inColor: Paint = painter((text, tone) => {
  const [open, close] = CODES[tone];
  return text === '' ? '' : mark(`${open}m`) + text + mark(`${close}m`);
});

function painter(apply: (text: string, tone: Tone) => string): Paint {
  const tone = (name: Tone) => (text: string) => apply(text, name);
  return {
    bold: tone('bold'),
    dim: tone('dim'),
    inverse: tone('inverse'),
    red: tone('red'),
    green: tone('green'),
    yellow: tone('yellow'),
    blue: tone('blue'),
    magenta: tone('magenta'),
    cyan: tone('cyan'),
  };
}

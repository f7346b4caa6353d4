const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Tone = keyof typeof CODES;

/** Colours a text, or leaves it alone; whoever knows the terminal chooses which. */
export type Paint = Readonly<Record<Tone, (text: string) => string>>;

export const noColor: Paint = painter((text) => text);

export const ansi: Paint = painter((text, tone) => {
  const [open, close] = CODES[tone];
  return text === '' ? '' : `\x1b[${open}m${text}\x1b[${close}m`;
});

function painter(apply: (text: string, tone: Tone) => string): Paint {
  const tone = (name: Tone) => (text: string) => apply(text, name);
  return {
    bold: tone('bold'),
    dim: tone('dim'),
    red: tone('red'),
    green: tone('green'),
    yellow: tone('yellow'),
    blue: tone('blue'),
    magenta: tone('magenta'),
    cyan: tone('cyan'),
  };
}

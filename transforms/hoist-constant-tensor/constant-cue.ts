import { behindBracket, isInLoop, linesOf } from '../../src/syntax/code-text.js';

const MAKES =
  /\b(?:as_tensor|tensor|zeros|ones|full|eye|arange|linspace)\([-+[(\s]*(?:[\d.]|True|False|math|\w+\s*=)/;
/** The same in a text with comments. */
const MAY_MAKE =
  /\b(?:as_tensor|tensor|zeros|ones|full|eye|arange|linspace)\((?:[-+[(\s]|#[^\n]*\n)*(?:[\d.]|True|False|math|\w+(?:\s|#[^\n]*\n)*=)/;
const MAKER = /\b(?:as_tensor|tensor|zeros|ones|full|eye|arange|linspace)\(/g;
const MOVE = /\.\s*(?:to|cuda)\b/;
const TARGET = /(?:^|[;:])\s*(\w+)\s*=/g;
const LITERALS = /\b\d[\w.]*|\b(?:True|False)\b|\b\w+\s*\.\s*(?:pi|e|inf|tau|nan)\b/g;

/** Whether a file has a tensor of numbers, comments and strings included: most say no before they are cut. */
export function mayMakeConstant(text: string): boolean {
  return MAY_MAKE.test(text);
}

/** Whether a tensor of numbers is made of a list, or moved, in a loop, or made anywhere and moved in one, by the code alone. */
export function mayRepeatConstant(code: string): boolean {
  if (!MAKES.test(code)) return false;
  const made = new Set<string | undefined>();
  const moves: string[] = [];
  for (const line of linesOf(code)) {
    const { text } = line;
    const isMove = MOVE.test(text) && isInLoop(line);
    if (isMove) moves.push(text);
    for (const { index, 0: maker } of text.matchAll(MAKER)) {
      if (!takesLiterals(text, index + maker.length - 1)) continue;
      if (isMove || (maker.endsWith('tensor(') && isInLoop(line))) return true;
      for (const [, name] of text.matchAll(TARGET)) made.add(name);
    }
  }
  return [...made].some((name = '') => moves.some((text) => text.includes(name)));
}

/** Whether `forward` makes a tensor of a list and moves it, by the code alone. */
export function mayBuildInForward(code: string): boolean {
  if (!code.includes('def forward') || !MAKES.test(code)) return false;
  return linesOf(code).some(
    ({ text }) =>
      (MOVE.test(text) || /\bdevice\s*=/.test(text)) &&
      [...text.matchAll(MAKER)].some(
        ({ index, 0: maker }) => maker.endsWith('tensor(') && takesLiterals(text, index + maker.length - 1),
      ),
  );
}

/** Whether only numbers stand before the keywords. */
function takesLiterals(code: string, open: number): boolean {
  const [positional = ''] = code.slice(open, behindBracket(code, open)).split(/\b[A-Za-z_]\w*\s*=(?!=)/, 1);
  return !/[A-Za-z_"{]/.test(positional.replace(LITERALS, ''));
}

const OPENING = '([{';
const CLOSING = ')]}';

/** Behind the bracket that closes the one at `open`, in code without strings and comments; its end where none does. */
export function behindBracket(code: string, open: number): number {
  let depth = 0;
  for (let at = open; at < code.length; at++) {
    const character = code[at] ?? '';
    if (OPENING.includes(character)) depth++;
    else if (CLOSING.includes(character) && --depth === 0) return at + 1;
  }
  return code.length;
}

/** From an offset to the end of its logical line, in code without strings and comments. */
export function restOfLine(code: string, from: number): string {
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    const character = code[at] ?? '';
    if (OPENING.includes(character)) depth++;
    else if (CLOSING.includes(character)) depth--;
    else if (character === '\\') at += code[at + 1] === '\r' ? 2 : 1;
    else if ((character === '\n' || character === ';') && depth <= 0) return code.slice(from, at);
  }
  return code.slice(from);
}

const LINK = /[\s\\]*\.[\s\\]*(\w+)[\s\\]*(\()?/y;

/** The methods that are called on the result of the call whose arguments open there, one on the other: `f(…).a().b()`. */
export function* methodsBehind(code: string, open: number): Generator<string> {
  for (let at = behindBracket(code, open); ; ) {
    LINK.lastIndex = at;
    const [link = '', name = '', isCalled] = LINK.exec(code) ?? [];
    if (isCalled === undefined) return;
    yield name;
    at = behindBracket(code, at + link.length - 1);
  }
}

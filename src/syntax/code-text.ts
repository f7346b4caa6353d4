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

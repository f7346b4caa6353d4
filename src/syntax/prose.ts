/**
 * A text without its comments and docstrings. `quiet` has the starts and ends of comments and strings in turn; without it,
 * whatever looks like a comment is left out.
 */
export function withoutProse(text: string, quiet: readonly number[] | undefined): string {
  if (quiet === undefined) return text.replace(/#.*/g, '');
  let code = '';
  let from = 0;
  for (let index = 0; index < quiet.length; index += 2) {
    const start = quiet[index] ?? 0;
    if (text[start] !== '#' && !isDocstring(text, start)) continue;
    code += text.slice(from, start);
    from = quiet[index + 1] ?? text.length;
  }
  return code + text.slice(from);
}

/** A string of three quotes that starts its line. */
function isDocstring(text: string, start: number): boolean {
  if (!text.startsWith('"""', start) && !text.startsWith("'''", start)) return false;
  const line = Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1)) + 1;
  return /^[ \t\f]*[rRuU]?$/.test(text.slice(line, start));
}

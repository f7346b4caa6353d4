/** A text without comments, and without strings that are statements. `quiet`: where its comments and strings begin and end. */
export function uncommented(text: string, quiet: readonly number[] | undefined): string {
  if (quiet === undefined) return text.replace(/#.*/g, '');
  let code = '';
  let from = 0;
  for (let at = 0; at + 1 < quiet.length; at += 2) {
    const [start = 0, end = 0] = [quiet[at], quiet[at + 1]];
    if (start < from || !(text[start] === '#' || isStatement(text, start, end))) continue;
    code += text.slice(from, start);
    from = end;
  }
  return code + text.slice(from);
}

/** Whether there is nothing else in the lines of a string. */
function isStatement(text: string, start: number, end: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const next = text.indexOf('\n', end);
  const after = text.slice(end, next === -1 ? text.length : next);
  return /^[ \t]*[a-zA-Z]{0,2}$/.test(before) && /^[ \t\r]*(?:#|$)/.test(after);
}

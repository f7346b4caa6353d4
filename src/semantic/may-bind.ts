/** How far before a name its `def` may stand; what has more room between them may be anything. */
const REACH = 24;
const DEFINES = /(?:\b(?:def|class|type)|^)[\s\\]+$/;

/** Whether the name at a place may bind a variable, going by what stands beside it: `x.a`, `a.x` and `a(x)` only read. */
export function mayBind(text: string, start: number, length: number): boolean {
  if (text[start - 1] === '.') return false;
  switch (text[start + length]) {
    case '.':
      return mayBeImported(text, start);
    case '(':
    case '[':
      return DEFINES.test(text.slice(Math.max(0, start - REACH), start));
    default:
      return true;
  }
}

/** Whether `import a.b` may stand there: on that line, or on one that is joined to it. */
function mayBeImported(text: string, offset: number): boolean {
  const line = text.lastIndexOf('\n', offset) + 1;
  return (
    text.slice(line, offset).includes('import') || /\\\r?\n$/.test(text.slice(Math.max(0, line - 3), line))
  );
}

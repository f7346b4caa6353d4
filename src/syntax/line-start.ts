/** What a line starts with, by its first letter and then its words. */

const DEFINITION = /(?:async[ \t]+)?def[ \t]/y;

export function isDefinition(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== 100 && code !== 97) return false;
  DEFINITION.lastIndex = at;
  return DEFINITION.test(text);
}

const LOOP = /(?:async[ \t]+)?(?:for|while)\b/y;

export function isLoop(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // f, w, a: the letters that it starts with.
  if (code !== 102 && code !== 119 && code !== 97) return false;
  LOOP.lastIndex = at;
  return LOOP.test(text);
}

const CLAUSE = /(?:elif|else|except|finally)\b/y;

export function isClause(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code !== 101 && code !== 102) return false;
  CLAUSE.lastIndex = at;
  return CLAUSE.test(text);
}

import type { CodeLine } from '../../syntax/code-text.js';

const DEFINITION = /^(?:async[ \t]+)?def\b/;
const CLASS = /^class\b/;
/** A dotted name, so that it is nothing else by another name. */
const DECORATOR = /^@[ \t]*[\w.]+\.(?:no_grad|inference_mode)\b/;
const BLOCK = /^(?:async[ \t]+)?with[ \t]+[\w.]+\.(?:no_grad|inference_mode)\(/;

/**
 * Tells the lines that stand in a `with torch.no_grad()`, or in a function with such a decorator: where this says so,
 * `isGradOff` does, too.
 */
export function gradlessAmong(lines: readonly CodeLine[]): (line: CodeLine) => boolean {
  const gradless = new Set<CodeLine>();
  let isDecorated = false;
  for (const line of lines) {
    if (line.text.startsWith('@')) {
      isDecorated ||= DECORATOR.test(line.text);
      continue;
    }
    if (BLOCK.test(line.text) || (isDecorated && DEFINITION.test(line.text))) gradless.add(line);
    isDecorated = false;
  }
  return (line) => {
    for (let at: CodeLine | undefined = line; at !== undefined && !CLASS.test(at.text); at = at.outer)
      if (gradless.has(at)) return true;
    return false;
  };
}

import type { PyModule } from '../semantic/module.js';

const LONGEST = 50;

/** What has to hold for a place of a function to have run, where the line that ran out does not tell: the outermost `if` around it. */
export function conditionOf(module: PyModule, start: number, line: number): string | undefined {
  const ran = module.lines.start(line);
  let found: string | undefined;
  for (const node of module.root.descendantAt(start).ancestors()) {
    if (node.type === 'function_definition') break;
    const { condition, consequence } = node;
    if (node.type !== 'if_statement' || condition === undefined || consequence === undefined) continue;
    const isAround = node.start <= ran && ran < node.end;
    const isIn = consequence.start <= start && start < consequence.end;
    if (isAround || !isIn || condition.text.includes('__name__')) continue;
    found = condition.text.replaceAll(/\s+/g, ' ');
  }
  return found === undefined || found.length > LONGEST ? undefined : found;
}

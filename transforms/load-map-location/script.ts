import { definitionNamed } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { isNotebook, isProgram } from '../../src/semantic/program.js';
import { starImports } from '../../src/semantic/stars.js';
import { ownNodes } from '../../src/semantic/statements.js';
import { isUnbound } from '../../src/semantic/variables.js';

/** A program by what it says, or because it works as soon as it is loaded: it loops, prints, or calls a function of its own. */
export function isScript(alone: PyModule): boolean {
  if (isProgram(alone)) return true;
  if (isNotebook(alone) || /(?:^|[\\/])__init__\.py$/.test(alone.path)) return false;
  return ownNodes(alone.root).some((node) => {
    if (node.type === 'for_statement' || node.type === 'while_statement') return true;
    const callee = node.type === 'expression_statement' ? node.named[0]?.function : undefined;
    if (callee === undefined) return false;
    return callee.text === 'print' || definitionNamed(alone, callee)?.type === 'function_definition';
  });
}

/** What the functions come from that a file calls as soon as it is loaded, and for nothing that they give. */
export function runBy(alone: PyModule): readonly string[] {
  if (isNotebook(alone) || /(?:^|[\\/])__init__\.py$/.test(alone.path)) return [];
  return alone.root.named.flatMap((node) => {
    const callee = node.type === 'expression_statement' ? node.named[0]?.function : undefined;
    if (callee?.type !== 'identifier' && callee?.type !== 'attribute') return [];
    const path = qualifiedName(alone, callee);
    if (path !== undefined) return [path.slice(0, Math.max(0, path.lastIndexOf('.')))];
    return isUnbound(alone, callee) ? starImports(alone).map(({ from }) => from) : [];
  });
}

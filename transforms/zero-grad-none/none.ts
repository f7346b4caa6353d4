import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { statementOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** The first place of the file that takes a `.grad` to be a tensor: with `None` in it, it would raise. */
export const takesGradAsTensor = remembered((module: PyModule): PyNode | undefined => {
  for (const node of module.at('.grad')) {
    const attribute = node.parent;
    if (node.text !== 'grad' || attribute?.type !== 'attribute' || attribute.attribute !== node) continue;
    if (qualifiedName(module, attribute) === undefined && !isPrepared(attribute)) return attribute;
  }
  return undefined;
});

/** Set anew, compared with `None`, or used only where such a comparison has said that it is none. */
function isPrepared(attribute: PyNode): boolean {
  const { parent, text } = attribute;
  if (parent?.type === 'assignment' && parent.left === attribute) return true;
  if (parent?.type === 'delete_statement') return true;
  if (parent?.type === 'comparison_operator' && parent.named.some(({ type }) => type === 'none')) return true;
  const asked = new RegExp(`${escaped(text)}\\s+is\\s+not\\s+None`);
  for (const around of attribute.ancestors()) {
    if (/^(?:function_definition|lambda)$/.test(around.type)) break;
    const condition = conditionOf(around, attribute);
    if (condition !== undefined && asked.test(condition.text)) return true;
  }
  return isSkippedWhereNone(attribute);
}

/** What holds where a node of this part of a statement runs. */
function conditionOf(around: PyNode, inside: PyNode): PyNode | undefined {
  if (/^(?:if_statement|elif_clause)$/.test(around.type))
    return around.consequence?.contains(inside) ? around.condition : undefined;
  if (around.type === 'conditional_expression')
    return around.named[0]?.contains(inside) ? around.named[1] : undefined;
  if (around.type === 'boolean_operator') return around.text.includes(' or ') ? undefined : around.left;
  return /_comprehension$|^generator_expression$/.test(around.type)
    ? around.childOfType('if_clause')
    : undefined;
}

/** `if p.grad is None: continue` stands above it in the same block. */
function isSkippedWhereNone(attribute: PyNode): boolean {
  const none = new RegExp(`${escaped(attribute.text)}\\s+is\\s+None`);
  for (let at = statementOf(attribute); ; ) {
    const siblings = at.parent?.named ?? [];
    const skipped = siblings
      .slice(0, siblings.indexOf(at))
      .some(
        (statement) =>
          statement.type === 'if_statement' &&
          none.test(statement.condition?.text ?? '') &&
          /^(?:continue|return|break|raise)_statement$/.test(statement.consequence?.named.at(-1)?.type ?? ''),
      );
    if (skipped) return true;
    const around = at.parent?.parent;
    if (around === undefined || /_definition$/.test(around.type)) return false;
    at = statementOf(around);
    if (at === around && around.type === 'module') return false;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

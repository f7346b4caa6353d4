import { shown } from '../semantic/gate.js';
import type { PyModule } from '../semantic/module.js';
import { ask, type Question } from '../semantic/question.js';
import { statementOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import type { Finding } from './outcome.js';

interface Found {
  readonly node: PyNode;
  readonly finding: Finding;
}

function aboutAlike({ node }: Found): Question {
  return ask(
    'alike',
  )`May \`${shown(node)}\` change here while the statement beside it, which is alike and has an open question, stays as it is?`;
}

/**
 * Statements in a row that call the same are fixed together or not at all: of three loads, two that are changed look like a
 * mistake. Where one of them is not safe, none is.
 */
export function asOne(module: PyModule, found: readonly Found[]): readonly Finding[] {
  if (found.length < 2) return found.map(({ finding }) => finding);
  const rows: Found[][] = [];
  for (const each of [...found].sort((a, b) => a.node.start - b.node.start)) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row !== undefined && last !== undefined && isNext(module, last, each)) row.push(each);
    else rows.push([each]);
  }
  const doubtful = new Set(rows.filter((row) => !row.every(isSafe)).flat());
  return found.map((each) => {
    const { finding } = each;
    if (!doubtful.has(each) || !isSafe(each)) return finding;
    return { ...finding, safety: 'unsafe', questions: [...finding.questions, aboutAlike(each)] };
  });
}

function isSafe({ finding }: Found): boolean {
  return finding.fix !== undefined && finding.safety === 'safe';
}

/** On the next line of the same block, with the same word to point at and the same to say about it. */
function isNext(
  module: PyModule,
  { node: a, finding: one }: Found,
  { node: b, finding: other }: Found,
): boolean {
  if (a.text !== b.text || saidOf(one) !== saidOf(other)) return false;
  const [above, below] = [statementOf(a), statementOf(b)];
  if (above.parent !== below.parent || above === below) return false;
  return /^[ \t;]*(?:\r\n|\r|\n)?[ \t]*$/.test(module.text.slice(above.end, below.start));
}

function saidOf({ message }: Finding): string {
  return message.replace(/`[^`]*`/g, '``');
}

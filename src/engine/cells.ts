import { applyEdits } from '../edit/apply.js';
import { roleOf } from '../semantic/names.js';
import { ask } from '../semantic/question.js';
import type { PyNode } from '../syntax/node.js';
import type { PythonParser } from '../syntax/parser.js';
import { pythonProblem, type SyntaxProblem } from '../syntax/soundness.js';
import { encode, type SourceText } from '../text/decode.js';
import { Lines } from '../text/lines.js';
import { type CellPlace, cellAt, cellsIn, positionInCells } from '../text/notebook/notebook.js';
import { withAssumed } from './assumed.js';
import type { EngineSetup } from './engine.js';
import type { Finding, Note, Scan, Skipped, SourceFile } from './outcome.js';
import { ownEdits } from './preview.js';

const IN_ORDER = ask('cell-order')`Do the cells of the notebook run once, from top to bottom?`;

/**
 * What a scan of a notebook's program comes to for its cells. What is safe only if they run in order waits for a person, as
 * does what changes several of them; a fix that is none within a cell is refused. Places are told by cell.
 */
export function scanOfCells(
  setup: EngineSetup,
  file: SourceFile,
  inOrder: Scan | Skipped,
  inAnyOrder: (cells: readonly CellPlace[]) => Scan | Skipped,
): Scan | Skipped {
  const { text } = file.source;
  const cells = cellsIn(text);
  const told = positionInCells(new Lines(text), cells);
  if (inOrder.kind === 'skipped')
    return inOrder.at === undefined ? inOrder : { ...inOrder, at: told(inOrder.at) };
  const isAsked = inOrder.findings.some(({ safety, fix }) => safety === 'safe' && fix !== undefined);
  const strict = isAsked ? inAnyOrder(cells) : undefined;
  const findings = inOrder.findings.map((finding) => {
    const ordered = strict === undefined ? finding : asSafeAs(finding, strict);
    if (ordered.fix === undefined) return ordered;
    return withAssumed(setup, fixedInCells(setup.parser, file.source, cells, ordered), file.path);
  });
  const tellAt = <T extends Pick<Finding, 'at'>>(each: T): T => ({ ...each, at: told(each.at) });
  const tell = (finding: Finding): Finding => ({ ...tellAt(finding), end: told(finding.end) });
  return {
    ...inOrder,
    findings: findings.map(tell),
    suppressed: inOrder.suppressed.map(tell),
    notes: [...unreadNotes(file.source), ...inOrder.notes.map(tellAt)],
    ...(strict?.kind === 'scan' && { relied: [...(inOrder.relied ?? []), ...(strict.relied ?? [])] }),
  };
}

/** The cells that are no Python, in one note at the first of them. */
function unreadNotes({ notebook }: SourceText): readonly Note[] {
  const [first, ...others] = notebook?.unread ?? [];
  if (first === undefined) return [];
  const { cell, at, message } = first;
  const named = others.slice(0, MOST_CELLS).map((other) => other.cell);
  const left = others.length - named.length;
  const more = left > 0 ? `${named.join(', ')} and ${left} more` : listed(named);
  const also = others.length === 0 ? '' : `, nor ${others.length === 1 ? 'is cell' : 'are cells'} ${more}`;
  const what = others.length === 0 ? 'it was passed over, and what it does' : 'what they do';
  return [
    {
      at: { ...at, cell },
      message: `this cell is not valid Python (${message})${also}: ${what} with the names in ${others.length === 0 ? 'it' : 'them'} is not known`,
      unread: 1 + others.length,
    },
  ];
}

const MOST_CELLS = 6;

function listed(numbers: readonly number[]): string {
  return numbers.length < 2 ? numbers.join('') : `${numbers.slice(0, -1).join(', ')} and ${numbers.at(-1)}`;
}

function asSafeAs(finding: Finding, strict: Scan | Skipped): Finding {
  if (finding.safety !== 'safe' || finding.fix === undefined) return finding;
  const isSame = ({ transform, span }: Finding) =>
    transform === finding.transform && span.start === finding.span.start;
  const other = strict.kind === 'scan' ? strict.findings.find(isSame) : undefined;
  if (other?.safety === 'safe' && other.fix !== undefined) return finding;
  return inOrderOnly({ ...finding, questions: other?.questions ?? [] });
}

function inOrderOnly(finding: Finding): Finding {
  if (finding.questions.includes(IN_ORDER)) return finding;
  const safety = finding.safety === 'safe' ? 'unsafe' : finding.safety;
  return { ...finding, safety, questions: [IN_ORDER, ...finding.questions] };
}

/** Whether a cell that ran by itself needs another one now, for a name that it did without. */
function needsAnother(parser: PythonParser, text: string, before: string, now: string): boolean {
  const { free } = namesIn(parser, before);
  const added = [...namesIn(parser, now).free].filter((name) => !free.has(name));
  if (added.length === 0) return false;
  const others = cellsIn(text)
    .map(({ start, end }) => text.slice(start, end))
    .filter((cell) => cell !== before);
  const bound = new Set(others.flatMap((cell) => [...namesIn(parser, cell).bound]));
  return added.some((name) => bound.has(name)) && ![...free].some((name) => bound.has(name));
}

/** The names that a cell binds, and those that it only reads. */
function namesIn(parser: PythonParser, cell: string) {
  const tree = parser.parse(cell);
  try {
    const names = [...tree.root.walk()].filter(({ type }) => type === 'identifier');
    const bound = new Set(
      names.filter((name) => !/^(?:none|read)$/.test(roleOf(name))).map(({ text }) => text),
    );
    const read = names.filter((name) => roleOf(name) === 'read').map(({ text }) => text);
    return { bound, free: new Set(read.filter((name) => !bound.has(name))) };
  } finally {
    tree.dispose();
  }
}

function fixedInCells(
  parser: PythonParser,
  source: SourceText,
  cells: readonly CellPlace[],
  finding: Finding,
): Finding {
  const { fix, ...rest } = finding;
  if (fix === undefined) return finding;
  const refused = (refusal: string): Finding => ({ ...rest, safety: 'advice', questions: [], refusal });
  const edits = ownEdits(fix);
  const isWhole = edits.every(({ start, end }) => cellAt(cells, start) === cellAt(cells, end));
  if (!isWhole) return refused('the fix reaches over more than one cell of the notebook');
  const after = applyEdits(source.text, edits);
  const problem = problemInCells(source, after);
  if (problem !== undefined) return refused(problem.message);
  const changed = changedCells(source.text, after);
  if (changed.some(([before, now]) => isShown(parser, before) && !isShown(parser, now)))
    return refused('a cell shows the value of its last line, and would not any more');
  if (changed.some(([before, now]) => needsAnother(parser, source.text, before, now)))
    return inOrderOnly(finding);
  if (changed.length < 2) return finding;
  const numbers = [...new Set(edits.map(({ start }) => cellAt(cells, start)?.number ?? 0))];
  const named = `cells ${numbers.sort((a, b) => a - b).join(' and ')}`;
  const question = ask('cells-again')`Will ${named}, which it changes, all be run again?`;
  return {
    ...finding,
    safety: finding.safety === 'safe' ? 'unsafe' : finding.safety,
    questions: [...finding.questions, question],
  };
}

/** Why a changed program cannot go back into the cells that it came from. */
export function problemInCells(source: SourceText, after: string): SyntaxProblem | undefined {
  if (source.notebook === undefined || after === source.text) return undefined;
  if (encode(source, after) === undefined)
    return { message: 'it would change more than the Python in the cells of the notebook' };
  const isBroken = changedCells(source.text, after).some(([, now]) => pythonProblem(now) !== undefined);
  return isBroken ? { message: 'a cell of the notebook would not be Python by itself' } : undefined;
}

/** The texts of cells that differ, before and after; both programs have the same cells. */
function changedCells(before: string, after: string): readonly (readonly [string, string])[] {
  const now = cellsIn(after);
  return cellsIn(before).flatMap(({ start, end }, index): (readonly [string, string])[] => {
    const other = now[index];
    const [old, changed] = [before.slice(start, end), after.slice(other?.start, other?.end)];
    return old === changed ? [] : [[old, changed]];
  });
}

/** Whether Jupyter shows the value of a cell's last line. */
function isShown(parser: PythonParser, cell: string): boolean {
  const tree = parser.parse(cell);
  try {
    const last = tree.root.named.findLast(({ type }) => type !== 'comment');
    return last !== undefined && isValue(last) && cell.slice(last.end).trimStart()[0] !== ';';
  } finally {
    tree.dispose();
  }
}

function isValue({ type, named }: PyNode): boolean {
  return type === 'expression_statement' && !/assignment$/.test(named[0]?.type ?? '');
}

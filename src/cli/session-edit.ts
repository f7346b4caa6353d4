import type { Engine } from '../engine/engine.js';
import type { Decision, Finding, Preview, SourceFile } from '../engine/outcome.js';
import { encode } from '../text/decode.js';
import { Lines } from '../text/lines.js';

/** What one answer alone makes of the file, or why it cannot stand. */
export type Trial =
  | { readonly kind: 'stands'; readonly preview: Preview }
  | { readonly kind: 'fails'; readonly reason: string };

/** Carries out one answer on paper, with the engine's own checks, so that the person hears of a problem now. */
export async function tryOut(
  engine: Engine,
  file: SourceFile,
  finding: Finding,
  answer: Decision,
): Promise<Trial> {
  if (answer.kind === 'edited') {
    const problem = engine.syntaxProblem(withRegion(engine, file, finding, answer.text));
    if (problem !== undefined) {
      const at = problem.at === undefined ? '' : `line ${problem.at.line}: `;
      return { kind: 'fails', reason: `it does not parse (${at}${problem.message})` };
    }
  }
  let asked = false;
  const outcome = await engine.repair(file, ({ key }) => {
    if (asked || key !== finding.key) return { kind: 'skip' };
    asked = true;
    return answer;
  });
  if (outcome.kind === 'skipped') return { kind: 'fails', reason: outcome.reason };
  if (outcome.bugs.length > 0) return { kind: 'fails', reason: outcome.bugs.join('; ') };
  if (encode(file.source, outcome.after) === undefined) {
    return {
      kind: 'fails',
      reason: `it has a character that ${file.source.encoding}, the file's encoding, lacks`,
    };
  }
  const { after, beside } = outcome;
  return { kind: 'stands', preview: { before: file.source.text, after, beside } };
}

/** Of a fix, or of what a person wrote in its place. */
export async function previewOf(
  engine: Engine,
  file: SourceFile,
  finding: Finding,
  text: string | undefined,
): Promise<Preview> {
  const trial =
    text === undefined ? undefined : await tryOut(engine, file, finding, { kind: 'edited', text });
  return trial?.kind === 'stands' ? trial.preview : engine.preview(file, finding);
}

/** Lines for an editor, which wants a newline at the end. */
export function forEditor(text: string): string {
  return `${text.replace(/\r\n?/g, '\n')}\n`;
}

/** What the editor saved, with the newlines of the lines it replaces and without the one that was added. */
export function fromEditor(saved: string, file: SourceFile, finding: Finding): string {
  const lines = new Lines(file.source.text);
  const newline = lines.newlineNear(lines.lineAt(finding.span.start));
  return saved.replace(/\r\n?/g, '\n').replace(/\n$/, '').replaceAll('\n', newline);
}

function withRegion(engine: Engine, file: SourceFile, finding: Finding, text: string): string {
  const { span } = engine.editableRegion(file, finding);
  return file.source.text.slice(0, span.start) + text + file.source.text.slice(span.end);
}

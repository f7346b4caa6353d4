import type { Edit } from '../edit/edit.js';
import { Lines, type Span } from '../text/lines.js';
import type { Finding, SourceFile } from './outcome.js';

/** The whole lines, without the last newline, that a finding's own edits touch. */
export function editableLines(lines: Lines, finding: Finding): Span {
  const own = finding.fix?.edits ?? [];
  const edits = own.length === 0 ? [finding.span] : own;
  const first = lines.lineAt(Math.min(...edits.map((edit) => edit.start)));
  const last = lines.lineAt(Math.max(...edits.map((edit) => edit.end)));
  return { start: lines.start(first), end: lines.end(last) };
}

/** Those lines, and what the fix would make of them. */
export function editableRegion(
  file: SourceFile,
  finding: Finding,
): { readonly span: Span; readonly proposed: string } {
  return editableIn(new Lines(file.source.text), finding);
}

export function editableIn(
  lines: Lines,
  finding: Finding,
): { readonly span: Span; readonly proposed: string } {
  const { text } = lines;
  const span = editableLines(lines, finding);
  let proposed = '';
  let from = span.start;
  for (const edit of [...(finding.fix?.edits ?? [])].sort((a, b) => a.start - b.start)) {
    proposed += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return { span, proposed: proposed + text.slice(from, span.end) };
}

/** What no other fix may change in the same pass. */
export function claimed({ fix }: Finding, edits: readonly Edit[]): readonly Edit[] {
  return [...edits, ...(fix?.near ?? []).map((start) => ({ start, end: start, text: '' }))];
}

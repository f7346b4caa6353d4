import { createHash } from 'node:crypto';
import { applyEdits } from '../edit/apply.js';
import type { FileEdits } from '../edit/edit.js';
import type { Finding } from '../engine/outcome.js';
import { editableIn } from '../engine/region.js';
import { aboutWhat } from '../semantic/question.js';
import { Lines } from '../text/lines.js';

/** Lines on both sides that tell a finding from others with the same lines. */
const AROUND = 3;

/**
 * What a person sees of each finding with a fix, as a name: the lines of its edits before and after, what changes with
 * them, and what is asked. An answer holds as long as this name does, whatever else changes in the file.
 */
export function shownNames(text: string, findings: readonly Finding[]): ReadonlyMap<Finding, string> {
  const lines = new Lines(text);
  const own = findings
    .filter(({ fix }) => fix !== undefined)
    .map((finding) => ({ finding, shown: shownOf(lines, finding) }));
  const counts = countOf(own.map(({ shown }) => shown));
  const around = own.map(({ finding, shown }) =>
    counts.get(shown) === 1 ? shown : `${shown}\0${linesAround(lines, finding)}`,
  );
  const before = new Map<string, number>();
  const names = new Map<Finding, string>();
  for (const [at, { finding }] of own.entries()) {
    const shown = around[at] ?? '';
    const nth = before.get(shown) ?? 0;
    before.set(shown, nth + 1);
    names.set(finding, digest(`${shown}\0${nth}`));
  }
  return names;
}

function shownOf(lines: Lines, finding: Finding): string {
  const { transform, fix, questions, assumed = [] } = finding;
  const { span, proposed } = editableIn(lines, finding);
  // A yes for good takes a question off the card, and changes nothing else.
  const asked = [...questions, ...assumed].map(aboutWhat).sort();
  return JSON.stringify([
    transform,
    lines.text.slice(span.start, span.end),
    proposed,
    fix?.imports ?? [],
    asked,
    (fix?.beside ?? []).map(besideShown),
  ]);
}

function besideShown({ path, text, edits }: FileEdits): readonly string[] {
  const lines = new Lines(text);
  const start = lines.start(lines.lineAt(Math.min(...edits.map((edit) => edit.start))));
  const end = lines.end(lines.lineAt(Math.max(...edits.map((edit) => edit.end))));
  const moved = edits.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }));
  const before = text.slice(start, end);
  return [path, before, applyEdits(before, moved)];
}

function linesAround(lines: Lines, finding: Finding): string {
  const { span } = editableIn(lines, finding);
  const first = Math.max(1, lines.lineAt(span.start) - AROUND);
  const last = Math.min(lines.count, lines.lineAt(span.end) + AROUND);
  return lines.text.slice(lines.start(first), lines.end(last));
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

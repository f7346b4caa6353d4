import { applyEdits } from '../edit/apply.js';
import type { Edit, FileEdits } from '../edit/edit.js';
import type { BesideChange, Finding, Preview, SourceFile } from './outcome.js';

/** What one fix alone makes of its files. */
export function previewOf(file: SourceFile, finding: Finding): Preview {
  const before = file.source.text;
  if (finding.fix === undefined) return { before, after: before };
  const [importing] = finding.fix.importEdits;
  const edits = importing === undefined ? finding.fix.edits : withImports(finding.fix.edits, importing);
  const beside = finding.fix.beside?.map(changeOf);
  return { before, after: applyEdits(before, edits), ...(beside && { beside }) };
}

/** An import that lands exactly where another edit begins goes in front of it, in one edit. */
export function withImports(edits: readonly Edit[], importing: Edit): readonly Edit[] {
  const same = edits.find((edit) => edit.start === importing.start);
  if (same === undefined) return [...edits, importing];
  return edits.map((edit) => (edit === same ? { ...edit, text: importing.text + edit.text } : edit));
}

export function changeOf({ path, text, edits }: FileEdits): BesideChange {
  return { path, before: text, after: applyEdits(text, edits) };
}

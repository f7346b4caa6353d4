import { applyEdits } from '../edit/apply.js';
import type { Edit, FileEdits } from '../edit/edit.js';
import { importEdit } from '../syntax/import-place.js';
import type { Layout } from '../syntax/layout.js';
import type { Span } from '../text/lines.js';
import { cellWith } from '../text/notebook/notebook.js';
import type { BesideChange, Finding, Preview, ProposedFix, SourceFile } from './outcome.js';

/** What one fix alone makes of its files. The changed text is made when it is asked for: a policy decides without it. */
export function previewOf(file: SourceFile, { fix }: Finding): Preview {
  const before = file.source.text;
  if (fix === undefined) return { before, after: before };
  let after: string | undefined;
  return {
    before,
    get after() {
      after ??= applyEdits(before, ownEdits(fix));
      return after;
    },
    ...(fix.beside && { beside: fix.beside.map(changeOf) }),
  };
}

/** The edits of a fix and of its imports, where it is the only one. */
export function ownEdits({ edits, importEdits: [importing] }: ProposedFix): readonly Edit[] {
  return importing === undefined ? edits : withImports(edits, importing);
}

/** The imports that some places need, in one edit; in a notebook, in one for each of their cells. */
export function withNeeded(
  layout: Layout,
  edits: readonly Edit[],
  needs: readonly { readonly at: number; readonly imports: readonly string[] }[],
): readonly Edit[] {
  const byCell = new Map<number, { readonly cell: Span | undefined; readonly names: Set<string> }>();
  for (const { at, imports } of needs) {
    const cell = imports.length === 0 ? undefined : cellWith(layout.text, at);
    const { names } = byCell.get(cell?.start ?? 0) ?? { names: new Set<string>() };
    for (const name of imports) names.add(name);
    byCell.set(cell?.start ?? 0, { cell, names });
  }
  return [...byCell.values()].reduce<readonly Edit[]>((all, { cell, names }) => {
    const importing = importEdit(layout, [...names].sort(), cell);
    return importing === undefined ? all : withImports(all, importing);
  }, edits);
}

/** An import that lands exactly where another edit begins goes in front of it, in one edit. */
function withImports(edits: readonly Edit[], importing: Edit): readonly Edit[] {
  const same = edits.find((edit) => edit.start === importing.start);
  if (same === undefined) return [...edits, importing];
  return edits.map((edit) => (edit === same ? { ...edit, text: importing.text + edit.text } : edit));
}

export function changeOf({ path, text, edits }: FileEdits): BesideChange {
  return { path, before: text, after: applyEdits(text, edits) };
}

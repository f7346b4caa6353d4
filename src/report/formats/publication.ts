import { jsonLine, type Notebook } from '../../text/notebook/notebook.js';
import { lineText } from '../../text/place.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import { type JsonEdit, type JsonFinding, type JsonReport, toJson } from '../json.js';
import { alternativeSentence, type Report } from '../report.js';

/** What a format needs to know besides the report. */
export interface About {
  /** The version of memfix. */
  readonly version: string;
  readonly metas: readonly TransformMeta[];
  /** The page of a transform, as markdown. */
  page(id: string): string | undefined;
  /** The path from the root of the repository: forges know files by that. */
  fromRoot(path: string): string;
  /** The same for the files that a sentence names. */
  inWords(text: string): string;
}

/** A finding for a forge, a server or a dashboard. */
export interface Published extends JsonFinding {
  /** The whole message: what is held, what would fix it, and what to ask first. One sentence or phrase each. */
  readonly sentences: readonly string[];
}

/** A report for programs: its findings without the sites that were left alone, and with paths from the root. */
export interface Publication {
  readonly findings: readonly Published[];
  readonly document: JsonReport;
}

export function publish(report: Report, about: About): Publication {
  const document = toJson(report);
  const books = new Map(report.scans.map(({ file }) => [file.path, file.source.notebook] as const));
  return {
    document,
    findings: document.findings.map((finding) => {
      const sentences = sentencesOf(finding).map(about.inWords);
      return {
        ...inItsFile(finding, books.get(finding.path)),
        path: about.fromRoot(finding.path),
        sentences:
          finding.cell === null
            ? sentences
            : [`in ${lineText({ ...finding, cell: finding.cell })}:`, ...sentences],
      };
    }),
  };

  /** A forge knows no cells: it gets the line of the JSON, and no edits, which would be of another text. */
  function inItsFile(finding: JsonFinding, notebook: Notebook | undefined): JsonFinding {
    const { fix, cell } = finding;
    const files = fix?.files.map((file) => ({ ...file, path: about.fromRoot(file.path) })) ?? [];
    if (cell === null || notebook === undefined) return { ...finding, fix: fix && { ...fix, files } };
    const line = jsonLine(notebook, cell, finding.line);
    const endLine = Math.max(line, jsonLine(notebook, cell, finding.endLine));
    return { ...finding, line, endLine, column: 1, endColumn: 1, fix: fix && { ...fix, edits: [], files } };
  }
}

function sentencesOf({
  message,
  safety,
  fix,
  advice,
  questions,
  alternativeTo,
  verified,
}: JsonFinding): string[] {
  return [
    message,
    ...(fix === null ? [] : [`${safety} fix: ${fix.title}`]),
    ...(advice === null ? [] : [`advice: ${advice}`]),
    ...(alternativeTo.length === 0 ? [] : [`alternative: ${alternativeSentence(alternativeTo)}`]),
    ...questions.map(({ text }) => `only if yes: ${text}`),
    ...(verified === null ? [] : [verified.words]),
  ];
}

/** The same edits, where two that meet at one place are one: not every reader keeps their order. */
export function apart(edits: readonly JsonEdit[]): readonly JsonEdit[] {
  const merged: JsonEdit[] = [];
  for (const edit of edits) {
    const last = merged.at(-1);
    if (last === undefined || last.end !== edit.start) merged.push(edit);
    else
      merged[merged.length - 1] = {
        ...last,
        end: edit.end,
        endLine: edit.endLine,
        endColumn: edit.endColumn,
        text: last.text + edit.text,
      };
  }
  return merged;
}

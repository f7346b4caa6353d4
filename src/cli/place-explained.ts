import type { Finding, Scan } from '../engine/outcome.js';
import { renderFull } from '../report/full.js';
import { wrap } from '../report/prose.js';
import { Lines } from '../text/lines.js';
import { cellsIn, positionInCells } from '../text/notebook/notebook.js';
import { placeText } from '../text/place.js';
import { Context, EXIT } from './context.js';
import { lookThrough, prepare } from './looking.js';

/** Another cell is further away than any line of the same one. */
const FAR = 1_000_000;

/** Where to look: a line; of a notebook, a cell and a line of it. All of the file where nothing is said. */
interface Spot {
  readonly cell?: number;
  readonly line?: number;
}

/** What is found or left alone at a place of a file, with every step of why. */
export async function explainPlace(context: Context, path: string, spot: Spot): Promise<number> {
  const asked = new Context(context.io, context.args.about(path), context.catalogue);
  const byDefault = await lookAt(asked, spot);
  const isNothing = byDefault.here.length === 0 && byDefault.seen.crashes.length === 0;
  // A report of `--oom` has these, too.
  const withOptIn = isNothing
    ? await lookAt(new Context(asked.io, asked.args.extending('opt-in'), asked.catalogue), spot)
    : undefined;
  const { seen, here } = withOptIn?.here.length ? withOptIn : byDefault;
  const findings = seen.scans.flatMap((scan) => scan.findings);
  const told = here.length > 0 ? here : nearest(findings, spot);
  const sentence = sentenceFor(path, spot, { isNothing, isHere: here.length > 0, told, scan: seen.scans[0] });
  const report = {
    scans: seen.scans.map((scan) => ({ ...scan, findings: told, notes: [] })),
    skipped: seen.skipped,
    checked: seen.files,
  };
  const text = renderFull(report, { ...asked.view, verbose: true, isThorough: true });
  // Said before a pager, it would be gone from the screen.
  if (told.length === 0) asked.say(sentence);
  const width = asked.view.isTerminal ? asked.view.width : Infinity;
  const lines = wrap(sentence, width, { first: '', rest: '' }).join('\n');
  await asked.show(told.length === 0 || sentence === '' ? text : `${lines}\n\n${text}`);
  asked.confess(seen.crashes, []);
  return seen.crashes.length > 0 ? EXIT.error : EXIT.clean;
}

/** What there is instead of what was asked about; empty where that is there. */
function sentenceFor(
  path: string,
  spot: Spot,
  {
    isNothing,
    isHere,
    told,
    scan,
  }: { isNothing: boolean; isHere: boolean; told: readonly Finding[]; scan: Scan | undefined },
): string {
  const place = placeOf(path, spot);
  if (isHere)
    return isNothing ? `Nothing by default at ${place}; with \`--extend-select opt-in\` there is:` : '';
  const what = (scan && noSuchCell(scan, spot)) ?? `Nothing is found or left alone at ${place}.`;
  return `${what}${told.length === 0 ? '' : ' The nearest of the file:'}`;
}

async function lookAt(context: Context, spot: Spot) {
  const seen = await lookThrough(context, await prepare(context), 'report');
  const here = seen.scans.flatMap((scan) => scan.findings.filter((finding) => isAt(finding, spot, scan)));
  return { seen, here };
}

function placeOf(path: string, { cell, line }: Spot): string {
  if (cell !== undefined)
    return line === undefined ? `${path}: cell ${cell}` : placeText(path, { cell, line });
  return line === undefined ? path : `${path}:${line}`;
}

/** A number that is that of no cell with code may be a line of the JSON, as a search in the file tells it. */
function noSuchCell({ file: { source } }: Scan, { cell, line }: Spot): string | undefined {
  const { notebook } = source;
  if (notebook === undefined || cell === undefined) return undefined;
  if (notebook.cells.some(({ number }) => number === cell)) return undefined;
  const json = new Lines(notebook.json);
  const around = notebook.cells.find(
    ({ place }) => json.lineAt(place.start) <= cell && cell <= json.lineAt(place.end),
  );
  const meant =
    line === undefined && around !== undefined
      ? ` Line ${cell} of the JSON is in cell ${around.number}.`
      : '';
  return `There is no cell ${cell} with code: the number after a notebook is that of a cell.${meant}`;
}

/** It points there, or its fix changes that line. */
function isAt({ at, end, fix }: Finding, { cell, line }: Spot, { file }: Scan): boolean {
  const { text } = file.source;
  const lines = new Lines(text);
  const inCell = positionInCells(lines, cellsIn(text));
  const edited = (fix?.edits ?? []).map((edit) => ({
    at: inCell(lines.position(edit.start)),
    end: inCell(lines.position(edit.end)),
  }));
  return [{ at, end }, ...edited].some(
    ({ at: from, end: to }) =>
      (cell === undefined || from.cell === cell) &&
      (line === undefined || (from.line <= line && line <= to.line)),
  );
}

function nearest(findings: readonly Finding[], { cell = 1, line = 1 }: Spot): readonly Finding[] {
  const away = ({ at }: Finding): number =>
    Math.abs((at.cell ?? cell) - cell) * FAR + Math.abs(at.line - line);
  const least = Math.min(...findings.map(away));
  return findings.filter((finding) => away(finding) === least);
}

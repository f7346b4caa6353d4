import { Lines } from '../../text/lines.js';
import { placeText } from '../../text/place.js';
import { type Hunk, hunkHeader } from '../diff.js';
import { EFFECT_WORDS } from '../effects.js';
import { ownHunks } from '../own-hunks.js';
import { markdownTable } from '../page.js';
import { plural } from '../prose.js';
import { askedTogether } from '../questions.js';
import { isRefused, type Report, type Shown, shownFindings, standingOf } from '../report.js';
import { shownHunksOf } from '../shown-hunks.js';
import { summarize } from '../summary.js';
import type { About } from './publication.js';

/** Forges refuse comments that are longer. */
const ROOM = 60_000;
/** So many findings are shown whole, the others in a table. */
const WHOLE = 20;
const LISTED = 200;
/** Questions of one fix. */
const QUESTIONS = 5;
/** Lines of one diff. */
const LONGEST = 80;

/** A summary for a pull request or a job: a table of the findings, and the change of each to unfold. */
export function renderMarkdown(report: Report, about: About): string {
  const shown = shownFindings(report, { verbose: false }).filter(({ finding }) => !isRefused(finding));
  const parts = ['## memfix', prose(summarize(report))];
  if (shown.length > 0) {
    const rows = shown
      .slice(0, LISTED)
      .map(({ scan, finding }) => [
        code(placeText(about.fromRoot(scan.file.path), finding.at)),
        code(finding.transform),
        standingOf(finding, report.proven?.standing(scan.file.path, finding)),
        EFFECT_WORDS[finding.effect],
        prose(about.inWords(finding.message)),
      ]);
    parts.push(markdownTable(['where', 'transform', 'safety', 'effect', 'what'], rows));
    if (shown.length > LISTED) parts.push(`and ${plural(shown.length - LISTED, 'more finding')}`);
  }
  parts.push(...changes(shown, about, report, ROOM - parts.join('').length));
  if (report.skipped.length > 0) {
    const rows = report.skipped.map(({ path, at, reason }) => [
      code(at === undefined ? about.fromRoot(path) : placeText(about.fromRoot(path), at)),
      prose(reason),
    ]);
    parts.push(markdownTable(['skipped', 'because'], rows));
  }
  return `${parts.join('\n\n')}\n`;
}

/** The changes of the first findings, as many as there is room for. */
function changes(shown: readonly Shown[], about: About, report: Report, room: number): readonly string[] {
  const fixed = shown.filter(({ finding }) => finding.fix !== undefined);
  const told: string[] = [];
  let left = room;
  for (const each of fixed.slice(0, WHOLE)) {
    const text = details(each, about, report);
    if (text.length > left) break;
    left -= text.length;
    told.push(text);
  }
  const more = fixed.length - told.length;
  return more > 0 ? [...told, `\`memfix diff\` shows ${plural(more, 'more change')}.`] : told;
}

function details({ scan, finding }: Shown, about: About, { proven }: Report): string {
  const { fix } = finding;
  if (fix === undefined) return '';
  const path = about.fromRoot(scan.file.path);
  const own = ownHunks(scan.file, new Lines(scan.file.source.text), finding).map(({ cell, hunks }) => ({
    name: cell === undefined ? path : `${path}: cell ${cell}`,
    hunks,
  }));
  const others = (fix.beside ?? []).map((other) => ({
    name: about.fromRoot(other.path),
    hunks: shownHunksOf(new Lines(other.text), other.edits),
  }));
  const diffs = [...own, ...others].flatMap(({ name, hunks }) =>
    hunks.length === 0 ? [] : [fenced(diffOf(name, hunks))],
  );
  const title = `<summary>${html(oneLine(placeText(path, finding.at)))}: ${html(fix.title)}</summary>`;
  const questions = askedTogether(finding.questions, scan.file.path).map(about.inWords);
  const more = questions.length - QUESTIONS;
  const standing = proven?.standing(scan.file.path, finding);
  const asked = [
    ...(standing === undefined ? [] : [`- ${prose(`${standing.label}${standing.words}`)}`]),
    ...questions.slice(0, QUESTIONS).map((text) => `- only if yes: ${prose(text)}`),
    ...(more > 0 ? [`- and ${plural(more, 'more question')}`] : []),
  ].join('\n');
  return ['<details>', title, ...(asked === '' ? [] : [asked]), ...diffs, '</details>'].join('\n\n');
}

function diffOf(path: string, hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap((hunk) => [
    hunkHeader(hunk),
    ...hunk.lines.map(({ kind, text }) => `${kind}${text.replace(/\r?\n$/, '')}`),
  ]);
  const shown = lines.slice(0, LONGEST);
  if (lines.length > LONGEST) shown.push(`… ${lines.length - LONGEST} more lines`);
  const name = oneLine(path);
  return [`--- ${name}`, `+++ ${name}`, ...shown].join('\n');
}

/** A fence that nothing in the text can close. */
function fenced(body: string): string {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${body}\n${fence}`;
}

/** Backticks that nothing in the text can close; a name of others stays a name. */
function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  const room = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${ticks}${room}${oneLine(text)}${room}${ticks}`;
}

/** Our sentences, in which code stands in backticks: outside of these nothing is markup, mention or link. */
function prose(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .split(/(`[^`]+`)/)
    .map((part, at) => (at % 2 === 1 ? part : html(part).replace(/[\\*_[\]#@~]/g, '\\$&')))
    .join('');
}

function html(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ');
}

import type { Finding } from '../engine/outcome.js';
import type { Diagnosis } from '../oom/diagnosis.js';
import { countByEffect, effectPhrase } from './effects.js';
import { plural } from './prose.js';
import { type Report, SAFETIES } from './report.js';
import { type Tally, tally } from './tally.js';

/** What was found or fixed, and the next step, in one paragraph. */
export function summarize(report: Report): string {
  const counts = tally(report);
  const facts = [
    found(counts, report),
    ...(counts.skipped > 0 ? [`${plural(counts.skipped, 'file')} skipped`] : []),
    ...(counts.notes > 0 ? [plural(counts.notes, 'note')] : []),
  ];
  const next = report.oom === undefined ? nextStep(counts) : reviewOf(report.oom);
  const did = report.fixed === undefined ? '' : fixedSentence(report.fixed, report.taken ?? []);
  return [did, `${facts.join('; ')}.`, debts(report), next].filter((sentence) => sentence !== '').join(' ');
}

function fixedSentence(fixed: NonNullable<Report['fixed']>, taken: readonly Finding[]): string {
  const done = [
    ...(fixed.findings > 0 ? [`Fixed ${plural(fixed.findings, 'finding')}`] : []),
    ...(fixed.suppressed > 0 ? [`suppressed ${plural(fixed.suppressed, 'finding')}`] : []),
  ].join(' and ');
  if (done === '') return 'Nothing was changed.';
  const effects = taken.length === 0 ? '' : `: ${effectPhrase(countByEffect(taken))}`;
  return `${done.charAt(0).toUpperCase()}${done.slice(1)} in ${plural(fixed.files, 'file')}${effects}.`;
}

/** What the baseline has to do with it. */
function debts({ baseline }: Report): string {
  if (baseline === undefined) return '';
  const known = `${plural(baseline.known, 'known finding')} of the baseline ${baseline.known === 1 ? 'is' : 'are'} left out`;
  if (baseline.gone === 0) return `${known}.`;
  return `${known}; ${baseline.gone} ${baseline.gone === 1 ? 'is' : 'are'} gone: \`memfix baseline\` forgets ${baseline.gone === 1 ? 'it' : 'them'}.`;
}

function found(counts: Tally, report: Report): string {
  const remain = report.fixed === undefined ? '' : counts.findings === 1 ? ' remains' : ' remain';
  if (counts.findings === 0) {
    const none = report.baseline === undefined ? 'No findings' : 'No new findings';
    return remain === '' ? `${none} in ${plural(report.checked, 'file')}` : 'No findings remain';
  }
  const kinds = SAFETIES.filter((safety) => counts.bySafety[safety] > 0);
  const files = ` in ${plural(counts.files, 'file')}`;
  const effects = `: ${effectPhrase(counts.byEffect)}`;
  if (kinds.length === 1) return plural(counts.findings, `${kinds[0]} finding`) + remain + files + effects;
  const parts = kinds.map((safety) => `${counts.bySafety[safety]} ${safety}`).join(', ');
  return `${plural(counts.findings, 'finding')} (${parts})${remain}${files}${effects}`;
}

/** The ids are named: some of them run only when asked for. */
function reviewOf({ related }: Diagnosis): string {
  const offered = [...related].filter(({ finding }) => finding.fix !== undefined);
  if (offered.length === 0) return '';
  const ids = [...new Set(offered.map(({ finding }) => finding.transform))];
  return `Run \`memfix apply --interactive --select ${ids.join(',')}\` to review ${offered.length === 1 ? 'the fix' : `the ${offered.length} fixes`} nearest to it.`;
}

function nextStep({ fixable: { safe, unsafe, advice } }: Tally): string {
  if (safe > 0) {
    const more = unsafe > 0 ? `; \`--unsafe-fixes\` would fix ${unsafe} more` : '';
    return `Run \`memfix apply\` to fix ${safe}${more}.`;
  }
  if (unsafe > 0) return `Run \`memfix apply --unsafe-fixes\` to fix ${unsafe}.`;
  return advice > 0 ? `Run \`memfix apply --interactive\` to review ${advice}.` : '';
}

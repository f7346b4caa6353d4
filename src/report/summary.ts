import { printable } from './cells.js';
import { countByEffect, effectPhrase } from './effects.js';
import { command, plural } from './prose.js';
import { type Report, SAFETIES, type Taken } from './report.js';
import { type Tally, tally } from './tally.js';

/** What was found or fixed, and the next step, in one paragraph. */
export function summarize(report: Report, isVerbose = false): string {
  const counts = tally(report);
  const facts = [
    found(counts, report, isVerbose),
    ...(counts.findings > 0 && counts.refused > 0
      ? [`${leftAlone(counts)}${isVerbose ? '' : ' (`-v`)'}`]
      : []),
    ...(counts.skipped > 0 ? [`${plural(counts.skipped, 'file')} skipped`] : []),
    ...(counts.notes > 0 ? [plural(counts.notes, 'note')] : []),
    ...(isVerbose && counts.suppressed > 0 ? [`${counts.suppressed} silenced by comments`] : []),
  ];
  const next = report.oom === undefined ? nextStep(counts, report) : reviewOf(report);
  const did = report.fixed === undefined ? '' : fixedSentence(report.fixed, report.taken ?? []);
  return [did, `${facts.join('; ')}.`, debts(report, counts.findings === 0), next]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

export function fixedSentence(fixed: NonNullable<Report['fixed']>, taken: readonly Taken[]): string {
  const done = [
    ...(fixed.findings > 0 ? [`Fixed ${plural(fixed.findings, 'finding')}`] : []),
    ...(fixed.suppressed > 0 ? [`suppressed ${plural(fixed.suppressed, 'finding')}`] : []),
  ].join(' and ');
  if (done === '') return 'Nothing was changed.';
  const findings = taken.map(({ finding }) => finding);
  const effects = findings.length === 0 ? '' : `: ${effectPhrase(countByEffect(findings))}`;
  return `${done.charAt(0).toUpperCase()}${done.slice(1)} in ${plural(fixed.files, 'file')}${effects}.`;
}

/** What the baseline has to do with it. */
function debts({ baseline }: Report, isAllKnown: boolean): string {
  if (baseline === undefined || (baseline.known === 0 && baseline.gone === 0)) return '';
  const known = `${plural(baseline.known, 'known finding')} of the baseline ${baseline.known === 1 ? 'is' : 'are'} left out`;
  if (baseline.gone === 0) return `${known}.`;
  const gone = `${known}; ${baseline.gone} ${baseline.gone === 1 ? 'is' : 'are'} gone`;
  // It records what is new, too.
  if (!isAllKnown) return `${gone}.`;
  return `${gone}: \`memfix baseline\` forgets ${baseline.gone === 1 ? 'it' : 'them'}.`;
}

function found(counts: Tally, report: Report, isVerbose: boolean): string {
  const remain = report.fixed === undefined ? '' : counts.findings === 1 ? ' remains' : ' remain';
  if (counts.findings === 0) {
    const fixes = report.baseline === undefined ? 'fixes' : 'new findings';
    if (counts.refused > 0)
      return `No ${remain === '' ? fixes : 'findings remain'}. ${leftAlone(counts)}${isVerbose ? '' : `: ${command('check -v', report.aim)} says why`}`;
    if (report.checked === 0) return nothingSeen(report);
    const none = report.baseline === undefined ? 'No findings' : 'No new findings';
    if (remain !== '') return 'No findings remain';
    const failed = report.scans.filter(({ faults }) => faults !== undefined).length;
    return failed === 0
      ? `${none} in ${plural(report.checked, 'file')}`
      : `${none}, but ${plural(failed, 'file')} of ${report.checked} could not be looked at by every transform`;
  }
  const kinds = SAFETIES.filter((safety) => counts.bySafety[safety] > 0);
  const files = ` in ${plural(counts.files, 'file')}`;
  const effects = `: ${effectPhrase(counts.byEffect)}${waysPhrase(counts)}`;
  if (kinds.length === 1) return plural(counts.findings, `${kinds[0]} finding`) + remain + files + effects;
  const parts = kinds.map((safety) => `${counts.bySafety[safety]} ${safety}`).join(', ');
  return `${plural(counts.findings, 'finding')} (${parts})${remain}${files}${effects}`;
}

/** Why there is less to ask about than was found. */
export function waysPhrase({ ways }: Tally): string {
  return ways === 0 ? '' : `; ${ways} ${ways === 1 ? 'is' : 'are'} another way to fix the same place`;
}

/** Why no file was looked at. */
export function nothingSeen({ onlyChanged, exclude = [], skipped }: Report): string {
  if (skipped.length > 0) return 'No file was looked at';
  if (onlyChanged === true) return 'No Python file has changed';
  if (exclude.length === 0) return 'There were no Python files to look at';
  return `There were no Python files to look at besides those that \`exclude\` passes over (${listed(exclude)})`;
}

function listed(patterns: readonly string[]): string {
  const shown = patterns.slice(0, 3).map((pattern) => printable(pattern));
  return patterns.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

/** Never an all-clear where something was seen. */
function leftAlone({ findings, refused, refusedLeaks }: Tally): string {
  const sites = plural(refused, 'suspicious site');
  if (findings > 0)
    return `${sites}${refusedLeaks === 0 ? '' : ` (${plural(refusedLeaks, 'leak')})`} left alone`;
  const some =
    refusedLeaks === refused ? (refused === 2 ? 'both' : 'all of them') : `${refusedLeaks} of them`;
  const leaks = refused === 1 ? 'a leak' : `${some} ${refusedLeaks === 1 ? 'a leak' : 'leaks'}`;
  const were = refused === 1 ? 'was' : 'were';
  return `${sites} ${were} left alone${refusedLeaks === 0 ? '' : `, ${leaks}`}`;
}

function reviewOf({ oom, aim, isLogPiped }: Report): string {
  const offered = [...(oom?.related ?? [])].filter(({ finding }) => finding.fix !== undefined);
  if (offered.length === 0) return '';
  const what = offered.length === 1 ? 'the fix' : `the ${offered.length} fixes`;
  const run = isLogPiped === true ? 'Save the log in a file and run' : 'Run';
  return `${run} ${command('apply -i', aim)} to review ${what} that may explain it.`;
}

/** How many unsafe ones would be fixed is not known before it is done: one may bring another, or leave it nothing to do. */
function nextStep(counts: Tally, report: Report): string {
  const { aim, takesUnsafe } = report;
  const { fixable, held, allowed } = counts;
  const [safe, unsafe] = [fixable.safe - held.safe, fixable.unsafe - held.unsafe];
  if (takesUnsafe === true && unsafe > 0)
    return `Run ${command('apply --unsafe-fixes', aim)} to take the unsafe ones too, or ${command('apply -i', aim)} to be asked.`;
  const mixed = `${heldSentence(counts, report)}${report.isWithoutGit === true && fixable.safe + fixable.unsafe > 0 ? ' Without git, add `--allow-no-vcs`.' : ''}`;
  if (safe + allowed > 0) {
    const asked = unsafe - allowed;
    const more = asked > 0 ? `; with \`-i\` it asks about ${asked} more` : '';
    const own = allowed === 0 ? '' : `${plural(allowed, 'unsafe one')}, as the config says`;
    const what = [
      ...(safe > 0 ? [`fix ${counts.mayMeet ? 'up to ' : ''}${safe}`] : []),
      ...(own === '' ? [] : [`take ${own}`]),
    ];
    return `Run ${command('apply', aim)} to ${what.join(' and to ')}${more}.${mixed}`;
  }
  const open = unsafe > 0 ? unsafe : fixable.advice - held.advice;
  const asks =
    open > 0 ? `Run ${command('apply -i', aim)} to be asked about ${open === 1 ? 'it' : open}.` : '';
  return `${asks}${mixed}`.trim();
}

/** What `apply` would leave alone. */
function heldSentence({ held }: Tally, report: Report): string {
  const asked = held.unsafe > 0 ? held.unsafe : held.advice;
  const count = held.safe > 0 ? held.safe : asked;
  if (count === 0) return '';
  const files = report.held?.size ?? 0;
  const where = `${count === 1 ? 'is' : 'are'} in ${files === 1 ? 'a file' : `${files} files`} with uncommitted changes`;
  const run = held.safe > 0 ? 'apply --allow-dirty' : 'apply -i --allow-dirty';
  const more = held.safe > 0 && held.unsafe > 0 ? `; with \`-i\` it asks about ${asked} more` : '';
  return ` ${plural(count, 'fix', 'fixes')} ${where}: commit ${files === 1 ? 'it' : 'them'} first, or run ${command(run, report.aim)}${more}.`;
}

import type { Finding } from '../../engine/outcome.js';
import { EFFECT_WORDS } from '../../report/effects.js';
import { headline } from '../../report/evidence.js';
import { premiseSentence } from '../../report/premises.js';
import { askedTogether } from '../../report/questions.js';
import { isRefused } from '../../report/report.js';
import type { Safety, TransformMeta } from '../../toolkit/contract.js';
import type { Diagnostic, Range } from './protocol.js';

/** Warning, information, hint. */
const SEVERITY: Readonly<Record<Safety, 2 | 3 | 4>> = { safe: 2, unsafe: 3, advice: 3 };

export function isTold(finding: Finding): boolean {
  return !isRefused(finding);
}

/** `path`: of the file it is in. */
export function diagnosticOf(path: string, finding: Finding, range: Range): Diagnostic {
  const lines = [
    finding.message,
    ...(finding.fix === undefined ? [] : [`Fix (${finding.safety}): ${finding.fix.title}`]),
    ...(finding.advice === undefined ? [] : [finding.advice]),
    ...askedTogether(finding.questions, path),
  ];
  return {
    range,
    severity: SEVERITY[finding.safety],
    source: 'memfix',
    code: finding.transform,
    message: lines.join('\n'),
  };
}

/** What a person wants to know who rests on a finding: why, and what was measured. */
export function hoverText(path: string, finding: Finding, meta: TransformMeta | undefined): string {
  const figure = meta && headline(meta);
  const standing = [finding.safety, finding.numerics, EFFECT_WORDS[finding.effect]].join(' · ');
  const lines = [
    `**${finding.transform}** ${standing}`,
    quoted(finding.message),
    ...(meta === undefined ? [] : [meta.docs.why, `*Measured:* ${meta.evidence.verdict}`]),
    ...(figure === undefined ? [] : [figure]),
    ...(finding.fix === undefined ? [] : [`*Fix:* ${quoted(finding.fix.title)}`]),
    ...(finding.advice === undefined ? [] : [quoted(finding.advice)]),
    ...askedTogether(finding.questions, path).map((text) => `*Open question:* ${quoted(text)}`),
    ...(finding.assumed ?? []).map(({ text }) => `*Assumed by the config:* ${quoted(text)}`),
    ...(finding.premises ?? []).map((premise) => `*Counts on* ${quoted(premiseSentence(premise))}`),
    `\`memfix explain ${finding.transform}\` has the whole page.`,
  ];
  return lines.join('\n\n');
}

/** Words of the code are no markup, but for names in backticks. */
function quoted(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(/[\\[\]<>*_!#|]/g, '\\$&')))
    .join('');
}

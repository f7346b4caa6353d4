import { placeText } from '../../text/place.js';
import type { Numerics, TransformMeta } from '../../toolkit/contract.js';
import { type Effect, effectOf } from '../../toolkit/effect.js';
import { countByEffect, effectPhrase } from '../effects.js';
import { headline } from '../evidence.js';
import { plural } from '../prose.js';
import type { FixCount } from '../prove/report.js';
import { figurePhrases, setupPhrase } from '../prove/verified.js';
import type { Left, Proof, RepositoryRecord } from './record.js';

/** What a pull request can be about. */
export interface ProposalFacts {
  readonly record: RepositoryRecord;
  readonly metas: readonly TransformMeta[];
  /** Of memfix. */
  readonly version: string;
  /** What the campaign selects. */
  readonly choice: {
    readonly select?: readonly string[];
    readonly extendSelect: readonly string[];
    readonly ignore: readonly string[];
    readonly unsafeFixes?: boolean;
  };
}

export const DEFAULT_TITLE = 'Fix GPU memory waste: {count} in {files}';
export const DEFAULT_BODY = `{count} in {files}: {effects}. Made by memfix {version} upon {base}. Nothing else changes: each fix replaces the few characters that it is about.

### What changes
{changes}

### Why
{why}

### Safety and numerics
{safety}

### Measured effect
{evidence}

### Seen, and left as it is
{refused}

### How to make this change yourself
{reproduce}
`;

type Word = (facts: ProposalFacts) => string;

const WORDS: Readonly<Record<string, Word>> = {
  repository: ({ record }) => record.name,
  version: ({ version }) => version,
  base: ({ record }) => record.base?.commit ?? '',
  branch: ({ record }) => record.pushed?.branch ?? '',
  count: ({ record }) =>
    plural(
      fixesIn(record).reduce((sum, { findings }) => sum + findings, 0),
      'fix',
      'fixes',
    ),
  files: ({ record }) => plural(record.planned?.files ?? 0, 'file'),
  effects: ({ record, metas }) =>
    effectPhrase(countByEffect(fixesIn(record).flatMap((fix) => effectsOf(fix, metas)))),
  transforms: ({ record }) =>
    fixesIn(record)
      .map(({ transform }) => transform)
      .join(', '),
  changes: ({ record, metas }) => eachFix(record, (fix) => changeLine(fix, metaOf(metas, fix.transform))),
  why: ({ record, metas }) =>
    eachFix(record, ({ transform }) => whyLine(transform, metaOf(metas, transform))),
  safety: ({ record }) => [eachFix(record, safetyLine), ...verifyLines(record)].join('\n'),
  evidence: ({ record, metas }) =>
    eachFix(record, ({ transform }) => evidenceLine(transform, metaOf(metas, transform))),
  refused: ({ record }) => leftLines(record).join('\n'),
  reproduce: (facts) => commands(facts),
};

export const PROPOSAL_WORDS = Object.keys(WORDS)
  .map((word) => `{${word}}`)
  .join(', ');

/** Why a template cannot be filled in, as the end of a sentence. */
export function proposalProblem(template: string): string | undefined {
  const odd = [...template.matchAll(/\{(\w+)\}/g)].find(([, word = '']) => WORDS[word] === undefined);
  return odd === undefined ? undefined : `has the placeholder \`${odd[0]}\`, which means nothing there`;
}

export function proposalText(template: string, facts: ProposalFacts, limit: number): string {
  const text = template.replaceAll(/\{(\w+)\}/g, (whole, word: string) => WORDS[word]?.(facts) ?? whole);
  return fitted(text, limit);
}

function fixesIn({ planned }: RepositoryRecord): readonly FixCount[] {
  return planned?.fixes ?? [];
}

function eachFix(record: RepositoryRecord, lineOf: (fix: FixCount) => string): string {
  return fixesIn(record).map(lineOf).join('\n');
}

/** What each fix of a transform is good for; of one that this version does not know, nothing is promised. */
function effectsOf(
  { transform, findings }: FixCount,
  metas: readonly TransformMeta[],
): readonly { readonly effect: Effect }[] {
  const meta = metaOf(metas, transform);
  const effect = meta === undefined ? 'tidy' : effectOf(meta);
  return Array.from({ length: findings }, () => ({ effect }));
}

function metaOf(metas: readonly TransformMeta[], id: string): TransformMeta | undefined {
  return metas.find((meta) => meta.id === id);
}

const MOST_FILES = 10;

function changeLine({ transform, findings, files }: FixCount, meta: TransformMeta | undefined): string {
  const named = files.slice(0, MOST_FILES).map((path) => code(path));
  const others = files.length > MOST_FILES ? ` and ${plural(files.length - MOST_FILES, 'other file')}` : '';
  const what = meta === undefined ? '' : ` ${sentence(meta.summary)}`;
  return `- **${code(transform)}**, ${plural(findings, 'fix', 'fixes')}:${what} In ${named.join(', ')}${others}.`;
}

function whyLine(transform: string, meta: TransformMeta | undefined): string {
  return `- ${code(transform)}: ${sentence(meta?.docs.why || meta?.summary || transform)}`;
}

const NUMERICS: Readonly<Record<Numerics, string>> = {
  'bit-identical': 'results stay the same to the last bit',
  rounding: 'results may differ by rounding',
  'changes-training': 'training takes another course',
};

function safetyLine({ transform, findings, numerics, unsafe = 0, questions = [] }: FixCount): string {
  const standing = `- ${code(transform)}: ${NUMERICS[numerics]} (${numerics});`;
  if (unsafe === 0) return `${standing} the code proves every precondition.`;
  const rests = `${standing} ${unsafe} of ${findings} rest on what the code does not prove`;
  if (questions.length === 0) return `${rests}: please review them.`;
  const asked = questions.map((question) => `  - **${sentence(question)}**`);
  return [`${rests}, and are right where you can answer yes:`, ...asked].join('\n');
}

function verifyLines({ verified }: RepositoryRecord): readonly string[] {
  if (verified === undefined) return [];
  const { command, seconds, proof } = verified;
  if (proof === undefined)
    return [`- ${code(command)} succeeded on this branch, in ${seconds.toFixed(1)} s.`];
  const runs = `${plural(proof.runs, 'run')} without and with the fixes, in ${seconds.toFixed(0)} s`;
  return [`- ${code(command)}: ${runs}.`, ...proofLines(proof)];
}

function proofLines({ setup, figures, compared, fixes }: Proof): readonly string[] {
  const open = fixes.filter(({ verdict }) => verdict !== 'verified');
  const tier =
    open.length === 0
      ? `Verified: ${fixes.length === 1 ? 'the fix was' : `all ${fixes.length} fixes were`} executed`
      : `${fixes.length - open.length} of ${plural(fixes.length, 'fix', 'fixes')} verified: they were executed`;
  const agree = [...compared, 'exit code', 'memory'].join(', ');
  return [
    `  - ${sentence(`${tier}, and the run agrees with two runs without them (${agree})`)}`,
    ...figurePhrases({ figures }).map((phrase) => `  - ${sentence(phrase)}`),
    `  - ${sentence(setupPhrase(setup))}`,
    ...open.slice(0, MOST_OPEN).map(({ path, transform, because, ...at }) => {
      const place = code(placeText(path, at));
      return `  - ${place}, ${code(transform)}: rests on the code alone, since ${sentence(because ?? 'it was not tried')}`;
    }),
    ...(open.length > MOST_OPEN ? [`  - and ${open.length - MOST_OPEN} more`] : []),
  ];
}

/** Fixes that a run has not decided about, by name. */
const MOST_OPEN = 10;

function evidenceLine(transform: string, meta: TransformMeta | undefined): string {
  const shown = meta && headline(meta);
  const verdict = sentence(meta?.evidence.verdict ?? 'not measured');
  return `- ${code(transform)}: ${verdict}${shown === undefined ? '' : ` ${sentence(shown)}`}`;
}

const REASONS: Readonly<Record<Left['kind'], string>> = {
  refused: 'left alone because ',
  unsafe: '',
  advice: '',
  unfixed: '',
  rejected: '',
  held: '',
};

function leftLines({ planned }: RepositoryRecord): readonly string[] {
  const { left = [], refused = 0, remaining = 0, rejected = 0, held = 0 } = planned ?? {};
  const told = (some: readonly Left[], total: number, words: string): readonly string[] => {
    if (total === 0) return [];
    const lines = some.map(({ path, transform, kind, because, ...at }) => {
      return `- ${code(placeText(path, at))}, ${code(transform)}: ${REASONS[kind]}${sentence(because)}`;
    });
    const more = total > some.length ? [`- and ${total - some.length} more`] : [];
    return [`${plural(total, 'place')} ${words}`, '', ...lines, ...more, ''];
  };
  const of = (...kinds: readonly Left['kind'][]) => left.filter(({ kind }) => kinds.includes(kind));
  const all = [
    ...told(of('refused'), refused, 'where a fix would not be right, and was refused:'),
    ...told(of('rejected'), rejected, 'where a reviewer of this campaign rejected the fix:'),
    ...told(of('held'), held, 'where a fix like a rejected one is held back:'),
    ...told(
      of('unsafe', 'advice', 'unfixed'),
      remaining,
      'for a person to decide; `memfix check` shows them in full:',
    ),
  ];
  return all.length === 0 ? ['Nothing.'] : all.slice(0, -1);
}

function commands({ record, version, choice }: ProposalFacts): string {
  const list = (name: string, items: readonly string[] | undefined) =>
    items === undefined || items.length === 0 ? '' : ` --${name} ${items.join(',')}`;
  const { select, extendSelect, ignore, unsafeFixes } = choice;
  const { rejected = 0, held = 0 } = record.planned ?? {};
  const unwanted = rejected + held;
  const options = [
    ' --strict-config',
    list('select', select),
    list('extend-select', extendSelect),
    list('ignore', ignore),
    unsafeFixes === undefined ? '' : ` --${unsafeFixes ? '' : 'no-'}unsafe-fixes`,
  ].join('');
  return [
    '```sh',
    `git checkout ${record.base?.commit ?? ''}`,
    `npx memfix@${version} apply${options} .`,
    `git fetch origin ${record.pushed?.branch ?? ''}`,
    `git diff ${record.pushed?.commit ?? ''}  # shows ${unwanted === 0 ? 'no difference' : `what was rejected for this branch: ${plural(unwanted, 'fix', 'fixes')}`}`,
    '```',
  ].join('\n');
}

/** Paths are other people's: a backtick or a line end in one must not end the code. */
function code(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.includes('`') ? `\`\` ${flat} \`\`` : `\`${flat}\``;
}

/** On one line, with an end, and calling nobody by name. */
function sentence(text: string): string {
  const flat = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/`[^`]*`|@(?=\w)/g, (found) => (found === '@' ? '@\u200b' : found))
    .trim();
  return /[.!?:]$/.test(flat) ? flat : `${flat}.`;
}

const CUT = '\n\n(Cut here: the forge takes no more. `memfix migrate report` has all of it.)\n';

/** Cut between lines where it is too long, and never within a fence. */
function fitted(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (!text.includes('\n')) return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
  const room = text.slice(0, limit - CUT.length - '\n```'.length).replace(/[\ud800-\udbff]$/, '');
  const end = room.lastIndexOf('\n');
  const kept = end <= 0 ? room : room.slice(0, end);
  const isOpen = (kept.match(/^```/gm) ?? []).length % 2 === 1;
  return `${kept}${isOpen ? '\n```' : ''}${CUT}`;
}

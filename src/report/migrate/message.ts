import { plural } from '../prose.js';
import type { FixCount } from '../prove/report.js';

/** What a commit message can be about. */
export interface MessageFacts {
  readonly repository: string;
  readonly fixes: readonly FixCount[];
  /** What a transform is for. */
  summaryOf(transform: string): string;
}

type Commits = 'repository' | 'transform';

const PER_REPOSITORY = ['count', 'files', 'fixes', 'repository'] as const;
const PER_TRANSFORM = [...PER_REPOSITORY, 'transform', 'summary'] as const;
export const MESSAGE_WORDS =
  '{count}, {files}, {fixes}, {repository}; per transform also {transform}, {summary}';

export const DEFAULT_MESSAGES: Readonly<Record<Commits, string>> = {
  repository: 'Fix GPU memory waste\n\n{count} by memfix in {files}:\n\n{fixes}\n',
  transform: 'Fix GPU memory waste: {transform}\n\n{summary}.\n\n{count} by memfix in {files}.\n',
};

/** Why a template cannot be filled in, as the end of a sentence. */
export function messageProblem(template: string, commits: Commits): string | undefined {
  const known: readonly string[] = commits === 'repository' ? PER_REPOSITORY : PER_TRANSFORM;
  const odd = [...template.matchAll(/\{(\w+)\}/g)].find(([, word = '']) => !known.includes(word));
  return odd === undefined ? undefined : `has the placeholder \`${odd[0]}\`, which means nothing there`;
}

export function messageFrom(template: string, { repository, fixes, summaryOf }: MessageFacts): string {
  const files = new Set(fixes.flatMap((fix) => fix.files)).size;
  const [first] = fixes;
  const values: Readonly<Record<string, string>> = {
    repository,
    count: plural(
      fixes.reduce((sum, { findings }) => sum + findings, 0),
      'fix',
      'fixes',
    ),
    files: plural(files, 'file'),
    fixes: fixes.map(fixLine).join('\n'),
    transform: fixes.map(({ transform }) => transform).join(', '),
    summary: first === undefined ? '' : summaryOf(first.transform),
  };
  return template.replaceAll(/\{(\w+)\}/g, (whole, word: string) => values[word] ?? whole);
}

function fixLine({ transform, findings, files, numerics }: FixCount): string {
  return `- ${transform}: ${plural(findings, 'fix', 'fixes')} in ${plural(files.length, 'file')}, ${numerics}`;
}

import type { Report, View } from '../report.js';
import type { About } from './publication.js';

export interface Format {
  /** Who reads it, in a phrase for the help. */
  readonly summary: string;
  /** Read by people in a terminal, who get colours and a summary of their own. */
  readonly isForEyes?: true;
  render(report: Report, view: View, about: About): Promise<string>;
}

/** Every format of `check` and `apply`; each is loaded when it is asked for. Help, completions, schema and docs read this table. */
export const FORMATS = {
  short: {
    summary: 'a short block for each finding',
    isForEyes: true,
    render: async (report, view) => (await import('../short.js')).renderShort(report, view),
  },
  full: {
    summary: 'every finding with its source and its change',
    isForEyes: true,
    render: async (report, view) => (await import('../full.js')).renderFull(report, view),
  },
  concise: {
    summary: 'one line for each finding',
    isForEyes: true,
    render: async (report, view) => (await import('../concise.js')).renderConcise(report, view),
  },
  json: {
    summary: 'one document with everything',
    render: async (report) => (await import('../json.js')).renderJson(report),
  },
  'json-lines': {
    summary: 'one JSON object in each line',
    render: async (report) => (await import('./json-lines.js')).renderJsonLines(report),
  },
  sarif: {
    summary: 'SARIF 2.1.0, for code scanning',
    render: async (report, _, about) => (await import('./sarif.js')).renderSarif(report, about),
  },
  github: {
    summary: 'annotations of GitHub Actions',
    render: async (report, _, about) => (await import('./github.js')).renderGithub(report, about),
  },
  gitlab: {
    summary: "GitLab's code quality report",
    render: async (report, _, about) => (await import('./gitlab.js')).renderGitlab(report, about),
  },
  junit: {
    summary: 'JUnit XML, for test dashboards',
    render: async (report, _, about) => (await import('./junit.js')).renderJunit(report, about),
  },
  markdown: {
    summary: 'a summary for a pull request, with diffs',
    render: async (report, _, about) => (await import('./markdown.js')).renderMarkdown(report, about),
  },
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];

export function formatNamed(name: FormatName): Format {
  return FORMATS[name];
}

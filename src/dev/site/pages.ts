import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformIds } from '../docs-index.js';
import { root } from '../project.js';

/** A part of a page: a Markdown file of this repository, or one section of it. */
export interface Part {
  readonly file: string;
  readonly text: string;
}

export interface Page {
  /** Where it lies in the site. */
  readonly path: string;
  /** As the navigation has it. */
  readonly title: string;
  readonly group: Group;
  readonly parts: readonly Part[];
  /** The first part has no heading for the whole page, so that the title becomes one. */
  readonly titled: boolean;
}

export const GROUPS = ['Start', 'Fixes', 'Guides', 'Reference'] as const;
type Group = (typeof GROUPS)[number];

const README = 'README.md';

/** Sections of the README that are pages, or parts of one, by path. `Use` has whatever section is in none of them. */
const FROM_README: readonly (readonly [
  path: string,
  title: string,
  group: Group,
  sections: readonly string[],
])[] = [
  ['index.html', 'memfix', 'Start', ['', 'Install', 'Three promises', 'More']],
  ['use.html', 'Use', 'Start', []],
  ['configure.html', 'Configure', 'Start', ['Configure']],
  ['notebooks.html', 'Notebooks', 'Start', ['Notebooks']],
  ['transforms/index.html', 'All transforms', 'Fixes', ['Transforms']],
  ['proofs.html', 'How a proof reads', 'Fixes', ['Safety', 'Prove it on your own run']],
  ['api.html', 'As a library', 'Reference', ['As a library']],
];

/** Guides in the order of the navigation, with what it calls them; others follow, under their own headings. */
const GUIDES: ReadonlyMap<string, string> = new Map([
  ['ci', 'CI and pull requests'],
  ['editors', 'Editors'],
  ['budget', 'Budget'],
  ['migrate', 'Many repositories'],
  ['plugins', 'Your own transforms'],
  ['compare', 'Other tools'],
]);

const REFERENCE: readonly (readonly [file: string, path: string, title: string])[] = [
  ['CHANGELOG.md', 'changelog.html', 'Changelog'],
  ['CONTRIBUTING.md', 'contributing.html', 'Contributing'],
  ['SECURITY.md', 'security.html', 'Security'],
];

/** All pages, in the order of the navigation; those of the transforms follow the one that lists them. */
export function sitePages(): readonly Page[] {
  const sections = sectionsOf(read(README));
  const placed = new Set(FROM_README.flatMap(([, , , names]) => names));
  const fromReadme = FROM_README.map(([path, title, group, names]): Page => {
    const wanted = names.length > 0 ? names : [...sections.keys()].filter((name) => !placed.has(name));
    const single = wanted.length === 1;
    const parts = wanted.map((name) => {
      const text = sections.get(name);
      if (text === undefined) throw new Error(`README.md has no section "${name}" for ${path}`);
      return { file: README, text: single ? raised(text) : text };
    });
    return { path, title, group, parts, titled: !single && path !== 'index.html' };
  });
  const transforms = transformIds().map((id): Page => whole(`transforms/${id}.md`, id, 'Fixes'));
  const reference = REFERENCE.map(
    ([file, path, title]): Page => ({ ...whole(file, title, 'Reference'), path }),
  );
  const all = [...fromReadme, ...transforms, ...guides(), ...reference];
  return GROUPS.flatMap((group) => all.filter((page) => page.group === group));
}

function guides(): readonly Page[] {
  const names = readdirSync(join(root, 'docs')).flatMap((name) => /^(.+)\.md$/.exec(name)?.[1] ?? []);
  const order = [...GUIDES.keys()];
  const place = (name: string) => (GUIDES.has(name) ? order.indexOf(name) : order.length);
  return names
    .sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
    .map((name) => {
      const page = whole(`docs/${name}.md`, GUIDES.get(name), 'Guides');
      return { ...page, path: `${name}.html` };
    });
}

function whole(file: string, title: string | undefined, group: Group): Page {
  const text = read(file);
  const heading = /^# (.+)$/m.exec(text)?.[1] ?? file;
  return {
    path: file.replace(/\.md$/, '.html'),
    title: title ?? heading,
    group,
    parts: [{ file, text }],
    titled: false,
  };
}

/** What comes before the first `## …` is the section without a name. */
function sectionsOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let name = '';
  let fenced = false;
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) fenced = !fenced;
    const heading = fenced ? undefined : /^## (.+)$/.exec(line)?.[1];
    if (heading !== undefined) {
      found.set(name, lines.join('\n'));
      name = heading;
      lines = [];
    }
    lines.push(line);
  }
  return found.set(name, lines.join('\n'));
}

/** A section as a page of its own: every heading one level up. */
function raised(text: string): string {
  let fenced = false;
  return text
    .split('\n')
    .map((line) => {
      if (line.startsWith('```')) fenced = !fenced;
      return fenced ? line : line.replace(/^#(#+ )/, '$1');
    })
    .join('\n');
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8').replaceAll('\r\n', '\n');
}

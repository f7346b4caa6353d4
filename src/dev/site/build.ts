import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { build } from 'esbuild';
import type { TransformMeta } from '../../toolkit/contract.js';
import { comparedRuns } from '../budget-page.js';
import { root } from '../project.js';
import { entryPoints } from './api.js';
import { ICON_FILE, pageHtml } from './layout.js';
import { Links } from './links.js';
import {
  codeBlock,
  type Draft,
  draftOf,
  type Extras,
  type Heading,
  headingsOf,
  passagesOf,
  rendered,
} from './markdown.js';
import { escaped } from './markup.js';
import { type Page, sitePages } from './pages.js';
import { budgetPlot, evidencePlots, freedPlot, gainCell } from './plots.js';
import { type Entry, indexScript } from './search.js';

/** The documentation as a static site: the text of each file, by its path. */
export async function siteFiles(metas: readonly TransformMeta[]): Promise<ReadonlyMap<string, string>> {
  const pages = withEntryPoints(sitePages());
  const drafts = pages.map(draftOf);
  const links = new Links(drafts);
  const files = new Map<string, string>();
  for (const draft of drafts) {
    const { page } = draft;
    const up = '../'.repeat(page.path.split('/').length - 1);
    const link = (file: string, href: string) => links.from(page.path, file, href);
    const body = rendered(draft, { link, ...extrasOf(page, metas, up) });
    const headings = headingsOf(draft);
    const title = page.titled ? `<h1>${escaped(page.title)}</h1>\n` : '';
    files.set(page.path, pageHtml({ page, body: title + body, headings, about: aboutOf(draft) }, pages));
  }
  for (const [path, source] of links.sources) files.set(path, sourcePage(path, source, pages));
  for (const [name, text] of await scripts()) files.set(name, text);
  files.set('search.js', indexScript(entriesOf(drafts)));
  files.set('icon.svg', ICON_FILE);
  // Without it GitHub Pages would run the files through Jekyll.
  files.set('.nojekyll', '');
  return files;
}

/** The page about the library has the first entry point, and each other one a page behind it. */
function withEntryPoints(pages: readonly Page[]): readonly Page[] {
  const [first, ...others] = entryPoints();
  return pages.flatMap((page): readonly Page[] => {
    if (page.path !== 'api.html' || first === undefined) return [page];
    const parts = [...page.parts, { file: first.file, text: first.markdown }];
    return [
      { ...page, parts },
      ...others.map(({ name, file, markdown }) => ({
        path: `api-${posix.basename(name)}.html`,
        title: name,
        group: page.group,
        parts: [{ file, text: markdown }],
        titled: true,
      })),
    ];
  });
}

function extrasOf(page: Page, metas: readonly TransformMeta[], up: string): Omit<Extras, 'link'> {
  const own = metas.find(({ id }) => page.path === `transforms/${id}.html`);
  if (own !== undefined) return { after: new Map([['evidence', evidencePlots(own)]]) };
  if (page.path === 'budget.html')
    return { after: new Map([['how-good-it-is', budgetPlot(comparedRuns())]]) };
  if (page.path === 'index.html')
    return { marks: new Map([['freed:begin', freedPlot(metas, (id) => `${up}transforms/${id}.html`)]]) };
  if (page.path !== 'transforms/index.html') return {};
  const cell = (href: string) => {
    const meta = metas.find(({ id }) => href === `transforms/${id}.md`);
    if (meta === undefined) throw new Error(`${href} is no page of a transform`);
    return gainCell(meta);
  };
  return { column: { head: 'measured', cell } };
}

/** A file of the repository that is no page of its own; of a folder all files in it. */
function sourcePage(path: string, source: string, pages: readonly Page[]): string {
  const page: Page = { path, title: source, group: 'Reference', parts: [], titled: false };
  const heading = `<h1><code>${escaped(source)}</code></h1>\n`;
  const block = (file: string) =>
    codeBlock(readFileSync(join(root, file), 'utf8'), posix.extname(file).slice(1) || 'text');
  if (!statSync(join(root, source)).isDirectory())
    return pageHtml(
      { page, body: heading + block(source), headings: [], about: `The file ${source} of memfix` },
      pages,
    );
  const files = readdirSync(join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).replaceAll(sep, '/'))
    .sort();
  const body = files.map(
    (file) => `<h2><code>${escaped(posix.relative(source, file))}</code></h2>\n${block(file)}`,
  );
  return pageHtml(
    { page, body: heading + body.join(''), headings: [], about: `The files of ${source} in memfix` },
    pages,
  );
}

function aboutOf(draft: Draft): string {
  const text = passagesOf(draft).find((passage) => passage.text !== '')?.text ?? draft.page.title;
  return text.length <= 160 ? text : `${text.slice(0, text.lastIndexOf(' ', 160))} …`;
}

function entriesOf(drafts: readonly Draft[]): readonly Entry[] {
  const url = ({ path }: Page, { id, level }: Heading) => (level === 1 || id === '' ? path : `${path}#${id}`);
  return drafts
    .flatMap((draft) =>
      passagesOf(draft).map(({ heading, text }) => ({
        url: url(draft.page, heading),
        page: draft.page.title,
        heading: heading.text,
        text,
      })),
    )
    .map((entry, id) => ({ id, ...entry }));
}

async function scripts(): Promise<readonly (readonly [string, string])[]> {
  const folder = join(root, 'src', 'dev', 'site', 'browser');
  const { outputFiles } = await build({
    entryPoints: { site: join(folder, 'main.ts'), style: join(folder, 'site.css') },
    outdir: 'site',
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    // What `light-dark()` needs as well.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles.map(({ path, text }) => [path.endsWith('.css') ? 'site.css' : 'site.js', text] as const);
}

/** `npm run docs [-- --check]`: writes what is generated from the transforms and the grammar, or says what is out of date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { manualPage } from '../cli/manual.js';
import { catalogueMarkdown } from '../report/catalogue.js';
import { FORMATS } from '../report/formats/formats.js';
import { type Example, markdownPage, markdownTable } from '../report/page.js';
import { decode } from '../text/decode.js';
import type { TransformMeta } from '../toolkit/contract.js';
import { entryOf } from '../workspace/catalogue.js';
import { configSchema } from '../workspace/config-schema.js';
import { budgetPage } from './budget-page.js';
import { indexSource, transformIds } from './docs-index.js';
import { grammarSource } from './grammar-types.js';
import { root } from './project.js';
import { DEMO, freedTable, OOM, OOM_BLOCKS, shell } from './readme.js';

const check = process.argv.includes('--check');
const stale: string[] = [];

const manifest: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

publish('src/syntax/grammar.ts', grammarSource());
publish('pyproject.toml', at('pyproject.toml').replace(/"memfix==[^"]*"/, `"memfix==${manifest.version}"`));
publish('CITATION.cff', at('CITATION.cff').replace(/^version: .*$/m, `version: ${manifest.version}`));
publish('docs/memfix.1', manualPage(manifest.version));
publish('docs/ci.md', between(at('docs/ci.md'), 'formats', formatTable()));
publish('docs/plugins.md', between(at('docs/plugins.md'), 'example', pluginExample()));
publish('transforms/index.ts', indexSource(transformIds()));
publish('docs/budget.md', budgetPage());
if (check && stale.length > 0) finish();
else {
  // Only now: the index may just have been written.
  const { transforms } = await import('../../transforms/index.js');
  const metas = transforms.map(({ meta }) => meta);
  publish('docs/memfix.schema.json', `${JSON.stringify(configSchema(metas.map(entryOf)), undefined, 2)}\n`);
  for (const meta of metas) publish(`transforms/${meta.id}.md`, markdownPage(meta, exampleOf(meta)));
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const withTable = between(readme, 'transforms', catalogueMarkdown(metas));
  const withFreed = between(withTable, 'freed', freedTable(metas));
  const withDemo = between(withFreed, 'demo', await shell(DEMO, transforms));
  publish('README.md', between(withDemo, 'oom', await shell(OOM, transforms, OOM_BLOCKS)));
  finish();
}

function formatTable(): string {
  const rows = Object.entries(FORMATS).map(([name, { summary }]) => [`\`${name}\``, summary]);
  return markdownTable(['format', 'is'], rows);
}

/** The worked example is tested as it is shown. */
function pluginExample(): string {
  return `\`\`\`js\n${at('docs/plugins/acme-load-cpu.mjs')}\`\`\``;
}

function at(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function publish(path: string, text: string): void {
  const place = join(root, path);
  if (existsSync(place) && readFileSync(place, 'utf8') === text) return;
  stale.push(path);
  if (!check) writeFileSync(place, text);
}

function finish(): void {
  for (const path of stale) process.stdout.write(`${check ? 'out of date' : 'wrote'}: ${path}\n`);
  if (!check || stale.length === 0) return;
  process.stderr.write(
    'Generated files are out of date\n  They follow from the transforms and the grammar.\n  Next: npm run docs\n',
  );
  process.exitCode = 1;
}

/** The example is a fixture, so that it is tested; a fixture not yet recorded is shown as it is. */
function exampleOf({ id, example }: TransformMeta): Example {
  const read = (name: string): string | undefined => {
    const path = join(root, 'fixtures', id, example, name);
    if (!existsSync(path)) return undefined;
    const decoded = decode(readFileSync(path));
    return decoded.ok ? decoded.source.text : undefined;
  };
  const before = read('input.py') ?? '';
  return { before, after: read('output.py') ?? before };
}

function between(text: string, name: string, body: string): string {
  const begin = `<!-- ${name}:begin -->\n`;
  const end = `<!-- ${name}:end -->`;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`There is no place for ${name}: ${begin.trim()} … ${end}`);
  return `${text.slice(0, from + begin.length)}${body}\n${text.slice(to)}`;
}

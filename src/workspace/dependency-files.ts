import { LONGEST_SPECIFIER, next, type Pin, pinOf } from '../semantic/versions.js';
import { isTable, type Table, tomlIn } from './config-file.js';

/** The packages whose versions decide what a fix may write. */
export const PACKAGES = [
  'accelerate',
  'bitsandbytes',
  'diffusers',
  'peft',
  'torch',
  'transformers',
  'trl',
] as const;

/** What a file says of one package; a package that may have any version is not spoken of. */
export type Statement = readonly [name: string, pin: Pin];

/** Nobody knows what lies behind an address without going there. */
const ELSEWHERE = 'from an address';

/** Nothing is installed from a longer one. */
const LONGEST_ADDRESS = 2000;

const KNOWN: ReadonlySet<string> = new Set(PACKAGES);
const MENTION = new RegExp(`(?<![\\w-])(?:py)?(?:${PACKAGES.join('|')})(?![\\w-])`, 'i');

/** A pip requirements file: its pins, and the files it includes. */
export function readRequirements(
  text: string,
  source: string,
): { readonly statements: readonly Statement[]; readonly includes: readonly string[] } {
  const statements: Statement[] = [];
  const includes: string[] = [];
  for (const { line, words } of logicalLines(text)) {
    const included = /^(?:-[rc]\s*|--(?:requirement|constraint)(?:\s+|=))(\S+)/.exec(words)?.[1];
    const wanted = words.replace(/^(?:-e|--editable)[\s=]+/, '');
    if (included !== undefined) includes.push(included);
    else if (!wanted.startsWith('-')) statements.push(...requirement(wanted, `${source}:${line}`));
  }
  return { statements, includes };
}

/** Lines as pip sees them: joined at backslashes, without comments. */
function* logicalLines(text: string): Generator<{ readonly line: number; readonly words: string }> {
  let held = '';
  let first = 0;
  for (const [index, row] of text.split(/\r\n|\r|\n/).entries()) {
    if (held === '') first = index + 1;
    const isComment = /^\s*#/.test(row);
    if (row.endsWith('\\') && !isComment) {
      held += `${row.slice(0, -1)} `;
      continue;
    }
    const words = plain((held + row).replace(/(?:^|\s)#.*$/, ''));
    held = '';
    if (words !== '') yield { line: first, words };
  }
}

/** Without blanks that mean nothing: patterns that allow for them must not have to look for their end again and again. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** One requirement (PEP 508): extras, markers and options of the installer aside. */
function requirement(written: string, source: string | (() => string)): readonly Statement[] {
  const words = plain(written);
  if (/^[\w+]+:\/\//.test(words)) {
    const name = PACKAGES.find((known) => new RegExp(`(?:[#&]egg=|/)${known}(?![a-z])`, 'i').test(words));
    return name === undefined ? [] : [[name, fromAddress(words, placeOf(source))]];
  }
  const [, called = '', rest = ''] =
    /^([A-Za-z0-9][\w.-]*) ?(?:\[[^\]]*\])? ?(.*)$/.exec(words.replace(/ --\w.*$/, '')) ?? [];
  const name = packageOf(called);
  if (name === undefined) return [];
  const place = placeOf(source);
  if (rest.startsWith('@')) return [[name, fromAddress(rest.slice(1).trim(), place)]];
  const [specifier = '', marker] = rest.split(';', 2);
  return stated(name, pinOf(specifier, place), marker !== undefined);
}

function placeOf(source: string | (() => string)): string {
  return typeof source === 'string' ? source : source();
}

/** A tag and the name of a wheel tell their version. A branch moves with time, another revision stays what it is. */
function fromAddress(address: string, source: string): Pin {
  const place = address.replace(/[#;\s].*$/, '');
  if (place.length > LONGEST_ADDRESS) return { text: ELSEWHERE, source };
  const version = (/@v?(\d+(?:\.\d+)+)$/.exec(place) ??
    /\/[A-Za-z]\w*-(\d+(?:\.\d+)+)[^/]*$/.exec(place))?.[1];
  if (version !== undefined) return { ...pinOf(`==${version}`, source), text: `==${version}`, source };
  const revision = /@([^/:@]+)$/.exec(place)?.[1];
  const isMoving = /^git\+/.test(place) && (revision === undefined || /^(?:main|master)$/.test(revision));
  return { text: ELSEWHERE, source, ...(!isMoving && { isFrozen: true }) };
}

/** The same from a table: `{ git = "…", tag = "v0.5.0" }`. */
function fromTable(table: Table, source: string): Pin {
  const { git, url, tag, rev } = table;
  const revision = tag ?? rev;
  if (typeof git === 'string')
    return fromAddress(`git+${git}${typeof revision === 'string' ? `@${revision}` : ''}`, source);
  return fromAddress(typeof url === 'string' ? url : '.', source);
}

function stated(name: string, pin: Pin | undefined, isConditional = false): readonly Statement[] {
  return pin === undefined ? [] : [[name, isConditional ? { ...pin, isConditional } : pin]];
}

/** As package indexes compare names; conda calls torch by its other name. */
function packageOf(written: string): string | undefined {
  const name = written.toLowerCase().replace(/[-_.]+/g, '-');
  return name === 'pytorch' ? 'torch' : KNOWN.has(name) ? name : undefined;
}

/** `pyproject.toml`: PEP 621 with its extras, dependency groups, poetry, uv. What does not parse says nothing. */
export function readPyproject(text: string, source: string): readonly Statement[] {
  const table = MENTION.test(text) ? tomlIn(text) : undefined;
  if (table === undefined) return [];
  const at = placer(text, source);
  const project = tableIn(table, 'project');
  const uv = tableIn(table, 'tool', 'uv');
  const lists = [
    project['dependencies'],
    ...Object.values(tableIn(project, 'optional-dependencies')),
    ...Object.values(tableIn(table, 'dependency-groups')),
    uv['dev-dependencies'],
    uv['constraint-dependencies'],
    uv['override-dependencies'],
  ];
  const requirements = lists.flat().filter((each) => typeof each === 'string');
  return [
    ...requirements.flatMap((words) => requirement(words, () => at(words))),
    ...poetryTables(tableIn(table, 'tool', 'poetry')).flatMap((each) => poetryStatements(each, at)),
    ...Object.entries(tableIn(uv, 'sources')).flatMap(([written, where]): readonly Statement[] => {
      const name = packageOf(written);
      const places = [where].flat().filter(isTable);
      const place = places.find((each) => 'git' in each || 'url' in each || 'path' in each);
      return name !== undefined && place !== undefined ? [[name, fromTable(place, at(written))]] : [];
    }),
  ];
}

function poetryTables(poetry: Table): readonly Table[] {
  const groups = Object.values(tableIn(poetry, 'group')).filter(isTable);
  return [
    tableIn(poetry, 'dependencies'),
    tableIn(poetry, 'dev-dependencies'),
    ...groups.map((group) => tableIn(group, 'dependencies')),
  ];
}

function poetryStatements(dependencies: Table, at: (words: string) => string): readonly Statement[] {
  return Object.entries(dependencies).flatMap(([written, wishes]) => {
    const name = packageOf(written);
    if (name === undefined) return [];
    const source = at(written);
    return [wishes].flat().flatMap((wish) => {
      const constraint = isTable(wish) ? wish['version'] : wish;
      return typeof constraint === 'string'
        ? stated(
            name,
            poetryPin(constraint, source),
            isTable(wish) && ('python' in wish || 'markers' in wish),
          )
        : [[name, isTable(wish) ? fromTable(wish, source) : { text: ELSEWHERE, source }] as const];
    });
  });
}

/** Poetry's own operators, in terms of the others. */
function poetryPin(written: string, source: string): Pin | undefined {
  const constraint = plain(written);
  if (constraint.length > LONGEST_SPECIFIER) return pinOf(constraint, source);
  const clauses = constraint.split(/\s*,\s*|(?<=[\w*])\s+(?=[\^~<>=!])/).map((clause) => {
    const [, operator = '', version = ''] = /^(\^|~(?!=)|)\s*(\d[\w.]*\*?)$/.exec(clause.trim()) ?? [];
    if (version === '') return clause;
    if (operator === '^') return `>=${version},<${caretEnd(version)}`;
    if (operator === '~') return `>=${version},<${next(version.split('.').slice(0, 2).join('.'))}`;
    return `==${version}`;
  });
  const pin = pinOf(clauses.join(','), source);
  return pin && { ...pin, text: constraint };
}

/** Up to the next change of the first number that is not zero. */
function caretEnd(version: string): string {
  const parts = version.split('.');
  const kept = parts.findIndex((part) => Number.parseInt(part, 10) !== 0);
  return next(parts.slice(0, kept === -1 ? parts.length : kept + 1).join('.'));
}

/** `setup.cfg`: what setuptools installs, extras included. */
export function readSetupCfg(text: string, source: string): readonly Statement[] {
  const statements: Statement[] = [];
  let section = '';
  let key = '';
  for (const [index, row] of text.split(/\r\n|\r|\n/).entries()) {
    const head = /^\[([^\]]+)\]/.exec(row)?.[1];
    if (head !== undefined) section = head.trim();
    const [, name, value = row] = /^([\w.-]+)\s*[=:]\s*(.*)$/.exec(row) ?? [];
    if (name !== undefined) key = name;
    const isList =
      section === 'options.extras_require' || (section === 'options' && key === 'install_requires');
    const words = value.replace(/(?:^|\s)#.*$/, '').trim();
    if (isList && head === undefined && words !== '')
      statements.push(...requirement(words, `${source}:${index + 1}`));
  }
  return statements;
}

/** A conda environment, with what it has pip install. */
export function readEnvironment(text: string, source: string): readonly Statement[] {
  return text.split(/\r\n|\r|\n/).flatMap((row, index) => {
    const place = `${source}:${index + 1}`;
    const [, listed] = /^- (.+)$/.exec(plain(row)) ?? [];
    if (listed === undefined) return [];
    const item = unquoted(listed.replace(/ #.*$/, '')).replace(/^[\w./-]+::/, '');
    if (item.length > LONGEST_ADDRESS) return [];
    // conda's own forms: `name=2.1`, `name=2.1=build`, `name 2.1.*`; the rest reads as pip's.
    const [, written = '', version = ''] =
      /^([\w.-]+)\s*(?:=(?!=)|\s(?=\d))\s*(\d+(?:\.\d+)*)(?:\.?\*)?(?:=\S*)?$/.exec(item) ?? [];
    const name = packageOf(written);
    if (name !== undefined) return stated(name, pinOf(`==${version}.*`, place));
    return requirement(item, place);
  });
}

function unquoted(item: string): string {
  const quote = item[0];
  const isQuoted = item.length > 2 && (quote === '"' || quote === "'") && item.endsWith(quote);
  return isQuoted ? item.slice(1, -1) : item;
}

/** `uv.lock` and `poetry.lock`, without a parser: they may be large, and machines write them. */
export function readLock(text: string, source: string): readonly Statement[] {
  const statements: Statement[] = [];
  const entry = /^\[\[package\]\]\r?\nname = "([^"\n]+)"\r?\nversion = "([^"\n]+)"/gm;
  let line = 3;
  let counted = 0;
  for (const { 1: written = '', 2: version = '', index } of text.matchAll(entry)) {
    const name = packageOf(written);
    if (name === undefined) continue;
    for (let at = text.indexOf('\n', counted); at !== -1 && at < index; at = text.indexOf('\n', counted)) {
      line++;
      counted = at + 1;
    }
    statements.push(...stated(name, pinOf(`==${version}`, `${source}:${line}`)));
  }
  return statements;
}

/** Lines that are looked for in a file; of those beyond, only the file is named. */
const MOST_PLACES = 200;

/** Says on which line of a file some words stand first, comments aside. */
function placer(text: string, source: string): (words: string) => string {
  const rows = text.split(/\r\n|\r|\n/);
  let asked = 0;
  return (words) => {
    if (asked++ >= MOST_PLACES) return source;
    const row = rows.findIndex((each) => each.includes(words) && !/^\s*#/.test(each));
    return row === -1 ? source : `${source}:${row + 1}`;
  };
}

function tableIn(table: Table, ...keys: readonly string[]): Table {
  let at: unknown = table;
  for (const key of keys) at = isTable(at) ? at[key] : undefined;
  return isTable(at) ? at : {};
}

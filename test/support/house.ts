import { dirname, join, normalize } from 'node:path/posix';

/** Project files by path with forward slashes. Only the text of TypeScript files is read. */
export type FileMap = ReadonlyMap<string, string>;

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
  /** Loaded when the line is come to, not when its file is. */
  readonly lazy: boolean;
}

/**
 * Lowest room first: a room may import the rooms above it in this list, and itself. The folders of `torch` are rooms too:
 * what the three questions of `values` are built on lies below them, and what asks them above.
 */
const ROOMS = [
  'text',
  'budget',
  'edit',
  'library',
  'syntax',
  'semantic',
  'torch',
  'torch/huggingface',
  'torch/module',
  'values',
  'torch/training',
  'torch/grad',
  'torch/record',
  'torch/statistic',
  'run',
  'toolkit',
  'engine',
  'oom',
  'report',
  'workspace',
  'testing',
  'cli',
  'dev',
];
const MEETS_THE_WORLD = new Set(['workspace', 'testing', 'cli', 'dev']);
const KNOWS_THE_TRANSFORMS = new Set(['cli', 'dev', 'face', 'testing']);

const VENDOR_DOORS: ReadonlyMap<string, string> = new Map([
  ['tree-sitter', 'src/syntax/parser.ts'],
  ['tree-sitter-python', 'src/syntax/parser.ts'],
  ['web-tree-sitter', 'src/syntax/parser.ts'],
  ['magic-string', 'src/edit/apply.ts'],
  ['diff', 'src/report/diff.ts'],
  ['inquirer', 'src/cli/ask.ts'],
]);

/** Packages of one command, which the start of any other never waits for. */
const LAZY_PACKAGES = /^(?:@octokit\/.*|@gitbeaker\/.*|bullmq|ioredis|vscode-languageserver.*)$/;

/** Builtins that compute and touch nothing. */
const PURE_BUILTINS = new Set([
  'node:path',
  'node:path/posix',
  'node:crypto',
  'node:util',
  'node:url',
  'node:buffer',
]);
/** `createRequire` for an addon and for packages that most runs do not need, and how V8 compiles the parsers' wasm. */
const LOADS_PACKAGES = new Set([
  'src/edit/apply.ts',
  'src/syntax/parser.ts',
  'src/syntax/soundness.ts',
  'src/syntax/yaml.ts',
  'src/text/decode.ts',
]);
const LOADING_BUILTINS = new Set(['node:module', 'node:v8']);

/** Who may read the content of files by itself; all others ask `bounded.ts`, which refuses pipes, devices and giants. */
const READING_DOORS = new Set([
  'src/workspace/bounded.ts',
  // Streams of any size: a log that the user names, and what a command printed.
  'src/workspace/log.ts',
  'src/workspace/prove/output.ts',
  // Loads the program itself, before anything else is there.
  'src/cli/packs.ts',
]);
const READS_CONTENT =
  /(?<![.\w])(?:readFileSync|readFile|readSync|readv|readvSync|createReadStream|openAsBlob)\b/;

const NAMELESS = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'core', 'lib', 'misc', 'shared']);
const DOTTED_NAME = /^(?:torch|transformers|trl|peft|accelerate|diffusers|lightning|deepspeed)(?:\.\w+)+$/;
const CATALOGUE = /^src\/library\/\w+\.ts$/;
const LONGEST_FILE = 350;

/** Every way in which the files break the rules of the house, as sentences that start with a path. */
export function violations(files: FileMap): string[] {
  const modules = [...files].filter(([path]) => /^(?:src|transforms)\/.*\.ts$/.test(path));
  const imports = new Map(modules.map(([path, text]) => [path, importsOf(text)]));
  return [
    ...[...files.keys()].flatMap(nameViolations),
    ...modules.flatMap(([path, text]) => [
      ...(imports.get(path) ?? []).flatMap((found) => importViolations(path, found)),
      ...codeViolations(path, withoutComments(text)),
      ...lengthViolations(path, text),
    ]),
    ...secondDoors(imports),
    ...cycles(imports),
    ...transformViolations(files),
  ];
}

function nameViolations(path: string): string[] {
  if (path.startsWith('fixtures/')) return [];
  const nameless = path.split('/').find((part) => NAMELESS.has(part.replace(/\.(?:test\.)?\w+$/, '')));
  return nameless === undefined ? [] : [`${path}: "${nameless}" names no room; say what it knows`];
}

function importViolations(path: string, { from, typeOnly, lazy }: Import): string[] {
  if (from.startsWith('.')) return roomViolations(path, resolved(path, from));
  if (from.startsWith('node:')) return builtinViolations(path, from);
  if (/^transforms\//.test(path)) return [`${path}: imports ${from}; a transform imports no package`];
  if (LAZY_PACKAGES.test(from) && !typeOnly && !lazy)
    return [`${path}: imports ${from}; write \`await import(…)\` where it is needed`];
  const door = roomOf(path) === 'dev' ? undefined : VENDOR_DOORS.get(packageOf(from));
  return door === undefined || door === path
    ? []
    : [`${path}: imports ${from}, which enters by ${door} only`];
}

function roomViolations(path: string, target: string): string[] {
  const room = roomOf(path);
  const below = roomOf(target);
  if (room === 'index') return below === 'transforms' || target === TOOLKIT ? [] : [wrong(path, target)];
  if (room === 'transforms') {
    const own = /^(transforms\/[^/]+)(?:\.ts$|\/)/.exec(path)?.[1];
    return target === TOOLKIT || target.startsWith(`${own}/`)
      ? []
      : [`${path}: imports ${target}; a transform imports only ${TOOLKIT} and its own folder`];
  }
  if (room === 'parts') {
    const own = path.slice(0, path.lastIndexOf('/') + 1);
    return target.startsWith(own) || (target.startsWith('src/') && isBelow(below, 'engine'))
      ? []
      : [`${path}: imports ${target}; a transform's folder imports itself and the rooms below the engine`];
  }
  if (below === 'index') return KNOWS_THE_TRANSFORMS.has(room) ? [] : [wrong(path, target)];
  if (below === 'transforms' || below === 'parts') return room === 'dev' ? [] : [wrong(path, target)];
  if (room === 'face') return below === 'cli' || below === 'dev' ? [wrong(path, target)] : [];
  return below === room || isBelow(below, room) ? [] : [wrong(path, target)];
}

function isBelow(room: string, other: string): boolean {
  return ROOMS.includes(room) && ROOMS.indexOf(room) < ROOMS.indexOf(other);
}

const TOOLKIT = 'src/toolkit/index.ts';

function wrong(path: string, target: string): string {
  return `${path}: imports ${target}, which is not below it`;
}

/** The one file that speaks a terminal's language: what others wrote must never pass for ours. */
const TERMINAL_DOOR = 'src/report/terminal.ts';
const ESCAPE_SEQUENCE = /\\(?:x1b|u001b|u\{1b\})\[/i;

function builtinViolations(path: string, from: string): string[] {
  if (MEETS_THE_WORLD.has(roomOf(path)) || PURE_BUILTINS.has(from)) return [];
  return LOADING_BUILTINS.has(from) && LOADS_PACKAGES.has(path)
    ? []
    : [`${path}: imports ${from}; only ${[...MEETS_THE_WORLD].join(', ')} may`];
}

function codeViolations(path: string, code: string): string[] {
  const room = roomOf(path);
  const found: string[] = [];
  const bare = withoutStrings(code);
  if (!MEETS_THE_WORLD.has(room)) {
    for (const name of ['process', 'console']) {
      if (new RegExp(`(?<![.\\w])${name}\\.`).test(bare))
        found.push(`${path}: uses ${name} outside the edge of the house`);
    }
  }
  const reading = room === 'dev' || READING_DOORS.has(path) ? undefined : READS_CONTENT.exec(bare)?.[0];
  if (reading !== undefined)
    found.push(`${path}: uses ${reading}; files are read through src/workspace/bounded.ts`);
  if (room === 'transforms' && /\.(?:start|end|startIndex|endIndex)\b/.test(bare)) {
    found.push(`${path}: handles raw offsets; use the verbs of EditBuilder`);
  }
  if (room !== 'dev' && !CATALOGUE.test(path)) {
    const dotted = stringsIn(code).find((text) => DOTTED_NAME.test(text));
    if (dotted !== undefined) found.push(`${path}: names ${dotted}; dotted names live in src/library/`);
  }
  if (room !== 'dev' && path !== TERMINAL_DOOR && ESCAPE_SEQUENCE.test(code))
    found.push(`${path}: has an escape sequence; marks of ${TERMINAL_DOOR} become some at the door`);
  if (/^export (?:let|var)\b/m.test(bare))
    found.push(`${path}: exports a variable; in the built program, others would keep what it was at first`);
  return found;
}

function lengthViolations(path: string, text: string): string[] {
  const lines = text.split('\n').length - 1;
  return lines > LONGEST_FILE ? [`${path}: ${lines} lines hold more than one idea; split it`] : [];
}

/** A package that two files import has two doors; `dev` is not published and builds with what it likes. */
function secondDoors(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const doors = new Map<string, Set<string>>();
  for (const [path, list] of imports) {
    if (roomOf(path) === 'dev') continue;
    for (const { from } of list) {
      if (/^(?:\.|node:)/.test(from)) continue;
      const name = packageOf(from);
      doors.set(name, (doors.get(name) ?? new Set()).add(path));
    }
  }
  return [...doors]
    .filter(([name, paths]) => paths.size > 1 && !VENDOR_DOORS.has(name))
    .map(
      ([name, paths]) => `${[...paths].sort().join(', ')}: each imports ${name}; a vendor enters by one door`,
    );
}

/** Type imports are erased and cannot form a cycle at run time. */
function cycles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push(`${[...trail.slice(trail.indexOf(path)), path].join(' → ')}: a cycle`);
      return;
    }
    if (done.has(path)) return;
    for (const { from, typeOnly } of imports.get(path) ?? []) {
      if (from.startsWith('.') && !typeOnly) visit(resolved(path, from), [...trail, path]);
    }
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}

/** One file per transform, with its fixtures, its page and maybe a folder; nothing left over of one that is gone. */
function transformViolations(files: FileMap): string[] {
  const paths = [...files.keys()];
  const ids = new Set(paths.flatMap((path) => /^transforms\/([^/]+)\.ts$/.exec(path)?.[1] ?? []));
  ids.delete('index');
  const pages = new Set(paths.flatMap((path) => /^transforms\/([^/]+)\.md$/.exec(path)?.[1] ?? []));
  const fixtures = new Set(paths.flatMap((path) => /^fixtures\/([^/_][^/]*)\//.exec(path)?.[1] ?? []));
  return [
    ...paths
      .filter((path) => /^transforms\/.*\//.test(path) && !ids.has(path.split('/')[1] ?? ''))
      .map((path) => `${path}: belongs to no transform`),
    ...paths
      .filter((path) => /^transforms\/[^/]+\/.*\//.test(path))
      .map((path) => `${path}: the folder of a transform is flat`),
    ...[...ids].flatMap((id) => [
      ...(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id) ? [] : [`transforms/${id}.ts: an id is kebab-case`]),
      ...(fixtures.has(id) ? [] : [`transforms/${id}.ts: has no fixtures/${id}/`]),
      ...(pages.has(id) ? [] : [`transforms/${id}.ts: has no page; run npm run docs`]),
    ]),
    ...[...pages]
      .filter((id) => !ids.has(id))
      .map((id) => `transforms/${id}.md: is the page of no transform`),
    ...[...fixtures].filter((id) => !ids.has(id)).map((id) => `fixtures/${id}/: belongs to no transform`),
  ];
}

function roomOf(path: string): string {
  if (path === 'src/index.ts') return 'face';
  if (path === 'transforms/index.ts') return 'index';
  const [top, room, part] = path.split('/');
  if (top === 'transforms') return part === undefined ? 'transforms' : 'parts';
  return ROOMS.includes(`${room}/${part}`) ? `${room}/${part}` : (room ?? '');
}

function resolved(path: string, from: string): string {
  return normalize(join(dirname(path), from)).replace(/\.js$/, '.ts');
}

function packageOf(from: string): string {
  return from
    .split('/')
    .slice(0, from.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Static, type-only, re-exporting, dynamic and `require`d imports. */
export function importsOf(text: string): Import[] {
  // Each string becomes its number in quotes, so that an import told in a string is not taken for one.
  const strings: string[] = [];
  const code = withoutComments(text).replace(TOKENS, (token) => `"${strings.push(token.slice(1, -1)) - 1}"`);
  const found: Import[] = [];
  const add = (number: string | undefined, typeOnly: boolean, lazy: boolean): void => {
    const from = strings[Number(number)] ?? '';
    found.push({ from: BARE_BUILTINS.has(from) ? `node:${from}` : from, typeOnly, lazy });
  };
  for (const match of code.matchAll(/\b(?:import|export)\s+(type\s+)?(?:[\w*{][^;"]*?\sfrom\s+)?"(\d+)"/g)) {
    add(match[2], match[1] !== undefined, false);
  }
  for (const match of code.matchAll(/(?<![.\w])(?:import|require(?:\.resolve)?)\(\s*"(\d+)"/g))
    add(match[1], false, true);
  return found;
}

const BARE_BUILTINS = new Set([
  'fs',
  'fs/promises',
  'child_process',
  'process',
  'path',
  'os',
  'module',
  'url',
  'util',
]);

const TOKENS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;

function withoutComments(text: string): string {
  return text.replace(TOKENS, (token) => (token.startsWith('/') ? ' ' : token));
}

function stringsIn(code: string): string[] {
  return [...code.matchAll(TOKENS)].map(([token]) => token.slice(1, -1));
}

function withoutStrings(code: string): string {
  return code.replace(TOKENS, (token) =>
    token.startsWith('`') ? token.replace(/(?:^`|\})(?:[^`$]|\$(?!\{))*(?:\$\{|`$)/g, ' ') : "''",
  );
}

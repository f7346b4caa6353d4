import { LogicalLines } from './logical-lines.js';

/** What stands for a line that only IPython understands, in the program that is looked at. */
export interface Mask {
  /** Counted from 0 in the cell. */
  readonly line: number;
  readonly python: string;
}

/** Code that nobody sees, and that may read and change any variable: that of a magic. */
function unseen(magic: string): string {
  return `exec("${magic.replace(/["\\]/g, '')}")`;
}

/** What leaves the variables of the program alone, but for those that it is given; its value is not known. */
function harmless(given = ''): string {
  return `get_ipython(${given})`;
}

/** A command of a shell. One that installs packages is kept: it says which versions there are. */
function shell(command: string): string {
  const words = command.replace(/\s+/g, ' ').trim();
  const isKept = INSTALLS.test(words) && words.isWellFormed() && words.length <= LONGEST_COMMAND;
  return isKept ? `get_ipython().system(${JSON.stringify(words)})` : harmless();
}

const INSTALLS = /\b(?:pip[\d.]*|conda|mamba|uv)\b.*\b(?:install|add)\b/;
const LONGEST_COMMAND = 2000;

/** Cell magics whose body is Python that runs among the variables of the notebook. */
const PYTHON_BODY: ReadonlySet<string> = new Set([
  ...['capture', 'memit', 'prun', 'pyinstrument', 'scalene', 'snakeviz', 'time', 'timeit', 'wandb'],
]);

/** Cell magics whose body another program reads. */
const OTHER_PROGRAM: ReadonlySet<string> = new Set([
  ...['bash', 'sh', 'shell', 'cmd', 'system', 'sx', 'script', 'perl', 'ruby'],
  ...['python', 'python2', 'python3', 'pypy', 'writefile', 'file'],
  ...['html', 'HTML', 'javascript', 'js', 'latex', 'markdown', 'svg', 'SVG'],
]);

const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'shell', 'cmd', 'system', 'sx']);

/** Line magics that run the statement behind them. */
const RUNS_STATEMENT: ReadonlySet<string> = new Set(['time', 'timeit', 'prun', 'memit', 'lprun', 'mprun']);

const HARMLESS_LINES: ReadonlySet<string> = new Set([
  ...['alias', 'autoreload', 'bookmark', 'cat', 'cd', 'colors', 'conda', 'config', 'cp', 'dirs', 'env'],
  ...['hist', 'history', 'install_ext', 'ldir', 'less', 'load_ext', 'll', 'ls', 'lsmagic', 'lx', 'mamba'],
  ...['logoff', 'logon', 'logstart', 'logstate', 'logstop', 'man', 'matplotlib', 'mkdir', 'more', 'mv'],
  ...['notebook', 'page', 'pdb', 'pdef', 'pdoc', 'pfile', 'pinfo', 'pinfo2', 'pip', 'popd', 'pprint'],
  ...['precision', 'psource', 'pushd', 'pwd', 'pycat', 'quickref', 'rehashx', 'reload_ext', 'reset'],
  ...['reset_selective', 'rm', 'rmdir', 'save', 'set_env', 'shell', 'system', 'tensorboard', 'unload_ext'],
  ...['uv', 'watermark', 'who', 'who_ls', 'whos', 'xdel', 'xmode'],
]);

const LINE_MAGIC = /^(\s*)%(\w+)[ \t]*(.*)$/;
const SHELL = /^(\s*)!/;
const HELP = /^(\s*)(?:\?|%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?{1,2}\s*(?:#.*)?$)/;
const ASSIGNED = /^(\s*[A-Za-z_][\w.,\s[\]'"()*]*=)\s*(?:%(\w+)[ \t]*|!(?!=))(.*)$/;
/** Works without its percent sign where nothing else is called that. */
const AUTOMATIC = /^(\s*)(?:pip|conda|mamba)3?[ \t]+(?:install|uninstall|list|show)\b/;
const NUMERIC_OPTIONS = /^(?:-[a-z]+(?:[ \t]*\d+)?[ \t]+)+/i;
const OPTIONS = /^(?:-[a-z](?:[ \t]*\d+|[ \t]+[\w./]+(?=[ \t]))?[ \t]+)+/i;

/** The lines of a cell that only IPython understands. */
export function masksOf(lines: readonly string[]): readonly Mask[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const magic = /^\s*%%(\S+)(.*)$/.exec(lines[first] ?? '');
  if (magic === null) return lineMasks(lines, 0);
  const [, name = '', options = ''] = magic;
  if (PYTHON_BODY.has(name)) {
    // `%%timeit x = f()`: what is behind the options is run first.
    const stated = name === 'capture' ? undefined : statementIn(name, `${options.trim()} `);
    return [{ line: first, python: stated ?? '' }, ...lineMasks(lines, first + 1)];
  }
  const isOther = OTHER_PROGRAM.has(name) && !/--(?:out|err|proc)\b/.test(options);
  if (!isOther) return wholeCell(lines, unseen(`%%${name}`));
  return wholeCell(lines, SHELLS.has(name) ? shell(commandsIn(lines.slice(first + 1))) : harmless());
}

/** The lines of a shell's program as one, without comments. */
function commandsIn(lines: readonly string[]): string {
  const installs = lines.join('\n').replace(/\\\n/g, ' ').split('\n');
  return installs.filter((line) => !/^\s*#/.test(line) && INSTALLS.test(line)).join('; ');
}

function wholeCell(lines: readonly string[], python: string): readonly Mask[] {
  return lines.map((_, line) => ({ line, python: line === 0 ? python : '' }));
}

function lineMasks(lines: readonly string[], from: number): readonly Mask[] {
  const masks: Mask[] = [];
  const reader = new LogicalLines();
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const joined = reader.isAtStart ? joinedAt(lines, at) : [];
    const python = reader.isAtStart ? pythonFor(line, joined.join(' ')) : undefined;
    if (python === undefined) {
      reader.read(line);
      continue;
    }
    masks.push({ line: at, python });
    for (const _ of joined.slice(1)) masks.push({ line: ++at, python: '' });
  }
  return masks;
}

/** A line and those that backslashes join to it, without these. */
function joinedAt(lines: readonly string[], at: number): readonly string[] {
  let end = at;
  while (lines[end]?.endsWith('\\') && end + 1 < lines.length) end++;
  return lines.slice(at, end + 1).map((line) => line.replace(/\\$/, ''));
}

/** What stands for a line that begins a statement; undefined where it is Python. `whole`: with the lines joined to it. */
function pythonFor(line: string, whole: string): string | undefined {
  const assigned = ASSIGNED.exec(line);
  if (assigned !== null && isClosed(assigned[1] ?? '')) {
    const [, target = '', name, rest = ''] = assigned;
    return `${target} ${name === undefined ? harmless() : valueOf(name, rest)}`;
  }
  const plain = SHELL.exec(line) ?? HELP.exec(line) ?? AUTOMATIC.exec(line);
  if (plain !== null) return `${plain[1]}${shell(whole.replace(/^\s*!+/, ''))}`;
  const magic = LINE_MAGIC.exec(line);
  if (magic === null) return undefined;
  const [, indent = '', name = '', rest = ''] = magic;
  const statement = RUNS_STATEMENT.has(name) ? statementIn(name, rest) : undefined;
  if (statement !== undefined) return indent + statement;
  return indent + (HARMLESS_LINES.has(name) ? shell(whole.replace(/^\s*%/, '')) : unseen(`%${name}`));
}

/** Whether what stands before a magic ends outside of strings and brackets, unlike that of `print("n = %d" % n)`. */
function isClosed(target: string): boolean {
  const code = target.replace(/'[^']*'|"[^"]*"/g, '');
  const count = (bracket: RegExp) => code.match(bracket)?.length ?? 0;
  return !/['"]/.test(code) && count(/[([]/g) === count(/[)\]]/g);
}

/** What a magic gives that a variable is set to. */
function valueOf(name: string, rest: string): string {
  const statement = RUNS_STATEMENT.has(name) ? statementIn(name, rest) : undefined;
  if (statement !== undefined)
    return name === 'time' ? statement : harmless(statement.replace(/;?(?:[ \t]+#[^"']*)?$/, ''));
  return HARMLESS_LINES.has(name) ? harmless() : unseen(`%${name}`);
}

/** What a magic runs, behind its options; undefined where there is none, or one that cannot be told from an option. */
function statementIn(name: string, rest: string): string | undefined {
  const options = /^time(?:it)?$/.test(name) ? NUMERIC_OPTIONS : OPTIONS;
  const statement = rest.replace(options, '').trim();
  return statement === '' || statement.startsWith('-') ? undefined : statement;
}

/** What stands for a line that only IPython understands, in the program that is looked at. */
export interface Mask {
  /** Counted from 0 in the cell. */
  readonly line: number;
  readonly python: string;
}

/** Code that nobody sees, and that may read and change any variable. */
const UNSEEN = 'exec("")';
/** What leaves the variables of the program alone. */
const HARMLESS = 'get_ipython()';

/** Cell magics whose body is Python that runs among the variables of the notebook. */
const PYTHON_BODY: ReadonlySet<string> = new Set(['capture', 'prun', 'time', 'timeit']);

/** Cell magics whose body another program reads. */
const OTHER_PROGRAM: ReadonlySet<string> = new Set([
  ...['bash', 'sh', 'cmd', 'system', 'sx', 'script', 'perl', 'ruby'],
  ...['python', 'python2', 'python3', 'pypy', 'writefile', 'file'],
  ...['html', 'HTML', 'javascript', 'js', 'latex', 'markdown', 'svg', 'SVG'],
]);

/** Line magics that run the statement behind them. */
const RUNS_STATEMENT: ReadonlySet<string> = new Set(['time', 'timeit', 'prun', 'memit', 'lprun', 'mprun']);

const HARMLESS_LINES: ReadonlySet<string> = new Set([
  ...['alias', 'autoreload', 'bookmark', 'cat', 'cd', 'colors', 'conda', 'config', 'cp', 'dirs', 'env'],
  ...['hist', 'history', 'install_ext', 'ldir', 'less', 'load_ext', 'll', 'ls', 'lsmagic', 'lx', 'mamba'],
  ...['man', 'matplotlib', 'mkdir', 'more', 'mv', 'pdb', 'pdoc', 'pinfo', 'pinfo2', 'pip', 'popd'],
  ...['precision', 'pushd', 'pwd', 'reload_ext', 'rm', 'rmdir', 'set_env', 'tensorboard', 'unload_ext'],
  ...['uv', 'watermark', 'who', 'who_ls', 'whos', 'xmode'],
]);

const LINE_MAGIC = /^(\s*)%(\w+)[ \t]*(.*)$/;
const SHELL = /^(\s*)!/;
const HELP = /^(\s*)(?:\?|%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?{1,2}\s*(?:#.*)?$)/;
const ASSIGNED = /^(\s*[A-Za-z_][\w.,\s[\]'"()*]*=)\s*(?:%(\w+)[ \t]*|!(?!=))(.*)$/;
/** Works without its percent sign where nothing else is called that. */
const AUTOMATIC = /^(\s*)(?:pip|conda|mamba)3?[ \t]+(?:install|uninstall|list|show)\b/;
const OPTIONS = /^(?:-[a-z](?:[ \t]*\d+|[ \t]+[\w./]+(?=[ \t]))?[ \t]+)+/i;

/** The lines of a cell that only IPython understands. `all`: nothing of the cell is Python of this program. */
export function masksOf(lines: readonly string[]): readonly Mask[] {
  const first = lines.findIndex((line) => line.trim() !== '');
  const magic = /^\s*%%(\S+)(.*)$/.exec(lines[first] ?? '');
  if (magic === null) return lineMasks(lines, 0);
  const [, name = '', options = ''] = magic;
  if (PYTHON_BODY.has(name)) {
    const stated = options.trim() !== '' && name !== 'capture' ? UNSEEN : '';
    return [{ line: first, python: stated }, ...lineMasks(lines, first + 1)];
  }
  const isOther = OTHER_PROGRAM.has(name) && !/--(?:out|err|proc)\b/.test(options);
  return wholeCell(lines, isOther ? HARMLESS : UNSEEN);
}

/** Every line of a cell that is no Python, for all that is known. */
export function unseenCell(lines: readonly string[]): readonly Mask[] {
  return wholeCell(lines, UNSEEN);
}

function wholeCell(lines: readonly string[], python: string): readonly Mask[] {
  return lines.map((_, line) => ({ line, python: line === 0 ? python : '' }));
}

function lineMasks(lines: readonly string[], from: number): readonly Mask[] {
  const masks: Mask[] = [];
  const reader = new LogicalLines();
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const python = reader.isAtStart ? pythonFor(line) : undefined;
    if (python === undefined) {
      reader.read(line);
      continue;
    }
    masks.push({ line: at, python });
    for (let last = line; last.endsWith('\\') && at + 1 < lines.length; ) {
      at++;
      last = lines[at] ?? '';
      masks.push({ line: at, python: '' });
    }
  }
  return masks;
}

/** What stands for a line that begins a statement; undefined where it is Python. */
function pythonFor(line: string): string | undefined {
  const assigned = ASSIGNED.exec(line);
  if (assigned !== null) {
    const [, target = '', name, rest = ''] = assigned;
    if (name === undefined) return `${target} ${HARMLESS}`;
    return `${target} ${name === 'time' && rest !== '' ? rest : UNSEEN}`;
  }
  const plain = SHELL.exec(line) ?? HELP.exec(line) ?? AUTOMATIC.exec(line);
  if (plain !== null) return `${plain[1]}${HARMLESS}`;
  const magic = LINE_MAGIC.exec(line);
  if (magic === null) return undefined;
  const [, indent = '', name = '', rest = ''] = magic;
  if (RUNS_STATEMENT.has(name)) {
    const statement = rest.replace(OPTIONS, '');
    return statement === '' || statement.startsWith('-') ? `${indent}${UNSEEN}` : `${indent}${statement}`;
  }
  return `${indent}${HARMLESS_LINES.has(name) ? HARMLESS : UNSEEN}`;
}

const TOKEN = /#.*|\\.|"""|'''|["']|[([{]|[)\]}]/g;

/** Follows Python's brackets, strings and line joining, to tell where a statement begins. */
class LogicalLines {
  #depth = 0;
  #quote: string | undefined;
  #isJoined = false;

  get isAtStart(): boolean {
    return this.#depth === 0 && this.#quote === undefined && !this.#isJoined;
  }

  read(line: string): void {
    for (const [token] of line.matchAll(TOKEN)) {
      if (this.#quote !== undefined) {
        if (token.startsWith(this.#quote)) this.#quote = undefined;
        else if (token.startsWith('#')) this.#readRest(token.slice(1));
      } else if (token.startsWith('#')) break;
      else if (/^["']/.test(token)) this.#quote = token;
      else if (/[([{]/.test(token)) this.#depth++;
      else if (/[)\]}]/.test(token)) this.#depth = Math.max(0, this.#depth - 1);
    }
    this.#isJoined = line.endsWith('\\') && this.#quote === undefined;
    // A string in single quotes ends with its line, unless a backslash joins it.
    if (this.#quote?.length === 1 && !line.endsWith('\\')) this.#quote = undefined;
  }

  /** What follows a `#` in a string is still looked at. */
  #readRest(rest: string): void {
    const joined = this.#isJoined;
    this.read(rest);
    this.#isJoined = joined;
  }
}

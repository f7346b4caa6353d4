/** One line of a traceback: where the program was. */
export interface Frame {
  /** As the log has it, with forward slashes: often of another machine. A cell of a notebook is `In[12]`. */
  readonly path: string;
  readonly line: number;
  /** The function, without its class; `<module>` at the top of a file. */
  readonly name: string;
  /** The statement that ran, as far as the traceback prints it. */
  readonly source?: string;
}

/** A frame as a line of a log starts it. */
export interface FrameLine {
  /** What stands before it: the name of a rank, a time, a box. Lines of the same traceback share it. */
  readonly prefix: string;
  readonly frame: Frame;
}

/** `  File "/app/train.py", line 12, in step` */
const CPYTHON = /^(.*?)File "([^"]+)", line (\d+)(?:, in (.+?))?\s*$/;
/** `File ~/work/train.py:12, in step(model, batch)` */
const IPYTHON = /^(.*?)File (\S.*?\.py):(\d+), in ([^\s(]+)/;
/** `/work/train.py in step(model, batch)`, `<ipython-input-12-5a9b> in <module>`; an arrow tells the line. */
const OLD_IPYTHON =
  /^((?:.*\s)?)((?:~|\/|[A-Za-z]:\\)\S*\.py|<ipython-input-[\w-]+>) in (?:(<module>)\s*$|([^\s(]+|<cell line: \d+>)\()/;
/** `Cell In[12], line 5, in step(model, batch)`, and before IPython 8.7 `Input In [12], in <cell line: 5>()`. */
const CELL =
  /^(.*?)(?:Cell|Input) In ?\[(\d+)\](?:, line (\d+))?(?:, in (?:<cell line: (\d+)>|([^\s(]+))\(.*)?$/;
/** `│ /app/train.py:12 in step      │` */
const RICH = /^(.*?)│ (\S.*?\.py):(\d+) in(?: ([^\s│]+))?\s*│?\s*$/;
/** `│ step   │`: where the path took the whole line, the function is below it. */
const BELOW = /^\s*│ ([\w.<>]+)\s+│$/;

/** The frame with the function that stands on the line below it. */
export function namedBelow(frame: Frame, line: string): Frame | undefined {
  const name = frame.name === '' ? BELOW.exec(line)?.[1] : undefined;
  return name === undefined ? undefined : { ...frame, name };
}

/** No traceback has longer lines. */
const LONGEST = 4096;

export function frameIn(line: string): FrameLine | undefined {
  if (line.length > LONGEST) return undefined;
  if (!mayBeFrame(line)) return undefined;
  const boxed = RICH.exec(line);
  if (boxed !== null) {
    const [, before = '', path = '', number, name = ''] = boxed;
    return { prefix: prefixOf(before), frame: frameOf(path, Number(number), name) };
  }
  const numbered = CPYTHON.exec(line) ?? IPYTHON.exec(line);
  if (numbered !== null) {
    const [, before = '', path = '', number, name = '<module>'] = numbered;
    return { prefix: prefixOf(before), frame: frameOf(path, Number(number), name) };
  }
  const old = OLD_IPYTHON.exec(line);
  if (old !== null)
    return { prefix: old[1] ?? '', frame: frameOf(old[2] ?? '', 0, old[3] ?? old[4] ?? '<module>') };
  const cell = CELL.exec(line);
  if (cell === null) return undefined;
  const [, before = '', count, number, topLine, name = '<module>'] = cell;
  return { prefix: prefixOf(before), frame: frameOf(`In[${count}]`, Number(number ?? topLine ?? 0), name) };
}

/** Whether a line has what every frame has, told at little cost. */
export function mayBeFrame(line: string): boolean {
  return ['.py', 'File "', 'Cell In', 'Input In', '<ipython-'].some((sign) => line.includes(sign));
}

/** CPython indents a frame by two spaces more than the traceback's own lines; loguru marks the one that caught it by `> `. */
function prefixOf(before: string): string {
  const prefix = before.replace(/(?: {2}|> )$/, '');
  // Where processes write at once, the end of another's statement, which tells nobody from anybody.
  return /[\w)]$/.test(prefix) ? '' : prefix;
}

/** `---> 12     out = model(batch)` or, in a box, `│ ❱ 12     out = model(batch)   │`: the line that ran, among others. */
const POINTED_AT = /(?:-+>|❱)\s*(\d+) (.*?)\s*│?$/;

export function pointedAt(line: string): { readonly line: number; readonly source: string } | undefined {
  const found = line.length > LONGEST ? null : POINTED_AT.exec(line);
  // Rich draws a line for each step of the indentation.
  const source = found?.[2]?.replace(/^(?:\s*│)+/, '').trim();
  return found === null ? undefined : { line: Number(found[1]), source: source ?? '' };
}

export function frameOf(path: string, line: number, name: string): Frame {
  const slashed = path.replaceAll('\\', '/');
  const cell = CELL_FILE.exec(slashed);
  return {
    path: cell === null ? slashed : `In[${cell[1] ?? cell[2] ?? ''}]`,
    line,
    name: /^<cell line/.test(name) ? '<module>' : (name.split('.').at(-1) ?? name),
  };
}

/** What IPython calls a cell where a file is wanted; not every version puts its number in. */
const CELL_FILE = /^<ipython-input-(\d+)-\w+>$|\/ipython-input-(?:(\d+)-)?\w+\.py$|\/ipykernel_\d+\/\d+\.py$/;

/** Whether it is a cell of a notebook. */
export function isCell({ path }: Pick<Frame, 'path'>): boolean {
  return /^In\[\d*\]$/.test(path);
}

/** PyTorch, also where it was built from source. */
const TORCH =
  /\/torch\/(?:(?:nn|autograd|optim|utils|distributed|cuda|amp|_dynamo|_inductor|_functorch)\/|(?:_tensor|_utils|_ops|serialization|functional)\.py$)/;
const INSTALLATION = /^.*\/(?:site-packages|dist-packages|lib\/python\d(?:\.\d+)?|Python\d+\/[Ll]ib)\//;
/** Code that is installed rather than written here, and what has no file. */
const INSTALLED =
  /(?:^|\/)(?:site-packages|dist-packages|lib\/python\d(?:\.\d+)?|Python\d+\/[Ll]ib|torchinductor_[^/]*)\/|^<|^[^/]*$(?<!\.py)/;

export function isLibrary({ path }: Frame): boolean {
  if (isCell({ path })) return false;
  return INSTALLED.test(path) || TORCH.test(path) || /\/bin\/[^/.]+$/.test(path);
}

/** The part of a library's path that is the same wherever it is installed. */
export function installedPath({ path }: Frame): string {
  const inside = path.replace(INSTALLATION, '');
  return inside === path && TORCH.test(path) ? path.replace(/^.*\/(?=torch\/)/, '') : inside;
}

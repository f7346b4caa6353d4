/** One line of a traceback: where the program was. */
export interface Frame {
  /** As the log has it, with forward slashes: often of another machine. */
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
/** `/work/train.py in step(model, batch)`; an arrow tells the line. */
const OLD_IPYTHON = /^((?:.*\s)?)((?:~|\/|[A-Za-z]:\\)\S*\.py) in ([^\s(]+)\(/;
/** `│ /app/train.py:12 in step      │` */
const RICH = /^(.*?)│ (\S.*?\.py):(\d+) in (\S+)\s*│?\s*$/;

/** No traceback has longer lines. */
const LONGEST = 4096;

export function frameIn(line: string): FrameLine | undefined {
  if (line.length > LONGEST) return undefined;
  if (!line.includes('.py') && !line.includes('File "')) return undefined;
  const numbered = CPYTHON.exec(line) ?? IPYTHON.exec(line) ?? RICH.exec(line);
  if (numbered !== null) {
    const [, before = '', path = '', number, name = '<module>'] = numbered;
    return { prefix: prefixOf(before), frame: frameOf(path, Number(number), name) };
  }
  const old = OLD_IPYTHON.exec(line);
  return old === null
    ? undefined
    : { prefix: old[1] ?? '', frame: frameOf(old[2] ?? '', 0, old[3] ?? '<module>') };
}

/** CPython indents a frame by two spaces more than the traceback's own lines. */
function prefixOf(before: string): string {
  const prefix = before.replace(/ {2}$/, '');
  // Where processes write at once, the end of another's statement, which tells nobody from anybody.
  return /[\w)]$/.test(prefix) ? '' : prefix;
}

/** `---> 12     out = model(batch)` or, in a box, `│ ❱ 12     out = model(batch)   │`: the line that ran, among others. */
const POINTED_AT = /(?:-+>|❱)\s*(\d+) (.*?)\s*│?$/;

export function pointedAt(line: string): { readonly line: number; readonly source: string } | undefined {
  const found = line.length > LONGEST ? null : POINTED_AT.exec(line);
  return found === null ? undefined : { line: Number(found[1]), source: (found[2] ?? '').trim() };
}

function frameOf(path: string, line: number, name: string): Frame {
  return { path: path.replaceAll('\\', '/'), line, name: name.split('.').at(-1) ?? name };
}

/** PyTorch, also where it was built from source. */
const TORCH =
  /\/torch\/(?:(?:nn|autograd|optim|utils|distributed|cuda|amp|_dynamo|_inductor|_functorch)\/|(?:_tensor|_utils|_ops|serialization|functional)\.py$)/;
const INSTALLATION = /^.*\/(?:site-packages|dist-packages|lib\/python\d(?:\.\d+)?|Python\d+\/[Ll]ib)\//;
/** Code that is installed rather than written here, and what has no file. */
const INSTALLED =
  /(?:^|\/)(?:site-packages|dist-packages|lib\/python\d(?:\.\d+)?|Python\d+\/[Ll]ib|torchinductor_[^/]*)\/|^<|^[^/]*$(?<!\.py)/;

export function isLibrary({ path }: Frame): boolean {
  return INSTALLED.test(path) || TORCH.test(path) || /\/bin\/[^/.]+$/.test(path);
}

/** The part of a library's path that is the same wherever it is installed. */
export function installedPath({ path }: Frame): string {
  const inside = path.replace(INSTALLATION, '');
  return inside === path && TORCH.test(path) ? path.replace(/^.*\/(?=torch\/)/, '') : inside;
}

import type { CheckedFiles } from './places.js';

const IMPORT = /^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(.*)|import[ \t]+([\w., \t]+))/gm;
/** What may bring in a file without an import statement that names it. */
const UNSEEN = /\bimportlib\b|__import__|\bexec\(|\brunpy\b|\bhydra\b|entry_points/;

/**
 * The files that a program may consist of, told from those that are in its traceback by what they import. Undefined where it
 * cannot be told: a file brings in others by a name that is made when it runs.
 */
export function programAround(
  files: CheckedFiles,
  started: Iterable<string>,
): ReadonlySet<string> | undefined {
  const reached = new Set(started);
  const bySegment = new Map<string, string[]>();
  for (const file of files.paths.keys())
    for (const segment of new Set(file.replace(/\.py$/, '').split('/')))
      bySegment.set(segment, [...(bySegment.get(segment) ?? []), file]);
  for (const file of reached) {
    const text = files.text(file);
    if (text === undefined || UNSEEN.test(text)) return undefined;
    const wanted = [...text.matchAll(IMPORT)].flatMap(([, from, names, plain]) =>
      plain === undefined ? modulesOf(from ?? '', names ?? '') : plain.split(',').map(pathOf),
    );
    for (const path of new Set(wanted))
      for (const other of bySegment.get(path.split('/').at(-1) ?? '') ?? [])
        if (isAt(other, path)) reached.add(other);
  }
  return reached;
}

/** `from a.b import c, d` may mean `a/b.py`, `a/b/c.py` and `a/b/d.py`; names on further lines are in `a/b`. */
function modulesOf(from: string, names: string): readonly string[] {
  const base = pathOf(from.replace(/^\.+/, ''));
  const named = names.match(/\w+/g) ?? [];
  return [...(base === '' ? [] : [base]), ...named.map((name) => (base === '' ? name : `${base}/${name}`))];
}

function pathOf(module: string): string {
  return (module.trim().split(/\s/)[0] ?? '').replaceAll('.', '/');
}

/** Whether a file is the module, or in the package, that a path ends in. */
function isAt(file: string, path: string): boolean {
  if (path === '') return false;
  const whole = `/${file}`;
  return whole.endsWith(`/${path}.py`) || whole.includes(`/${path}/`);
}

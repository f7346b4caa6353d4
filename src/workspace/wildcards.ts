import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PathPatterns } from './gitignore.js';

const WILD = /[*?[{]/;
/** Alternatives in braces that one pattern may stand for. */
const MOST_ALTERNATIVES = 64;

/** A pattern in place of a path, as other tools take it: `src/**` + `/*.py`. A file of that name is a file. */
export interface Wildcard {
  /** Where the files are that it may mean. */
  readonly folder: string;
  readonly patterns: PathPatterns;
}

export function wildcardIn(cwd: string, path: string): Wildcard | undefined {
  if (!WILD.test(path) || existsSync(resolve(cwd, path))) return undefined;
  const parts = path.split('/');
  const at = parts.findIndex((part) => WILD.test(part));
  const above = parts.slice(0, at).join('/');
  const folder = resolve(cwd, above === '' && path.startsWith('/') ? '/' : above);
  const rest = alternatives(parts.slice(at).join('/'));
  return {
    folder,
    patterns: new PathPatterns(
      folder,
      rest.map((each) => `/${each}`),
    ),
  };
}

/** `*.{py,ipynb}` as `*.py` and `*.ipynb`. */
function alternatives(pattern: string): readonly string[] {
  let all = [pattern];
  for (;;) {
    const next = all.flatMap((each) => {
      const found = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(each);
      return found === null
        ? [each]
        : (found[2] ?? '').split(',').map((one) => `${found[1]}${one}${found[3]}`);
    });
    if (next.length === all.length || next.length > MOST_ALTERNATIVES)
      return next.slice(0, MOST_ALTERNATIVES);
    all = next;
  }
}

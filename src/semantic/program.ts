import type { PyModule } from './module.js';

/** A program rather than something that others import: it reads its command line, or asks whether it is the program. */
export function isProgram({ path, text }: PyModule): boolean {
  return /\.parse_args\(|\b__name__\s*==|^#!/m.test(text) && !/(?:^|[\\/])__init__\.py$/.test(path);
}

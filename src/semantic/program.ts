import type { PyNode } from '../syntax/node.js';
import type { Answer } from './answer.js';
import type { PyModule } from './module.js';

/** A program rather than something that others import: it reads its command line, or asks whether it is the program. */
export function isProgram({ path, text }: PyModule): boolean {
  return /\.parse_args\(|\b__name__\s*==|^#!/m.test(text) && !/(?:^|[\\/])__init__\.py$/.test(path);
}

/** Whether names that the file binds are its own affair: `no` where it exports one, `unknown` where others may import it. */
export function isPrivate(module: PyModule, bound: readonly PyNode[]): Answer {
  const outer = bound.filter((name) => module.resolve(name) === module.scope);
  const exported = /^__all__\b[^\n]*(?:\n[^\n\]]*)*/m.exec(module.text)?.[0] ?? '';
  if (outer.some(({ text }) => exported.includes(`"${text}"`) || exported.includes(`'${text}'`))) return 'no';
  return outer.every(({ text }) => text.startsWith('_')) || isProgram(module) ? 'yes' : 'unknown';
}

/** In a handler, or under a test of versions: what stands there is for an older library. */
export function isOlderBranch(node: PyNode): boolean {
  for (const ancestor of node.ancestors()) {
    if (ancestor.type === 'except_clause') return true;
    const condition =
      ancestor.type === 'conditional_expression' ? ancestor.named[1] : ancestor.field('condition');
    if (
      condition !== undefined &&
      /version|hasattr\(\s*(?:torch|transformers)|torch\.amp\b|TORCH_/i.test(condition.text)
    )
      return true;
  }
  return false;
}

import type { PyModule } from '../semantic/module.js';
import type { PyNode } from '../syntax/node.js';
import { type Frame, isCell } from './frame.js';
import type { Places, Spot } from './places.js';

/** What differentiates, or has a library do it. */
const DIFFERENTIATES =
  /\bbackward\b|\bautograd\b|\bgrad\(|\.(?:fit|learn|minimize)\(|\w*Trainer\(|\btraining_step\b|\bfunctorch\b|\btorch\.func\b/;
const MOST_FILES = 100;
const IMPORTS = ['import_statement', 'import_from_statement', 'future_import_statement'];

/**
 * A program that never differentiates: nothing that its script runs does, going by the names that it uses. `program`: the
 * files that it may consist of.
 */
export function neverTrains(
  frames: readonly { readonly frame: Frame; readonly spot: Spot | undefined }[],
  places: Places,
  program: ReadonlySet<string> | undefined,
): boolean {
  const start = frames.find(({ spot }) => spot !== undefined);
  if (start?.spot === undefined || (start.frame.name !== '<module>' && !isCell(start.frame))) return false;
  if (program === undefined || program.size > MOST_FILES) return false;
  const modules = [...program].map((file) => ({ file, module: places.moduleOf(file) }));
  const parts: Part[] = [];
  for (const { file, module } of modules) {
    if (module === undefined) return false;
    parts.push(...partsOf(module, file === start.spot.file));
  }
  const reached = new Set(parts.filter(({ name }) => name === undefined));
  for (const part of reached) {
    if (DIFFERENTIATES.test(part.code)) return false;
    const words = new Set(part.code.match(/\w+/g));
    for (const other of parts)
      if (other.name !== undefined && (words.has(other.name) || isOf(other, words))) reached.add(other);
  }
  return true;
}

/** A function, or what a file does by itself. */
interface Part {
  readonly name: string | undefined;
  /** The class of a method. */
  readonly owner: string | undefined;
  readonly code: string;
}

/** What Python or torch calls of an object by itself. */
function isOf({ name = '', owner }: Part, words: ReadonlySet<string>): boolean {
  return owner !== undefined && words.has(owner) && (name === 'forward' || /^__\w+__$/.test(name));
}

function partsOf(module: PyModule, isStarted: boolean): readonly Part[] {
  const functions: Part[] = [];
  const loose: string[] = [];
  const visit = (node: PyNode, owner: string | undefined, into: string[]): void => {
    if (IMPORTS.includes(node.type) || node.type === 'comment') return;
    if (!isStarted && node.type === 'if_statement' && /\b__name__\b/.test(node.condition?.text ?? '')) return;
    if (node.type === 'function_definition') {
      const code: string[] = [];
      for (const child of node.named) if (child !== node.name) visit(child, undefined, code);
      functions.push({ name: node.name?.text, owner, code: code.join(' ') });
      // Whoever decorates it may call it.
      if (node.parent?.type === 'decorated_definition') into.push(node.name?.text ?? '');
      return;
    }
    const within = node.type === 'class_definition' ? node.name?.text : owner;
    if (node.named.length === 0 || node.type === 'string') {
      into.push(module.text.slice(node.start, node.end));
      return;
    }
    if (node.type === 'call') into.push(`${node.function?.text ?? ''}(`);
    for (const child of node.named)
      if (node.type !== 'class_definition' || child !== node.name) visit(child, within, into);
  };
  visit(module.root, undefined, loose);
  return [{ name: undefined, owner: undefined, code: loose.join(' ') }, ...functions];
}

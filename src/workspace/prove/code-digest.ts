import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { CodeState, VerifiedRun } from '../../report/prove/verified.js';
import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';
import { firstError } from '../../syntax/soundness.js';
import { decode } from '../../text/decode.js';
import { BoundedReader, LARGEST_FILE } from '../bounded.js';
import { codeOf, Unreadable } from '../failure.js';

/**
 * Tells the code of a file from other code: what Python reads, without comments, blank lines and where it stands. Of what does not
 * parse, every byte counts.
 */
export function codeDigest(parser: PythonParser, path: string, bytes: Buffer): string {
  const hash = createHash('sha256');
  const decoded = path.endsWith('.py') ? decode(bytes) : undefined;
  if (decoded?.ok !== true) return hash.update(bytes).digest('hex');
  const tree = parser.parse(decoded.source.text);
  try {
    if (firstError(tree) !== undefined) return hash.update(bytes).digest('hex');
    for (const word of wordsOf(tree.root)) hash.update(word);
  } finally {
    tree.dispose();
  }
  return hash.digest('hex');
}

/** Each node with how deep it is, since an indent is only that; the text of those that have no parts. */
function* wordsOf(root: PyNode): Generator<string> {
  const open: { readonly node: PyNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (node.type === 'comment') continue;
    const isWhole = node.children.length === 0 || node.type === 'string';
    yield `${depth} ${node.type}${isWhole ? ` ${node.text}` : ''}\n`;
    if (isWhole) continue;
    for (const child of [...node.children].reverse()) open.push({ node: child, depth: depth + 1 });
  }
}

/** The code of a project as it is now, held against what ran. Nothing out of the project is read. */
export class CodeNow {
  readonly #digests = new Map<string, string | undefined>();

  constructor(
    private readonly parser: PythonParser,
    /** The real path of its root. */
    private readonly root: string,
  ) {}

  /** All files are as they were before the fixes, or all as with what was taken: a mixture never ran. */
  stateOf({ code }: Pick<VerifiedRun, 'code'>): CodeState {
    const not = (state: 'before' | 'after') => code.filter((each) => this.#digest(each.path) !== each[state]);
    const [before, after] = [not('before'), not('after')];
    if (before.length === 0) return 'before';
    const changed = after.find((each) => before.includes(each)) ?? after[0];
    return changed === undefined ? 'after' : { changed: `\`${changed.path}\`` };
  }

  #digest(path: string): string | undefined {
    if (!this.#digests.has(path)) this.#digests.set(path, this.#read(path));
    return this.#digests.get(path);
  }

  #read(path: string): string | undefined {
    try {
      const bounds = { most: LARGEST_FILE, root: this.root };
      return codeDigest(this.parser, path, new BoundedReader().read(join(this.root, path), bounds).bytes);
    } catch (error) {
      if (error instanceof Unreadable || codeOf(error) !== undefined) return undefined;
      throw error;
    }
  }
}

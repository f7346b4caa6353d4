import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Position, Span } from '../text/lines.js';
import type { PyNode } from './node.js';
import type { SyntaxTree } from './parser.js';

export interface SyntaxProblem {
  readonly message: string;
  readonly at?: Position;
}

interface RuffDiagnostic {
  readonly code: string | null;
  readonly message: string;
  readonly start_location: { readonly row: number; readonly column: number };
}

interface RuffWorkspace {
  check(contents: string): readonly RuffDiagnostic[];
}

const require = createRequire(import.meta.url);
let workspace: RuffWorkspace | undefined;

/**
 * What Ruff's parser has against the text as Python 3. tree-sitter forgives Python 2, empty suites, bad dedents and
 * `f(a=1, 2)`; this parser does not. Loaded on first use, since most files never get here.
 */
export function pythonProblem(text: string): SyntaxProblem | undefined {
  try {
    workspace ??= openRuff();
    const found = workspace.check(text).find((diagnostic) => diagnostic.code === 'invalid-syntax');
    if (found === undefined) return undefined;
    const { row, column } = found.start_location;
    return { message: found.message, at: { line: row, column } };
  } catch (error) {
    // A wasm instance that ran out of stack is not to be trusted again, and the package holds on to it.
    workspace = undefined;
    delete require.cache[require.resolve('@astral-sh/ruff-wasm-nodejs')];
    if (error instanceof RangeError || (error instanceof Error && error.name === 'RuntimeError')) {
      return { message: 'it is nested too deeply to be checked' };
    }
    throw error;
  }
}

/**
 * V8 would spend seconds optimising the whole module, and hold up the end of the process, for a few checks; its baseline
 * compiler starts at once and is fast enough. What is never called need not even be validated.
 */
function openRuff(): RuffWorkspace {
  setFlagsFromString('--wasm-lazy-validation');
  setFlagsFromString('--liftoff-only');
  try {
    return loadRuff();
  } finally {
    setFlagsFromString('--no-liftoff-only');
  }
}

function loadRuff(): RuffWorkspace {
  const ruff = require('@astral-sh/ruff-wasm-nodejs') as {
    readonly Workspace: new (options: unknown, encoding: number) => RuffWorkspace;
    readonly PositionEncoding: { readonly Utf32: number };
  };
  return new ruff.Workspace({ 'target-version': 'py314', lint: { select: [] } }, ruff.PositionEncoding.Utf32);
}

/** The first place where tree-sitter had to guess: an ERROR node, or a token of no width that it made up. */
export function firstError(tree: SyntaxTree): PyNode | undefined {
  if (!tree.hasError) return undefined;
  const { root } = tree;
  for (const node of root.walk()) {
    if (node.type === 'ERROR' || (node.start === node.end && node !== root && node.children.length === 0))
      return node;
  }
  return root;
}

const PYTHON_2: readonly string[] = ['print_statement', 'exec_statement'];

/** Whether a node belongs to a statement that only Python 2 has, or is an `async=` of before 3.7; the grammar forgives them. */
export function isOldPython({ text, parent }: PyNode): boolean {
  if (parent === undefined) return false;
  return PYTHON_2.includes(parent.type) || (text === 'async' && parent.type === 'keyword_argument');
}

/** The tokens of a tree outside some spans, comments included, as one comparable list. */
export function tokensOutside(root: PyNode, spans: readonly Span[]): readonly string[] {
  const sorted = [...spans].sort((a, b) => a.start - b.start || a.end - b.end);
  const tokens: string[] = [];
  for (const node of root.walk((inner) => inner.type !== 'string')) {
    const leaf = node.children.length === 0 || node.type === 'string';
    if (!leaf || node.start === node.end) continue;
    // A comment grows when text is added right behind it; code tokens that only touch an edit must stay as they were.
    const reach = node.type === 'comment' ? 1 : 0;
    const span = sorted[firstEndingBehind(sorted, node.start - reach)];
    if (span === undefined || span.start >= node.end + reach) tokens.push(`${node.type} ${node.text}`);
  }
  return tokens;
}

/** Of spans in order that do not overlap, the first whose end lies behind the offset. */
function firstEndingBehind(spans: readonly Span[], offset: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.end ?? Infinity) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

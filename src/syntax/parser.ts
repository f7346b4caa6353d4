import { createRequire } from 'node:module';
import { type BackendNode, type PyNode, TreeSource } from './node.js';
import type { Outline } from './outline.js';
import { ModuleInPieces } from './pieces.js';

export type Backend = 'native' | 'wasm';

export interface SyntaxTree {
  readonly root: PyNode;
  /** The parser had to guess somewhere. */
  readonly hasError: boolean;
  readonly isInPieces: boolean;
  /** Whether the parser has to guess in what nobody looked into. */
  hasErrorElsewhere(): boolean;
  /** Gives a wasm tree's memory back. Nodes must not be used afterwards. */
  dispose(): void;
}

export interface PythonParser {
  readonly backend: Backend;
  parse(text: string): SyntaxTree;
  /**
   * The same tree, but nothing is parsed before it is looked into: each statement of the module by itself, and the body of
   * a function apart from the rest. Errors elsewhere go unseen. Looking into it throws `NotInPieces` where a part alone does not parse as it does in its file.
   */
  parseInPieces(text: string, outline: Outline): SyntaxTree;
}

interface BackendTree {
  readonly rootNode: BackendNode & { readonly hasError: boolean };
  delete?(): void;
}

const require = createRequire(import.meta.url);

/** Characters handed to the native parser at a time; its string input is limited to 32 KiB. */
const CHUNK = 16 * 1024;

/**
 * The native addon where it loads, the grammar's wasm everywhere else. Both yield the same trees.
 * `only` forces one of them; `isBrief`: for so few files that starting fast beats running fast.
 */
export async function loadParser(only?: Backend, isBrief = false): Promise<PythonParser> {
  if (only !== 'wasm') {
    const native = loadNative();
    if (native instanceof Error) {
      if (only === 'native') throw native;
    } else return native;
  }
  return loadWasm(isBrief);
}

function loadNative(): PythonParser | Error {
  try {
    const Parser = require('tree-sitter') as new () => {
      setLanguage(language: unknown): void;
      parse(input: (offset: number) => string): BackendTree;
    };
    const parser = new Parser();
    // Trees are read through cursors: a class for each type of node would only cost time.
    parser.setLanguage({ ...require('tree-sitter-python'), nodeTypeInfo: [] });
    return new TreeParser('native', (text) => parser.parse((offset) => text.slice(offset, offset + CHUNK)));
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function loadWasm(isBrief: boolean): Promise<PythonParser> {
  // Optimising wasm takes longer than checking a few files, and the process waits for it before it ends.
  if (isBrief) require('node:v8').setFlagsFromString('--liftoff-only');
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammarPath()));
  return new TreeParser('wasm', (text) => {
    const tree: BackendTree | null = parser.parse(text);
    if (tree === null) throw new Error('web-tree-sitter gave no tree');
    return tree;
  });
}

class TreeParser implements PythonParser {
  constructor(
    readonly backend: Backend,
    private readonly read: (text: string) => BackendTree,
  ) {}

  parse(text: string): SyntaxTree {
    const tree = this.read(readable(text));
    const { rootNode } = tree;
    return {
      root: new TreeSource(text, rootNode).root(),
      hasError: rootNode.hasError,
      isInPieces: false,
      hasErrorElsewhere: () => false,
      // Only wasm trees need it; native ones are left to the garbage collector.
      dispose: () => tree.delete?.(),
    };
  }

  #hasError(text: string): boolean {
    const tree = this.read(text);
    try {
      return tree.rootNode.hasError;
    } finally {
      tree.delete?.();
    }
  }

  parseInPieces(text: string, outline: Outline): SyntaxTree {
    // Lone carriage returns have no outline.
    const plain = outline.comments < COMMENT_LINES ? (part: string) => part : readable;
    const trees: BackendTree[] = [];
    const root = new ModuleInPieces(text, outline, (part) => {
      const tree = this.read(plain(part));
      const { rootNode } = tree;
      trees.push(tree);
      return rootNode.hasError ? undefined : rootNode;
    });
    return {
      root,
      hasError: false,
      isInPieces: true,
      hasErrorElsewhere: () => this.#hasError(plain(root.unread)),
      dispose: () => {
        for (const tree of trees) tree.delete?.();
      },
    };
  }
}

/** The built package ships the grammar beside its code; a checkout has it in the grammar's own package. */
function grammarPath(): string {
  try {
    return require.resolve('./tree-sitter-python.wasm');
  } catch {
    return require.resolve('tree-sitter-python/tree-sitter-python.wasm');
  }
}

/** The text as the grammar can read it, of the same length, so that offsets hold. */
function readable(text: string): string {
  return withoutCommentRuns(withPythonNewlines(text));
}

/** A lone carriage return ends a line in Python but not in the grammar. */
function withPythonNewlines(text: string): string {
  return text.includes('\r') ? text.replace(/\r(?!\n)/g, '\n') : text;
}

const COMMENT_LINES = 64;
const COMMENT_RUN = new RegExp(`(?:^[ \\t\\f]*#.*\\r?\\n){${COMMENT_LINES},}`, 'gm');

/**
 * The grammar's scanner takes quadratic time over comment lines in a row; thousands of them would take minutes. In such a
 * run they are blank to it, except what may matter: our own comments, and lines that could end a string around them.
 */
function withoutCommentRuns(text: string): string {
  return text.replace(COMMENT_RUN, (run) =>
    run.replace(/^.*$/gm, (line) => (/memfix:|"""|'''/.test(line) ? line : line.replace(/[^\r\n]/g, ' '))),
  );
}

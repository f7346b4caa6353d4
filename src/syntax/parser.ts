import { createRequire } from 'node:module';
import type { BackendNode } from './backend.js';
import { type PyNode, TreeSource } from './node.js';
import type { Outline } from './outline.js';
import { ModuleInPieces } from './pieces.js';
import { LONG_RUN, readable } from './readable.js';
import { inSection } from './section.js';

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

/** Parses for at most `SLICE`; null where that was not enough, and then goes on where it stopped when called again. */
interface SliceParser {
  parse(text: string): BackendTree | null;
  /** Forgets a parse that was not finished. */
  reset(): void;
}

/** A tree and what its root says. */
interface ReadTree {
  readonly root: BackendNode;
  readonly hasError: boolean;
  dispose(): void;
}

const require = createRequire(import.meta.url);

/** Characters handed to the native parser at a time; its string input is limited to 32 KiB. */
const CHUNK = 16 * 1024;

/** Milliseconds that a parse runs until whoever has to stop it can. */
const SLICE = 50;

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
    return inSection(openNative);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function openNative(): PythonParser {
  const Parser = require('tree-sitter') as new () => {
    setLanguage(language: unknown): void;
    setTimeoutMicros(timeout: number): void;
    parse(input: (offset: number) => string): BackendTree | null;
    reset(): void;
  };
  const parser = new Parser();
  // Trees are read through cursors: a class for each type of node would only cost time.
  parser.setLanguage({ ...require('tree-sitter-python'), nodeTypeInfo: [] });
  parser.setTimeoutMicros(SLICE * 1000);
  return new TreeParser('native', {
    parse: (text) => parser.parse((offset) => text.slice(offset, offset + CHUNK)),
    reset: () => parser.reset(),
  });
}

async function loadWasm(isBrief: boolean): Promise<PythonParser> {
  // Optimising wasm takes longer than checking a few files, and the process waits for it before it ends.
  if (isBrief) require('node:v8').setFlagsFromString('--liftoff-only');
  const { Language, Parser } = await import('web-tree-sitter');
  await Parser.init({ locateFile: () => wasmOf('web-tree-sitter') });
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasmOf('tree-sitter-python')));
  return new TreeParser('wasm', {
    parse: (text) => {
      const end = performance.now() + SLICE;
      return parser.parse(text, null, { progressCallback: () => performance.now() > end });
    },
    reset: () => parser.reset(),
  });
}

class TreeParser implements PythonParser {
  constructor(
    readonly backend: Backend,
    private readonly slices: SliceParser,
  ) {}

  parse(text: string): SyntaxTree {
    const { root, hasError, dispose } = this.#read(readable(text));
    return {
      root: new TreeSource(text, root).root(),
      hasError,
      isInPieces: false,
      hasErrorElsewhere: () => false,
      dispose,
    };
  }

  #read(text: string): ReadTree {
    try {
      for (;;) {
        const read = inSection(() => this.#slice(text));
        if (read !== undefined) return read;
      }
    } catch (error) {
      this.slices.reset();
      throw error;
    }
  }

  #slice(text: string): ReadTree | undefined {
    const tree = this.slices.parse(text);
    if (tree === null) return undefined;
    const { rootNode } = tree;
    // Only wasm trees need to be given back; native ones are left to the garbage collector.
    return { root: rootNode, hasError: rootNode.hasError, dispose: () => tree.delete?.() };
  }

  #hasError(text: string): boolean {
    const { hasError, dispose } = this.#read(text);
    dispose();
    return hasError;
  }

  parseInPieces(text: string, outline: Outline): SyntaxTree {
    // Lone carriage returns have no outline.
    const plain = outline.longestRun < LONG_RUN ? (part: string) => part : readable;
    const trees: ReadTree[] = [];
    const root = new ModuleInPieces(text, outline, (part) => {
      const tree = this.#read(plain(part));
      trees.push(tree);
      return tree.hasError ? undefined : tree.root;
    });
    return {
      root,
      get hasError() {
        return root.isBroken;
      },
      isInPieces: true,
      hasErrorElsewhere: () => this.#hasError(plain(root.unread)),
      dispose: () => {
        for (const tree of trees) tree.dispose();
      },
    };
  }
}

/** The built package ships the parser and the grammar beside its code; a checkout has them in packages of their own. */
function wasmOf(name: 'tree-sitter-python' | 'web-tree-sitter'): string {
  try {
    return require.resolve(`./${name}.wasm`);
  } catch {
    return require.resolve(`${name}/${name}.wasm`);
  }
}

import type { Outline } from '../syntax/outline.js';
import { type Backend, loadParser, type PythonParser, type SyntaxTree } from '../syntax/parser.js';
import { Failure } from './failure.js';

/** The parser that `MEMFIX_PARSER` asks for; without a wish, the native one where it loads, else wasm. */
export async function chosenParser(wish: string | undefined, isBrief = false): Promise<PythonParser> {
  const backend = backendOf(wish);
  try {
    return await loadParser(backend, isBrief);
  } catch (error) {
    throw new Failure(
      'The parser does not load',
      `MEMFIX_PARSER asks for \`${wish}\`: ${error instanceof Error ? error.message : String(error)}`,
      'Unset MEMFIX_PARSER to let memfix choose one that does.',
    );
  }
}

/** A parser that is loaded when it is first needed, and can be loaded anew. */
export class ParserOnDemand implements PythonParser {
  #parser: PythonParser | undefined;

  constructor(
    private readonly wish: string | undefined,
    /** For few files. */
    private readonly isBrief = false,
  ) {
    backendOf(wish);
  }

  get isLoaded(): boolean {
    return this.#parser !== undefined;
  }

  async load(): Promise<PythonParser> {
    this.#parser ??= await chosenParser(this.wish, this.isBrief);
    return this.#parser;
  }

  /** For when a parse was cut off: the parser would go on with it. */
  async renew(): Promise<void> {
    this.#parser = undefined;
    await this.load();
  }

  get backend(): Backend {
    return this.#loaded.backend;
  }

  parse(text: string): SyntaxTree {
    return this.#loaded.parse(text);
  }

  parseInPieces(text: string, outline: Outline): SyntaxTree {
    return this.#loaded.parseInPieces(text, outline);
  }

  get #loaded(): PythonParser {
    if (this.#parser === undefined) throw new Error('the parser is used before it is loaded');
    return this.#parser;
  }
}

/** Parsers for one project after the other. Each is one's own meanwhile, and thrown away where that came to no good end. */
export class ParserStock {
  readonly #free: ParserOnDemand[] = [];

  constructor(private readonly wish: string | undefined) {}

  async lend<T>(work: (parser: ParserOnDemand) => Promise<T>): Promise<T> {
    const parser = this.#free.pop() ?? new ParserOnDemand(this.wish);
    const done = await work(parser);
    this.#free.push(parser);
    return done;
  }
}

function backendOf(wish: string | undefined): Backend | undefined {
  if (wish === undefined || wish === '') return undefined;
  if (wish === 'native' || wish === 'wasm') return wish;
  throw new Failure(
    'Unknown parser',
    `MEMFIX_PARSER is \`${wish}\``,
    'Set it to `native` or `wasm`, or unset it to let memfix choose.',
  );
}

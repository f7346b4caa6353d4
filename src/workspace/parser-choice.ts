import { type Backend, loadParser, type PythonParser } from '../syntax/parser.js';
import { Failure } from './failure.js';

/** The parser that `MEMFIX_PARSER` asks for, else the best that loads. */
export async function chosenParser(wish: string | undefined): Promise<PythonParser> {
  if (wish === undefined || wish === '') return loadParser();
  if (!isBackend(wish)) {
    throw new Failure(
      'Unknown parser',
      `MEMFIX_PARSER is \`${wish}\``,
      'Set it to `native` or `wasm`, or unset it to let memfix choose.',
    );
  }
  try {
    return await loadParser(wish);
  } catch (error) {
    throw new Failure(
      'The parser does not load',
      `MEMFIX_PARSER asks for \`${wish}\`: ${error instanceof Error ? error.message : String(error)}`,
      'Unset MEMFIX_PARSER to let memfix choose one that does.',
    );
  }
}

function isBackend(wish: string): wish is Backend {
  return wish === 'native' || wish === 'wasm';
}

import { type Backend, loadParser, type PythonParser } from '../../src/syntax/parser.js';

/** Every parser that this machine can load: both, unless the addon is missing or `MEMFIX_PARSER` asks for one. */
export async function availableParsers(): Promise<readonly PythonParser[]> {
  const only = process.env['MEMFIX_PARSER'];
  const wanted: readonly Backend[] = only === 'wasm' || only === 'native' ? [only] : ['native', 'wasm'];
  const parsers = await Promise.all(wanted.map((backend) => loadParser(backend).catch(() => undefined)));
  const loaded = parsers.filter((parser) => parser !== undefined);
  if (!loaded.some(({ backend }) => backend === 'wasm') && only !== 'native') {
    throw new Error('the wasm parser must load everywhere');
  }
  return loaded;
}

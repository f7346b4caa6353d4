/** memfix as a library: bytes in, proven edits out. Nothing here touches the disk or the terminal. */

export { transforms } from '../transforms/index.js';
export { createEngine, type Engine, type EngineSetup, policy } from './engine/engine.js';
export type * from './engine/outcome.js';
export { type FileChange, patchOf } from './report/patch.js';
export { type Backend, loadParser, type PythonParser } from './syntax/parser.js';
export { defaultsOf } from './testing/defaults.js';
export { type Decoded, decode, decodeNotebook, encode, type SourceText } from './text/decode.js';
export type { Position, Span } from './text/lines.js';
export type * from './toolkit/contract.js';

import { readFileSync } from 'node:fs';
import type { ProjectDoor } from '../engine/door.js';
import { createEngine, type Engine } from '../engine/engine.js';
import { Neighbours } from '../engine/neighbours.js';
import type { SourceFile } from '../engine/outcome.js';
import type { PythonParser } from '../syntax/parser.js';
import { defaultsOf } from '../testing/defaults.js';
import { decode } from '../text/decode.js';
import type { Transform } from '../toolkit/contract.js';

/** An engine for these transforms with their options at their defaults, a single one as if by name; without a door, for files by themselves. */
export function engineWithDefaults(
  parser: PythonParser,
  transforms: readonly Transform[],
  all: readonly Transform[],
  door?: ProjectDoor,
): Engine {
  const neighbours = door && new Neighbours(parser, door);
  return createEngine({
    parser,
    transforms,
    knownIds: new Set(all.map(({ meta }) => meta.id)),
    optionsFor: (id) =>
      defaultsOf(
        all.find(({ meta }) => meta.id === id),
        transforms.length === 1,
      ),
    ...(neighbours && {
      around: (...asked: Parameters<Neighbours['around']>) => neighbours.around(...asked),
    }),
  });
}

/** The file's text, or why it has none. */
export function readSource(path: string, name: string): SourceFile | string {
  const decoded = decode(readFileSync(path));
  return decoded.ok ? { path: name, source: decoded.source } : decoded.reason;
}

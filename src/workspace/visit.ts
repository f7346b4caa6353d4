import type { Engine } from '../engine/engine.js';
import type { Skipped, SourceFile } from '../engine/outcome.js';
import type { Candidate, Discovery } from './discover.js';
import { Reader } from './read.js';

export interface Visit<T> {
  readonly results: readonly T[];
  readonly skipped: readonly Skipped[];
  /** Marked `@generated`, and therefore not looked at. */
  readonly generated: readonly string[];
  /** Files on which memfix itself failed: our bugs. */
  readonly crashes: readonly Crash[];
  readonly files: number;
}

export interface Crash {
  readonly path: string;
  readonly error: unknown;
}

export interface VisitHooks {
  readonly signal: AbortSignal;
  progress(done: number, total: number): void;
}

/** Longest stretch of work without a look at the keyboard, in milliseconds. */
const PATIENCE = 40;

/** Reads every candidate that could matter and hands it to `look`; one file's failure never ends the run. */
export async function visit<T extends object>(
  discovery: Discovery,
  engine: Engine,
  look: (file: SourceFile) => (T | Skipped) | Promise<T | Skipped>,
  hooks: VisitHooks,
): Promise<Visit<T>> {
  const reader = new Reader();
  const results: T[] = [];
  const skipped: Skipped[] = [...discovery.skipped];
  const generated: string[] = [];
  const crashes: Crash[] = [];
  const breathe = breather();
  for (const [index, candidate] of discovery.candidates.entries()) {
    if (await breathe()) hooks.progress(index, discovery.candidates.length);
    hooks.signal.throwIfAborted();
    try {
      const answer = await lookAt(candidate, reader, engine, look);
      if (answer === 'nothing') continue;
      if (answer === 'generated') generated.push(candidate.path);
      else if (isSkipped(answer)) skipped.push(answer);
      else results.push(answer);
    } catch (error) {
      crashes.push({ path: candidate.path, error });
    }
  }
  await new Promise((resume) => setImmediate(resume));
  hooks.signal.throwIfAborted();
  return { results, skipped, generated, crashes, files: discovery.candidates.length };
}

async function lookAt<T extends object>(
  candidate: Candidate,
  reader: Reader,
  engine: Engine,
  look: (file: SourceFile) => (T | Skipped) | Promise<T | Skipped>,
): Promise<T | Skipped | 'nothing' | 'generated'> {
  const reading = reader.read(candidate, (bytes) => engine.mayMatch(bytes));
  if (reading.kind === 'skipped') return reading;
  return reading.kind === 'file' ? look(reading.file) : reading.kind;
}

function isSkipped(answer: object): answer is Skipped {
  return 'kind' in answer && answer.kind === 'skipped';
}

/** Scanning is synchronous; signals are only heard when the event loop gets a turn. Says whether it just had one. */
function breather(): () => Promise<boolean> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < PATIENCE) return false;
    await new Promise((resume) => setImmediate(resume));
    last = performance.now();
    return true;
  };
}

import type { PythonParser } from '../syntax/parser.js';
import type { Span } from '../text/lines.js';
import type { Options, Transform } from '../toolkit/contract.js';
import type { Decide, Finding, Outcome, Preview, Scan, Skipped, SourceFile } from './outcome.js';

export interface EngineSetup {
  readonly parser: PythonParser;
  /** The selected transforms only. */
  readonly transforms: readonly Transform[];
  /** Ids that exist, selected or not: an ignore comment may name any of them. */
  readonly knownIds: ReadonlySet<string>;
  optionsFor(id: string): Options;
}

/** Pure: texts in, findings and texts out. Disk, git and keyboard live with the caller. */
export interface Engine {
  /** Whether any selected transform could match; on raw bytes, before decoding. */
  mayMatch(bytes: Uint8Array): boolean;
  scan(file: SourceFile): Scan | Skipped;
  /** Asks `decide` for every fixable finding, applies, verifies, repeats to a fixed point. */
  repair(file: SourceFile, decide: Decide): Promise<Outcome | Skipped>;
  preview(file: SourceFile, finding: Finding): Preview;
  /** The whole lines a person may rewrite instead of the proposed fix, and the text proposed for them. */
  editableRegion(file: SourceFile, finding: Finding): { readonly span: Span; readonly proposed: string };
}

export declare function createEngine(setup: EngineSetup): Engine;

/** The answer of `apply` without a person: safe fixes, and unsafe ones when allowed; never advice. */
export declare function policy(allow: { readonly unsafe: boolean; fixable(id: string): boolean }): Decide;

import type { Engine } from '../engine/engine.js';
import type { Outcome, Scan, SourceFile } from '../engine/outcome.js';
import type { Proven } from '../report/prove/proven.js';
import type { TransformMeta } from '../toolkit/contract.js';
import type { State } from '../workspace/state.js';
import type { Written } from '../workspace/write.js';
import type { Terminal } from './ask.js';
import type { Reasons } from './session-files.js';
import type { Remember } from './session-remember.js';

export interface ReviewInput {
  readonly engine: Engine;
  readonly scans: readonly Scan[];
  readonly metas: ReadonlyMap<string, TransformMeta>;
  /** What the findings have to do with memory that ran out. */
  readonly reasons?: Reasons | undefined;
  /** What runs of the person's own command have shown. */
  readonly proven?: Proven | undefined;
  /** Hash check, journal, atomic write; called once for each file that changes. */
  write(outcome: Outcome): Promise<Written>;
  /** What the file holds on disk now. */
  reread(path: string): SourceFile | undefined;
  readonly state: State;
  /** Writes a yes into the configuration. */
  readonly remember: Remember;
  /** The file that a yes about this one is written into. */
  assumesIn?(path: string): string;
  /** Take up the answers that an earlier session left. */
  readonly resume: boolean;
  readonly terminal: Terminal;
  /** The words of a command line that comes back to these findings. */
  readonly aim?: string;
  /** Shows a text that is longer than the window, if that can be done. */
  page?(text: string): Promise<boolean>;
}

export interface ReviewResult {
  /** Fixes that were written, the person's own replacements included. */
  readonly applied: number;
  readonly suppressed: number;
  readonly declined: number;
  /** Findings that are still there and were not declined. */
  readonly unanswered: number;
  /** Findings that left the review, since their file changed on disk. */
  readonly gone: number;
  /** Files written. */
  readonly files: number;
  readonly failed: readonly { readonly path: string; readonly reason: string }[];
  readonly interrupted: boolean;
}

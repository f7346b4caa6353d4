import type { PyModule } from '../semantic/module.js';
import type { Question } from '../semantic/question.js';
import type { Surroundings } from '../semantic/surroundings.js';
import type { PythonParser } from '../syntax/parser.js';
import { pythonProblem, type SyntaxProblem } from '../syntax/soundness.js';
import type { Span } from '../text/lines.js';
import type { Options, Transform } from '../toolkit/contract.js';
import type { Decide, Finding, Outcome, Preview, Scan, Skipped, SourceFile } from './outcome.js';
import { type Among, awake, Prefilter } from './prefilter.js';
import { previewOf } from './preview.js';
import { editableRegion } from './region.js';
import { repair } from './repair.js';
import { lookAt, notPython, scanOf } from './scan.js';

export interface EngineSetup {
  readonly parser: PythonParser;
  /** The selected transforms only. */
  readonly transforms: readonly Transform[];
  /** Ids that exist, selected or not: an ignore comment may name any of them. */
  readonly knownIds: ReadonlySet<string>;
  optionsFor(id: string): Options;
  /** Whether the answer to a question about this file is known to be yes: a person has said so. */
  assumes?(transform: string, question: Question, path: string, within?: string): boolean;
  /** The subject of a question with names of files that are the same wherever memfix is run. */
  subjectFor?(subject: string): string;
  /**
   * The project around a file, made anew for each scan; without it every file is by itself. Its other files are parsed in
   * pieces where the file itself is; `self` is what they see of it.
   */
  around?(
    path: string,
    inPieces: boolean,
    self: () => PyModule,
    newer?: ReadonlyMap<string, string>,
  ): Surroundings;
}

/** Pure: texts in, findings and texts out. Disk, git and keyboard live with the caller. */
export interface Engine {
  /** The transforms selected for the file at `path` that could match, going by their literals; on raw bytes, before decoding. */
  among(bytes: Uint8Array, path?: string): Among;
  /**
   * `among`, where it is known already, saves looking for the literals once more. Goes by one parser, except where a file
   * looks like no Python 3; whether it is, by a second one, is known before anything is changed.
   */
  scan(file: SourceFile, among?: Among): Scan | Skipped;
  /**
   * Asks `decide` once for every fixable finding, applies, verifies, repeats to a fixed point. A finding that only appears
   * in a later pass is asked about then; one that waited for an earlier fix keeps its answer, unless that fix has
   * made it safe. `known`, what a scan of the file has just found, saves looking once more; where `isLast`, which says that
   * `decide` takes nothing that shows up later, what is left is looked for when `remaining` is read.
   */
  repair(file: SourceFile, decide: Decide, known?: Scan, isLast?: boolean): Promise<Outcome | Skipped>;
  preview(file: SourceFile, finding: Finding): Preview;
  /** The whole lines a person may rewrite instead of the proposed fix, and the text proposed for them. */
  editableRegion(file: SourceFile, finding: Finding): { readonly span: Span; readonly proposed: string };
  /** What the second parser has against a file. */
  objection(file: SourceFile): Skipped | undefined;
  /** Why a text is not valid Python 3, if it is not. */
  syntaxProblem(text: string): SyntaxProblem | undefined;
}

/** It takes a while to make; of many projects, the next one mostly selects the same transforms. */
let latest: { readonly transforms: readonly Transform[]; readonly prefilter: Prefilter } | undefined;

function prefilterFor(transforms: readonly Transform[]): Prefilter {
  const known = latest?.transforms;
  const isSame =
    known?.length === transforms.length && known.every((each, index) => each === transforms[index]);
  if (latest === undefined || !isSame) latest = { transforms, prefilter: new Prefilter(transforms) };
  return latest.prefilter;
}

export function createEngine(setup: EngineSetup): Engine {
  let prefilter: Prefilter | undefined;
  return {
    among: (bytes) => {
      prefilter ??= prefilterFor(awake(setup));
      return prefilter.among(bytes);
    },
    scan: (file, some) => scanOf(setup, lookAt(setup, file, some)),
    objection: notPython,
    repair: (file, decide, known, isLast) => repair(setup, file, decide, known, isLast),
    preview: previewOf,
    editableRegion,
    syntaxProblem: pythonProblem,
  };
}

/** The answer of `apply` without a person: safe fixes, and unsafe ones when allowed; never advice or an alternative. */
export function policy(allow: { readonly unsafe: boolean }): Decide {
  return ({ safety, alternativeTo, unsafeFixes = allow.unsafe }) => {
    const allowed = safety === 'safe' || (safety === 'unsafe' && unsafeFixes);
    return { kind: allowed && alternativeTo === undefined ? 'apply' : 'skip' };
  };
}

import type { Edit, FileEdits } from '../edit/edit.js';
import type { PyModule } from '../semantic/module.js';
import type { Question } from '../semantic/question.js';
import type { Reason } from '../semantic/reason.js';
import type { Premise } from '../semantic/versions.js';
import type { Glimpse } from '../syntax/glimpse.js';
import type { PyNode } from '../syntax/node.js';
import type { Span } from '../text/lines.js';
import type { EditBuilder } from './edit-builder.js';
import type { GpuEvidence } from './evidence.js';

/** `safe`: every precondition is proven. `unsafe`: needs `--unsafe-fixes` or a person's yes. `advice`: never applied by `apply`. */
export type Safety = 'safe' | 'unsafe' | 'advice';
export type Numerics = 'bit-identical' | 'rounding' | 'changes-training';
export type Symptom = 'leak' | 'peak' | 'sync' | 'fragmentation' | 'host-memory' | 'future-break';
export type Group = 'default' | 'opt-in' | 'documented';
/** What a program is doing; `moving`: a model to its device; `state`: an optimizer makes its state, in its first step. */
export type Moment =
  | 'loading'
  | 'moving'
  | 'saving'
  | 'forward'
  | 'backward'
  | 'state'
  | 'optimizer'
  | 'evaluation'
  | 'data';
/** How long: while the statement runs, or until its function returns. */
export type Lasting = 'statement' | 'call';

export interface OptionSpec {
  readonly type: 'boolean' | 'integer' | 'string';
  readonly default: boolean | number | string;
  readonly summary: string;
  /** Its value where the transform is asked for otherwise than by `default`: its findings beyond the default set. */
  readonly whenNamed?: boolean;
  /** With its default the transform does nothing; of several such options one will do. */
  readonly needed?: { readonly example: number | string };
}

export interface Measurement {
  /** What was measured, e.g. "eval step, peak allocated". */
  readonly what: string;
  readonly before: string;
  readonly after: string;
  /** Machine, versions and model, so that nobody mistakes it for a general saving. */
  readonly setup: string;
}

export interface TransformMeta {
  /** kebab-case: file name, fixtures folder, docs page and ignore token. */
  readonly id: string;
  /** Ids that it had or that were merged into it: they select, ignore and explain it as its own does. */
  readonly aliases?: readonly string[];
  /** One line for lists: what the fix does. */
  readonly summary: string;
  readonly symptom: Symptom;
  /** When memory runs out because of it; absent where that may be at any time, empty where it frees none itself. */
  readonly moments?: readonly Moment[];
  /** Bytes that it frees of each parameter that is trained, from the first step on, beside what it frees at its moments. */
  readonly freesPerParameter?: number;
  /** How long what it frees would be held; absent where it stays for the steps that follow. */
  readonly lasts?: Lasting;
  /** What it frees on the GPU is held there instead. */
  readonly movesTo?: 'host';
  /** What is left to a person once it is applied, without which it frees nothing: a sentence. */
  readonly afterwards?: string;
  /** Devices on which the fix runs and frees nothing. */
  readonly notOn?: readonly ('MPS' | 'HIP')[];
  /** The best a finding of this transform can be; a finding may be stricter, never looser. */
  readonly safety: Safety;
  readonly numerics: Numerics;
  /** Ids of transforms that do the opposite: where one of them runs too, only a person takes the fixes of this one. */
  readonly yieldsTo?: readonly string[];
  /** Ids of transforms that do the same, and find it in another way: what one of them leaves nothing of is offered once. */
  readonly sameAs?: readonly string[];
  readonly group: Group;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Version floors by package name, e.g. `{ torch: '1.6' }`. */
  readonly requires: Readonly<Record<string, string>>;
  readonly docs: {
    /** What is held or wasted, and what it costs. Markdown. */
    readonly why: string;
    readonly does: string;
    /** Each gate, as the user will read it. */
    readonly refuses: readonly string[];
    readonly limits: readonly string[];
  };
  readonly evidence: {
    /** The measured truth in one line, including "nil" and "the popular claim is false". */
    readonly verdict: string;
    /** What was measured otherwise than by `bench/gpu`. */
    readonly measurements: readonly Measurement[];
    /** A transform writes only `notMeasured`, a because-clause; figures come from `transforms/evidence.json`. */
    readonly gpu?: GpuEvidence;
  };
  readonly origin: readonly {
    readonly document: string;
    readonly section: string;
    readonly fidelity: 'same' | 'inspired';
  }[];
  /** The `fix-` fixture shown as before/after on the docs page; for advice, a `report-` one. */
  readonly example: string;
}

/** Literals a file must contain: all of the outer list; for an inner list, one of it. They are also the entry points. */
export type Prefilter = readonly (string | readonly string[])[];

/** A place where a transform has something to say. Transforms extend this with what `fix` needs. */
export interface Site {
  /** The node to point at. */
  readonly node: PyNode;
  /** What is held and what it costs, for this site. */
  readonly message: string;
  /** Which of several measured cases of its transform this is, by the first words of that figure. */
  readonly measuredAs?: string;
  /** Where that is not what its transform says. */
  readonly lasts?: Lasting | 'run';
  /** Where all that it frees is memory of the host. */
  readonly holds?: 'host';
}

export interface Import {
  /** The statement's meaning, e.g. `import torch` is `{ module: 'torch' }`. */
  readonly module: string;
}

/** A whole change, or none of it. */
export interface Fix {
  readonly kind: 'fix';
  /** Verb phrase: "Detach the loss before adding it". */
  readonly title: string;
  readonly edits: readonly Edit[];
  /** Where statements begin that another fix may put into the same block: it waits for this one. */
  readonly near: readonly number[];
  /** Code that it counts for without changing it: what is fixed in there may be fixed with it. */
  readonly covers: readonly Span[];
  readonly imports: readonly Import[];
  /** What changes in other files of the project: all of it, or nothing of the fix. */
  readonly beside: readonly FileEdits[];
  /** What the code does not prove; empty means the fix is as safe as its transform. */
  readonly questions: readonly Question[];
  /** The versions that it counts on, besides those of its transform. */
  readonly premises: readonly Premise[];
  /** What the code and the library prove of it. */
  readonly reasons: readonly Reason[];
  /** What was asked, too, and is so: nothing speaks against it. */
  readonly answered: readonly Question[];
  /** Where the site asks for more care than its transform: never looser. */
  readonly safety: Safety;
  readonly numerics: Numerics;
}

/** Why a site was seen and left alone, as a because-clause. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly reason: string;
}

/** What a person should do here, where no edit of this file would do it. */
export interface Advice {
  readonly kind: 'advice';
  /** A verb phrase: "Load the rows in `__getitem__`, with `np.load(path, mmap_mode='r')`". */
  readonly next: string;
}

export type Options = Readonly<Record<string, boolean | number | string>>;

export interface Transform<S extends Site = Site> {
  readonly meta: TransformMeta;
  readonly prefilter: Prefilter;
  /** Files of tests are none of its business. */
  readonly skipsTests?: true;
  /** Whether it looks for nothing with these options, so that no file need be read for it. */
  isIdle?(options: Options): boolean;
  /**
   * Where literals tell little: a look at the text that is false only where no site can be. Saves the parse. Where all that
   * makes a site stands in one function, look at the stretches of `glimpse` instead.
   */
  cue?(text: string, path: string, glimpse: Glimpse, options: Options): boolean;
  /** Sites worth a word; nothing that is not this transform's business. */
  detect(module: PyModule, options: Options): Iterable<S>;
  /** The change for a site of `detect`, assuming no other fix was taken. */
  fix(site: S, edit: EditBuilder, module: PyModule, options: Options): Fix | Refusal | Advice;
}

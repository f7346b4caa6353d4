import type { Edit, FileEdits } from '../edit/edit.js';
import type { Question } from '../semantic/question.js';
import type { Reason } from '../semantic/reason.js';
import type { Relied } from '../semantic/surroundings.js';
import type { Premise } from '../semantic/versions.js';
import type { SourceText } from '../text/decode.js';
import type { Position, Span } from '../text/lines.js';
import type { Lasting, Numerics, Safety, Symptom } from '../toolkit/contract.js';
import type { Effect } from '../toolkit/effect.js';

/** A decoded file and the name it is reported under (relative, with forward slashes). */
export interface SourceFile {
  readonly path: string;
  readonly source: SourceText;
  /** A person asked for this very file: it is parsed, and its syntax told, also where no transform would look at it. */
  readonly named?: boolean;
  /** What other files, which are not Python, have become on paper: their new texts by path. */
  readonly newer?: ReadonlyMap<string, string>;
}

export interface ProposedFix {
  readonly title: string;
  /** The fix's own edits, without its imports. */
  readonly edits: readonly Edit[];
  /** Where statements begin that another fix may put into the same block: it waits for this one. */
  readonly near?: readonly number[];
  /** Code that it counts for without changing it. */
  readonly covers?: readonly Span[];
  /** The import statements that it needs, where it needs any: those of several fixes become one edit. */
  readonly imports?: readonly string[];
  /** Edits for these, where it is the only fix, on this text. */
  readonly importEdits: readonly Edit[];
  /** What changes in other files: all of it, or nothing of the fix. */
  readonly beside?: readonly FileEdits[];
}

export interface Finding {
  readonly transform: string;
  /** What its transform is about, and what it is good for as far as it was measured. */
  readonly symptom: Symptom;
  readonly effect: Effect;
  /** Names the same finding in a later pass or session: id, the site's own words, and its occurrence among equals. */
  readonly key: string;
  readonly span: Span;
  readonly at: Position;
  readonly end: Position;
  readonly message: string;
  readonly safety: Safety;
  readonly numerics: Numerics;
  /** What the code does not prove; why the finding is not safer. */
  readonly questions: readonly Question[];
  /** Questions whose yes the configuration assumes; absent where there are none. */
  readonly assumed?: readonly Question[];
  /** The function or class around it, as `Net.forward`; absent at the level of the module. */
  readonly within?: string;
  /** Keys of findings of this scan that are fixed by the same lines in another way: one of them can be taken. */
  readonly alternatives?: readonly string[];
  /** Which of the measured cases of its transform it is, by the first words of that figure. */
  readonly measuredAs?: string;
  /** How long what it frees would be held, where that is not what its transform says. */
  readonly lasts?: Lasting | 'run';
  /** What is left to a person once it is applied, without which it frees nothing: a sentence. */
  readonly afterwards?: string;
  /** All that it frees is memory of the host. */
  readonly holds?: 'host';
  /** Transforms of this run that do the opposite: the fix is one to choose, not one to apply with theirs. */
  readonly alternativeTo?: readonly string[];
  /** What the config of its file says about unsafe fixes, where that is not what counts for the run. */
  readonly unsafeFixes?: boolean;
  /** The versions that the fix counts on, and what says that they are there. */
  readonly premises?: readonly Premise[];
  /** Why the fix is right, as far as the code and the library prove it. */
  readonly reasons?: readonly Reason[];
  /** What was asked as well, and the code answers. */
  readonly answered?: readonly Question[];
  /** Present unless the site was refused or the advice has no diff. */
  readonly fix?: ProposedFix;
  /** What a person should do, where there is no diff. */
  readonly advice?: string;
  /** Why the site was left alone. */
  readonly refusal?: string;
}

/** A `# memfix:` comment that silenced nothing, or that names no transform; or a cell that is no Python. */
export interface Note {
  readonly at: Position;
  readonly message: string;
  /** So many cells were not looked into. */
  readonly unread?: number;
}

/** A transform of a plugin broke on a file: what it would have found there is not known. */
export interface Fault {
  readonly plugin: string;
  readonly transform: string;
  readonly message: string;
  readonly details: string;
}

export interface Scan {
  readonly kind: 'scan';
  readonly file: SourceFile;
  /** In source order; suppressed ones are not here. */
  readonly findings: readonly Finding[];
  readonly suppressed: readonly Finding[];
  readonly notes: readonly Note[];
  /** What of the project the findings depend on; absent where nothing was parsed. */
  readonly relied?: Relied;
  /** Absent where every transform did its work. */
  readonly faults?: readonly Fault[];
}

/** A file that was seen and not looked into: does not parse, is too large, too deep. Its bytes are untouched. */
export interface Skipped {
  readonly kind: 'skipped';
  readonly path: string;
  readonly reason: string;
  readonly at?: Position;
  /** Nothing is wrong with it: it took longer than one file may take. */
  readonly isOverdue?: true;
}

/** What a person or a policy says to one finding. */
export type Decision =
  | { readonly kind: 'apply' }
  | { readonly kind: 'skip' }
  | { readonly kind: 'suppress'; readonly reason?: string }
  /** The person's own text for the lines of `editableRegion`. */
  | { readonly kind: 'edited'; readonly text: string };

/** `earlier` is the finding as it was declined before, where it is asked about again: another fix has made it safe since. */
export type Decide = (finding: Finding, preview: Preview, earlier?: Finding) => Decision | Promise<Decision>;

/** The whole text before and after one fix alone. */
export interface Preview {
  readonly before: string;
  readonly after: string;
  /** The same for the other files that the fix changes. */
  readonly beside?: readonly BesideChange[];
}

/** Another file that changes together with the one that was looked at. */
export interface BesideChange {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** `excluded`: accepted, and left out since it does not go with another fix that was taken. */
export type Fate = 'applied' | 'edited' | 'suppressed' | 'declined' | 'dropped' | 'excluded';

export interface Settled {
  readonly finding: Finding;
  readonly fate: Fate;
  /** Why it was excluded. */
  readonly because?: string;
  /** What a scan of the result still finds there, where it was declined. */
  readonly remains?: Finding;
}

export interface Outcome {
  readonly kind: 'outcome';
  readonly file: SourceFile;
  /** Equal to `file.source.text` when nothing was changed. */
  readonly after: string;
  /** Other files that must change with it, or none of it may. */
  readonly beside: readonly BesideChange[];
  /** What became of each finding that was decided, in the order it was decided. */
  readonly settled: readonly Settled[];
  /** What a scan of `after` still finds. */
  readonly remaining: Scan;
  /** Sentences for a bug report: a fix that broke the file or did not converge was dropped. */
  readonly bugs: readonly string[];
}

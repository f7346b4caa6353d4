import { dirname } from 'node:path';
import type { Outcome } from '../engine/outcome.js';
import { encode, type SourceText } from '../text/decode.js';
import { besideChange } from './beside.js';
import type { Candidate } from './discover.js';
import { Journal } from './journal.js';
import { isInside, repositoryRoot } from './places.js';
import { replaceBytes, type Written } from './write.js';

/** Writes outcomes back: journal first, then the file in one step, and only over the bytes that were read. */
export class Writer {
  readonly #journals = new Map<string, Journal>();

  constructor(
    private readonly cwd: string,
    private readonly targets: ReadonlyMap<string, Candidate>,
  ) {}

  /** Also the other files that must change with it: all of them, or none. */
  write({ file, after, beside }: Pick<Outcome, 'file' | 'after' | 'beside'>): Written {
    const target = this.targets.get(file.path)?.target;
    if (target === undefined) throw new RangeError(`${file.path} was not among the files of this run`);
    const swaps = after === file.source.text ? [] : [swapOf(target, file.source, after)];
    for (const change of beside) {
      const found = besideChange(this.cwd, change);
      if (typeof found === 'string') return { ok: false, reason: `${change.path}: ${found}` };
      swaps.push(swapOf(found.target, found.source, change.after));
    }
    const ready: Swap[] = [];
    for (const swap of swaps) {
      if (typeof swap === 'string') return { ok: false, reason: swap };
      const recorded = this.#journalFor(swap.target).record(swap.target, swap.before, swap.after);
      if (!recorded.ok) return recorded;
      ready.push(swap);
    }
    return swapAll(ready);
  }

  /** Where `undo` has to be run to take this back. */
  get roots(): readonly string[] {
    return [...this.#journals.keys()];
  }

  close(): void {
    for (const journal of this.#journals.values()) journal.close();
  }

  #journalFor(target: string): Journal {
    const root = journalRoot(target, this.cwd);
    const known = this.#journals.get(root);
    if (known !== undefined) return known;
    const journal = new Journal(root);
    this.#journals.set(root, journal);
    return journal;
  }
}

interface Swap {
  readonly target: string;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

function swapOf(target: string, source: SourceText, text: string): Swap | string {
  const before = encode(source, source.text);
  const after = encode(source, text);
  return before === undefined || after === undefined
    ? `the change cannot be written in its encoding, ${source.encoding}`
    : { target, before, after };
}

/** One after the other; where one cannot be written, those before it get their old bytes back. */
function swapAll(swaps: readonly Swap[]): Written {
  for (const [index, { target, before, after }] of swaps.entries()) {
    const written = replaceBytes(target, before, after);
    if (written.ok) continue;
    for (const done of swaps.slice(0, index).reverse()) {
      const back = replaceBytes(done.target, done.after, done.before);
      if (!back.ok)
        return { ok: false, reason: `${written.reason}; ${done.target} was written: ${back.reason}` };
    }
    return written;
  }
  return { ok: true };
}

/** The repository that holds the file; without one, the working folder, or the file's own when it lies elsewhere. */
function journalRoot(target: string, cwd: string): string {
  return repositoryRoot(dirname(target)) ?? (isInside(target, cwd) ? cwd : dirname(target));
}

import { dirname } from 'node:path';
import type { Outcome } from '../engine/outcome.js';
import { encode } from '../text/decode.js';
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

  write({ file, after }: Pick<Outcome, 'file' | 'after'>): Written {
    const target = this.targets.get(file.path)?.target;
    if (target === undefined) throw new RangeError(`${file.path} was not among the files of this run`);
    const before = encode(file.source, file.source.text);
    const bytes = encode(file.source, after);
    if (before === undefined || bytes === undefined) {
      return { ok: false, reason: `the change cannot be written in its encoding, ${file.source.encoding}` };
    }
    const recorded = this.#journalFor(target).record(target, before, bytes);
    return recorded.ok ? replaceBytes(target, before, bytes) : recorded;
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

/** The repository that holds the file; without one, the working folder, or the file's own when it lies elsewhere. */
function journalRoot(target: string, cwd: string): string {
  return repositoryRoot(dirname(target)) ?? (isInside(target, cwd) ? cwd : dirname(target));
}

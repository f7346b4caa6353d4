import { resolve } from 'node:path';
import type { Outcome } from '../engine/outcome.js';
import { encode, type SourceText } from '../text/decode.js';
import { plainFiles } from './attributes.js';
import { besideChange } from './beside.js';
import type { Candidate } from './discover.js';
import { Journal } from './journal.js';
import type { IndexStep } from './journal-pages.js';
import { leadsAway, rootOf } from './places.js';
import { State } from './state.js';
import { draftName, replaceBytes, type Written } from './write.js';

type Changed = Pick<Outcome, 'file' | 'after' | 'beside'>;

/** Writes outcomes back: journal first, then the file, and only over the bytes that were read. */
export class Writer {
  readonly #journals = new Map<string, Journal>();
  /** Whether a file can be swapped for a new one without losing metadata. */
  readonly #isPlain = new Map<string, boolean>();

  constructor(
    private readonly cwd: string,
    private readonly targets: ReadonlyMap<string, Candidate>,
    private readonly env: Readonly<Record<string, string | undefined>>,
  ) {}

  /** What will be written: to ask about the metadata of all files at once is much faster. */
  expect(changes: readonly Changed[]): void {
    this.#ask(
      changes.flatMap(({ file, beside }) => [
        this.#target(file.path),
        ...beside.map(({ path }) => resolve(this.cwd, path)),
      ]),
    );
  }

  /** Also the other files that must change with it: all of them, or none. */
  write({ file, after, beside }: Changed): Written {
    const target = this.#target(file.path);
    const away = leadsAway(resolve(this.cwd, file.path), target, this.cwd);
    if (away !== undefined) return { ok: false, reason: away };
    const swaps = after === file.source.text ? [] : [this.#swapOf(target, file.source, after)];
    for (const change of beside) {
      const found = besideChange(this.cwd, change);
      if (typeof found === 'string') return { ok: false, reason: `${change.path}: ${found}` };
      swaps.push(this.#swapOf(found.target, found.source, change.after));
    }
    const ready: Swap[] = [];
    for (const swap of swaps) {
      if (typeof swap === 'string') return { ok: false, reason: swap };
      const { target: path, before, draft } = swap;
      const recorded = this.#journalFor(path).record(path, before, swap.after, draft, target);
      if (!recorded.ok) return recorded;
      ready.push(swap);
    }
    return swapAll(ready);
  }

  /** For a file that is not among those of the run, such as a config: it is about to be made, or changed. */
  expectOther(path: string, before: Uint8Array | undefined, after: Uint8Array): Written {
    return this.#journalFor(path).record(path, before, after, undefined);
  }

  /** What `git add` has made of files in the index. */
  recordIndex(path: string, before: IndexStep['before'], after: IndexStep['after']): Written {
    return this.#journalFor(path).recordIndex(path, before, after);
  }

  /** Where `undo` has to be run to take this back. */
  get roots(): readonly string[] {
    return [...this.#journals.keys()];
  }

  close(): void {
    for (const journal of this.#journals.values()) journal.close();
  }

  #target(path: string): string {
    const target = this.targets.get(path)?.target;
    if (target === undefined) throw new RangeError(`${path} was not among the files of this run`);
    return target;
  }

  #ask(paths: readonly string[]): void {
    const plain = plainFiles(paths);
    for (const path of paths) this.#isPlain.set(path, plain.has(path));
  }

  #journalFor(target: string): Journal {
    const root = rootOf(target, this.cwd);
    const known = this.#journals.get(root);
    if (known !== undefined) return known;
    const journal = new Journal(State.of(root, this.env));
    this.#journals.set(root, journal);
    return journal;
  }

  #swapOf(target: string, source: SourceText, text: string): Swap | string {
    const before = encode(source, source.text);
    const after = encode(source, text);
    if (before === undefined || after === undefined)
      return `the change cannot be written in its encoding, ${source.encoding}`;
    if (!this.#isPlain.has(target)) this.#ask([target]);
    return { target, before, after, draft: this.#isPlain.get(target) === true ? draftName() : undefined };
  }
}

interface Swap {
  readonly target: string;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly draft: string | undefined;
}

/** One after the other; where one cannot be written, those before it get their old bytes back. */
function swapAll(swaps: readonly Swap[]): Written {
  for (const [index, { target, before, after, draft }] of swaps.entries()) {
    const written = replaceBytes(target, before, after, draft);
    if (written.ok) continue;
    for (const done of swaps.slice(0, index).reverse()) {
      const back = replaceBytes(done.target, done.after, done.before, done.draft);
      if (!back.ok)
        return { ok: false, reason: `${written.reason}; ${done.target} was written: ${back.reason}` };
    }
    return written;
  }
  return { ok: true };
}

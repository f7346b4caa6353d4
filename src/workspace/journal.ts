import { closeSync, fstatSync, fsyncSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { relative } from 'node:path';
import { codeOf, reasonOf } from './failure.js';
import { type IndexStep, indexLineOf, lineOf, Pages, VERSION } from './journal-pages.js';
import { slashed } from './places.js';
import type { State } from './state.js';
import { syncFolder, type Written, writeAll } from './write.js';

/** How many applies can be taken back. */
const KEPT = 50;

interface OpenPage {
  readonly number: number;
  readonly descriptor: number;
  length: number;
}

/** What one apply overwrites below one root. Each line is on disk before the file that it can bring back is touched. */
export class Journal {
  readonly #pages: Pages;
  #page: OpenPage | undefined;

  constructor(private readonly state: State) {
    this.#pages = new Pages(state);
  }

  /**
   * `draft`: the name under which the new bytes will be written first, if they will. Without `before` there is no such file
   * yet. `main`: the file that it changes with.
   */
  record(
    path: string,
    before: Uint8Array | undefined,
    after: Uint8Array,
    draft: string | undefined,
    main?: string,
  ): Written {
    return this.#write(
      lineOf({
        path: this.#name(path),
        before: Buffer.from(before ?? []),
        after: Buffer.from(after),
        ...(draft !== undefined && { draft }),
        ...(before === undefined && { isNew: true }),
        ...(main !== undefined && main !== path && { with: this.#name(main) }),
      }),
    );
  }

  /** What has become of the file in the index. */
  recordIndex(path: string, before: IndexStep['before'], after: IndexStep['after']): Written {
    return this.#write(indexLineOf({ path: this.#name(path), before, after }));
  }

  #name(path: string): string {
    return slashed(relative(this.state.root, path));
  }

  #write(line: Buffer): Written {
    try {
      // An undo at the same time takes the page away: what comes now needs another one.
      do append(this.#open(), line);
      while (this.#isTakenAway());
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: `the undo journal could not be written: ${reasonOf(error)}` };
    }
  }

  close(): void {
    if (this.#page === undefined) return;
    closeSync(this.#page.descriptor);
    this.#pages.unmark(this.#page.number);
    this.#page = undefined;
  }

  #isTakenAway(): boolean {
    if (this.#page === undefined || fstatSync(this.#page.descriptor).nlink > 0) return false;
    closeSync(this.#page.descriptor);
    this.#page = undefined;
    return true;
  }

  #open(): OpenPage {
    if (this.#page === undefined || this.#isTakenAway()) this.#page = this.#newPage();
    return this.#page;
  }

  #newPage(): OpenPage {
    this.state.open();
    mkdirSync(this.#pages.folder, { recursive: true, mode: 0o700 });
    const { numbers } = this.#pages;
    for (const old of numbers.slice(0, Math.max(0, numbers.length - KEPT + 1))) this.#pages.remove(old);
    const page = this.#created();
    try {
      this.#pages.mark(page.number);
      append(page, Buffer.from(`${JSON.stringify({ version: VERSION })}\n`));
    } catch (error) {
      closeSync(page.descriptor);
      this.#pages.remove(page.number);
      throw error;
    }
    syncFolder(this.#pages.folder);
    return page;
  }

  /** Another memfix may be writing here too; each apply has a page of its own. */
  #created(): OpenPage {
    for (;;) {
      const number = this.#pages.next;
      try {
        return { number, descriptor: openSync(this.#pages.file(number), 'wx', 0o600), length: 0 };
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }
  }
}

/** The whole line or nothing of it: a torn line would spoil the next. */
function append(page: OpenPage, line: Buffer): void {
  try {
    writeAll(page.descriptor, line, page.length);
    fsyncSync(page.descriptor);
    page.length += line.length;
  } catch (error) {
    ftruncateSync(page.descriptor, page.length);
    throw error;
  }
}

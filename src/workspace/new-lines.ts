import { resolve } from 'node:path';
import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { Lines } from '../text/lines.js';
import { changedLines, type LineRange } from './git.js';
import { realPath, repositoryRoot } from './places.js';
import type { Request } from './project.js';

/** Which findings a run is about that was asked for new lines only. */
export class NewLines {
  readonly #changed: ReadonlyMap<string, readonly LineRange[]>;
  readonly #lines = new WeakMap<SourceFile['source'], Lines>();

  private constructor(
    private readonly cwd: string,
    root: string,
    revision: string,
  ) {
    this.#changed = changedLines(root, revision);
  }

  /** Undefined where all lines are asked for. */
  static of({ cwd, since }: Request): NewLines | undefined {
    if (since?.kind !== 'since' || since.wholeFiles) return undefined;
    const place = realPath(cwd);
    const root = repositoryRoot(place);
    return root === undefined ? undefined : new NewLines(place, root, since.revision);
  }

  /** Whether the finding, or what its fix changes, is on a line that is new. */
  has({ path, source }: SourceFile, { at, end, fix }: Finding): boolean {
    const ranges = this.#changed.get(realPath(resolve(this.cwd, path)));
    // The file itself is.
    if (ranges === undefined) return true;
    const touches = (first: number, last: number) => ranges.some(([from, to]) => first <= to && last >= from);
    const cell = source.notebook?.cells.find(({ number }) => number === at.cell);
    if (source.notebook !== undefined && cell !== undefined) {
      // git knows the lines of the JSON: a cell is new where one of its lines is.
      const written = new Lines(source.notebook.json);
      return touches(written.lineAt(cell.place.start), written.lineAt(cell.place.end));
    }
    if (touches(at.line, end.line)) return true;
    if (fix === undefined) return false;
    const lines = this.#lines.get(source) ?? new Lines(source.text);
    this.#lines.set(source, lines);
    return fix.edits.some((edit) => touches(lines.lineAt(edit.start), lines.lineAt(edit.end)));
  }

  /** A scan of the file as it is, without what is on old lines. */
  among(scan: Scan): Scan {
    return { ...scan, findings: scan.findings.filter((finding) => this.has(scan.file, finding)) };
  }
}

import type { Engine } from '../engine/engine.js';
import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { byEffect, type Effect } from '../toolkit/effect.js';
import { type Asked, contentHash } from '../workspace/answers.js';
import type { Item } from './keys.js';

/** A file that is not as it was: its findings now, or why it has none. */
export interface Change {
  readonly path: string;
  readonly items: readonly Item[];
  readonly lost?: string;
}

/** The files under review as they were last read, and their findings by name: what frees memory first, files together. */
export class ReviewedFiles {
  readonly #files = new Map<string, SourceFile>();
  readonly #findings = new Map<string, Finding>();
  readonly items: readonly Item[];

  constructor(
    private readonly engine: Engine,
    scans: readonly Scan[],
    private readonly reread: (path: string) => SourceFile | undefined,
  ) {
    this.items = [...scans].sort((a, b) => byEffect(bestIn(a), bestIn(b))).flatMap((scan) => this.#add(scan));
  }

  file(path: string): SourceFile {
    const file = this.#files.get(path);
    if (file === undefined) throw new RangeError(`${path} is not under review`);
    return file;
  }

  finding(item: Item): Finding {
    const finding = this.#findings.get(item.ref);
    if (finding === undefined) throw new RangeError(`${item.ref} is not under review`);
    return finding;
  }

  asked(item: Item): Asked {
    return { path: item.path, hash: contentHash(this.file(item.path).source), key: this.finding(item).key };
  }

  /** Reads the file again; undefined when nothing changed. */
  refresh(path: string): Change | undefined {
    const now = this.reread(path);
    if (now !== undefined && isSame(now, this.file(path))) return undefined;
    if (now === undefined) return { path, items: [], lost: 'it is gone or can no longer be read' };
    const scan = this.engine.scan(now);
    if (scan.kind === 'skipped') return { path, items: [], lost: scan.reason };
    return { path, items: this.#add(scan) };
  }

  #add({ file, findings }: Scan): readonly Item[] {
    this.#files.set(file.path, file);
    return findings
      .filter((finding) => finding.fix !== undefined)
      .sort((a, b) => byEffect(a.effect, b.effect))
      .map((finding) => {
        const { transform, safety } = finding;
        const ref = refOf(file.path, finding);
        this.#findings.set(ref, finding);
        return { ref, path: file.path, transform, safety };
      });
  }
}

/** What the best fix of a file is good for. */
function bestIn({ findings }: Scan): Effect {
  const offered = findings.filter(({ fix }) => fix !== undefined).map(({ effect }) => effect);
  return offered.sort(byEffect)[0] ?? 'tidy';
}

export function refOf(path: string, finding: Finding): string {
  return `${path}\0${finding.key}`;
}

function isSame(a: SourceFile, b: SourceFile): boolean {
  return (
    a.source.text === b.source.text &&
    a.source.notebook?.json === b.source.notebook?.json &&
    a.source.encoding === b.source.encoding &&
    a.source.bom === b.source.bom
  );
}

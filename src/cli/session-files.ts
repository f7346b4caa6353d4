import { withAssumed } from '../engine/assumed.js';
import type { Engine, EngineSetup } from '../engine/engine.js';
import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { plural } from '../report/prose.js';
import type { TransformMeta } from '../toolkit/contract.js';
import { EFFECTS } from '../toolkit/effect.js';
import { type Asked, contentHash } from '../workspace/answers.js';
import { type Item, inReviewOrder } from './keys.js';

/** A file that is not as it was: its findings now, or why it has none. */
export interface Change {
  readonly path: string;
  readonly items: readonly Item[];
  readonly lost?: string;
}

/** `before`: its findings then. `open`: those of now that have no answer. */
export function changeNote({ path, items, lost }: Change, before: number, open: number): string {
  if (lost !== undefined)
    return `${path} changed on disk and its ${plural(before, 'finding')} left the review: ${lost}.`;
  const held = plural(items.length - open, 'answer');
  return `${path} changed on disk and was scanned again: ${held} still held, ${open} to be asked.`;
}

/** What a finding has to do with memory that ran out. */
export interface Reason {
  /** From 1, the likeliest first. */
  readonly rank: number;
  readonly because: string;
}

/** Of all findings of a run, by their names, also of those that nobody is asked about. */
export type Reasons = ReadonlyMap<string, Reason>;

/** The files under review as they were last read, and their findings by name. */
export class ReviewedFiles {
  readonly #files = new Map<string, SourceFile>();
  readonly #findings = new Map<string, Finding>();
  readonly items: readonly Item[];

  constructor(
    private readonly engine: Engine,
    scans: readonly Scan[],
    private readonly reread: (path: string) => SourceFile | undefined,
    private readonly metas: ReadonlyMap<string, TransformMeta>,
    private readonly reasons?: Reasons,
  ) {
    this.items = inReviewOrder(scans.flatMap((scan) => this.#add(scan)));
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

  reason({ ref }: Item): Reason | undefined {
    return this.reasons?.get(ref);
  }

  /** Whether the run knew of it from the start, asked about or not. */
  isKnown(path: string, finding: Finding): boolean {
    return this.reasons?.has(refOf(path, finding)) === true;
  }

  asked(item: Item): Asked {
    return { path: item.path, hash: contentHash(this.file(item.path).source), key: this.finding(item).key };
  }

  /** The items as they are once some questions are answered for good. */
  assume(items: readonly Item[], assumes: NonNullable<EngineSetup['assumes']>): readonly Item[] {
    return items.map((item) => {
      const finding = withAssumed({ assumes }, this.finding(item), item.path);
      this.#findings.set(item.ref, finding);
      return { ...item, safety: finding.safety };
    });
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
      .map((finding) => {
        const { transform, safety, alternatives = [] } = finding;
        const ref = refOf(file.path, finding);
        this.#findings.set(ref, finding);
        return {
          ...{
            ref,
            path: file.path,
            transform,
            safety,
            rank: this.reasons?.get(ref)?.rank ?? this.#rank(finding),
            at: finding.span.start,
          },
          like: [transform, safety, finding.message.replace(/`[^`]*`/g, '``')].join('\0'),
          rivals: alternatives.map((key) => `${file.path}\0${key}`),
        };
      });
  }

  /** Leaks before all else that frees memory. */
  #rank({ effect, transform }: Finding): number {
    const isLeak = this.metas.get(transform)?.symptom === 'leak';
    return 2 * EFFECTS.indexOf(effect) + (isLeak ? 0 : 1);
  }
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

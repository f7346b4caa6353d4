import { isCovered } from '../engine/alternatives.js';
import { withAssumed } from '../engine/assumed.js';
import type { Engine, EngineSetup } from '../engine/engine.js';
import type { Finding, Scan, SourceFile } from '../engine/outcome.js';
import { SAFETIES } from '../report/report.js';
import type { TransformMeta } from '../toolkit/contract.js';
import { EFFECTS } from '../toolkit/effect.js';
import { type Asked, contentHash } from '../workspace/answers.js';
import type { Item } from './keys.js';
import { inReviewOrder } from './session-order.js';
import { shownNames } from './session-shown.js';

/** A file that is not as it was: its findings now, or why it has none. */
export interface Change {
  readonly path: string;
  readonly items: readonly Item[];
  readonly lost?: string;
  /** The file as it was. */
  readonly before: SourceFile;
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
  readonly #scans = new Map<string, Scan>();
  /** As they were scanned. */
  readonly #findings = new Map<string, Finding>();
  /** Yeses for good of this session, the last one last. */
  readonly #assumed: NonNullable<EngineSetup['assumes']>[] = [];
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

  /** What was found in it. */
  scan(path: string): Scan | undefined {
    return this.#scans.get(path);
  }

  finding(item: Item): Finding {
    const finding = this.#findings.get(item.ref);
    if (finding === undefined) throw new RangeError(`${item.ref} is not under review`);
    return this.#withAssumed(finding, item.path);
  }

  reason({ path, key }: Item): Reason | undefined {
    return this.reasons?.get(`${path}\0${key}`);
  }

  /** Whether the run knew of it from the start, asked about or not. */
  isKnown(path: string, finding: Finding): boolean {
    return this.reasons?.has(refOf(path, finding)) === true;
  }

  asked({ path, shown }: Item): Asked {
    return { path, hash: contentHash(this.file(path).source), key: shown };
  }

  /** The items as they are once some questions are answered for good. */
  assume(items: readonly Item[], assumes: NonNullable<EngineSetup['assumes']>): readonly Item[] {
    this.#assumed.push(assumes);
    return this.#again(items);
  }

  /** The items without the last of these answers. */
  assumeNoMore(items: readonly Item[]): readonly Item[] {
    this.#assumed.pop();
    return this.#again(items);
  }

  /** Reads the file again; undefined when nothing changed. */
  refresh(path: string): Change | undefined {
    const now = this.reread(path);
    const before = this.file(path);
    if (now !== undefined && isSame(now, before)) return undefined;
    if (now === undefined) return { path, before, items: [], lost: 'it is gone or can no longer be read' };
    const scan = this.engine.scan(now);
    if (scan.kind === 'skipped') return { path, before, items: [], lost: scan.reason };
    return { path, before, items: this.#add(scan) };
  }

  #again(items: readonly Item[]): readonly Item[] {
    return items.map((item) => ({ ...item, safety: this.finding(item).safety }));
  }

  #withAssumed(finding: Finding, path: string): Finding {
    return this.#assumed.reduce((known, assumes) => withAssumed({ assumes }, known, path), finding);
  }

  #add(scan: Scan): readonly Item[] {
    const { file, findings } = scan;
    this.#files.set(file.path, file);
    this.#scans.set(file.path, scan);
    const { path } = file;
    const fixable = findings.filter((finding) => finding.fix !== undefined);
    const names = shownNames(file.source.text, fixable);
    const refs = new Map(fixable.map((finding) => [finding.key, `${path}\0${names.get(finding)}`]));
    const twins = twinsIn(this.engine, file, fixable);
    const copies = new Set([...twins.values()].flat());
    const refsOf = (some: readonly Finding[]) => some.flatMap(({ key }) => refs.get(key) ?? []);
    return fixable
      .filter((finding) => !copies.has(finding))
      .map((finding) => {
        const { transform, key, alternatives = [] } = finding;
        const ref = refs.get(key) ?? '';
        this.#findings.set(ref, finding);
        const { safety } = this.#withAssumed(finding, path);
        const own = twins.get(finding) ?? [];
        const others = fixable.filter((other) => alternatives.includes(other.key) && !copies.has(other));
        const rank = this.reasons?.get(refOf(path, finding))?.rank ?? this.#rank(finding);
        return {
          ...{ ref, path, key, shown: names.get(finding) ?? '', transform, safety, rank },
          at: finding.span.start,
          like: [transform, safety, finding.message.replace(/`[^`]*`/g, '``')].join('\0'),
          rivals: refsOf(others.filter((other) => !isCovered(finding, other) && !isCovered(other, finding))),
          covers: refsOf(others.filter((other) => isCovered(finding, other))),
          twins: own.map((twin) => ({ key: twin.key, transform: twin.transform })),
        };
      });
  }

  /** Leaks before all else that frees memory. */
  #rank({ effect, transform }: Finding): number {
    const isLeak = this.metas.get(transform)?.symptom === 'leak';
    return 2 * EFFECTS.indexOf(effect) + (isLeak ? 0 : 1);
  }
}

/** Fixes of the same lines that write the very same bytes: the first, by safety, with the others. */
function twinsIn(
  engine: Engine,
  file: SourceFile,
  findings: readonly Finding[],
): ReadonlyMap<Finding, readonly Finding[]> {
  const twins = new Map<Finding, Finding[]>();
  const results = new Map<string, Finding>();
  const able = findings.filter(({ alternatives = [] }) => alternatives.length > 0);
  able.sort((a, b) => SAFETIES.indexOf(a.safety) - SAFETIES.indexOf(b.safety));
  for (const finding of able) {
    const { after, beside = [] } = engine.preview(file, finding);
    const result = JSON.stringify([after, beside]);
    const first = results.get(result);
    if (first === undefined) results.set(result, finding);
    else if (first.alternatives?.includes(finding.key))
      twins.set(first, [...(twins.get(first) ?? []), finding]);
  }
  return twins;
}

/** The name of a finding in a run. */
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

import type { Finding, Scan } from '../engine/outcome.js';
import type { Options } from '../toolkit/contract.js';
import type { Config } from './config.js';
import type { Request } from './project.js';
import type { Vocabulary } from './selection.js';
import { shortHash } from './state.js';
import { selectedBy, wishOf } from './wishes.js';

/** What the command line and one config make of the files that this config is the nearest one of. */
export class Rules {
  /** Ids of the transforms that run. */
  readonly selected: ReadonlySet<string>;
  readonly unsafeFixes: boolean;
  readonly fixable: ReadonlySet<string>;
  readonly #options = new Map<string, Options>();
  #facts: string | undefined;

  constructor(
    private readonly request: Request,
    readonly config: Config,
    private readonly vocabulary: Vocabulary,
  ) {
    this.selected = selectedBy(request, config, vocabulary);
    this.unsafeFixes = request.unsafeFixes ?? config.unsafeFixes;
    this.fixable = vocabulary.resolve({
      select: request.fixable ?? config.fixable ?? ['all', 'documented'],
      ignore: [...config.unfixable, ...request.unfixable],
    });
  }

  /** Those of the selected transforms that were asked for by name. */
  get named(): readonly string[] {
    const { select } = wishOf(this.request, this.config);
    return [...this.selected].filter((id) => this.vocabulary.isNamed(select, id));
  }

  excludes(path: string, isFolder: boolean): boolean {
    return this.config.exclude.some((patterns) => patterns.matches(path, isFolder));
  }

  selectedFor(path: string): ReadonlySet<string> {
    if (this.config.perFileIgnores.length === 0) return this.selected;
    const ignored = new Set<string>();
    for (const { pattern, isExcept, names } of this.config.perFileIgnores) {
      if (pattern.matches(path) !== isExcept) for (const id of this.vocabulary.expand(names)) ignored.add(id);
    }
    return new Set([...this.selected].filter((id) => !ignored.has(id)));
  }

  /** Asked for every file: made once. */
  optionsFor(id: string): Options {
    const known = this.#options.get(id);
    if (known !== undefined) return known;
    const specs = Object.entries(this.vocabulary.entry(id).options);
    const isNamed = this.vocabulary.isNamed(wishOf(this.request, this.config).select, id);
    const defaults = specs.map(
      ([name, spec]) => [name, isNamed ? (spec.whenNamed ?? spec.default) : spec.default] as const,
    );
    const options = { ...Object.fromEntries(defaults), ...this.config.options.get(id) };
    this.#options.set(id, options);
    return options;
  }

  /** All that it says, for telling it from others. */
  get facts(): string {
    this.#facts ??= shortHash(
      JSON.stringify([
        [...this.selected],
        this.named,
        [...this.fixable],
        this.unsafeFixes,
        this.config.words,
      ]),
    );
    return this.#facts;
  }

  /** A finding that may not be fixed has no fix; `usual` is what the run does with unsafe ones. */
  applied(scan: Scan, usual: boolean): Scan {
    const findings = scan.findings.map((finding) => {
      if (this.fixable.has(finding.transform)) return this.marked(finding, usual);
      const { fix: _, ...rest } = finding;
      return rest;
    });
    return { ...scan, findings };
  }

  marked(finding: Finding, usual: boolean): Finding {
    const { unsafeFixes } = this;
    return unsafeFixes === usual ? finding : { ...finding, unsafeFixes };
  }
}

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Engine } from '../engine/engine.js';
import type { Decide, Finding, Scan, SourceFile } from '../engine/outcome.js';
import type { PythonParser } from '../syntax/parser.js';
import type { Options } from '../toolkit/contract.js';
import { isCovered } from './assumptions.js';
import type { Catalogue } from './catalogue.js';
import type { Config } from './config.js';
import type { Premises } from './dependencies.js';
import { type Discovery, type DiscoveryRules, discover } from './discover.js';
import { Failure } from './failure.js';
import { changedFiles, type Since } from './git.js';
import { PathPatterns } from './gitignore.js';
import { Ground } from './ground.js';
import { Neighbourhood } from './neighbourhood.js';
import { NewLines } from './new-lines.js';
import { isFolder, isInside, isVendored, repositoryRoot, shownFrom } from './places.js';
import { Vocabulary } from './selection.js';
import { configFor, projectFolder, selectedBy, stricter, wishOf } from './wishes.js';

/** What the command line wishes; a config file answers for what it leaves out. */
export interface Request {
  readonly cwd: string;
  readonly paths: readonly string[];
  readonly config?: string;
  readonly isolated: boolean;
  readonly select?: readonly string[];
  readonly extendSelect: readonly string[];
  readonly ignore: readonly string[];
  readonly fixable?: readonly string[];
  readonly unfixable: readonly string[];
  readonly unsafeFixes?: boolean;
  readonly since?: Since;
  /** Patterns of files to pass over, relative to `cwd`, besides those of the config. */
  readonly exclude?: readonly string[];
  /** Files that are named are passed over, too, where the config excludes them: `--force-exclude`. */
  readonly forcesExclude?: true;
  /** `--target-version`, package name to version. */
  readonly targetVersions?: ReadonlyMap<string, string>;
  /** The folders of the environments that are active: `VIRTUAL_ENV`, `CONDA_PREFIX`. */
  readonly environments?: readonly string[];
  /**
   * The project is a stranger's, checked out around `cwd`: its config may only make things stricter. `migrate` sets this,
   * and `--strict-config`. Absent where the project is the user's own.
   */
  readonly isTarget?: true;
}

/** The files, the transforms and the settings of one run. */
export class Project {
  readonly vocabulary: Vocabulary;
  readonly config: Config;
  /** Ids of the transforms that run. */
  readonly selected: ReadonlySet<string>;
  readonly unsafeFixes: boolean;
  readonly #fixable: ReadonlySet<string>;
  readonly ground: Ground;
  #neighbourhood: Neighbourhood | undefined;
  #newLines: { readonly found: NewLines | undefined } | undefined;
  readonly #options = new Map<string, Options>();

  constructor(
    readonly request: Request,
    private readonly catalogue: Catalogue,
    /** Whether a file that asks about the whole project is left to another thread. */
    private readonly isLeft?: () => boolean,
  ) {
    this.ground = new Ground(request.cwd);
    this.vocabulary = new Vocabulary(catalogue);
    this.#checkFlags();
    const config = configFor(request, this.vocabulary, this.ground);
    this.config = withExcluded(request.isTarget ? stricter(config, this.ground) : config, request);
    this.selected = selectedBy(request, this.config, this.vocabulary);
    this.unsafeFixes = request.unsafeFixes ?? this.config.unsafeFixes;
    this.#fixable = this.vocabulary.resolve({
      select: request.fixable ?? this.config.fixable ?? ['all', 'documented'],
      ignore: [...this.config.unfixable, ...request.unfixable],
    });
  }

  /** What the scan of a file depends on besides the file, and besides what it asks of the files around it. */
  get facts(): unknown {
    const { aimed = [], environments, isTarget } = this.#premises;
    const premises = [[...aimed], environments, isTarget];
    const named = [...this.selected].filter((id) =>
      this.vocabulary.isNamed(wishOf(this.request, this.config).select, id),
    );
    const plugins = this.catalogue.plugins?.map(({ digest }) => digest) ?? [];
    return [
      this.vocabulary.ids,
      [...this.selected],
      named,
      [...this.#fixable],
      this.config.words,
      premises,
      plugins,
    ];
  }

  /** The folder that holds everything asked for. */
  get folder(): string {
    return projectFolder(this.request);
  }

  /** The repository; without one, the working folder, or what was asked for where that is elsewhere. */
  get root(): string {
    const { folder } = this;
    const { cwd } = this.request;
    return repositoryRoot(folder) ?? (isInside(folder, cwd) ? cwd : folder);
  }

  /** What lies around the files, up to the root of the repository, or to where the config says that the project ends. */
  get neighbourhood(): Neighbourhood {
    const { root } = this.config;
    this.#neighbourhood ??= new Neighbourhood(
      this.request.cwd,
      root !== undefined && isInside(this.folder, root) ? root : this.root,
      this.#premises,
      this.ground,
      this.isLeft,
    );
    return this.#neighbourhood;
  }

  get #premises(): Premises {
    const { targetVersions, environments, isTarget } = this.request;
    return {
      configured: this.config.targetVersions,
      ...(targetVersions && { aimed: targetVersions }),
      ...(environments && { environments }),
      ...(isTarget && { isTarget }),
    };
  }

  /** Where only findings on new lines are asked for. */
  get newLines(): NewLines | undefined {
    this.#newLines ??= { found: NewLines.of(this.request) };
    return this.#newLines.found;
  }

  isFixable(id: string): boolean {
    return this.#fixable.has(id);
  }

  /** Transforms that were asked for by name and lack an option, with the table that would set one. */
  get idle(): readonly { readonly id: string; readonly table: string }[] {
    const { select = [], extendSelect } = this.request;
    return [...this.selected].flatMap((id) => {
      const { aliases = [], options } = this.vocabulary.entry(id);
      const isNamed = [...select, ...extendSelect].some((name) =>
        [id, ...aliases].includes(name.toLowerCase()),
      );
      const needed = Object.entries(options).filter(([, { needed }]) => needed !== undefined);
      const [first] = needed;
      const set = this.#optionsFor(id);
      const isSet = needed.some(([name, spec]) => set[name] !== spec.default);
      if (!isNamed || first === undefined || isSet) return [];
      const [name, spec] = first;
      return [
        { id, table: `[tool.memfix.transforms.${id}] ${name} = ${JSON.stringify(spec.needed?.example)}` },
      ];
    });
  }

  /** The options of a transform as they are in force. */
  optionsOf(id: string): Options {
    return this.#optionsFor(id);
  }

  /** What `apply` without a person says to a finding. */
  async policy(): Promise<Decide> {
    const { policy } = await import('../engine/engine.js');
    return policy({ unsafe: this.unsafeFixes, fixable: (id) => this.isFixable(id) });
  }

  /** The folder of a run that is about all files in one. */
  get whole(): string | undefined {
    const { cwd, paths, since } = this.request;
    const [only = cwd, ...others] = paths.map((path) => resolve(cwd, path));
    const isPlain = others.length === 0 && since === undefined && this.config.exclude.length === 0;
    return isPlain && isFolder(only) && !isVendored(`${shownFrom(cwd, only)}/`) ? only : undefined;
  }

  discover(): Discovery {
    const { cwd, paths, since } = this.request;
    const { whole } = this;
    if (whole !== undefined) return this.ground.walk(whole);
    const excludes = (path: string, isFolder: boolean) =>
      this.config.exclude.some((patterns) => patterns.matches(path, isFolder));
    const changed = since && changedUnder(cwd, since);
    const rules = { cwd, excludes, ...(changed && { only: changed }) };
    const found = discover(paths.length === 0 ? ['.'] : paths, rules);
    return this.request.forcesExclude ? asWalked(found, rules) : withNamed(found, cwd, paths);
  }

  /**
   * One engine to the outside; inside, one for each set of transforms that `per-file-ignores` leaves.
   * A finding that may not be fixed has no fix. Loaded here: where nothing has changed, no engine is needed.
   */
  async engine(parser: PythonParser): Promise<Engine> {
    const { createEngine } = await import('../engine/engine.js');
    const { Neighbours } = await import('../engine/neighbours.js');
    const transforms = await this.catalogue.transforms();
    const neighbours = new Neighbours(parser, this.neighbourhood);
    const made = new Map<string, Engine>();
    const engineOf = (ids: ReadonlySet<string>): Engine => {
      const key = [...ids].join();
      const known = made.get(key);
      if (known !== undefined) return known;
      const engine = createEngine({
        parser,
        transforms: transforms.filter(({ meta }) => ids.has(meta.id)),
        knownIds: new Set(this.vocabulary.ids),
        optionsFor: (id) => this.#optionsFor(id),
        assumes: (id, question, path) =>
          isCovered(this.config.assume, id, question, resolve(this.request.cwd, path)),
        around: (...asked) => neighbours.around(...asked),
      });
      made.set(key, engine);
      return engine;
    };
    const engineFor = (path: string) => engineOf(this.#selectedFor(resolve(this.request.cwd, path)));
    const isOne = this.config.perFileIgnores.length === 0;
    return {
      ...engineOf(this.selected),
      scan: (file, among) => {
        const scan = engineFor(file.path).scan(file, isOne ? among : undefined);
        return scan.kind === 'scan' ? this.#withFixable(scan) : scan;
      },
      repair: async (file, decide, known) => {
        // A scan that went through here says nothing about the fixes of what may not be fixed.
        const isWhole = known?.findings.every(({ transform }) => this.isFixable(transform));
        const isNew = this.#isNew(engineFor(file.path), file, known);
        const ask: Decide = (finding, preview) =>
          this.isFixable(finding.transform) && isNew(finding) ? decide(finding, preview) : { kind: 'skip' };
        const outcome = await engineFor(file.path).repair(file, ask, isWhole ? known : undefined);
        if (outcome.kind === 'skipped') return outcome;
        return { ...outcome, remaining: this.#withFixable(outcome.remaining) };
      },
    };
  }

  /** Whether a finding of any pass is among those that the file has on new lines, as it is. */
  #isNew(engine: Engine, file: SourceFile, known: Scan | undefined): (finding: Finding) => boolean {
    const { newLines } = this;
    if (newLines === undefined) return () => true;
    const scan = known ?? engine.scan(file);
    if (scan.kind !== 'scan') return () => false;
    const keys = new Set(newLines.among({ ...scan, file }).findings.map(({ key }) => key));
    return ({ key }) => keys.has(key);
  }

  #withFixable(scan: Scan): Scan {
    const findings = scan.findings.map((finding) => {
      if (this.isFixable(finding.transform)) return finding;
      const { fix: _, ...rest } = finding;
      return rest;
    });
    return { ...scan, findings };
  }

  #selectedFor(path: string): ReadonlySet<string> {
    if (this.config.perFileIgnores.length === 0) return this.selected;
    const ignored = new Set<string>();
    for (const { pattern, names } of this.config.perFileIgnores) {
      if (pattern.matches(path)) for (const id of this.vocabulary.expand(names)) ignored.add(id);
    }
    return new Set([...this.selected].filter((id) => !ignored.has(id)));
  }

  /** Asked for every file: made once. */
  #optionsFor(id: string): Options {
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

  #checkFlags(): void {
    const { select, extendSelect, ignore, fixable, unfixable } = this.request;
    this.vocabulary.check(select ?? [], '`--select`');
    this.vocabulary.check(extendSelect, '`--extend-select`');
    this.vocabulary.check(ignore, '`--ignore`');
    this.vocabulary.check(fixable ?? [], '`--fixable`');
    this.vocabulary.check(unfixable, '`--unfixable`');
  }
}

function withExcluded(config: Config, { cwd, exclude = [] }: Request): Config {
  if (exclude.length === 0) return config;
  const patterns = new PathPatterns(cwd, exclude);
  if (patterns.problem !== undefined)
    throw new Failure(
      'Wrong usage',
      `\`--exclude\` cannot be used: ${patterns.problem}`,
      'Correct the pattern.',
    );
  return { ...config, exclude: [...config.exclude, patterns] };
}

/** A folder of vendored code that is named is asked for, and so are its files. */
function withNamed(found: Discovery, cwd: string, paths: readonly string[]): Discovery {
  const named = paths.map((path) => `${shownFrom(cwd, resolve(cwd, path))}/`).filter(isVendored);
  if (named.length === 0) return found;
  const candidates = found.candidates.map((candidate) =>
    named.some((folder) => candidate.path.startsWith(folder)) ? { ...candidate, explicit: true } : candidate,
  );
  return { ...found, candidates };
}

/** Files that somebody else named, such as pre-commit: what a walk would pass over is passed over. */
function asWalked(found: Discovery, { cwd, excludes }: DiscoveryRules): Discovery {
  const candidates = found.candidates
    .filter(({ path }) => !excludes(resolve(cwd, path), false))
    .map((candidate) => ({ ...candidate, explicit: false }));
  return { ...found, candidates };
}

function changedUnder(cwd: string, since: Since): ReadonlySet<string> {
  const root = repositoryRoot(realpathSync.native(cwd));
  if (root === undefined) {
    throw new Failure(
      'Not in a git repository',
      `\`--${since.kind}\` asks git, and ${cwd} is in no repository`,
      'Run memfix inside the repository, or leave that option out.',
    );
  }
  return changedFiles(root, since);
}

import { dirname, resolve } from 'node:path';
import type { Engine } from '../engine/engine.js';
import type { Decide, Finding, Scan, SourceFile } from '../engine/outcome.js';
import type { PythonParser } from '../syntax/parser.js';
import { asWalked, changedUnder, discovered, withNamed } from './asked-files.js';
import { filesFrom, isCovered } from './assumptions.js';
import type { Catalogue } from './catalogue.js';
import type { Config } from './config.js';
import type { Logged, Premises } from './dependencies.js';
import type { Discovery } from './discover.js';
import { Failure } from './failure.js';
import type { Since } from './git.js';
import { PathPatterns } from './gitignore.js';
import { Ground } from './ground.js';
import { Neighbourhood } from './neighbourhood.js';
import { NestedRules } from './nested.js';
import { NewLines } from './new-lines.js';
import { isFolder, isInside, isVendored, repositoryRoot, shownFrom } from './places.js';
import { Rules } from './rules.js';
import { Vocabulary } from './selection.js';
import { configFor, projectFolder, stricter } from './wishes.js';

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
  /** What is staged of files whose work tree has something else, by their real paths: it is read instead. */
  readonly staged?: ReadonlyMap<string, Uint8Array>;
  /** Patterns of files to pass over, relative to `cwd`, besides those of the config. */
  readonly exclude?: readonly string[];
  /** Files that are named are passed over, too, where the config excludes them: `--force-exclude`. */
  readonly forcesExclude?: true;
  /** `--target-version`, package name to version. */
  readonly targetVersions?: ReadonlyMap<string, string>;
  /** What the words of a log say about the torch that wrote it. */
  readonly logged?: Logged;
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
  /** What counts where no file below says otherwise. */
  readonly config: Config;
  readonly rules: Rules;
  readonly ground: Ground;
  /** The folder that holds everything asked for. */
  readonly folder: string;
  readonly #nested: NestedRules;
  readonly #neighbourhoods = new Map<string, Neighbourhood>();
  #newLines: { readonly found: NewLines | undefined } | undefined;
  #asked: { readonly path: string; readonly place: string } | undefined;

  constructor(
    readonly request: Request,
    private readonly catalogue: Catalogue,
    /** Whether a file that asks about the whole project is left to another thread. */
    private readonly isLeft?: () => boolean,
  ) {
    this.ground = new Ground(request.cwd, request.staged);
    this.vocabulary = new Vocabulary(catalogue);
    this.#checkFlags();
    this.folder = projectFolder(request);
    const held = (config: Config) =>
      withExcluded(request.isTarget ? stricter(config, this.ground) : config, request);
    this.config = held(configFor(request, this.vocabulary, this.ground));
    this.rules = new Rules(request, this.config, this.vocabulary);
    const { folder, rules, vocabulary, ground } = this;
    const loaded = new Set(catalogue.plugins?.map(({ file }) => file));
    this.#nested = new NestedRules({ request, folder, usual: rules, vocabulary, ground, held, loaded });
  }

  /** Ids of the transforms that run where no config below says otherwise. */
  get selected(): ReadonlySet<string> {
    return this.rules.selected;
  }

  /** The rules of the nearest config above a file. */
  rulesFor(path: string): Rules {
    return this.#nested.for(this.#placeOf(path));
  }

  /** Several ask about one file before the next. */
  #placeOf(path: string): string {
    if (this.#asked?.path !== path) this.#asked = { path, place: resolve(this.request.cwd, path) };
    return this.#asked.place;
  }

  /** Configs below the folder of the run that count for files of it. */
  get nestedConfigs(): readonly Config[] {
    return this.#nested.below.map(({ config }) => config);
  }

  /** Patterns of all configs that files are passed over for. */
  get excluded(): readonly string[] {
    const all = [this.config, ...this.nestedConfigs].flatMap(({ exclude }) => exclude);
    return [...new Set(all.flatMap(({ patterns }) => patterns))];
  }

  /** A name for what counts for a file, besides what counts for the run; undefined where that is all. */
  factsFor(path: string): string | undefined {
    const rules = this.rulesFor(path);
    if (rules === this.rules) return undefined;
    return rules.facts;
  }

  /** What the scan of a file depends on besides the file, and besides what it asks of the files around it. */
  get facts(): unknown {
    const { aimed = [], environments, isTarget, logged } = this.#premisesOf(this.rules);
    const premises = [[...aimed], environments, isTarget, logged];
    const plugins = this.catalogue.plugins?.map(({ digest }) => digest) ?? [];
    return [
      this.vocabulary.ids,
      [...this.selected],
      this.rules.named,
      [...this.rules.fixable],
      this.config.words,
      premises,
      plugins,
    ];
  }

  /** The repository; without one, the working folder, or what was asked for where that is elsewhere. */
  get root(): string {
    const { folder } = this;
    const { cwd } = this.request;
    return repositoryRoot(folder) ?? (isInside(folder, cwd) ? cwd : folder);
  }

  /** What names of files in its `assume` are relative to: the same for all folders that memfix may be run in. */
  #homeOf({ config: { path } }: Rules): string {
    const { root } = this;
    if (path === undefined) return root;
    const home = repositoryRoot(dirname(path)) ?? dirname(path);
    return isInside(home, root) || isInside(root, home) ? home : root;
  }

  /** What lies around the files, up to the root of the repository, or to where the config says that the project ends. */
  get neighbourhood(): Neighbourhood {
    return this.#neighbourhoodOf(this.rules);
  }

  /** Configs that say the same about it share one. */
  #neighbourhoodOf(rules: Rules): Neighbourhood {
    const { root, path, targetVersions } = rules.config;
    const folder = rules === this.rules || path === undefined ? this.folder : dirname(path);
    const top = root !== undefined && isInside(folder, root) ? root : this.root;
    const key = JSON.stringify([top, [...targetVersions]]);
    let known = this.#neighbourhoods.get(key);
    if (known === undefined) {
      known = new Neighbourhood(this.request.cwd, top, this.#premisesOf(rules), this.ground, this.isLeft);
      this.#neighbourhoods.set(key, known);
    }
    return known;
  }

  #premisesOf({ config }: Rules): Premises {
    const { targetVersions, environments, isTarget, logged } = this.request;
    return {
      configured: config.targetVersions,
      ...(targetVersions && { aimed: targetVersions }),
      ...(environments && { environments }),
      ...(isTarget && { isTarget }),
      ...(logged && { logged }),
    };
  }

  /** Where only findings on new lines are asked for. */
  get newLines(): NewLines | undefined {
    this.#newLines ??= { found: NewLines.of(this.request) };
    return this.#newLines.found;
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
      const set = this.rules.optionsFor(id);
      const isSet = needed.some(([name, spec]) => set[name] !== spec.default);
      if (!isNamed || first === undefined || isSet) return [];
      const [name, spec] = first;
      return [
        { id, table: `[tool.memfix.transforms.${id}] ${name} = ${JSON.stringify(spec.needed?.example)}` },
      ];
    });
  }

  /** What `apply` without a person says to a finding. */
  async policy(): Promise<Decide> {
    const { policy } = await import('../engine/engine.js');
    return policy({ unsafe: this.rules.unsafeFixes });
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
    const found = whole === undefined ? this.#discovered(paths, since) : this.ground.walk(whole);
    // A config that is wrong is heard of before anything else is done.
    const candidates = found.candidates.filter(({ path, explicit }) => {
      const rules = this.rulesFor(path);
      return rules === this.rules || explicit || !rules.excludes(resolve(cwd, path), false);
    });
    return candidates.length === found.candidates.length ? found : { ...found, candidates };
  }

  #discovered(paths: Request['paths'], since: Request['since']): Discovery {
    const { cwd } = this.request;
    const excludes = (path: string, isFolder: boolean) => this.rulesFor(path).excludes(path, isFolder);
    const changed = since && changedUnder(cwd, since);
    const rules = { cwd, excludes, ...(changed && { only: changed }) };
    const found = discovered(paths.length === 0 ? ['.'] : paths, rules);
    return this.request.forcesExclude ? asWalked(found, rules) : withNamed(found, cwd, paths);
  }

  /**
   * One engine to the outside; inside, one for each set of transforms that a config and its `per-file-ignores` leave.
   * A finding that may not be fixed has no fix. Loaded here: where nothing has changed, no engine is needed.
   */
  async engine(parser: PythonParser): Promise<Engine> {
    const { createEngine } = await import('../engine/engine.js');
    const { Neighbours } = await import('../engine/neighbours.js');
    const transforms = await this.catalogue.transforms();
    const around = new Map<Neighbourhood, InstanceType<typeof Neighbours>>();
    const made = new Map<Rules, Map<string, Engine>>();
    const neighboursOf = (rules: Rules) => {
      const place = this.#neighbourhoodOf(rules);
      const neighbours = around.get(place) ?? new Neighbours(parser, place);
      around.set(place, neighbours);
      return neighbours;
    };
    const engineOf = (rules: Rules, ids: ReadonlySet<string>): Engine => {
      const own = made.get(rules) ?? new Map<string, Engine>();
      made.set(rules, own);
      // Mostly, a file has the transforms of its config.
      const key = ids === rules.selected ? '*' : [...ids].join();
      const known = own.get(key);
      if (known !== undefined) return known;
      const neighbours = neighboursOf(rules);
      const { cwd } = this.request;
      const engine = createEngine({
        parser,
        transforms: transforms.filter(({ meta }) => ids.has(meta.id)),
        knownIds: new Set(this.vocabulary.ids),
        optionsFor: (id) => rules.optionsFor(id),
        assumes: (id, question, path, within) =>
          isCovered(rules.config.assume, id, question, resolve(cwd, path), within),
        subjectFor: filesFrom(this.#homeOf(rules), cwd),
        around: (...asked) => neighbours.around(...asked),
      });
      own.set(key, engine);
      return engine;
    };
    const engineFor = (path: string) => {
      const rules = this.rulesFor(path);
      return engineOf(rules, rules.selectedFor(this.#placeOf(path)));
    };
    const { unsafeFixes: usual } = this.rules;
    return {
      ...engineOf(this.rules, this.selected),
      among: (bytes, path) =>
        (path === undefined ? engineOf(this.rules, this.selected) : engineFor(path)).among(bytes),
      scan: (file, among) => {
        const scan = engineFor(file.path).scan(file, among);
        return scan.kind === 'scan' ? this.rulesFor(file.path).applied(scan, usual) : scan;
      },
      repair: async (file, decide, known, isLast) => {
        const rules = this.rulesFor(file.path);
        // A scan that went through here says nothing about the fixes of what may not be fixed.
        const isWhole = known?.findings.every(({ transform }) => rules.fixable.has(transform));
        const isNew = this.#isNew(engineFor(file.path), file, known);
        const ask: Decide = (finding, preview, earlier) =>
          rules.fixable.has(finding.transform) && isNew(finding)
            ? decide(rules.marked(finding, usual), preview, earlier)
            : { kind: 'skip' };
        const outcome = await engineFor(file.path).repair(file, ask, isWhole ? known : undefined, isLast);
        if (outcome.kind === 'skipped') return outcome;
        const { kind, after, beside, settled, bugs } = outcome;
        return {
          ...{ kind, file: outcome.file, after, beside, settled, bugs },
          get remaining() {
            return rules.applied(outcome.remaining, usual);
          },
        };
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

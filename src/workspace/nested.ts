import { dirname } from 'node:path';
import { type Config, understand } from './config.js';
import { configIn } from './config-file.js';
import type { Ground } from './ground.js';
import { isInside, realPath, repositoryRoot } from './places.js';
import type { Request } from './project.js';
import { Rules } from './rules.js';
import type { Vocabulary } from './selection.js';

/** The rules of a run for each of its files: those of the nearest config above it. Each folder is asked once. */
export class NestedRules {
  readonly #known = new Map<string, Rules>();
  readonly #own: Rules[] = [];

  constructor(
    private readonly request: Request,
    /** Everything asked for is in here, and what counts here is `usual`. */
    private readonly folder: string,
    readonly usual: Rules,
    private readonly vocabulary: Vocabulary,
    private readonly ground: Ground,
    /** What becomes of a config before it counts. */
    private readonly held: (config: Config) => Config,
  ) {
    this.#known.set(folder, usual);
  }

  /** Those that count below the folder of the run, as far as files were asked about. */
  get below(): readonly Rules[] {
    return this.#own;
  }

  for(path: string): Rules {
    if (this.request.isolated || this.request.config !== undefined) return this.usual;
    const folder = dirname(path);
    return isInside(folder, this.folder) ? this.#in(folder) : this.usual;
  }

  #in(folder: string): Rules {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const rules = this.#ownOf(folder) ?? this.#in(dirname(folder));
    this.#known.set(folder, rules);
    return rules;
  }

  #ownOf(folder: string): Rules | undefined {
    const top = repositoryRoot(folder) ?? (this.request.isTarget ? this.request.cwd : undefined);
    const scope = { base: realPath(top ?? folder), isBound: top !== undefined };
    const table = configIn(folder, scope, {
      refuses: (path, reason) => this.ground.refuses(path, reason),
      sees: (path) => this.ground.sees(path),
    });
    if (table === undefined) return undefined;
    const config = this.held(understand(table, this.vocabulary));
    const missing = config.plugins.filter((name) => !this.usual.config.plugins.includes(name));
    if (missing.length > 0)
      this.ground.refuses(
        table.path,
        'it is read without `plugins`, which count where memfix runs in that folder, or are named with `--plugin`',
      );
    const rules = new Rules(this.request, config, this.vocabulary);
    this.#own.push(rules);
    return rules;
  }
}

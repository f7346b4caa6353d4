import { dirname, resolve } from 'node:path';
import { type Config, understand } from './config.js';
import { configIn } from './config-file.js';
import type { Ground } from './ground.js';
import { isInside, realPath, repositoryRoot } from './places.js';
import type { Request } from './project.js';
import { Rules } from './rules.js';
import type { Vocabulary } from './selection.js';

interface NestedSetting {
  readonly request: Request;
  /** Everything asked for is in here, and what counts here is `usual`. */
  readonly folder: string;
  readonly usual: Rules;
  readonly vocabulary: Vocabulary;
  readonly ground: Ground;
  /** The files of the plugins that are loaded. */
  readonly loaded: ReadonlySet<string>;
  /** What becomes of a config before it counts. */
  held(config: Config): Config;
}

/** The rules of a run for each of its files: those of the nearest config above it. Each folder is asked once. */
export class NestedRules {
  readonly #known = new Map<string, Rules>();
  readonly #own: Rules[] = [];

  constructor(private readonly setting: NestedSetting) {
    this.#known.set(setting.folder, setting.usual);
  }

  /** Those that count below the folder of the run, as far as files were asked about. */
  get below(): readonly Rules[] {
    return this.#own;
  }

  for(path: string): Rules {
    const { request, folder, usual } = this.setting;
    if (request.isolated || request.config !== undefined) return usual;
    const own = dirname(path);
    // Only folders of the run are known.
    return this.#known.get(own) ?? (isInside(own, folder) ? this.#in(own) : usual);
  }

  #in(folder: string): Rules {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const rules = this.#ownOf(folder) ?? this.#in(dirname(folder));
    this.#known.set(folder, rules);
    return rules;
  }

  #ownOf(folder: string): Rules | undefined {
    const { request, vocabulary, ground, held } = this.setting;
    const top = repositoryRoot(folder) ?? (request.isTarget ? request.cwd : undefined);
    const scope = { base: realPath(top ?? folder), isBound: top !== undefined };
    const table = configIn(folder, scope, {
      refuses: (path, reason) => ground.refuses(path, reason),
      sees: (path) => ground.sees(path),
    });
    if (table === undefined) return undefined;
    const config = held(understand(table, vocabulary));
    if (config.plugins.some((name) => !this.#isLoaded(name, table.folder)))
      ground.refuses(
        table.path,
        'it is read without `plugins`, which count where memfix runs in that folder, or are named with `--plugin`',
      );
    const rules = new Rules(request, config, vocabulary);
    this.#own.push(rules);
    return rules;
  }

  #isLoaded(name: string, folder: string): boolean {
    const { usual, loaded } = this.setting;
    return usual.config.plugins.includes(name) || loaded.has(realPath(resolve(folder, name)));
  }
}

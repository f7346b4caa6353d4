import { dirname, resolve } from 'node:path';
import { type Config, NO_CONFIG, understand } from './config.js';
import { type ConfigTable, nearestConfig, readConfig } from './config-file.js';
import type { Ground } from './ground.js';
import { commonFolder, isFolder } from './places.js';
import type { Request } from './project.js';
import type { Vocabulary } from './selection.js';
import { wildcardIn } from './wildcards.js';

/**
 * `--select` starts afresh; `--extend-select` and `--ignore` add to what the config says, and overrule the same name there:
 * not in the repository of somebody else, who may ignore what a campaign asks for.
 */
export function wishOf(
  request: Request,
  config: Config,
): { select: readonly string[]; ignore: readonly string[] } {
  if (request.select !== undefined) {
    return { select: [...request.select, ...request.extendSelect], ignore: request.ignore };
  }
  const typed = request.isTarget === true ? [] : request.extendSelect;
  const wanted = new Set(typed.map((name) => name.toLowerCase()));
  return {
    select: [...(config.select ?? ['default']), ...config.extendSelect, ...request.extendSelect],
    ignore: [...config.ignore.filter((name) => !wanted.has(name.toLowerCase())), ...request.ignore],
  };
}

export function selectedBy(request: Request, config: Config, vocabulary: Vocabulary): ReadonlySet<string> {
  const selected = vocabulary.resolve(wishOf(request, config));
  if (request.isTarget !== true) return selected;
  const wanted = vocabulary.resolve(wishOf(request, NO_CONFIG));
  return new Set([...selected].filter((id) => wanted.has(id)));
}

/** What a config says that can take away only; `select` is held to what the campaign selects elsewhere. */
export function stricter(config: Config, ground: Ground): Config {
  const dropped = [
    ...(config.unsafeFixes ? ['`unsafe-fixes`'] : []),
    ...(config.extendSelect.length > 0 ? ['`extend-select`'] : []),
    ...(config.options.size > 0 ? ['`transforms`'] : []),
    ...(config.root !== undefined ? ['`root`'] : []),
    ...(config.plugins.length > 0 ? ['`plugins`'] : []),
    ...(config.assume.length > 0 ? ['`assume`'] : []),
    ...(config.failOn !== undefined ? ['`fail-on`'] : []),
  ];
  if (dropped.length > 0 && config.path !== undefined)
    ground.refuses(
      config.path,
      `it is read without ${dropped.join(', ')}: the config of a repository may only make things stricter`,
    );
  const { root: _, failOn: __, ...rest } = config;
  return { ...rest, unsafeFixes: false, extendSelect: [], options: new Map(), assume: [], plugins: [] };
}

export function configFor(request: Request, vocabulary: Vocabulary, ground: Ground): Config {
  const found = configTableFor(request, ground);
  return found === undefined ? NO_CONFIG : understand(found, vocabulary);
}

/** The config file that counts for a request, before any of it is believed. */
export function configTableFor(request: Request, ground: Ground): ConfigTable | undefined {
  if (request.config !== undefined) return readConfig(resolve(request.cwd, request.config));
  const refuses = (path: string, reason: string) => ground.refuses(path, reason);
  const search = { refuses, ...(request.isTarget && { target: request.cwd }) };
  return request.isolated ? undefined : nearestConfig(projectFolder(request), search);
}

/** The folder that holds everything asked for: its config is the one that counts. */
export function projectFolder({ cwd, paths }: Request): string {
  const folders = paths.map((path) => {
    const wild = wildcardIn(cwd, path);
    if (wild !== undefined) return wild.folder;
    const place = resolve(cwd, path);
    return isFolder(place) ? place : dirname(place);
  });
  return commonFolder(folders) ?? cwd;
}

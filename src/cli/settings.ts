import { dirname, resolve } from 'node:path';
import type { Settings } from '../report/settings.js';
import type { Found } from '../workspace/dependencies.js';
import { shownFrom, upward } from '../workspace/places.js';
import { Project } from '../workspace/project.js';
import type { Context } from './context.js';
import { failingOf } from './failing.js';

/** What the command line, the config and the project's own files come to. Nothing is scanned. */
export function settingsOf(context: Context): Settings {
  const { args, io, catalogue } = context;
  const project = new Project(args.request(io.cwd, io.env), catalogue);
  const { config, selected, rules } = project;
  const files = args.readsStdin
    ? [args.text('stdin-filename') ?? 'stdin.py']
    : project.discover().candidates.map(({ path }) => path);
  const folders = new Set(files.map((file) => dirname(resolve(io.cwd, file))));
  return {
    config: config.path === undefined ? null : shownFrom(io.cwd, config.path),
    nested: project.nestedConfigs.flatMap(({ path }) => (path === undefined ? [] : shownFrom(io.cwd, path))),
    root: config.root === undefined ? null : shownFrom(io.cwd, config.root),
    transforms: [...selected],
    unsafeFixes: rules.unsafeFixes,
    failOn: failingOf(context) ?? config.failOn ?? ['any'],
    unfixable: [...selected].filter((id) => !rules.fixable.has(id)),
    exclude: config.exclude.flatMap(({ patterns }) => patterns),
    perFileIgnores: Object.fromEntries(
      config.perFileIgnores.map(({ pattern, isExcept, names }) => [
        `${isExcept ? '!' : ''}${pattern.patterns.join(', ')}`,
        names,
      ]),
    ),
    options: Object.fromEntries(
      [...selected].flatMap((id) => {
        const options = rules.optionsFor(id);
        return Object.keys(options).length === 0 ? [] : [[id, options]];
      }),
    ),
    assume: config.assume.map(({ text }) => text),
    versions: [...placesOf(project, folders)].map(([{ pins }, folder]) => ({
      folder: shownFrom(io.cwd, folder),
      packages: [...pins].flatMap(([name, found]) => found.map((pin) => ({ name, ...pin }))),
    })),
  };
}

/** Each set of versions once, with the uppermost folder that has it, among those asked for. */
function placesOf({ folder: top, neighbourhood }: Project, folders: Iterable<string>): Map<Found, string> {
  const places = new Map<Found, string>([[neighbourhood.versionsIn(top), top]]);
  for (const folder of folders) {
    const found = neighbourhood.versionsIn(folder);
    if (places.has(found)) continue;
    let uppermost = folder;
    for (const at of upward(folder)) {
      if (neighbourhood.versionsIn(at) !== found) break;
      uppermost = at;
    }
    places.set(found, uppermost);
  }
  return places;
}

import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { type Pin, pinOf, Versions } from '../semantic/versions.js';
import { LARGEST_FILE, LARGEST_SETTINGS, LARGEST_TOML } from './bounded.js';
import {
  readEnvironment,
  readLock,
  readPyproject,
  readRequirements,
  readSetupCfg,
  type Statement,
} from './dependency-files.js';
import type { Folders } from './folders.js';
import { isInside, shownFrom } from './places.js';

type Pins = ReadonlyMap<string, readonly Pin[]>;
type Read = (text: string, source: string) => readonly Statement[];

/** What a folder knows, with what it has from the folders above it. */
interface Known {
  /** What is asked for, from the nearest folder that asks for it. */
  readonly asked: Pins;
  /** What lock files have chosen, from the nearest one: a workspace has one for all its members. */
  readonly locked: Pins;
}

/** The versions of a folder, and a name that is the same where they are. */
export interface Found {
  readonly versions: Versions;
  readonly pins: Pins;
  readonly key: string;
}

/** `target-versions` of the config. */
export interface Targets {
  readonly versions: ReadonlyMap<string, string>;
  /** The config is a stranger's: its versions count beside what other files ask for. Else they win. */
  readonly isTarget?: boolean;
}

const NOTHING: Known = { asked: new Map(), locked: new Map() };
const REQUIREMENTS = /^requirements[\w.-]*\.txt$/i;
type Kind = readonly [name: RegExp, read: Read, most: number];
const READERS: readonly Kind[] = [
  [/^pyproject\.toml$/, readPyproject, LARGEST_TOML],
  [/^setup\.cfg$/, readSetupCfg, LARGEST_SETTINGS],
  [/^environment[\w.-]*\.ya?ml$/i, readEnvironment, LARGEST_SETTINGS],
];
const LOCKS: readonly Kind[] = [[/^(?:uv|poetry)\.lock$/, readLock, LARGEST_FILE]];
/** What all of these look like; most names are of something else. */
const MAY_SPEAK = /\.(?:txt|toml|cfg|ya?ml|lock)$|^requirements$/i;
/** Lines about one package in the files of one folder. */
const MOST_PINS = 100;
/** Includes of includes, as deep as a sane project has them. */
const DEEPEST_INCLUDE = 8;

/** The versions that projects ask for, by folder. Files are read when their folder is first asked about, once. */
export class Dependencies {
  readonly #known = new Map<string, Known>();
  readonly #found = new Map<Known, Found>();

  constructor(
    private readonly cwd: string,
    private readonly folders: Folders,
    private readonly targets: Targets,
  ) {}

  /** The same object for folders that have all from the same place. */
  foundFor(folder: string): Found {
    const known = this.#knownIn(folder);
    let found = this.#found.get(known);
    if (found === undefined) {
      const pins = this.#settled(known);
      const key = createHash('sha1').update(JSON.stringify([...pins]));
      found = { versions: new Versions(pins), pins, key: key.digest('base64') };
      this.#found.set(known, found);
    }
    return found;
  }

  #settled({ asked, locked }: Known): Pins {
    const pins = new Map<string, readonly Pin[]>();
    for (const name of [...new Set([...asked.keys(), ...locked.keys()])].sort()) {
      pins.set(name, [...(asked.get(name) ?? []), ...(locked.get(name) ?? [])]);
    }
    const { versions, isTarget } = this.targets;
    for (const [name, version] of versions)
      pins.set(name, [...(isTarget ? (pins.get(name) ?? []) : []), target(version)]);
    return pins;
  }

  #knownIn(folder: string): Known {
    let known = this.#known.get(folder);
    if (known === undefined) {
      known = this.#look(folder, this.folders.isTop(folder) ? NOTHING : this.#knownIn(dirname(folder)));
      this.#known.set(folder, known);
    }
    return known;
  }

  #look(folder: string, above: Known): Known {
    const names = [...this.folders.names(folder)].filter((name) => MAY_SPEAK.test(name)).sort();
    const asked = pinsOf([...this.#required(folder, names), ...this.#read(folder, names, READERS)]);
    const locked = pinsOf(this.#read(folder, names, LOCKS));
    if (asked.size + locked.size === 0) return above;
    return {
      asked: new Map([...above.asked, ...asked]),
      locked: new Map([...above.locked, ...locked]),
    };
  }

  /** From `requirements*.txt`, the folder `requirements/`, and what they include. */
  #required(folder: string, names: readonly string[]): readonly Statement[] {
    const inner = join(folder, 'requirements');
    const others = names.includes('requirements') ? [...this.folders.names(inner)].sort() : [];
    const paths = [
      ...names.filter((name) => REQUIREMENTS.test(name)).map((name) => join(folder, name)),
      ...others.filter((name) => name.endsWith('.txt')).map((name) => join(inner, name)),
    ];
    const seen = new Set<string>();
    const top = this.folders.upward(folder).at(-1) ?? folder;
    const bounds = { most: LARGEST_SETTINGS, root: this.folders.rootOf(folder) };
    const read = (path: string, depth: number): readonly Statement[] => {
      // What lies outside is somebody else's, and an address is no path.
      if (seen.has(path) || depth > DEEPEST_INCLUDE || !isInside(path, top)) return [];
      seen.add(path);
      const { statements, includes } = readRequirements(
        this.folders.text(path, bounds),
        shownFrom(this.cwd, path),
      );
      return [...statements, ...includes.flatMap((name) => read(resolve(dirname(path), name), depth + 1))];
    };
    return paths.flatMap((path) => read(path, 0));
  }

  #read(folder: string, names: readonly string[], readers: readonly Kind[]): readonly Statement[] {
    const root = this.folders.rootOf(folder);
    return readers.flatMap(([pattern, read, most]) =>
      names
        .filter((name) => pattern.test(name))
        .flatMap((name) =>
          read(
            this.folders.text(join(folder, name), { most, root }),
            shownFrom(this.cwd, join(folder, name)),
          ),
        ),
    );
  }
}

/** A version that is aimed at is that series: no fix may need a newer one. */
function target(version: string): Pin {
  const source = '`target-versions`';
  return { ...pinOf(`==${version}.*`, source), text: version, source };
}

/** Each once. Where nobody would list so many, the rest is one line that says that nobody can tell. */
function pinsOf(statements: readonly Statement[]): Pins {
  const pins = new Map<string, Map<string, Pin>>();
  for (const [name, pin] of statements) {
    const known = pins.get(name) ?? new Map<string, Pin>();
    pins.set(name, known);
    const text = known.size < MOST_PINS ? pin.text : 'and more';
    if (!known.has(text)) known.set(text, text === pin.text ? pin : { text, source: pin.source });
  }
  return new Map([...pins].map(([name, known]) => [name, [...known.values()]]));
}

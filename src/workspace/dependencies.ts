import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { type Pin, pinOf, Versions } from '../semantic/versions.js';
import { LARGEST_FILE, LARGEST_SETTINGS, LARGEST_TOML } from './bounded.js';
import {
  marked,
  readEnvironment,
  readPipfile,
  readPyproject,
  readRequirements,
  readSetupCfg,
  type Statement,
} from './dependency-files.js';
import { readDockerfile, readSetupPy } from './dependency-scripts.js';
import type { Folders } from './folders.js';
import { ENVIRONMENTS, installedIn } from './installed.js';
import { readCondaLock, readLock, readPipfileLock } from './lock-files.js';
import { isInside, realPath, shownFrom } from './places.js';

type Pins = ReadonlyMap<string, readonly Pin[]>;
type Read = (text: string, source: string) => readonly Statement[];

/** What a folder knows, with what it has from the folders above it. */
interface Known {
  /** What is asked for, from the nearest folder that asks for it. */
  readonly asked: Pins;
  /** What lock files have chosen, from the nearest one: a workspace has one for all its members. */
  readonly locked: Pins;
  /** What an environment holds, from the nearest one. */
  readonly installed: Pins;
}

/** The versions of a folder, and a name that is the same where they are. */
export interface Found {
  readonly versions: Versions;
  readonly pins: Pins;
  readonly key: string;
}

/** The torch that wrote a log. */
export interface Logged {
  readonly from: string;
  /** Exclusive. */
  readonly below: string;
  /** The log. */
  readonly source: string;
}

/** What is known besides the files of a project. */
export interface Premises {
  /** `--target-version`: nothing else counts for these packages. */
  readonly aimed?: ReadonlyMap<string, string>;
  readonly logged?: Logged;
  /** `target-versions` of the config. */
  readonly configured: ReadonlyMap<string, string>;
  /** The environments that are active, the first of them first. */
  readonly environments?: readonly string[];
  /**
   * The project is a stranger's: what its config says counts beside what its other files ask for, where otherwise it wins, and
   * no environment is looked at.
   */
  readonly isTarget?: boolean;
}

const NOTHING: Pins = new Map();
const NO_TARGETS: ReadonlyMap<string, string> = new Map();
const REQUIREMENTS = /^requirements[\w.-]*\.txt$/i;
const DOCKERFILE = /^(?:dockerfile|containerfile)(?:[._-][\w.-]*)?$|^[\w.-]+\.dockerfile$/i;
/** Folders of a project that hold such files. */
const DOCKER_FOLDERS: readonly string[] = ['.devcontainer', 'docker'];
type Kind = readonly [name: RegExp, read: Read, most: number];
const READERS: readonly Kind[] = [
  [/^pyproject\.toml$/, readPyproject, LARGEST_TOML],
  [/^Pipfile$/, readPipfile, LARGEST_TOML],
  [/^setup\.cfg$/, readSetupCfg, LARGEST_SETTINGS],
  [/^setup\.py$/, readSetupPy, LARGEST_SETTINGS],
  [/^environment[\w.-]*\.ya?ml$/i, readEnvironment, LARGEST_SETTINGS],
  [DOCKERFILE, readDockerfile, LARGEST_SETTINGS],
];
const LOCKS: readonly Kind[] = [
  [/^(?:uv|poetry|pdm)\.lock$|^pylock(?:\.[\w-]+)?\.toml$/, readLock, LARGEST_FILE],
  [/^Pipfile\.lock$/, readPipfileLock, LARGEST_FILE],
  [/^(?:[\w.-]+\.)?conda-lock\.ya?ml$/, readCondaLock, LARGEST_FILE],
];
/** What all of these look like; most names are of something else. */
const MAY_SPEAK =
  /\.(?:txt|toml|cfg|ya?ml|lock)$|^(?:requirements|docker|\.devcontainer|Pipfile|setup\.py|\.venv|venv|env)$|dockerfile|containerfile/i;
/** Lines about one package in the files of one folder. */
const MOST_PINS = 100;
/** Includes of includes, as deep as a sane project has them. */
const DEEPEST_INCLUDE = 8;

/** The versions that projects ask for, by folder. Files are read when their folder is first asked about, once. */
export class Dependencies {
  readonly #known = new Map<string, Known>();
  readonly #found = new Map<Known, Found>();
  #outermost: Known | undefined;

  constructor(
    private readonly cwd: string,
    private readonly folders: Folders,
    private readonly premises: Premises,
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

  #settled({ asked, locked, installed }: Known): Pins {
    const pins = new Map<string, readonly Pin[]>();
    const all = [installed, locked, asked];
    for (const name of [...new Set(all.flatMap((each) => [...each.keys()]))].sort())
      pins.set(
        name,
        all.flatMap((each) => each.get(name) ?? []),
      );
    const { aimed = NO_TARGETS, configured, isTarget, logged } = this.premises;
    for (const [name, version] of configured) {
      const others = pins.get(name) ?? [];
      pins.set(
        name,
        isTarget ? [...others, target(version, CONFIGURED, 'request')] : [target(version, CONFIGURED)],
      );
    }
    if (logged !== undefined) {
      const { from, below, source } = logged;
      const text = `>=${from},<${below}`;
      pins.set('torch', [...(pins.get('torch') ?? []), { from, below, text, source }]);
    }
    for (const [name, version] of aimed) pins.set(name, [target(version, '`--target-version`')]);
    return pins;
  }

  #knownIn(folder: string): Known {
    let known = this.#known.get(folder);
    if (known === undefined) {
      known = this.#look(
        folder,
        this.folders.isTop(folder) ? this.#beyond() : this.#knownIn(dirname(folder)),
      );
      this.#known.set(folder, known);
    }
    return known;
  }

  /** What the user's own environments hold. */
  #beyond(): Known {
    this.#outermost ??= {
      asked: NOTHING,
      locked: NOTHING,
      installed: new Map(
        this.#environments()
          .reverse()
          .flatMap((place) => [...pinsOf(this.#installed(place))]),
      ),
    };
    return this.#outermost;
  }

  #environments(): string[] {
    const { environments = [], isTarget } = this.premises;
    return isTarget ? [] : [...environments];
  }

  #installed(place: string): readonly Statement[] {
    return installedIn(place, shownFrom(this.cwd, place), this.folders);
  }

  #look(folder: string, above: Known): Known {
    const names = [...this.folders.names(folder)].filter((name) => MAY_SPEAK.test(name)).sort();
    const { asking, locking } = this.#required(folder, names);
    const asked = pinsOf([
      ...asking,
      ...this.#read(folder, names, READERS),
      ...this.#inDocker(folder, names),
    ]);
    const locked = pinsOf(marked([...locking, ...this.#read(folder, names, LOCKS)], { authority: 'lock' }));
    const installed = pinsOf(this.#ownEnvironments(folder, names).flatMap((place) => this.#installed(place)));
    if (asked.size + locked.size + installed.size === 0) return above;
    return {
      asked: new Map([...above.asked, ...asked]),
      locked: new Map([...above.locked, ...locked]),
      installed: new Map([...above.installed, ...installed]),
    };
  }

  /** The first that is there; one that is a link out of the project is somebody else's. */
  #ownEnvironments(folder: string, names: readonly string[]): readonly string[] {
    if (this.premises.isTarget) return [];
    const name = ENVIRONMENTS.find((each) => names.includes(each));
    const place = name && join(folder, name);
    return place !== undefined && isInside(realPath(place), this.folders.rootOf(folder)) ? [place] : [];
  }

  #inDocker(folder: string, names: readonly string[]): readonly Statement[] {
    return DOCKER_FOLDERS.filter((name) => names.includes(name)).flatMap((name) => {
      const inner = join(folder, name);
      const files = [...this.folders.names(inner)].sort();
      return this.#read(inner, files, [[DOCKERFILE, readDockerfile, LARGEST_SETTINGS]]);
    });
  }

  /** From `requirements*.txt`, the folder `requirements/`, and what they include. */
  #required(
    folder: string,
    names: readonly string[],
  ): { readonly asking: readonly Statement[]; readonly locking: readonly Statement[] } {
    const inner = join(folder, 'requirements');
    const others = names.includes('requirements') ? [...this.folders.names(inner)].sort() : [];
    const files = names.filter((name) => REQUIREMENTS.test(name));
    const paths = [
      // What the plain file includes is installed with it.
      ...[...files.filter(isPlain), ...files.filter((name) => !isPlain(name))].map((name) =>
        join(folder, name),
      ),
      ...others.filter((name) => name.endsWith('.txt')).map((name) => join(inner, name)),
    ];
    const seen = new Set<string>();
    const top = this.folders.upward(folder).at(-1) ?? folder;
    const bounds = { most: LARGEST_SETTINGS, root: this.folders.rootOf(folder) };
    const locking: Statement[] = [];
    const read = (path: string, depth: number, isOptional: boolean): readonly Statement[] => {
      // What lies outside is somebody else's, and an address is no path.
      if (seen.has(path) || depth > DEEPEST_INCLUDE || !isInside(path, top)) return [];
      seen.add(path);
      const { statements, includes, isLock } = readRequirements(
        this.folders.text(path, bounds),
        shownFrom(this.cwd, path),
      );
      const own = isOptional ? marked(statements, { isOptional }) : statements;
      if (isLock) locking.push(...own);
      return [
        ...(isLock ? [] : own),
        ...includes.flatMap(({ name, isConstraint }) =>
          read(resolve(dirname(path), name), depth + 1, isOptional || isConstraint),
        ),
      ];
    };
    const asking = paths.flatMap((path) => read(path, 0, !isPlain(path)));
    return { asking, locking };
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

const CONFIGURED = '`target-versions`';

/** `requirements.txt`; one with more to its name is for some purpose only. */
function isPlain(path: string): boolean {
  return /(?:^|[\\/])requirements\.txt$/i.test(path);
}

/** A version that is aimed at is that series: no fix may need a newer one. */
function target(version: string, source: string, authority: Pin['authority'] = 'target'): Pin {
  return { ...pinOf(`==${version}.*`, source), text: version, source, authority: authority ?? 'target' };
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

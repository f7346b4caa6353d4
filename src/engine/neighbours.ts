import { PyModule } from '../semantic/module.js';
import type { NamedFile, Relied, Surroundings } from '../semantic/surroundings.js';
import type { Versions } from '../semantic/versions.js';
import { Glimpse } from '../syntax/glimpse.js';
import type { PythonParser, SyntaxTree } from '../syntax/parser.js';

/** How the engine asks for what lies around a file: the disk is on the other side. Paths are those of `SourceFile`. */
export interface ProjectDoor {
  /** `key` is the same where the versions are. */
  versionsFor(path: string): { readonly versions: Versions; readonly key: string };
  /** The one file that an import of `dotted` in `path` reads; undefined where there is none or no telling. */
  moduleFor(path: string, dotted: string): ProjectFile | undefined;
  /** The one file that code in `path` means by a relative path, whatever it holds. */
  fileNamed(path: string, name: string): ProjectFile | undefined;
}

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
  /** The same where the text is. */
  readonly key: string;
}

/** Characters whose trees are kept from one scan to the next. */
const KEPT = 2 * 1024 * 1024;
/** Files that one scan may come to read besides its own. */
const ASKED = 24;
const LARGEST = 512 * 1024;

/** The other files of a project, parsed when a scan asks for them. */
export class Neighbours {
  readonly #trees = new Map<string, { readonly key: string; readonly tree: SyntaxTree }>();
  #kept = 0;

  constructor(
    private readonly parser: PythonParser,
    private readonly door: ProjectDoor,
  ) {}

  /**
   * For one scan, which ends before the next begins: trees go when a new one needs their room. `newer`: what files that
   * are not Python have become meanwhile, on paper. `inPieces`: as the file itself is parsed.
   */
  around(path: string, inPieces: boolean, newer: ReadonlyMap<string, string> = new Map()): Surroundings {
    if (this.#kept > KEPT) {
      for (const { tree } of this.#trees.values()) tree.dispose();
      this.#trees.clear();
      this.#kept = 0;
    }
    return new Circle(this.door, newer, (found) => this.#treeOf(found, inPieces)).around(path);
  }

  #treeOf({ path, text, key }: ProjectFile, inPieces: boolean): SyntaxTree {
    const name = inPieces ? `${path} in pieces` : path;
    const known = this.#trees.get(name);
    if (known?.key === key) return known.tree;
    known?.tree.dispose();
    const outline = inPieces ? new Glimpse(text).outline : undefined;
    const tree = outline === undefined ? this.parser.parse(text) : this.parser.parseInPieces(text, outline);
    this.#trees.set(name, { key, tree });
    this.#kept += text.length;
    return tree;
  }
}

/** What one scan sees and is told. Facts are made anew for each, so that none depends on what was scanned before. */
class Circle {
  readonly #modules = new Map<string, PyModule | undefined>();
  readonly #asked: [from: string, what: string, answer: string][] = [];

  constructor(
    private readonly door: ProjectDoor,
    private readonly newer: ReadonlyMap<string, string>,
    private readonly treeOf: (found: ProjectFile) => SyntaxTree,
  ) {}

  around(path: string): Surroundings {
    const circle = this;
    const found = new Map<string, ProjectFile | undefined>();
    const find = (dotted: string) => {
      if (!found.has(dotted)) found.set(dotted, circle.#find(path, dotted));
      return found.get(dotted);
    };
    let versions: Versions | undefined;
    return {
      get versions() {
        versions ??= circle.#versionsFor(path);
        return versions;
      },
      text: (dotted) => find(dotted)?.text,
      module: (dotted) => circle.#parsed(find(dotted)),
      file: (name) => circle.#named(path, name),
      get relied(): Relied {
        return circle.#asked;
      },
    };
  }

  #versionsFor(path: string): Versions {
    const { versions, key } = this.door.versionsFor(path);
    this.#asked.push([path, '', key]);
    return versions;
  }

  #find(path: string, dotted: string): ProjectFile | undefined {
    const found = this.door.moduleFor(path, dotted);
    this.#asked.push([path, dotted, found?.key ?? '']);
    return found;
  }

  #named(path: string, name: string): NamedFile | undefined {
    const found = this.door.fileNamed(path, name);
    const question = `:${name}`;
    if (!this.#asked.some(([from, what]) => from === path && what === question))
      this.#asked.push([path, question, found?.key ?? '']);
    if (found === undefined || found.text.length > LARGEST) return undefined;
    return { path: found.path, text: this.newer.get(found.path) ?? found.text };
  }

  #parsed(found: ProjectFile | undefined): PyModule | undefined {
    if (found === undefined || found.text.length > LARGEST) return undefined;
    if (!this.#modules.has(found.path)) {
      const tree = this.#modules.size < ASKED ? this.treeOf(found) : undefined;
      const isSound = tree !== undefined && !tree.hasError;
      const module = isSound
        ? new PyModule(found.path, found.text, tree, this.around(found.path))
        : undefined;
      this.#modules.set(found.path, module);
    }
    return this.#modules.get(found.path);
  }
}

import { PyModule } from '../semantic/module.js';
import {
  type Mention,
  type NamedFile,
  type Naming,
  questionFor,
  type Relied,
  type Surroundings,
} from '../semantic/surroundings.js';
import type { Versions } from '../semantic/versions.js';
import { Glimpse } from '../syntax/glimpse.js';
import type { PythonParser, SyntaxTree } from '../syntax/parser.js';
import { wholeWord } from '../text/words.js';

/** How the engine asks for what lies around a file: the disk is on the other side. Paths are those of `SourceFile`. */
export interface ProjectDoor {
  /** `key` is the same where the versions are. */
  versionsFor(path: string): { readonly versions: Versions; readonly key: string };
  /** The one file that an import of `dotted` in `path` reads; undefined where there is none or no telling. */
  moduleFor(path: string, dotted: string): ProjectFile | undefined;
  /** The one file that code in `path` means by a relative path, whatever it holds. */
  fileNamed(path: string, name: string): ProjectFile | undefined;
  /** What a file is called where it is the answer. */
  nameOf(path: string): string;
  /** The files of the project but `path` that have a word, anywhere in them; some that lack the words beside it may be among them. */
  filesWith(path: string, mention: Mention): FilesWith;
}

export interface FilesWith {
  /** Undefined where they are too many to be told. */
  readonly files: readonly ProjectFile[] | undefined;
  /** The same where the files and their texts are. */
  readonly key: string;
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
/** Files that one question may lead back to. */
const NAMING = 24;
/** And all questions of one scan. */
const NAMING_IN_ALL = 96;

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
   * are not Python have become meanwhile, on paper. `inPieces`: as the file itself is parsed. `self`: the file itself, as
   * the others see it.
   */
  around(
    path: string,
    inPieces: boolean,
    self: () => PyModule,
    newer: ReadonlyMap<string, string> = new Map(),
  ): Surroundings {
    if (this.#kept > KEPT) {
      for (const { tree } of this.#trees.values()) tree.dispose();
      this.#trees.clear();
      this.#kept = 0;
    }
    const home = { path: this.door.nameOf(path), self };
    return new Circle(this.door, home, newer, (found) => this.#treeOf(found, inPieces)).around(path);
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
  readonly #mentions = new Map<string, FilesWith>();
  readonly #naming = new Set<string>();
  #imported = 0;

  constructor(
    private readonly door: ProjectDoor,
    private readonly home: { readonly path: string; self(): PyModule },
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
      text: (dotted) => circle.#textOf(find(dotted)),
      module: (dotted) => circle.#parsed(find(dotted)),
      file: (name) => circle.#named(path, name),
      naming: (mention, may) => circle.#filesNaming(path, mention, may),
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

  #filesNaming(asking: string, mention: Mention, may: (text: string, path: string) => boolean): Naming {
    const files = this.#filesWith(asking, mention);
    const named = wholeWord(mention.word);
    const relevant = files?.filter(
      ({ text, path }) =>
        may(text, path) && new Glimpse(text).stretches.some((stretch) => named.test(stretch)),
    );
    const tooMany = { modules: [], unread: `the many files that name \`${mention.word}\`` };
    if (relevant === undefined || relevant.length > NAMING) return tooMany;
    for (const file of relevant) this.#naming.add(file.path);
    if (this.#naming.size > NAMING_IN_ALL) return tooMany;
    const modules: PyModule[] = [];
    let unread: string | undefined;
    for (const file of relevant) {
      const module = this.#parsed(file, true);
      if (module === undefined) unread ??= `\`${file.path}\`, which cannot be read`;
      else modules.push(module);
    }
    return { modules, unread };
  }

  #filesWith(path: string, mention: Mention): readonly ProjectFile[] | undefined {
    const question = questionFor(mention);
    const name = `${path} ${question}`;
    const known = this.#mentions.get(name) ?? this.door.filesWith(path, mention);
    if (!this.#mentions.has(name)) this.#asked.push([path, question, known.key]);
    this.#mentions.set(name, known);
    return known.files;
  }

  #textOf(found: ProjectFile | undefined): string | undefined {
    return found?.path === this.home.path ? this.home.self().text : found?.text;
  }

  /** `isNaming`: not asked for by an import. */
  #parsed(found: ProjectFile | undefined, isNaming = false): PyModule | undefined {
    if (found?.path === this.home.path) return this.home.self();
    if (found === undefined || found.text.length > LARGEST) return undefined;
    if (!this.#modules.has(found.path)) {
      const isWanted = isNaming || this.#imported++ < ASKED;
      const tree = isWanted ? this.treeOf(found) : undefined;
      const isSound = tree !== undefined && !tree.hasError;
      const module = isSound
        ? new PyModule(found.path, found.text, tree, this.around(found.path))
        : undefined;
      this.#modules.set(found.path, module);
    }
    return this.#modules.get(found.path);
  }
}

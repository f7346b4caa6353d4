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
import { NotInPieces } from '../syntax/pieces.js';
import { wholeWord } from '../text/words.js';
import { whyUnread } from './unread.js';

/** How the engine asks for what lies around a file: the disk is on the other side. Paths are those of `SourceFile`. */
export interface ProjectDoor {
  /** `text`: of the file itself, which may install packages. `key` is the same where all else says the same. */
  versionsFor(path: string, text?: string): { readonly versions: Versions; readonly key: string };
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
  readonly files: readonly FoundFile[] | undefined;
  /** The same where the files and their texts are. */
  readonly key: string;
}

/** A file that has not been kept in memory. */
export interface FoundFile {
  readonly path: string;
  readonly key: string;
  /** Of its text. */
  readonly length: number;
  /** Undefined where it may not be opened, or has gone meanwhile. */
  read(): ProjectFile | undefined;
}

export interface ProjectFile {
  readonly path: string;
  readonly text: string;
  /** The same where the text is. */
  readonly key: string;
  /** It is in no encoding that Python would take it for: only words of it are known. */
  readonly isGarbled?: true;
}

/** Characters of files that are kept, parsed, from one scan to the next. */
const KEPT = 2 * 1024 * 1024;
/** The same while a scan runs. */
const KEPT_IN_SCAN = 8 * 1024 * 1024;
/** Files that one scan may come to read besides its own. */
const ASKED = 24;
const LARGEST = 512 * 1024;
/** Files that one question may lead back to. */
const NAMING = 24;
/** And all questions of one scan. */
const NAMING_IN_ALL = 96;

/** The other files of a project, parsed when a scan asks for them. */
export class Neighbours {
  /** Those that were asked for last stand last. */
  readonly #kept = new Map<string, Kept>();
  /** What files say by themselves, by their content and by who looked for what. */
  readonly #summaries = new Map<string, Map<unknown, unknown>>();
  #size = 0;
  /** The file whose scan, and its repetitions, has learned which of the others cannot be read. */
  #scanned = '';

  constructor(
    private readonly parser: PythonParser,
    private readonly door: ProjectDoor,
  ) {}

  /**
   * For one scan, which ends before the next begins: only then do trees go, the longest unused first. `newer`: what files that
   * are not Python have become meanwhile, on paper. `inPieces`: as the file itself is parsed. `self`: the file itself, as
   * the others see it.
   */
  around(
    path: string,
    inPieces: boolean,
    self: () => PyModule,
    newer: ReadonlyMap<string, string> = new Map(),
  ): Surroundings {
    for (const [name, kept] of this.#kept) {
      // What the scan of another file has come upon there, this one may never ask for.
      const isForgotten = this.#scanned !== path && kept.tree.isInPieces && kept.tree.hasError;
      if (isForgotten || this.#size > KEPT) this.#drop(name, kept);
    }
    this.#scanned = path;
    const home = { path: this.door.nameOf(path), self };
    return new Circle(
      this.door,
      home,
      newer,
      (found) => this.#parsed(found, inPieces),
      (found, key, look) => this.#summary(found, inPieces, key, look),
    ).around(path);
  }

  /** Of a file that does not parse there is none. */
  #summary<T>(
    found: FoundFile,
    inPieces: boolean,
    key: SummaryKey,
    look: (alone: PyModule) => T,
  ): Summary<T> | undefined {
    const name = `${found.path} ${found.key} ${key.word}`;
    const known = this.#summaries.get(name) ?? new Map<unknown, unknown>();
    this.#summaries.set(name, known);
    if (!known.has(key.look)) {
      const isHeld = this.#kept.has(nameOf(found, inPieces));
      const file = found.read();
      known.set(key.look, file && this.#told(file, inPieces, look));
      // Only the answer outlives the question, so that a scan may ask about thousands of files.
      if (!isHeld && this.#size > KEPT_IN_SCAN) this.#forget(found, inPieces);
    }
    return known.get(key.look) as Summary<T> | undefined;
  }

  /** Undefined where it lies in a piece that cannot be read; whoever looks elsewhere in the file is told. */
  #told<T>(file: ProjectFile, inPieces: boolean, look: (alone: PyModule) => T): Summary<T> | undefined {
    if (file.isGarbled) return undefined;
    const known = this.#keptFor(file, inPieces);
    const kept = known.tree.hasError ? this.#parse(file, true) : known;
    if (kept.tree.hasError) return undefined;
    try {
      return { says: look(kept.module) };
    } catch (error) {
      if (!(error instanceof NotInPieces)) throw error;
      // What was come upon here is no answer to others.
      if (kept === known) this.#leave(nameOf(file, inPieces), kept);
      const { tree, module } = this.#keptFor(file, false);
      return tree.hasError ? undefined : { says: look(module) };
    }
  }

  #forget(found: FoundFile, inPieces: boolean): void {
    const name = nameOf(found, inPieces);
    const kept = this.#kept.get(name);
    if (kept !== undefined) this.#drop(name, kept);
  }

  /**
   * What a file is by itself; undefined where it does not parse, and this scan has asked for what cannot be read. The other
   * pieces of such a file say the same whichever file asks.
   */
  #parsed(found: ProjectFile, inPieces: boolean): PyModule | undefined {
    if (found.isGarbled) return undefined;
    const { tree, module } = this.#keptFor(found, inPieces);
    if (!tree.hasError) return module;
    if (inPieces) return undefined;
    const pieces = this.#keptFor(found, true);
    return pieces.tree.hasError ? undefined : pieces.module;
  }

  #keptFor(found: ProjectFile, inPieces: boolean): Kept {
    const { key } = found;
    const name = nameOf(found, inPieces);
    const known = this.#kept.get(name);
    if (known !== undefined && known.key !== key) this.#drop(name, known);
    const kept = known?.key === key ? known : this.#parse(found, inPieces);
    if (kept !== known) this.#size += found.text.length;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept;
  }

  #parse(found: ProjectFile, inPieces: boolean): Kept {
    const { path, text, key } = found;
    const glimpse = glimpseOf(found);
    const outline = inPieces ? glimpse.outline : undefined;
    const tree = outline === undefined ? this.parser.parse(text) : this.parser.parseInPieces(text, outline);
    return { key, tree, module: new PyModule(path, text, tree, undefined, glimpse) };
  }

  #drop(name: string, kept: Kept): void {
    kept.tree.dispose();
    this.#leave(name, kept);
  }

  /** Modules of the scan may still be made of it. */
  #leave(name: string, { module }: Kept): void {
    this.#kept.delete(name);
    this.#size -= module.text.length;
  }
}

function nameOf({ path }: { readonly path: string }, inPieces: boolean): string {
  return inPieces ? `${path} in pieces` : path;
}

/** Many questions lead to the same files. */
const glimpses = new WeakMap<ProjectFile, Glimpse>();

function glimpseOf(file: ProjectFile): Glimpse {
  const known = glimpses.get(file) ?? new Glimpse(file.text);
  glimpses.set(file, known);
  return known;
}

interface Summary<T> {
  readonly says: T;
}

interface SummaryKey {
  readonly look: unknown;
  readonly word: string;
}

interface Kept {
  readonly key: string;
  readonly tree: SyntaxTree;
  readonly module: PyModule;
}

/** What one scan sees and is told. Facts are made anew for each, so that none depends on what was scanned before. */
class Circle {
  readonly #modules = new Map<string, PyModule | undefined>();
  readonly #asked: [from: string, what: string, answer: string][] = [];
  readonly #mentions = new Map<string, FilesWith>();
  readonly #naming = new Set<string>();
  #imported = 0;
  #unread: FoundFile | undefined;

  constructor(
    private readonly door: ProjectDoor,
    private readonly home: { readonly path: string; self(): PyModule },
    private readonly newer: ReadonlyMap<string, string>,
    private readonly parsed: (found: ProjectFile) => PyModule | undefined,
    private readonly summary: <T>(
      found: FoundFile,
      key: SummaryKey,
      look: (alone: PyModule) => T,
    ) => Summary<T> | undefined,
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
      summaries: (mention, look) => circle.#summaries(path, mention, look),
      get unread() {
        return circle.#unread && whyUnread(circle.#unread, LARGEST);
      },
      get relied(): Relied {
        return circle.#asked;
      },
    };
  }

  #versionsFor(path: string): Versions {
    const isHome = this.door.nameOf(path) === this.home.path;
    const { versions, key } = this.door.versionsFor(path, isHome ? this.home.self().text : undefined);
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
    if (found === undefined || found.isGarbled || found.text.length > LARGEST) return undefined;
    return { path: found.path, text: this.newer.get(found.path) ?? found.text };
  }

  #filesNaming(asking: string, mention: Mention, may: (text: string, path: string) => boolean): Naming {
    const files = this.#filesWith(asking, mention)?.map((found) => found.read() ?? found);
    const named = wholeWord(mention.word);
    const relevant = files?.filter(
      (file) =>
        !('text' in file) ||
        (may(file.text, file.path) &&
          glimpseOf(file)
            .stretchesWith(mention.word)
            .some((stretch) => named.test(stretch))),
    );
    const tooMany = { modules: [], unread: `the many files that name \`${mention.word}\`` };
    if (relevant === undefined || relevant.length > NAMING) return tooMany;
    for (const file of relevant) this.#naming.add(file.path);
    if (this.#naming.size > NAMING_IN_ALL) return tooMany;
    const modules: PyModule[] = [];
    let unread: string | undefined;
    for (const file of relevant) {
      const module = 'text' in file ? this.#parsed(file, true) : undefined;
      if (module === undefined) unread ??= `\`${file.path}\`, which cannot be read`;
      else modules.push(module);
    }
    return { modules, unread };
  }

  #summaries<T>(
    asking: string,
    mention: Mention,
    look: (alone: PyModule, word: string) => T,
  ): readonly T[] | undefined {
    const { word } = mention;
    // Who takes no word says the same of a file, whichever word led there.
    const asked = look.length > 1 ? word : '';
    const files = this.#filesWith(asking, mention);
    this.#unread ??= files?.find(({ length }) => length > LARGEST);
    if (files?.every(({ length }) => length <= LARGEST) !== true) return undefined;
    const told: T[] = [];
    for (const file of files) {
      const summary = this.summary(file, { look, word: asked }, (alone) => look(alone, word));
      // What cannot be read may say anything.
      if (summary === undefined) {
        this.#unread ??= file;
        return undefined;
      }
      told.push(summary.says);
    }
    return told;
  }

  #filesWith(path: string, mention: Mention): readonly FoundFile[] | undefined {
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
      const alone = isWanted ? this.parsed(found) : undefined;
      const module = alone?.seenWith(this.around(found.path));
      this.#modules.set(found.path, module);
    }
    return this.#modules.get(found.path);
  }
}

import { PyModule } from '../semantic/module.js';
import type { Surroundings } from '../semantic/surroundings.js';
import type { PythonParser, SyntaxTree } from '../syntax/parser.js';
import { NotInPieces } from '../syntax/pieces.js';
import { Circle, glimpseOf, type Summary, type SummaryKey } from './circle.js';
import type { FoundFile, ProjectDoor, ProjectFile } from './door.js';
import { type Mended, mendedText } from './mended.js';

/** Characters of files that are kept, parsed, from one scan to the next. */
const KEPT = 8 * 1024 * 1024;
/** The same while a scan runs. */
const KEPT_IN_SCAN = 16 * 1024 * 1024;
/** The other files of a project, parsed when a scan asks for them. */
export class Neighbours {
  /** Those that were asked for last stand last. */
  readonly #kept = new Map<string, Kept>();
  /** What files say by themselves, by their content. */
  readonly #summaries = new Map<string, Sayings>();
  /** The same, by the files: they are asked very often. */
  readonly #sayings = new WeakMap<FoundFile, Sayings>();
  /** By their content. */
  readonly #mended = new Map<string, Mended | undefined>();
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
    const sayings = this.#sayingsOf(found);
    const known = sayings.get(key.look) ?? new Map<string, unknown>();
    sayings.set(key.look, known);
    if (!known.has(key.word)) {
      const isHeld = this.#kept.has(nameOf(found, inPieces));
      const file = found.read();
      // A part of a text would keep all of it.
      known.set(key.word, structuredClone(file && this.#told(file, inPieces, look)));
      // Only the answer outlives the question, so that a scan may ask about thousands of files.
      if (!isHeld && this.#size > KEPT_IN_SCAN) this.#forget(found, inPieces);
    }
    return known.get(key.word) as Summary<T> | undefined;
  }

  #sayingsOf(found: FoundFile): Sayings {
    const known = this.#sayings.get(found);
    if (known !== undefined) return known;
    const name = `${found.path} ${found.key}`;
    const sayings: Sayings = this.#summaries.get(name) ?? new Map();
    this.#summaries.set(name, sayings);
    this.#sayings.set(found, sayings);
    return sayings;
  }

  /** Undefined where it lies in a piece that cannot be read; whoever looks elsewhere in the file is told. */
  #told<T>(file: ProjectFile, inPieces: boolean, look: (alone: PyModule) => T): Summary<T> | undefined {
    if (file.isGarbled) return undefined;
    const known = this.#keptFor(file, inPieces);
    const kept = known.tree.hasError ? this.#parse(file, true) : known;
    if (kept.tree.hasError) return this.#toldMended(file, look);
    try {
      return { says: look(kept.module) };
    } catch (error) {
      if (!(error instanceof NotInPieces)) throw error;
      // What was come upon here is no answer to others.
      if (kept === known) this.#leave(nameOf(file, inPieces), kept);
      const { tree, module } = this.#keptFor(file, false);
      return tree.hasError ? this.#toldMended(file, look) : { says: look(module) };
    }
  }

  #toldMended<T>(file: ProjectFile, look: (alone: PyModule) => T): Summary<T> | undefined {
    const mended = this.#mendedFor(file);
    return mended && { says: look(mended.module), left: mended.left };
  }

  /** Without the few lines for which no Python compiles it. */
  #mendedFor(file: ProjectFile): (Kept & { readonly left: string }) | undefined {
    const name = `${file.path} mended`;
    const asked = `${name} ${file.key}`;
    if (!this.#mended.has(asked)) this.#mended.set(asked, mendedText(file.path, file.text));
    const mended = this.#mended.get(asked);
    if (mended === undefined) return undefined;
    const kept = this.#keptFor({ ...file, text: mended.text }, false, name);
    return kept.tree.hasError ? undefined : { ...kept, left: mended.left };
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

  #keptFor(found: ProjectFile, inPieces: boolean, name = nameOf(found, inPieces)): Kept {
    const { key } = found;
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

/** By who looked, and for which word. */
type Sayings = Map<unknown, Map<string, unknown>>;

interface Kept {
  readonly key: string;
  readonly tree: SyntaxTree;
  readonly module: PyModule;
}

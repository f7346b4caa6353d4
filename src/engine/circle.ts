import type { PyModule } from '../semantic/module.js';
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
import { wholeWord } from '../text/words.js';
import type { FilesWith, FoundFile, ProjectDoor, ProjectFile } from './door.js';
import { whyUnread } from './unread.js';

/** Files that one scan may come to read besides its own. */
const ASKED = 24;
const LARGEST = 512 * 1024;
/** Files that one question may lead back to. */
const NAMING = 24;
/** And all questions of one scan. */
const NAMING_IN_ALL = 96;

/** Many questions lead to the same files. */
const glimpses = new WeakMap<ProjectFile, Glimpse>();

export function glimpseOf(file: ProjectFile): Glimpse {
  const known = glimpses.get(file) ?? new Glimpse(file.text);
  glimpses.set(file, known);
  return known;
}

export interface Summary<T> {
  readonly says: T;
  /** The lines of the file that were left out, since no Python compiles it with them. */
  readonly left?: string;
}

export interface SummaryKey {
  readonly look: unknown;
  readonly word: string;
}

/** What one scan sees and is told. Facts are made anew for each, so that none depends on what was scanned before. */
export class Circle {
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
      summaries: (mention, look, may) => circle.#summaries(path, mention, look, may),
      get unread() {
        return circle.#unread && whyUnread(circle.#unread, LARGEST);
      },
      home: () => circle.home.self(),
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
    const added = relevant?.filter(({ path }) => !this.#naming.has(path)) ?? [];
    const isFull = added.length > 0 && this.#naming.size + added.length > NAMING_IN_ALL;
    if (relevant === undefined || relevant.length > NAMING || isFull) return tooMany;
    for (const { path } of added) this.#naming.add(path);
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
    may: (path: string) => boolean = () => true,
  ): readonly T[] | undefined {
    const { word } = mention;
    // Who takes no word says the same of a file, whichever word led there.
    const asked = look.length > 1 ? word : '';
    const files = this.#filesWith(asking, mention)?.filter(({ path }) => may(path));
    this.#unread ??= files?.find(({ length }) => length > LARGEST);
    if (files?.every(({ length }) => length <= LARGEST) !== true) return undefined;
    const told: T[] = [];
    const key = { look, word: asked };
    const lookAt = (alone: PyModule): T => look(alone, word);
    for (const file of files) {
      const summary = this.summary(file, key, lookAt);
      // What cannot be read may say anything.
      if (summary === undefined || (summary.left !== undefined && wholeWord(word).test(summary.left))) {
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

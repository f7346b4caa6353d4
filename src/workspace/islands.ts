import { basename, dirname } from 'node:path/posix';
import { pause } from '../syntax/section.js';
import { hashOf, Signature } from '../text/words.js';
import type { Candidate } from './discover.js';
import { type Imported, importsIn } from './import-lines.js';
import { Reader } from './read.js';

/** One Python file of a project: its path from the project's root, with forward slashes. */
export interface Resident {
  readonly path: string;
  readonly candidate: Candidate;
}

/**
 * Which files of a project may run in one program. Two folders are apart where no import leads from one to the other, by
 * any number of steps and in either direction: then no object of one reaches code of the other. Everything that could join
 * them without an import statement does: a notebook above both, a `conftest.py`, an import by a computed name, a changed
 * `sys.path`. Files of one folder, and of one package, are never apart.
 */
export class Islands {
  readonly #parents = new Map<string, string>();
  /** Folders with a file of this name, and folders of this name: with Python files in or below them. */
  readonly #modules = new Map<string, string[]>();
  readonly #packages = new Map<string, string[]>();
  readonly #folders = new Set<string>();
  readonly #files: ReadonlyMap<string, Candidate>;
  readonly #texts = new Map<string, string>();
  /** Folders that are joined with all below them. */
  readonly #whole = new Set<string>();
  readonly #near = new Map<string, readonly string[]>();
  /** What lines import: most files have the same ones. */
  readonly #lines = new Map<string, readonly Imported[]>();
  readonly #read = new Map<Candidate, Words>();
  readonly #unread: Iterator<readonly [string, Candidate]>;
  #words: ReadonlyMap<Candidate, Words> | undefined;
  #sizes: ReadonlyMap<string, number> | undefined;
  #least: ReadonlyMap<string, number> | undefined;
  #hasFolders = false;

  /** `names`: what lies in a folder of the project, whatever it is. */
  constructor(
    residents: readonly Resident[],
    private readonly names: (folder: string) => ReadonlySet<string>,
    private readonly reader = () => new Reader(),
  ) {
    this.#files = new Map(residents.map(({ path, candidate }) => [path, candidate]));
    this.#unread = this.#files.entries();
    for (const { path } of residents) {
      put(this.#modules, basename(path, '.py'), dirname(path));
      for (let at = dirname(path); !this.#folders.has(at); at = dirname(at)) {
        this.#folders.add(at);
        if (at === '.') break;
        put(this.#packages, basename(at), at);
      }
    }
  }

  /** The folders whose files notebooks may bring together. */
  get notebooks(): readonly string[] {
    return [...this.#folders].filter((folder) => this.#hasNotebooks(folder));
  }

  areApart(path: string, other: string): boolean {
    const folders = [dirname(path), dirname(other)] as const;
    // What a text on standard input imports is not known here.
    if (folders[0] === folders[1] || !this.#files.has(path) || !this.#files.has(other)) return false;
    this.#look();
    return this.#root(folders[0]) !== this.#root(folders[1]);
  }

  /** The part of the project that a file is in; undefined where it may be in any. */
  partOf(path: string): string | undefined {
    if (!this.#files.has(path)) return undefined;
    this.#look();
    return this.#root(dirname(path));
  }

  /** How many files that part has at least, going by folders alone: nothing is read for it. */
  leastAround(path: string): number {
    this.#joinFolders();
    this.#least ??= this.#sizesOfParts();
    return this.#files.has(path) ? (this.#least.get(this.#root(dirname(path))) ?? 0) : this.#files.size;
  }

  /** How many files that part has, or the whole project. */
  sizeOf(part: string | undefined): number {
    this.#look();
    this.#sizes ??= this.#sizesOfParts();
    return part === undefined ? this.#files.size : (this.#sizes.get(part) ?? 0);
  }

  #sizesOfParts(): ReadonlyMap<string, number> {
    const sizes = new Map<string, number>();
    for (const path of this.#files.keys()) {
      const part = this.#root(dirname(path));
      sizes.set(part, (sizes.get(part) ?? 0) + 1);
    }
    return sizes;
  }

  /** Which words each file may have. */
  get words(): ReadonlyMap<Candidate, Words> {
    return this.#look();
  }

  /** All files are read once, for their words and for what they import. */
  #look(): ReadonlyMap<Candidate, Words> {
    this.#words ??= this.#joinAll();
    return this.#words;
  }

  /** By what lies in them: packages, `conftest.py`, notebooks. */
  #joinFolders(): void {
    if (this.#hasFolders) return;
    this.#hasFolders = true;
    for (const folder of this.#folders) {
      if (this.#files.has(below(folder, '__init__.py')) && this.#isPackage(dirname(folder)))
        this.#join(folder, dirname(folder));
      if (this.#files.has(below(folder, 'conftest.py'))) this.#joinBelow(folder);
    }
    for (const folder of this.notebooks) this.#joinBelow(folder);
  }

  /** Where it is stopped, it goes on from there the next time. */
  #joinAll(): ReadonlyMap<Candidate, Words> {
    this.#joinFolders();
    const reader = this.reader();
    const left = this.#unread;
    for (let next = left.next(); !next.done; next = left.next()) {
      const [path, candidate] = next.value;
      const opened = reader.open(candidate);
      if (opened.kind === 'opened') {
        const signature = new Signature(opened.bytes);
        this.#read.set(candidate, signature);
        this.#joinImports(dirname(path), opened.bytes, signature);
      } else {
        // It may have any word, and import anything.
        this.#read.set(candidate, ANYTHING);
        this.#joinBelow('.', dirname(path));
      }
      pause();
    }
    return this.#read;
  }

  #isPackage(folder: string): boolean {
    return folder !== '.' && this.#files.has(below(folder, '__init__.py'));
  }

  /** A notebook imports what is beside it and below; one in a folder for notebooks, what is around that. */
  #hasNotebooks(folder: string): boolean {
    const names = [...this.names(folder)];
    return (
      names.some(isNotebook) ||
      names.some((name) => NOTEBOOKS.test(name) && [...this.names(below(folder, name))].some(isNotebook))
    );
  }

  #joinImports(folder: string, bytes: Buffer, words: Signature): void {
    if (importsAnything(bytes, words)) this.#joinBelow('.', folder);
    else if (IMPORTERS.some((each) => each.isIn(bytes, words))) this.#joinComputed(folder, bytes);
    const isAnywhere = PATHS.some((each) => each.isIn(bytes, words));
    for (const imported of importsIn(bytes, this.#lines)) {
      const { dots, name } = imported;
      if (dots > 0) this.#joinRelative(folder, dots, name);
      else
        for (const place of this.#placesOf(folder, imported, isAnywhere)) this.#joinTo(folder, place, name);
    }
  }

  /** What is imported or run by a computed name is of the same part of the project, or of one that the file names. */
  #joinComputed(folder: string, bytes: Buffer): void {
    this.#joinBelow(partOf(folder), folder);
    const words = new Set(bytes.toString('latin1').match(/\w+/g));
    for (const other of this.#folders)
      if (!other.includes('/') && other !== '.' && words.has(other)) this.#joinBelow(other, folder);
  }

  #joinRelative(folder: string, dots: number, name: string): void {
    let from = folder;
    for (let up = 1; up < dots; up++) from = dirname(from);
    this.#join(folder, from);
    if (name !== '' && this.#folders.has(below(from, name))) this.#joinBelow(below(from, name), folder);
  }

  /** The folders in which an absolute import may find the first part of its name. */
  #placesOf(folder: string, imported: Imported, isAnywhere: boolean): readonly string[] {
    const { name } = imported;
    const all = [
      ...(this.#modules.get(name) ?? []),
      ...(this.#packages.get(name) ?? []).map((place) => dirname(place)),
    ];
    if (all.length === 0 || isAnywhere) return all;
    const key = `${folder} ${name}`;
    const near = this.#near.get(key) ?? nearest(folder, all);
    this.#near.set(key, near);
    if (near.length > 0) return near;
    // From outside, only a setting that is not in the code would find it, such as `PYTHONPATH`.
    return INSTALLED.has(name) ? [] : all.filter((place) => this.#mayServe(place, imported));
  }

  /** Whether an import would find there all that it asks for. */
  #mayServe(place: string, { name, rest, names }: Imported): boolean {
    const at = below(place, name);
    const [next] = rest;
    if (this.#folders.has(at)) {
      const parts = next === undefined ? names : [next];
      const isThere = (part: string) =>
        this.#files.has(below(at, `${part}.py`)) || this.#folders.has(below(at, part));
      const text = next === undefined ? this.#textOf(below(at, '__init__.py')) : '';
      if (parts.every((part) => isThere(part) || text.includes(part))) return true;
    }
    const text = this.#files.has(`${at}.py`) && next === undefined ? this.#textOf(`${at}.py`) : undefined;
    return text !== undefined && names.every((each) => text.includes(each) || text.includes('import *'));
  }

  #textOf(path: string): string {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const candidate = this.#files.get(path);
    const opened = candidate && this.reader().open(candidate);
    const text = opened?.kind === 'opened' ? opened.bytes.toString('latin1') : '';
    this.#texts.set(path, text);
    return text;
  }

  #joinTo(folder: string, place: string, name: string): void {
    if (this.#files.has(below(place, `${name}.py`))) this.#join(folder, place);
    if (this.#folders.has(below(place, name))) this.#joinBelow(below(place, name), folder);
  }

  /** A folder, all below it, and another. */
  #joinBelow(folder: string, other = folder): void {
    this.#join(folder, other);
    if (this.#whole.has(folder)) return;
    this.#whole.add(folder);
    for (const each of this.#folders) if (isAround(folder, each)) this.#join(each, folder);
  }

  #join(one: string, other: string): void {
    this.#parents.set(this.#root(one), this.#root(other));
  }

  #root(folder: string): string {
    let at = folder;
    for (let up = this.#parents.get(at); up !== undefined && up !== at; up = this.#parents.get(at)) at = up;
    if (at !== folder) this.#parents.set(folder, at);
    return at;
  }
}

/** A text that begins with a word, which tells most files without it apart. */
class Spelling {
  readonly #first: number;

  constructor(private readonly text: string) {
    this.#first = hashOf(/^\w+/.exec(text)?.[0] ?? text);
  }

  isIn(bytes: Buffer, words: Signature): boolean {
    return words.mayHave(this.#first) && bytes.includes(this.text);
  }
}

function spellings(...texts: readonly string[]): readonly Spelling[] {
  return texts.map((text) => new Spelling(text));
}

type Words = Pick<Signature, 'mayHave'>;

const ANYTHING: Words = { mayHave: () => true };

const PATHS = spellings('sys.path', 'addsitedir');

/** Ways to import or run what a part of a name, or of a path, in the file leads to. */
const IMPORTERS = spellings(
  '__import__',
  'exec(',
  'execfile',
  'fromfile',
  'hub.load',
  'import_module',
  'import_submodules',
  'load_module',
  'pkgutil',
  'pydoc',
  'runpy',
  'spec_from_file_location',
);

/** Ways to import what a configuration, the command line or another package names: that can be anything. */
const CONFIGURED = spellings(
  'entry_points',
  'hydra',
  'hydra_zen',
  'import_user_module',
  'instantiate(',
  'LazyConfig',
  'LightningCLI',
);
const BY_NAME = spellings('import_module', '__import__');
const COMPUTED = /\b(?:import_module|__import__)\(\s*[^)"']*\)/;

function importsAnything(bytes: Buffer, words: Signature): boolean {
  if (CONFIGURED.some((each) => each.isIn(bytes, words))) return true;
  return BY_NAME.some((each) => each.isIn(bytes, words)) && COMPUTED.test(bytes.toString('latin1'));
}

/** Packages of others that files and folders of projects are often called like. */
const INSTALLED: ReadonlySet<string> = new Set(
  'abc argparse ast collections copy csv dataclasses datasets evaluate functools io json logging math numpy os pandas pathlib peft random re sys tests time tokenizers torch torchvision tqdm transformers trl types typing unittest warnings yaml'.split(
    ' ',
  ),
);

const NOTEBOOKS = /^(?:notebooks?|nbs|ipynb|colab)$/i;

function isNotebook(name: string): boolean {
  return name.endsWith('.ipynb');
}

function put(places: Map<string, string[]>, name: string, place: string): void {
  const known = places.get(name);
  if (known === undefined) places.set(name, [place]);
  else known.push(place);
}

function below(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}

function isAround(folder: string, other: string): boolean {
  return folder === '.' || other === folder || other.startsWith(`${folder}/`);
}

/** The uppermost folder that a folder is in; the root, for the root. */
function partOf(folder: string): string {
  return folder.split('/')[0] ?? folder;
}

/** Those at or above a folder; where there are none, those below it. */
function nearest(folder: string, places: readonly string[]): readonly string[] {
  const above = places.filter((place) => isAround(place, folder) || isAround(sourceOf(place), folder));
  return above.length > 0 ? above : places.filter((place) => isAround(folder, place));
}

/** What lies in `src/` is found from where that is. */
function sourceOf(place: string): string {
  return basename(place) === 'src' ? dirname(place) : place;
}

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { FilesWith, FoundFile, ProjectDoor, ProjectFile } from '../engine/door.js';
import { fileImported, fileNamed } from '../semantic/module-paths.js';
import { type Mention, mentionIn, questionFor, type Relied } from '../semantic/surroundings.js';
import { pause } from '../syntax/section.js';
import { decode } from '../text/decode.js';
import { cellWith } from '../text/notebook/notebook.js';
import { isPhrase } from '../text/words.js';
import { Dependencies, type Found, type Premises } from './dependencies.js';
import { readCommands } from './dependency-scripts.js';
import type { Candidate } from './discover.js';
import { Folders } from './folders.js';
import { Ground } from './ground.js';
import { isPackage, Mentions } from './mentions.js';
import { isInside, shownFrom, slashed } from './places.js';
import type { Reader } from './read.js';

/** Characters of other files that are held at a time. */
const HELD = 32 * 1024 * 1024;

/** Files that one question may lead to. Each is parsed once for all that ask the same about it. */
const COMMON = 200;

/** Thrown where a project is to be searched by someone else, who then does the file that asked. */
export class LeftToOthers extends Error {}

/** What lies around the files of a run. All of it is read when first asked for, texts again when others took their room. */
export class Neighbourhood implements ProjectDoor {
  readonly #folders: Folders;
  readonly #dependencies: Dependencies;
  readonly #sources = new Map<string, ProjectFile | undefined>();
  readonly #mentions = new Map<string, Mentions>();
  readonly #seats = new Map<string, Seat>();
  /** What was found for whoever asked the same in the same part of a project. */
  readonly #answers = new Map<string, Answer>();
  readonly #found = new Map<string, FoundFile>();
  #held = 0;
  #hasSearched = false;
  #reader: Reader | undefined;

  /** `top`: where the way up ends for files outside a repository. */
  constructor(
    private readonly cwd: string,
    top: string,
    premises: Premises,
    private readonly ground = new Ground(cwd),
    /** Asked before the first search, which reads the whole project: whether someone else does that. */
    private readonly isLeft: () => boolean = () => false,
  ) {
    this.#folders = new Folders(
      top,
      (path) => ground.sees(path),
      (path, reason) => ground.refuses(path, reason),
    );
    this.#dependencies = new Dependencies(cwd, this.#folders, premises);
  }

  versionsFor(path: string, text = ''): Found {
    const found = this.versionsIn(dirname(resolve(this.cwd, path)));
    const name = this.nameOf(path);
    const own = readCommands(text, (offset) => {
      const cell = cellWith(text, offset)?.number;
      return cell === undefined ? name : `${name}: cell ${cell}`;
    });
    return own.length === 0 ? found : { ...found, versions: found.versions.with(own) };
  }

  versionsIn(folder: string): Found {
    return this.#dependencies.foundFor(folder);
  }

  moduleFor(path: string, dotted: string): ProjectFile | undefined {
    return this.#source(this.#placeOfModule(path, dotted), this.#rootFor(path));
  }

  fileNamed(path: string, name: string): ProjectFile | undefined {
    return this.#source(this.#placeOfFile(path, name), this.#rootFor(path));
  }

  /** Nothing outside of it is read for the file at `path`. */
  #rootFor(path: string): string {
    const seat = this.#seatOf(path);
    seat.root ??= this.#folders.rootOf(seat.folder);
    return seat.root;
  }

  #seatOf(path: string): Seat {
    let seat = this.#seats.get(path);
    if (seat === undefined) {
      const place = resolve(this.cwd, path);
      const folder = dirname(place);
      const above = this.#folders.upward(folder).map(slashed);
      seat = { place: slashed(place), folder, above, modules: new Map() };
      this.#seats.set(path, seat);
    }
    return seat;
  }

  nameOf(path: string): string {
    return shownFrom(this.cwd, resolve(this.cwd, path));
  }

  filesWith(path: string, mention: Mention): FilesWith {
    const mentions = this.#mentionsAround(path);
    const { stamp } = mentions;
    const { files, key } = this.#answerFor(path, mention, mentions);
    const own = this.nameOf(path);
    if (files?.some((file) => file.path === own) !== true) return { files, key: `${stamp} ${key}` };
    const others = files.filter((file) => file.path !== own);
    return { files: others, key: `${stamp} ${keyOf(others)}` };
  }

  #answerFor(path: string, mention: Mention, mentions: Mentions): Answer {
    if (mentions.isTooLargeAround(path)) return MANY;
    if (!this.#hasSearched && this.isLeft()) throw new LeftToOthers();
    const root = this.#rootFor(path);
    const part = mentions.partAround(path);
    this.#hasSearched = true;
    const name = [root, part ?? '', questionFor(mention)].join('\0');
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const mentioning = mentions.of(mention, part);
    const files = mentioning && this.#mentioning(mentioning, mention, root);
    const answer = files === undefined ? MANY : { files, key: keyOf(files) };
    this.#answers.set(name, answer);
    return answer;
  }

  /** Those that matter, of those that mention it; undefined where they are very many. */
  #mentioning(
    mentioning: readonly Candidate[],
    { needs = [] }: Mention,
    root: string,
  ): readonly FoundFile[] | undefined {
    const files: FoundFile[] = [];
    const texts = needs.every(isPhrase) ? [] : needs;
    for (const candidate of mentioning) {
      const { target } = candidate;
      pause();
      if (isPackage(candidate) || this.#hasOneOf(texts, target, root))
        files.push(this.#foundAt(target, root));
      if (files.length > COMMON) return undefined;
    }
    return files;
  }

  /** What cannot be read may have it. */
  #hasOneOf(needs: readonly string[], target: string, root: string): boolean {
    const text = needs.length === 0 ? undefined : this.#source(target, root)?.text;
    return text === undefined || needs.some((each) => text.includes(each));
  }

  /** Read once; its text does not stay. */
  #foundAt(target: string, root: string): FoundFile {
    const name = `${root}\0${target}`;
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const read = () => this.#source(target, root);
    const file = read();
    const found: FoundFile =
      file === undefined
        ? { path: shownFrom(this.cwd, target), key: UNREAD, length: 0, read: () => undefined }
        : { path: file.path, key: file.key, length: file.text.length, read };
    this.#found.set(name, found);
    return found;
  }

  #mentionsAround(path: string): Mentions {
    const { folder } = this.#seatOf(path);
    const top = this.#folders.upward(folder).at(-1) ?? folder;
    const known = this.#mentions.get(top) ?? new Mentions(top, this.cwd, this.ground, this.#folders);
    this.#mentions.set(top, known);
    return known;
  }

  #placeOfModule(path: string, dotted: string): string | undefined {
    const { place, above, modules } = this.#seatOf(path);
    if (!modules.has(dotted)) {
      const found = fileImported(place, dotted, above, (each) => this.#folders.has(each));
      modules.set(dotted, inside(found, above));
    }
    return modules.get(dotted);
  }

  #placeOfFile(path: string, name: string): string | undefined {
    const { above } = this.#seatOf(path);
    return inside(
      fileNamed(name, above, (each) => this.#folders.has(each)),
      above,
    );
  }

  /** Whether all questions of an earlier scan would be answered as they were. `known`: what a look at a file's bytes would give. */
  answersAsBefore(relied: Relied, known: (path: string) => string | undefined = () => undefined): boolean {
    return relied.every(([from, what, answer]) => {
      if (what === '') return this.versionsFor(from).key === answer;
      if (what.startsWith('?')) return this.#namedAsBefore(from, what, answer);
      const place = what.startsWith(':')
        ? this.#placeOfFile(from, what.slice(1))
        : this.#placeOfModule(from, what);
      if (place === undefined) return answer === '';
      const key = known(shownFrom(this.cwd, resolve(place))) ?? this.#source(place, this.#rootFor(from))?.key;
      return (key ?? '') === answer;
    });
  }

  /** Where no file has changed there is nothing to read. */
  #namedAsBefore(from: string, question: string, answer: string): boolean {
    const [stamp, key] = answer.split(' ');
    if (stamp !== '' && stamp === this.#mentionsAround(from).stamp) return true;
    return key === this.filesWith(from, mentionIn(question)).key.split(' ')[1];
  }

  #source(path: string | undefined, root: string): ProjectFile | undefined {
    if (path === undefined) return undefined;
    const name = `${root}\0${path}`;
    if (!this.#sources.has(name)) {
      const found = this.#read(path, root);
      this.#held += found?.text.length ?? 0;
      if (this.#held > HELD) {
        this.#sources.clear();
        this.#held = found?.text.length ?? 0;
      }
      this.#sources.set(name, found);
    }
    return this.#sources.get(name);
  }

  #read(path: string, root: string): ProjectFile | undefined {
    const shown = shownFrom(this.cwd, resolve(path));
    this.ground.sees(path);
    this.#reader ??= this.ground.reader();
    const opened = this.#reader.open({ path: shown, target: path, explicit: false }, root);
    if (opened.kind === 'skipped' && existsSync(path)) this.ground.refuses(path, opened.reason);
    if (opened.kind !== 'opened') return undefined;
    const key = createHash('sha1').update(opened.bytes).digest('base64');
    const decoded = decode(opened.bytes);
    if (decoded.ok) return { path: shown, text: decoded.source.text, key };
    return { path: shown, text: opened.bytes.toString('latin1'), key, isGarbled: true };
  }
}

/** Where a file that asks lies. */
interface Seat {
  readonly place: string;
  readonly folder: string;
  /** Its folder and those above it, up to the project's. */
  readonly above: readonly string[];
  /** Where the modules are that it, or whoever asks for it, has looked for: most files of a program import the same ones. */
  readonly modules: Map<string, string | undefined>;
  root?: string;
}

interface Answer {
  readonly files: readonly FoundFile[] | undefined;
  readonly key: string;
}

/** In place of the content of a file that may not be opened. */
const UNREAD = 'unread';

const MANY: Answer = { files: undefined, key: 'many' };

function keyOf(files: readonly FoundFile[]): string {
  const hash = createHash('sha1');
  for (const file of files) hash.update(`${file.path} ${file.key}\n`);
  return hash.digest('base64');
}

/** Dots may lead out of the project. */
function inside(path: string | undefined, above: readonly string[]): string | undefined {
  return path !== undefined && isInside(path, above.at(-1) ?? path) ? path : undefined;
}

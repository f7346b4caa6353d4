import type { Mention } from '../semantic/surroundings.js';
import type { Versions } from '../semantic/versions.js';

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

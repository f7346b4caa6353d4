/** What a user reads when memfix cannot go on: what happened, the particulars, and what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly title: string,
    readonly detail: string,
    readonly next: string,
  ) {
    super(`${title}: ${detail}`);
  }
}

/** A file that is not read although the system would let us; `reason` is the end of a sentence. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
  readonly code = 'UNREADABLE';

  constructor(readonly reason: string) {
    super(reason);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EBUSY: 'it is in use',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it would exceed the largest file size allowed here',
  EIO: 'the disk reported an error',
  EISDIR: 'it is a folder, not a file',
  ELOOP: 'its symlinks lead back to themselves',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'its path is too long',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a folder',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
};

/** A file system error as the end of a sentence, without code or stack. Anything else is our bug and is thrown on. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unreadable) return error.reason;
  const code = codeOf(error);
  if (code === undefined) throw error;
  return WORDS[code] ?? `the system answered ${code}`;
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whoever may have to stop this thread, and so has to know when it is inside tree-sitter. */
export interface SectionWatch {
  /** Before tree-sitter is entered; throws, or never returns, where it must not be. */
  begin(): void;
  end(): void;
}

let watch: SectionWatch | undefined;

/** Sets the watch of this thread, or takes it away. */
export function watchSections(by: SectionWatch | undefined): void {
  watch = by;
}

/**
 * Runs what calls tree-sitter. Inside its native addon a thread must be left alone: an addon that finds its environment
 * shutting down, or a termination pending, aborts the whole process. Sections are short and do not nest.
 */
export function inSection<T>(work: () => T): T {
  if (watch === undefined) return work();
  watch.begin();
  try {
    return work();
  } finally {
    watch.end();
  }
}

/** Inside a section that may last: a moment at which the thread can be stopped. */
export function pauseSection(): void {
  watch?.end();
  watch?.begin();
}

/** Outside of sections, in work that may last: the same. */
export function pause(): void {
  watch?.begin();
  watch?.end();
}

import { type FSWatcher, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { plural } from '../report/prose.js';
import { CLEAR } from '../report/terminal.js';
import { Failure, reasonOf } from '../workspace/failure.js';
import { Project } from '../workspace/project.js';
import type { Context } from './context.js';
import { Interrupted } from './io.js';

/** Milliseconds of silence after which a change is taken to be over: editors write in several steps. */
const SILENCE = 120;
/** What can change a finding: sources, configs, and files that say versions. */
const MATTERS = /\.(?:py|ipynb|toml|txt|lock|cfg|ya?ml)$|^[^.]+$/;

/** Does it now, and whenever a file changes, until it is interrupted. */
export async function again(context: Context, once: () => Promise<number>): Promise<number> {
  const { io } = context;
  for (;;) {
    const watched = new Watched(context);
    try {
      if (io.stdout.isTTY === true) io.stdout.write(CLEAR);
      await told(context, once);
      io.signal.throwIfAborted();
      context.say(`Watching ${plural(watched.folders, 'folder')} for changes; Ctrl-C ends.`);
      await watched.change(io.signal);
    } finally {
      watched.close();
    }
  }
}

/** What goes wrong once, such as a config that is half written, may be right the next time. */
async function told(context: Context, once: () => Promise<number>): Promise<void> {
  try {
    await once();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.warn(error);
  }
}

/** The folders that hold what is looked at; from before the look, so that nothing is missed meanwhile. */
class Watched {
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #heard: () => void = () => {};

  constructor(context: Context) {
    const folders = foldersOf(context);
    for (const folder of folders) this.#watch(folder);
  }

  get folders(): number {
    return this.#watchers.length;
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => this.#hear(name));
      // A folder that goes away is a change in the one that held it.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch (error) {
      throw new Failure(
        'A folder cannot be watched',
        `${folder}: ${reasonOf(error)}`,
        'Name fewer folders, or let your editor run `memfix server`.',
      );
    }
  }

  #hear(name: string | null): void {
    if (name !== null && !MATTERS.test(name)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#hasChanged = true;
      this.#heard();
    }, SILENCE);
  }

  async change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((done) => {
      this.#heard = done;
      signal.addEventListener('abort', () => done(), { once: true });
      if (this.#hasChanged) done();
    });
    if (signal.aborted) throw new Interrupted('');
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }
}

function foldersOf({ args, io, catalogue }: Context): ReadonlySet<string> {
  const folders = new Set<string>();
  try {
    const project = new Project(args.request(io.cwd, io.env), catalogue);
    folders.add(project.folder);
    if (project.config.path !== undefined) folders.add(dirname(resolve(io.cwd, project.config.path)));
    for (const { target } of project.discover().candidates) folders.add(dirname(target));
    for (const { path } of project.nestedConfigs) if (path !== undefined) folders.add(dirname(path));
  } catch (error) {
    if (!(error instanceof Failure) || folders.size > 0) throw error;
    // Said by the look itself; it may be mended where it was written.
    folders.add(io.cwd);
  }
  return folders;
}

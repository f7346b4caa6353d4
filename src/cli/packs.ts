import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Script } from 'node:vm';

/** A module of the built program. */
type Part = (
  exports: unknown,
  require: (name: string) => unknown,
  module: { exports: unknown },
  __filename: string,
  __import: Import,
) => void;

/** What V8 compiled earlier does not know how to import by itself. */
type Import = (name: string) => Promise<unknown>;

type Parts = Readonly<Record<string, Part>>;

/**
 * The built program: its modules lie together in a few files, packs, since opening dozens of files takes longer than
 * running them. A pack is compiled once; what V8 made of it is kept beside it and belongs to this Node and its flags.
 */
export class Packs {
  readonly #modules = new Map<string, { exports: unknown }>();
  readonly #packs = new Map<string, Parts>();

  constructor(
    /** The file that the program was started with. */
    private readonly entry: string,
    /** The parts in that file. */
    private readonly first: Parts,
    /** The pack of each other part. */
    private readonly packOf: Readonly<Record<string, string>>,
    /** For everything that is no part of the program. */
    private readonly outside: (name: string) => unknown,
    private readonly importing: Import,
  ) {}

  readonly require = (name: string): unknown => {
    if (name.startsWith('./')) return this.#part(name.slice(2));
    // All parts have one place, and one `require` from there.
    if (name === 'node:module') return { createRequire: () => this.outside };
    return HEAVY.has(name) ? whenUsed(() => this.outside(name)) : this.outside(name);
  };

  #part(name: string): unknown {
    let module = this.#modules.get(name);
    if (module === undefined) {
      module = { exports: {} };
      this.#modules.set(name, module);
      this.#find(name)(module.exports, this.require, module, this.entry, this.importing);
    }
    return module.exports;
  }

  #find(name: string): Part {
    const pack = this.packOf[name];
    const part = (pack === undefined ? this.first : this.#opened(pack))[name];
    if (part === undefined) throw new Error(`memfix is not whole: ${name} is missing`);
    return part;
  }

  #opened(pack: string): Parts {
    let parts = this.#packs.get(pack);
    if (parts === undefined) {
      parts = opened(join(dirname(this.entry), `${pack}.js`));
      this.#packs.set(pack, parts);
    }
    return parts;
  }
}

/** What Node loads in milliseconds, and many a run has no use for. */
const HEAVY: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:crypto',
  'node:os',
  'node:v8',
  'node:worker_threads',
]);

/** A module that is loaded when something of it is asked for. */
function whenUsed(load: () => unknown): unknown {
  return new Proxy({}, { get: (_, name) => Reflect.get(load() as object, name) });
}

/** A run that used less of a pack than this share of its length has compiled too little of it to speak for others. */
const WORTH_KEEPING = 0.25;

function opened(file: string): Parts {
  const source = readFileSync(file, 'latin1');
  const runtime = runtimeKey();
  const kept = join(compiledIn(dirname(file)), `${basename(file, '.js')}-${runtime}`);
  const cachedData = keptIn(kept);
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) });
  if (script.cachedDataRejected !== false)
    process.once('exit', () => {
      // Flags that were set meanwhile are in what V8 makes now, and would have it refused where they are not set yet.
      if (runtimeKey() !== runtime) return;
      const data = script.createCachedData();
      if (data.length > source.length * WORTH_KEEPING) keep(kept, data);
    });
  return script.runInThisContext() as Parts;
}

/** A relative folder would be one of whatever project memfix is run in, and code in it not ours. */
function compiledIn(folder: string): string {
  const named = process.env['MEMFIX_COMPILED_DIR'];
  return named !== undefined && isAbsolute(named) ? named : join(folder, 'compiled');
}

/** The head of what V8 makes of nothing: its version, its flags. */
function runtimeKey(): string {
  return new Script('').createCachedData().toString('hex', 4, 16);
}

/** V8 runs what it is given without a look whether it is whole: it is kept twice, and both must be the same. */
function keptIn(file: string): Buffer | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    return undefined;
  }
  const data = bytes.subarray(0, bytes.length / 2);
  return data.equals(bytes.subarray(data.length)) ? data : undefined;
}

/** In one step. Where the program may not write to its own folder, it is compiled each time. */
function keep(file: string, data: Buffer): void {
  const draft = `${file}.${process.pid}.${Date.now()}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(draft, Buffer.concat([data, data]), { flag: 'wx' });
    renameSync(draft, file);
    forgetOld(dirname(file));
  } catch {
    if (existsSync(draft)) rmSync(draft, { force: true });
  }
}

/** What was compiled so long ago is likely of another version; if not, it is compiled again. */
const LIFE = 90 * 24 * 60 * 60 * 1000;

function forgetOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (Date.now() - statSync(file).mtimeMs > LIFE) rmSync(file, { force: true });
  }
}

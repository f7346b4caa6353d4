import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../../engine/engine.js';
import { didYouMean } from '../../text/resemblance.js';
import type { TransformMeta } from '../../toolkit/contract.js';
import type { Catalogue } from '../../workspace/catalogue.js';
import { Failure } from '../../workspace/failure.js';
import { ParserOnDemand } from '../../workspace/parser-choice.js';
import { isInside, isVendored, shownFrom } from '../../workspace/places.js';
import { Project, type Request } from '../../workspace/project.js';
import { Tools } from '../../workspace/tools.js';
import type { Context } from '../context.js';
import type { Io } from '../io.js';

/** What an editor may set; a config file of the project answers for the rest. */
export interface EditorSettings {
  readonly select?: readonly string[];
  readonly extendSelect?: readonly string[];
  readonly ignore?: readonly string[];
  readonly unsafeFixes?: boolean;
  readonly config?: string;
  /** The folder is a stranger's: its config may only make things stricter. */
  readonly strictConfig?: boolean;
}

/** A project as it was when it was last looked at on disk. */
export interface Workspace {
  readonly cwd: string;
  readonly project: Project;
  readonly engine: Engine;
  metaOf(id: string): TransformMeta | undefined;
}

/** The projects of the folders that the editor has open. Files around a text come from disk, and are read again after a save. */
export class Workspaces {
  readonly #parser: ParserOnDemand;
  readonly #open = new Map<string, Promise<Workspace>>();
  #folders: readonly string[] = [];
  #settings: EditorSettings = {};

  constructor(
    private readonly context: Context,
    /** Says a sentence to the person. */
    private readonly tell: (words: string) => void,
  ) {
    this.#parser = new ParserOnDemand(context.io.env['MEMFIX_PARSER']);
  }

  begin(folders: readonly string[]): void {
    this.#folders = folders.flatMap((uri) => pathOf(uri) ?? []);
    this.forget();
  }

  set(settings: unknown): void {
    this.#settings = settingsIn(settings, this.tell);
    this.forget();
  }

  /** What is on disk has changed. */
  forget(): void {
    this.#open.clear();
  }

  /** The project that a file belongs to, and the file's name in it; undefined where memfix passes it over. */
  async around(uri: string): Promise<{ readonly space: Workspace; readonly name: string } | undefined> {
    const path = pathOf(uri);
    if (path === undefined) return undefined;
    const within = this.#folders.filter((folder) => isInside(path, folder));
    const cwd = within.sort((a, b) => b.length - a.length)[0] ?? dirname(path);
    let opened = this.#open.get(cwd);
    if (opened === undefined) {
      opened = this.#made(cwd);
      this.#open.set(cwd, opened);
    }
    const space = await opened;
    const name = shownFrom(cwd, path);
    const isExcluded = space.project.rulesFor(path).excludes(path, false);
    return isExcluded || isVendored(name) ? undefined : { space, name };
  }

  async #made(cwd: string): Promise<Workspace> {
    const { io, args } = this.context;
    const request = this.#request(args.request(cwd, io.env));
    const project = new Project(request, await this.#catalogue(request, io));
    const engine = await new Tools(project, this.#parser).engine();
    const metas = new Map(project.vocabulary.metas.map((meta) => [meta.id, meta]));
    return { cwd, project, engine, metaOf: (id) => metas.get(id) };
  }

  /** A plugin that cannot be loaded costs its own findings only. */
  async #catalogue(request: Request, { env }: Pick<Io, 'env'>): Promise<Catalogue> {
    const { catalogue, args } = this.context;
    const { catalogueWithPlugins } = await import('../plugins.js');
    try {
      const found = await catalogueWithPlugins(catalogue, request, args.each('plugin'), {
        cwd: request.cwd,
        env,
      });
      if (found.unloaded !== undefined) this.tell(found.unloaded);
      return found.catalogue;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.tell(`${error.title}: ${error.detail}. ${error.next}`);
      return catalogue;
    }
  }

  #request(given: Request): Request {
    const { select, extendSelect = [], ignore = [], unsafeFixes, config, strictConfig } = this.#settings;
    return {
      ...given,
      paths: [],
      extendSelect: [...given.extendSelect, ...extendSelect],
      ignore: [...given.ignore, ...ignore],
      ...(select && { select }),
      ...(unsafeFixes !== undefined && { unsafeFixes }),
      ...(config !== undefined && { config: resolve(given.cwd, config) }),
      ...(strictConfig === true && { isTarget: true }),
    };
  }
}

/** Undefined for a text that is in no file, such as one that was never saved. */
function pathOf(uri: string): string | undefined {
  return uri.startsWith('file:') ? fileURLToPath(uri) : undefined;
}

const KINDS: Readonly<Record<keyof EditorSettings, 'list' | 'boolean' | 'string'>> = {
  select: 'list',
  extendSelect: 'list',
  ignore: 'list',
  unsafeFixes: 'boolean',
  config: 'string',
  strictConfig: 'boolean',
};

/** Keys that extensions of editors have for themselves. */
const OF_EDITORS: ReadonlySet<string> = new Set(['command', 'enable', 'path', 'trace']);

/** Whatever an editor sends, only what it should; it hears of what does not count. */
function settingsIn(value: unknown, tell: (words: string) => void): EditorSettings {
  if (typeof value !== 'object' || value === null) return {};
  // As the servers of other linters have it.
  if ('settings' in value) return settingsIn(value.settings, tell);
  const given = value as Readonly<Record<string, unknown>>;
  for (const [name, each] of Object.entries(given)) {
    const kind = KINDS[name as keyof EditorSettings] as (typeof KINDS)[keyof EditorSettings] | undefined;
    if (kind === undefined && !OF_EDITORS.has(name))
      tell(`the setting \`${name}\` is none of memfix.${didYouMean(name, Object.keys(KINDS))}`);
    const isRight = kind === 'list' ? Array.isArray(each) : typeof each === kind;
    if (kind !== undefined && each !== null && each !== undefined && !isRight)
      tell(
        `the setting \`${name}\` does not count: it must be a ${kind === 'list' ? 'list of names' : kind}.`,
      );
  }
  const words = (name: string) => {
    const list = given[name];
    return Array.isArray(list) && list.length > 0
      ? { [name]: list.filter((each) => typeof each === 'string') }
      : {};
  };
  return {
    ...words('select'),
    ...words('extendSelect'),
    ...words('ignore'),
    ...(typeof given['unsafeFixes'] === 'boolean' && { unsafeFixes: given['unsafeFixes'] }),
    ...(typeof given['config'] === 'string' && given['config'] !== '' && { config: given['config'] }),
    ...(given['strictConfig'] === true && { strictConfig: true }),
  };
}

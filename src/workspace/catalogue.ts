import { fileURLToPath } from 'node:url';
import { gainOf } from '../report/evidence.js';
import type { Transform, TransformMeta } from '../toolkit/contract.js';
import { textOf } from './bounded.js';
import { Failure } from './failure.js';

/** What choosing and setting a transform takes; the rest of its meta is prose. */
export interface Entry extends Pick<TransformMeta, 'id' | 'aliases' | 'group' | 'symptom' | 'options'> {
  /** The share of what its symptom is about that it took away where it was measured. */
  readonly gain?: number;
}

/** All transforms: what they are and, loaded when a file is first looked into, what they do. */
export interface Catalogue {
  readonly entries: readonly Entry[];
  readonly metas: readonly TransformMeta[];
  transforms(): Promise<readonly Transform[]>;
  /** Those that some of the transforms come from. */
  readonly plugins?: readonly LoadedPlugin[];
  /** Whether all plugins that the config names are among them: then a name that is unknown is an error. */
  readonly isWhole?: boolean;
}

export interface LoadedPlugin {
  /** As it was named. */
  readonly name: string;
  /** The real path. */
  readonly file: string;
  readonly transforms: readonly Transform[];
  /** Of all the code of the plugin; undefined where that cannot be told, so that nothing it finds is remembered. */
  readonly digest: string | undefined;
}

export type LoadTransforms = () => Promise<readonly Transform[]>;

/** The build writes beside the program what its transforms are; a checkout has to load them to know. */
export async function catalogueBeside(entry: string, load: LoadTransforms): Promise<Catalogue> {
  const built = <T>(name: string): readonly T[] | undefined => {
    const text = textOf(fileURLToPath(new URL(name, entry)));
    return text === undefined ? undefined : (JSON.parse(text) as readonly T[]);
  };
  const entries = built<Entry>('entries.json');
  if (entries === undefined) return catalogueOf(await load());
  let metas: readonly TransformMeta[] | undefined;
  return {
    entries,
    get metas() {
      metas ??= built<TransformMeta>('metas.json') ?? [];
      return metas;
    },
    transforms: load,
  };
}

export function catalogueOf(transforms: readonly Transform[]): Catalogue {
  const metas = transforms.map(({ meta }) => meta);
  return { entries: metas.map(entryOf), metas, transforms: async () => transforms };
}

export function entryOf(meta: TransformMeta): Entry {
  const { id, aliases, group, symptom, options } = meta;
  const gain = gainOf(meta);
  return { id, ...(aliases && { aliases }), group, symptom, options, ...(gain > 0 && { gain }) };
}

/** The catalogue with the transforms of plugins in it. */
export function withPlugins(
  catalogue: Catalogue,
  plugins: readonly LoadedPlugin[],
  isWhole: boolean,
): Catalogue {
  const taken = new Map(
    catalogue.entries.flatMap(({ id, aliases = [] }) => [id, ...aliases]).map((id) => [id, 'memfix']),
  );
  const added = plugins.flatMap(({ name, transforms }) =>
    transforms.map((transform) => {
      const { id } = transform.meta;
      const owner = taken.get(id);
      if (owner !== undefined)
        throw new Failure(
          'Two transforms with one id',
          `\`${id}\` of ${name} is also a transform of ${owner}`,
          'Give it an id of its own, such as one that begins with the name of your team.',
        );
      taken.set(id, name);
      return transform;
    }),
  );
  const metas = added.map(({ meta }) => meta);
  return {
    entries: [...catalogue.entries, ...metas.map(entryOf)],
    get metas() {
      return [...catalogue.metas, ...metas];
    },
    transforms: async () => [...(await catalogue.transforms()), ...added],
    plugins,
    isWhole,
  };
}

import { fileURLToPath } from 'node:url';
import { gainOf } from '../report/evidence.js';
import type { Transform, TransformMeta } from '../toolkit/contract.js';
import { textOf } from './bounded.js';

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

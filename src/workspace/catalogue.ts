import { fileURLToPath } from 'node:url';
import type { Transform, TransformMeta } from '../toolkit/contract.js';
import { textOf } from './places.js';

/** All transforms: what they are and, loaded when a file is first looked into, what they do. */
export interface Catalogue {
  readonly metas: readonly TransformMeta[];
  transforms(): Promise<readonly Transform[]>;
}

export type LoadTransforms = () => Promise<readonly Transform[]>;

/** The build writes beside the program what its transforms are; a checkout has to load them to know. */
export async function catalogueBeside(entry: string, load: LoadTransforms): Promise<Catalogue> {
  const built = textOf(fileURLToPath(new URL('metas.json', entry)));
  return built === undefined
    ? catalogueOf(await load())
    : { metas: JSON.parse(built) as readonly TransformMeta[], transforms: load };
}

export function catalogueOf(transforms: readonly Transform[]): Catalogue {
  return { metas: transforms.map(({ meta }) => meta), transforms: async () => transforms };
}

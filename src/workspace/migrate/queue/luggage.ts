import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { bytesOf } from '../../bounded.js';
import { writeWhole } from '../whole-file.js';

/** The files of one repository that travel between a campaign's folder and a worker's, by their paths in it. */
export type Luggage = ReadonlyMap<string, Buffer>;

const ENDINGS = ['.patch', '.json', '.log', '.base.log'];
/** What stages write. */
const PARTS = ['patches', 'fixes', 'logs'];

export function pack(folder: string, id: string): Luggage {
  return new Map(filesOf(folder, id).map((path) => [path, contentOf(folder, path)]));
}

/** Makes a repository's files in a folder what they were where they were packed. */
export function unpack(folder: string, id: string, luggage: Luggage): void {
  const left = new Set(filesOf(folder, id));
  for (const [path, bytes] of luggage) {
    // A name from elsewhere leads nowhere else.
    if (!isOf(id, path)) throw new Error(`${path} is no file of ${id}`);
    if (!left.delete(path) || !contentOf(folder, path).equals(bytes))
      writeWhole(join(folder, path), bytes, 'later');
  }
  for (const path of left) rmSync(join(folder, path), { force: true });
}

export function isSame(one: Luggage, other: Luggage): boolean {
  return isDeepStrictEqual(one, other);
}

/** What people decided about its fixes travels one way: only they write it, where the campaign is. */
export function decisionsFile(folder: string, id: string): string {
  return join(folder, 'decisions', `${id}.jsonl`);
}

/** Those named by the id alone, and those in a folder of that name. */
function filesOf(folder: string, id: string): readonly string[] {
  const found = PARTS.flatMap((part) => {
    const own = join(folder, part, id);
    const within = existsSync(own) ? readdirSync(own).map((name) => `${id}/${name}`) : [];
    const alone = ENDINGS.map((ending) => `${id}${ending}`);
    return [...alone.filter((name) => existsSync(join(folder, part, name))), ...within].map(
      (name) => `${part}/${name}`,
    );
  });
  return found.filter((path) => isOf(id, path));
}

function isOf(id: string, path: string): boolean {
  const [part = '', name = '', file, ...more] = path.split('/');
  if (!PARTS.includes(part) || more.length > 0) return false;
  if (file === undefined) return ENDINGS.some((ending) => name === `${id}${ending}`);
  return name === id && /^[\w-]+\.patch$/.test(file);
}

function contentOf(folder: string, path: string): Buffer {
  return bytesOf(join(folder, path));
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isFolder } from './places.js';

type Read = (path: string) => string | undefined;

/** Where a work tree keeps what all its linked work trees share, such as `info/exclude`. */
export function commonGitFolder(root: string, read: Read): string | undefined {
  const own = gitFolder(root, read);
  if (own === undefined) return undefined;
  const shared = read(join(own, 'commondir'));
  return shared === undefined ? own : resolve(own, shared.trim());
}

function gitFolder(root: string, read: Read): string | undefined {
  const path = join(root, '.git');
  if (isFolder(path)) return path;
  const pointer = read(path);
  if (pointer === undefined) return existsSync(path) ? path : undefined;
  const target = /^gitdir: (.+)$/m.exec(pointer)?.[1];
  return target === undefined ? undefined : resolve(root, target);
}

import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOf } from '../workspace/bounded.js';
import { upward } from '../workspace/places.js';

/** The folder with memfix's own package.json: the code runs from `src/` in a checkout and from `dist/` when installed. */
export function packageRoot(): string {
  for (const folder of upward(dirname(fileURLToPath(import.meta.url)))) {
    if (textOf(join(folder, 'package.json'))?.includes('"name": "memfix"')) return folder;
  }
  throw new Error('memfix runs from outside its package');
}

export function ownVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(textOf(join(packageRoot(), 'package.json')) ?? '');
  return String(manifest.version);
}

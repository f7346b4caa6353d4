import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { textOf, upward } from '../workspace/places.js';

/** The folder with memfix's own package.json: the code runs from `src/` in a checkout and from `dist/` when installed. */
export function packageRoot(): string {
  for (const folder of upward(dirname(fileURLToPath(import.meta.url)))) {
    if (textOf(join(folder, 'package.json'))?.includes('"name": "memfix"')) return folder;
  }
  throw new Error('memfix runs from outside its package');
}

export function ownVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(
    readFileSync(join(packageRoot(), 'package.json'), 'utf8'),
  );
  return String(manifest.version);
}

/** A bundle's entry names its parts by their content; a checkout is the times and sizes of its files. */
export function buildOf(entry: string): string {
  const path = fileURLToPath(entry);
  const hash = createHash('sha256').update(readFileSync(path));
  if (path.endsWith('.ts')) {
    for (const folder of ['src', 'transforms']) {
      const place = join(packageRoot(), folder);
      for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' }).sort()) {
        const { mtimeMs, size } = statSync(join(place, name));
        hash.update(`${name} ${mtimeMs} ${size}\n`);
      }
    }
  }
  return hash.digest('hex');
}

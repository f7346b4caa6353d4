import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { root } from '../../src/dev/project.js';

/** memfix with toys as a program of its own; the file of it, there while the tests of a file run. */
export function toyProgram(): string {
  return bundled(join(root, 'test', 'cli', 'toy-main.ts'));
}

export function bundled(entry: string): string {
  // Inside the package, to find its dependencies.
  const folder = mkdtempSync(join(root, 'node_modules', '.memfix-toys-'));
  beforeAll(async () => {
    await build({
      entryPoints: [entry],
      outdir: folder,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
    });
    const template = 'mirror-template';
    cpSync(join(root, 'src', 'workspace', 'migrate', template), join(folder, template), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, basename(entry).replace(/\.ts$/, '.js'));
}

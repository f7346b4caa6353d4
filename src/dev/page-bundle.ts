import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './project.js';

/** The program and the looks of a campaign's page, each as one file that `memfix migrate report --html` embeds. */
export async function bundlePage(): Promise<void> {
  const dist = join(root, 'dist');
  const source = join(root, 'src', 'report', 'migrate', 'page', 'browser');
  const { outputFiles } = await build({
    entryPoints: { page: join(source, 'main.ts'), 'page-style': join(source, 'page.css') },
    outdir: dist,
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    // What `light-dark()` needs as well.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  });
  mkdirSync(dist, { recursive: true });
  for (const { path, text } of outputFiles) {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, text.trim());
    renameSync(draft, path);
  }
}

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './project.js';

const require = createRequire(import.meta.url);
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
await bundle();
await writeMetas();
copyGrammar();
copyShim();
emitDeclarations();

/** Our code is bundled, split so that what is imported lazily is loaded lazily; npm packages stay outside. */
async function bundle(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts', index: 'src/index.ts', toolkit: 'src/toolkit/index.ts' },
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  chmodSync(join(dist, 'cli.js'), 0o755);
}

/** What the transforms are, for runs that never have to load what they do. */
async function writeMetas(): Promise<void> {
  const { transforms } = await import('../../transforms/index.js');
  writeFileSync(join(dist, 'metas.json'), JSON.stringify(transforms.map(({ meta }) => meta)));
}

/** The wasm grammar lies beside the code that loads it, so that a package without addons still parses. */
function copyGrammar(): void {
  const name = 'tree-sitter-python.wasm';
  try {
    copyFileSync(require.resolve(`tree-sitter-python/${name}`), join(dist, name));
  } catch {
    // npm takes an optional package away when its addon neither loads nor compiles: an install must survive that.
    process.stderr.write(
      'memfix: built without the wasm grammar\n' +
        '  The package tree-sitter-python is not installed, so dist/ can only parse where it is.\n' +
        '  Next: npm install --ignore-scripts && npm run build\n',
    );
  }
}

/** What `memfix prove` measures with; Python finds it only under this name. */
function copyShim(): void {
  const name = 'sitecustomize.py';
  copyFileSync(join(root, 'src', 'workspace', 'prove', name), join(dist, name));
}

function emitDeclarations(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

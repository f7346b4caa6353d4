import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build, transform } from 'esbuild';
import { root } from './project.js';

const require = createRequire(import.meta.url);
const dist = join(root, 'dist');

const target = 'node20';

/** Our code is bundled, split so that what is imported lazily is loaded lazily; npm packages stay outside. */
const bundled = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target,
  packages: 'external',
  logLevel: 'warning',
} as const;

/** What a part of the program has in place of its address as a module and of `import()` for other parts. */
const MODULE = [
  ['__here', 'const __here=require("node:url").pathToFileURL(__filename).href;'],
  ['__part', 'const __part=async(path)=>require(path);'],
] as const;

rmSync(dist, { recursive: true, force: true });
await bundleLibrary();
await bundleProgram();
await writeMetas();
copyGrammar();
copyShim();
emitDeclarations();

async function bundleLibrary(): Promise<void> {
  await build({
    ...bundled,
    entryPoints: { index: 'src/index.ts', toolkit: 'src/toolkit/index.ts' },
    outExtension: { '.js': '.mjs' },
  });
}

/**
 * The program starts faster as CommonJS: Node reads it without waiting, and without setting up its module loader. Only
 * the bundler's modules can be split, so they are translated afterwards.
 */
async function bundleProgram(): Promise<void> {
  const { outputFiles } = await build({
    ...bundled,
    entryPoints: { cli: 'src/cli/main.ts' },
    write: false,
  });
  for (const { path, text } of outputFiles) {
    const { code } = await transform(text, {
      format: 'cjs',
      platform: 'node',
      target,
      minifySyntax: true,
      minifyWhitespace: true,
      define: { 'import.meta.url': '__here' },
    });
    const body = code.replace(/^#!.*\n/, '').replaceAll('import("./', '__part("./');
    const needed = MODULE.filter(([name]) => body.includes(name)).map(([, definition]) => definition);
    const shebang = path === join(dist, 'cli.js') ? '#!/usr/bin/env node\n' : '';
    writeFileSync(path, `${shebang}"use strict";${needed.join('')}\n${body}`);
  }
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
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

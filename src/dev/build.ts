import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative, sep } from 'node:path';
import { build, transform } from 'esbuild';
import { entryOf } from '../workspace/catalogue.js';
import { bundlePage } from './page-bundle.js';
import { root } from './project.js';

const require = createRequire(import.meta.url);
const dist = join(root, 'dist');

const target = 'node20';

/** What an install brings: it stays outside. Everything else that the program imports is part of it. */
const manifest: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const installed = ['dependencies', 'peerDependencies'].flatMap((kind) => Object.keys(manifest[kind] ?? {}));

/** Our code is bundled, split so that what is imported lazily is loaded lazily; npm packages stay outside. */
const bundled = {
  absWorkingDir: root,
  outdir: dist,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target,
  external: installed,
  logLevel: 'warning',
} as const;

/** What a part of the program has in place of its address as a module and of `import()` for other parts. */
const MODULE = [
  ['__here', 'const __here=require("node:url").pathToFileURL(__filename).href;'],
  ['__part', 'const __part=async(path)=>require(path);'],
] as const;

/** What is loaded together lies together: these modules, with all that they import and no earlier pack has. */
const PACKS: readonly (readonly [pack: string, modules: RegExp])[] = [
  ['cli', /^src\/cli\/(?:main|process)\.ts$/],
  [
    'look',
    /^src\/(?:cli\/(?:arguments|context|plugins|remembering|commands\/check)|workspace\/(?:catalogue|plugins\/named)|report\/(?:concise|full|short))\.ts$/,
  ],
  ['engine', /^(?:src\/engine\/.*|src\/workspace\/worker|transforms\/index)\.ts$/],
  ['parser', /^node_modules\/web-tree-sitter\//],
  ['forges', /^node_modules\//],
  ['more', /^/],
];

rmSync(dist, { recursive: true, force: true });
await bundleLibrary();
await bundleProgram();
await bundlePage();
await writeMetas();
copyGrammar();
copyShim();
copyTemplate();
emitDeclarations();

async function bundleLibrary(): Promise<void> {
  await build({
    ...bundled,
    entryPoints: {
      index: 'src/index.ts',
      testing: 'src/testing/index.ts',
      toolkit: 'src/toolkit/index.ts',
    },
    outExtension: { '.js': '.mjs' },
  });
}

interface Part {
  readonly name: string;
  /** The module that is asked for by this part's name. */
  readonly module: string | undefined;
  readonly code: string;
  readonly imports: readonly string[];
}

/**
 * The program starts faster as CommonJS, which Node reads without setting up its module loader, and in few files. Only
 * the bundler's modules can be split, so its parts are translated and put together afterwards; `packs.ts` takes them apart.
 */
async function bundleProgram(): Promise<void> {
  const parts = await partsOfProgram();
  const packed = new Map<string, string>();
  for (const [pack, modules] of PACKS) {
    const wanted = parts.filter(({ module }) => module !== undefined && modules.test(module));
    for (const name of reached(wanted, parts)) if (!packed.has(name)) packed.set(name, pack);
  }
  const written = (pack: string) =>
    `{${parts.flatMap(({ name, code }) => (packed.get(name) === pack ? [`${JSON.stringify(name)}(exports,require,module,__filename,__import){${code}\n}`] : [])).join(',\n')}}`;
  const files = new Map<string, string>();
  for (const [pack] of PACKS.slice(1)) {
    const text = `({__proto__:null,...${written(pack)}})`;
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
    files.set(pack, `${pack}-${hash}`);
    writeFileSync(join(dist, `${pack}-${hash}.js`), text);
  }
  const packOf = Object.fromEntries(
    [...packed].flatMap(([name, pack]) => (pack === 'cli' ? [] : [[name, files.get(pack)]])),
  );
  const loader = await build({
    ...bundled,
    splitting: false,
    format: 'iife',
    globalName: 'packs',
    minifySyntax: true,
    minifyWhitespace: true,
    entryPoints: ['src/cli/packs.ts'],
    write: false,
  });
  const cli = join(dist, 'cli.js');
  const start = `new packs.Packs(__filename,${written('cli')},${JSON.stringify(packOf)},require,(name)=>import(name)).require("./cli.js");`;
  const program = `#!/usr/bin/env node\n"use strict";${loader.outputFiles[0]?.text}${start}\n`;
  writeFileSync(cli, program);
  // It names the other packs by their content, so that this tells one build from every other.
  writeFileSync(join(dist, 'build-id'), createHash('sha256').update(program).digest('hex'));
  writeFileSync(join(dist, 'package.json'), '{ "type": "commonjs" }\n');
  chmodSync(cli, 0o755);
}

async function partsOfProgram(): Promise<readonly Part[]> {
  const { outputFiles, metafile } = await build({
    ...bundled,
    legalComments: 'none',
    entryPoints: { cli: 'src/cli/main.ts' },
    write: false,
    metafile: true,
  });
  writeLicences(Object.keys(metafile.inputs));
  return Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const { code } = await transform(withOwnNames(text), {
        format: 'cjs',
        platform: 'node',
        target,
        minifySyntax: true,
        minifyWhitespace: true,
        define: { 'import.meta.url': '__here' },
      });
      const output = metafile.outputs[relative(root, path).replaceAll(sep, '/')];
      const imports = output?.imports ?? [];
      let body = code.replace(/^#!.*\n/, '').replaceAll('import("./', '__part("./');
      for (const { path: name, kind } of imports)
        if (kind === 'dynamic-import') body = body.replaceAll(`import("${name}")`, `__import("${name}")`);
      // What is computed is no part of the program.
      body = body.replace(/(?<![\w$.])import\((?=[\w$]+(?:\.[\w$]+)*\))/g, '__import(');
      const needed = MODULE.filter(([name]) => body.includes(name)).map(([, definition]) => definition);
      return {
        name: basename(path),
        module: output?.entryPoint,
        code: `"use strict";${needed.join('')}${inAscii(body)}`,
        imports: imports
          .filter(({ kind, external }) => kind === 'import-statement' && external !== true)
          .map((each) => basename(each.path)),
      };
    }),
  );
}

/**
 * A part has what it imports from others under names of its own: no part imports one that imports it, and nothing that is
 * exported changes. As the bundler translates it, each use of such a name would call two functions that look it up.
 */
function withOwnNames(text: string): string {
  const [imports = ''] = /^(?:#!.*\n)?(?:import (?:\{[^}]*\} from )?"\.\/[^"]+";\n|\n)*/.exec(text) ?? [];
  const head = imports
    .replace(/import \{([^}]*)\} from ("[^"]+");/g, (_, names: string, from: string) => {
      return `const {${names.replaceAll(' as ', ': ')}} = require(${from});`;
    })
    .replace(/import ("[^"]+");/g, 'require($1);');
  const body = text.slice(imports.length).replace(/\nexport \{([^}]*)\};\s*$/, (_, names: string) => {
    return `\nmodule.exports = {${names.replace(/(\S+) as (\S+?)(,?)$/gm, '$2: $1$3')}};\n`;
  });
  return head + body;
}

/** Packs are read byte by byte (`packs.ts`), and the bundler lets patterns and tagged templates keep other characters. */
function inAscii(code: string): string {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The terms of the packages that became part of the program. */
function writeLicences(inputs: readonly string[]): void {
  const folders = inputs.flatMap(
    (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const names = readdirSync(join(root, folder)).filter((name) => /^(?:licen[cs]e|notice)/i.test(name));
    const { name, version, license }: Record<string, string> = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const terms = names.map((each) => readFileSync(join(root, folder, each), 'utf8').trim());
    return `${name} ${version} (${license})\n\n${terms.join('\n\n')}\n`;
  });
  writeFileSync(join(dist, 'THIRD-PARTY.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

/** The names of these parts and of all that they import. */
function reached(wanted: readonly Part[], parts: readonly Part[]): ReadonlySet<string> {
  const names = new Set(wanted.map(({ name }) => name));
  for (const name of names)
    for (const other of parts.find((part) => part.name === name)?.imports ?? []) names.add(other);
  return names;
}

/** What the transforms are, for runs that never have to load what they do. */
async function writeMetas(): Promise<void> {
  const { transforms } = await import('../../transforms/index.js');
  const metas = transforms.map(({ meta }) => meta);
  writeFileSync(join(dist, 'entries.json'), JSON.stringify(metas.map(entryOf)));
  writeFileSync(join(dist, 'metas.json'), JSON.stringify(metas));
}

/** The parser and the grammar as wasm lie beside the code that loads them. */
function copyGrammar(): void {
  for (const name of ['tree-sitter-python/tree-sitter-python.wasm', 'web-tree-sitter/web-tree-sitter.wasm'])
    copyFileSync(require.resolve(name), join(dist, basename(name)));
}

/** What `memfix prove` measures with, which Python finds only under this name, and what runs a prepared verification. */
function copyShim(): void {
  for (const name of ['sitecustomize.py', 'verify.py'])
    copyFileSync(join(root, 'src', 'workspace', 'prove', name), join(dist, name));
}

/** What git begins the mirrors of a campaign with. */
function copyTemplate(): void {
  const name = 'mirror-template';
  cpSync(join(root, 'src', 'workspace', 'migrate', name), join(dist, name), { recursive: true });
}

function emitDeclarations(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}

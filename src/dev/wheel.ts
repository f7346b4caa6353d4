/**
 * `npm run wheel`: a wheel and an sdist of memfix in `build/`. They hold the built program and the packages it needs, without
 * the native parser: the WebAssembly one runs everywhere. `-- --built` takes `dist/` as it is.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { megabytes } from '../workspace/bounded.js';
import { root } from './project.js';
import { environment } from './python.js';

const build = join(root, 'build');
const stage = join(build, 'stage');
const program = join(stage, 'memfix', 'program');

interface Locked {
  readonly version: string;
  readonly packages: Readonly<
    Record<
      string,
      { readonly dev?: true; readonly optional?: true; readonly devOptional?: true; readonly peer?: true }
    >
  >;
}

const lock: Locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

if (!process.argv.includes('--built')) must('npm', ['run', '--silent', 'build'], root);
rmSync(build, { recursive: true, force: true });
mkdirSync(program, { recursive: true });
stagePython();
stageProgram();
const packages = stagePackages();
const python = environment({
  name: 'memfix-tools',
  requirements: join(root, 'test', 'support', 'python-tools', 'requirements.txt'),
  warning: 'half a minute, once',
});
const backend = (name: string) =>
  must(
    python,
    ['-c', `from flit_core.buildapi import ${name}; print(${name}(${JSON.stringify(build)}))`],
    stage,
  );
backend('build_sdist');
backend('build_wheel');
tell();

function stagePython(): void {
  cpSync(join(root, 'python'), stage, { recursive: true, filter: (path) => !path.includes('__pycache__') });
  for (const name of ['README.md', 'LICENSE']) cpSync(join(root, name), join(stage, name));
  cpSync(join(root, 'docs', 'memfix.1'), join(stage, 'data', 'share', 'man', 'man1', 'memfix.1'));
  const head = '"""Byte-exact, proven fixes for PyTorch training code that wastes GPU memory."""\n\n';
  writeFileSync(join(stage, 'memfix', '__init__.py'), `${head}__version__ = "${version}"\n`);
}

/** The program without its face as a library. */
function stageProgram(): void {
  const isLeftOut = (name: string) => name.endsWith('.mjs') || name === 'types' || name === 'compiled';
  for (const name of readdirSync(join(root, 'dist')).filter((each) => !isLeftOut(each)))
    cpSync(join(root, 'dist', name), join(program, 'dist', name), { recursive: true });
  for (const name of readdirSync(join(root, 'transforms')).filter((each) => each.endsWith('.md')))
    cpSync(join(root, 'transforms', name), join(program, 'transforms', name));
  writeFileSync(
    join(program, 'package.json'),
    `${JSON.stringify({ name: 'memfix', version, type: 'module', private: true }, undefined, 2)}\n`,
  );
}

/** What every install has: no tools of ours, nothing optional. */
function stagePackages(): readonly string[] {
  const wanted = Object.entries(lock.packages).filter(
    ([path, { dev, optional, devOptional, peer }]) =>
      path.startsWith('node_modules/') && !dev && !optional && !devOptional && !peer,
  );
  const copied = wanted.map(([path]) => path);
  for (const path of copied)
    cpSync(join(root, path), join(program, path), {
      recursive: true,
      filter: (from) => from === join(root, path) || isRun(from.slice(join(root, path).length)),
    });
  return copied;
}

/** Whether a file of a package is there to be run: no types, maps, tests or prose; licences stay. */
function isRun(path: string): boolean {
  if (/\/node_modules(?:\/|$)/.test(path)) return false;
  if (/\.(?:d\.[cm]?ts|ts|map|markdown|flow)$/.test(path)) return false;
  if (/\.md$/i.test(path)) return /licen[cs]e|notice/i.test(basename(path));
  return !/^\/(?:docs?|tests?|__tests__|examples?|benchmarks?|\.github|types|debug)(?:\/|$)/i.test(path);
}

function tell(): void {
  for (const name of readdirSync(build).filter((each) => each !== 'stage'))
    process.stdout.write(`build/${name}: ${megabytes(statSync(join(build, name)).size)}\n`);
  const rows = [
    ...packages.map((path) => [path, sizeOf(join(program, path))] as const),
    ['dist', sizeOf(join(program, 'dist'))] as const,
    ['transforms', sizeOf(join(program, 'transforms'))] as const,
  ].sort(([, a], [, b]) => b - a);
  const total = rows.reduce((sum, [, size]) => sum + size, 0);
  process.stdout.write(`installed: ${megabytes(total)}, of which\n`);
  for (const [name, size] of rows.slice(0, 6))
    process.stdout.write(`  ${megabytes(size).padStart(8)}  ${name}\n`);
}

function sizeOf(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.slice(folder.length).includes('node_modules'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function must(command: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, SOURCE_DATE_EPOCH: process.env['SOURCE_DATE_EPOCH'] ?? dateOfCommit() };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed with ${status}`);
}

/** The same sources make the same bytes. */
function dateOfCommit(): string {
  const { stdout, status } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '1577836800';
}

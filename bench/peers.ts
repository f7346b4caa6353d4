import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const PEERS = ['ripgrep', 'ast-grep', 'ruff', 'torchfix', 'torch-preflight', 'libcst'] as const;
export type PeerName = (typeof PEERS)[number];

export interface Peer {
  readonly name: PeerName;
  readonly program: string;
  readonly version: string;
}

/** A peer that is not there, and why. */
export interface Absent {
  readonly name: PeerName;
  readonly problem: string;
}

interface Recipe {
  readonly registry: 'npm' | 'pypi';
  readonly package: string;
  /** The program inside the installed folder; a name that ends in `*` differs by platform. */
  readonly program: readonly string[];
  readonly version: readonly string[];
}

const RECIPES: Readonly<Record<PeerName, Recipe>> = {
  ripgrep: npm('@vscode/ripgrep', ['@vscode', 'ripgrep-*', 'bin', 'rg']),
  // The package's own command goes through a launcher; the program lies in the package of the platform.
  'ast-grep': npm('@ast-grep/cli', ['@ast-grep', 'cli-*', 'ast-grep']),
  ruff: pypi('ruff'),
  torchfix: pypi('torchfix'),
  'torch-preflight': pypi('torch-preflight'),
  libcst: {
    ...pypi('libcst'),
    program: ['bin', 'python'],
    version: ['-c', 'from importlib.metadata import version; print("LibCST", version("libcst"))'],
  },
};

/** Where peers are kept between runs; remove it to get their newest versions. */
export function peersFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'memfix-bench');
}

/** Installs a peer by name from its registry, unless it is there already, each in a folder of its own. */
export function obtain(name: PeerName, cache: string, progress: (line: string) => void): Peer | Absent {
  const recipe = RECIPES[name];
  const folder = join(cache, name);
  try {
    if (located(folder, recipe.program) === undefined) {
      progress(`installing ${recipe.package} from ${recipe.registry}`);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      if (recipe.registry === 'npm') {
        answer('npm', [
          'install',
          '--prefix',
          folder,
          '--no-audit',
          '--no-fund',
          '--ignore-scripts',
          recipe.package,
        ]);
      } else {
        answer('python3', ['-m', 'venv', folder]);
        answer(join(folder, 'bin', 'pip'), ['install', '--quiet', recipe.package]);
      }
    }
    const program = located(folder, recipe.program);
    if (program === undefined)
      return { name, problem: `the package ${recipe.package} has no program for this platform` };
    return { name, program, version: answer(program, recipe.version).split('\n')[0] ?? '' };
  } catch (error) {
    return {
      name,
      problem: `cannot be installed: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

function npm(name: string, program: readonly string[]): Recipe {
  return { registry: 'npm', package: name, program: ['node_modules', ...program], version: ['--version'] };
}

function pypi(name: string): Recipe {
  return { registry: 'pypi', package: name, program: ['bin', name], version: ['--version'] };
}

function located(folder: string, parts: readonly string[]): string | undefined {
  let at = folder;
  for (const part of parts) {
    if (!existsSync(at)) return undefined;
    const name = part.endsWith('*')
      ? readdirSync(at).find((each) => each.startsWith(part.slice(0, -1)))
      : part;
    if (name === undefined) return undefined;
    at = join(at, name);
  }
  return existsSync(at) ? at : undefined;
}

function answer(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} exited with ${status}: ${stderr.trim().split('\n').at(-1)}`);
  return stdout.trim();
}

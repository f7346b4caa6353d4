import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { isInside } from '../places.js';
import type { Walls } from './sandbox.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where people, agents and services keep what code of repositories has no business with. */
const HIDDEN = ['/tmp', '/var/tmp', '/run', '/root'];
/** In home: libraries that Python finds there by itself, and models that were downloaded. No passwords are in them. */
const READ_AT_HOME = ['.local/lib', '.cache/torch', '.cache/huggingface/hub', '.cache/huggingface/datasets'];
/** Variables whose value is a place that programs write to, not one that they come from. */
const OTHER_VARIABLES = new Set(['HOME', 'TMPDIR', 'TMP', 'TEMP', 'PWD', 'SHELL']);
const MOST_LINKS = 20;

/** What a command of a campaign sees: no home, no temporary files, nothing of the campaign; but the programs it needs. */
export function wallsOf(
  { network, readable, writable }: Pick<Walls, 'network' | 'readable' | 'writable'>,
  env: Env,
  command: string,
  own: readonly string[],
): Walls {
  const home = env['HOME'] ?? homedir();
  const placed = (path: string) => resolve(home, path.replace(/^~(?=\/|$)/, home));
  const opened = new Set([...readable, ...writable].map((path) => realPath(placed(path))));
  const hidden = [...HIDDEN, tmpdir(), env['TMPDIR'] ?? '/tmp', home, ownHome(), ...own]
    .map(realPath)
    .filter((path) => !opened.has(path));
  const wanted = [
    ...READ_AT_HOME.map((path) => join(home, path)),
    ...Object.entries(env).flatMap(([name, value = '']) =>
      OTHER_VARIABLES.has(name) ? [] : value.split(delimiter).filter((path) => isAbsolute(path)),
    ),
    ...wordsIn(command).map(placed),
    // Where names are looked up.
    ...(network ? ['/etc/resolv.conf'] : []),
  ];
  const programs = wanted.filter((path) => existsSync(path)).flatMap((path) => programAt(path));
  // A folder around what is hidden would show all of it; below this one, keyrings are beside programs.
  const wide = [...hidden, join(home, '.local')];
  const isPart = (path: string) => !wide.some((folder) => isInside(folder, path));
  return {
    network,
    hidden,
    readable: [...new Set([...programs.filter(isPart), ...readable.map(placed)])],
    writable: writable.map(placed),
  };
}

/** As the system knows it, whatever the environment says. */
function ownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    // A user without an entry in the system's list has no other.
    return homedir();
  }
}

/** Paths in the text of a command. */
function wordsIn(command: string): readonly string[] {
  return [...command.matchAll(/(?:^|[\s'"=(:])(?:~|\$HOME)?(\/[^\s'"();|&<>:]+)/g)].map(([word]) =>
    word.replace(/^[\s'"=(:]/, '').replace(/^\$HOME/, '~'),
  );
}

/** A program or a folder of programs, with the Python environment it belongs to and all that its links lead to. */
function programAt(path: string): readonly string[] {
  const python = ['python3', 'python'].map((name) => join(path, name)).find((file) => existsSync(file));
  const chain = [...linksFrom(path), ...(python === undefined ? [] : linksFrom(python))];
  return chain.flatMap((each) => [each, ...environmentsAround(each)]);
}

/** A path and what it leads to, link by link. */
function linksFrom(path: string): readonly string[] {
  const chain = [path];
  for (let at = path; chain.length < MOST_LINKS && existsSync(at); ) {
    const stats = lstatSync(at);
    if (!stats.isSymbolicLink()) break;
    at = resolve(dirname(at), readlinkSync(at));
    chain.push(at);
  }
  const end = realPath(path);
  return chain.includes(end) ? chain : [...chain, end];
}

/** The environment that a folder of programs, or a program in one, is part of. */
function environmentsAround(path: string): readonly string[] {
  const isPrograms = ['bin', 'shims', 'condabin'].includes(basename(path));
  const isProgram = basename(dirname(path)) === 'bin';
  const folder = isPrograms ? dirname(path) : isProgram ? dirname(dirname(path)) : undefined;
  return folder !== undefined && isEnvironment(folder) ? [folder] : [];
}

function isEnvironment(folder: string): boolean {
  if (['pyvenv.cfg', 'conda-meta', 'shims'].some((mark) => existsSync(join(folder, mark)))) return true;
  const lib = join(folder, 'lib');
  return existsSync(lib) && readdirSync(lib).some((name) => /^python\d/.test(name));
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path;
}

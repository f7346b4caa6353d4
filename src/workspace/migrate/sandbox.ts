import { execFile } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Failure } from '../failure.js';
import { isInside, upward } from '../places.js';

/** How code of repositories is kept in; `auto` takes the first of the others that works on this machine. */
export const SANDBOX_CHOICES = ['auto', 'bwrap', 'unshare', 'none'] as const;
export type Sandbox = Exclude<(typeof SANDBOX_CHOICES)[number], 'auto'>;

/** What code in a sandbox sees of the machine: all of the disk to read, but for this. */
export interface Walls {
  readonly network: boolean;
  /** Folders that are empty there, and forgotten afterwards. */
  readonly hidden: readonly string[];
  /** What is seen in them all the same. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

const NAMES: Readonly<Record<Exclude<Sandbox, 'none'>, string>> = {
  bwrap: 'bubblewrap',
  unshare: 'unshare',
};
/** Milliseconds that the trial of a sandbox may take. */
const PATIENCE = 20_000;
const GPUS = /^(?:nvidia.*|dri|kfd|infiniband)$/;
/** What every program may use; bubblewrap has its own list of these. */
const HARMLESS = /^(?:null|zero|full|random|urandom|tty)$/;

const KERNEL = ['sys', 'sysrq-trigger', 'irq', 'bus'];

const tried = new Map<string, Promise<string | undefined>>();

/** The sandbox that a choice comes to on this machine. One that is asked for by name must work. */
export async function sandboxFor(choice: (typeof SANDBOX_CHOICES)[number], walls: Walls): Promise<Sandbox> {
  if (choice === 'none') return choice;
  const candidates = choice === 'auto' ? (['bwrap', 'unshare'] as const) : [choice];
  let objection = '';
  for (const sandbox of candidates) {
    const found = await objectionTo(sandbox, walls);
    if (found === undefined) return sandbox;
    objection = found;
  }
  if (choice === 'auto') return 'none';
  throw new Failure(
    'The sandbox does not work here',
    `\`verify-sandbox = "${choice}"\`: ${objection}`,
    'Install it, or let this user make namespaces; `verify-sandbox = "auto"` takes what there is, and says what.',
  );
}

/** Why a sandbox does not work on this machine; asked once. */
function objectionTo(sandbox: Exclude<Sandbox, 'none'>, walls: Walls): Promise<string | undefined> {
  const known = tried.get(sandbox) ?? trial(enclosed(sandbox, ['true'], '/', walls));
  tried.set(sandbox, known);
  return known;
}

function trial([program = '', ...words]: readonly string[]): Promise<string | undefined> {
  if (process.platform !== 'linux') return Promise.resolve('there is none for this system');
  return new Promise((resolve) => {
    execFile(program, words, { timeout: PATIENCE, cwd: '/' }, (error, _, stderr) => {
      if (error === null) resolve(undefined);
      else if (error.code === 'ENOENT') resolve(`there is no program \`${program}\``);
      else resolve(stderr.trim() || error.message);
    });
  });
}

/** For people, as the end of a sentence. */
export function sandboxWords(sandbox: Sandbox, { network }: Pick<Walls, 'network'>): string {
  if (sandbox === 'none') return 'without a sandbox, with your rights';
  return `in a sandbox (${NAMES[sandbox]}, ${network ? 'with' : 'without'} network)`;
}

/** The command that runs a command in a sandbox. */
export function enclosed(
  sandbox: Sandbox,
  command: readonly string[],
  cwd: string,
  walls: Walls,
): readonly string[] {
  if (sandbox === 'none') return command;
  const hidden = outermost(walls.hidden.map(realPath)).filter(isHideable);
  const placed: Walls = {
    network: walls.network,
    hidden,
    readable: outermost(walls.readable.flatMap((path) => placeIn(hidden, path) ?? [])),
    writable: outermost(walls.writable.map((path) => placeIn(hidden, path) ?? realPath(path))),
  };
  const at = placeIn(hidden, cwd) ?? realPath(cwd);
  return sandbox === 'bwrap' ? inBubblewrap(command, at, placed) : inNamespaces(command, at, placed);
}

function isHideable(path: string): boolean {
  return path !== '/' && statSync(path).isDirectory();
}

/**
 * The name of a path below a hidden folder, whatever links lead to that folder. Links below it stay in the name: there is
 * nothing else by which a program could follow them. Nothing where the path is not hidden.
 */
function placeIn(hidden: readonly string[], path: string): string | undefined {
  for (const at of upward(dirname(path))) {
    const folder = realPath(at);
    if (hidden.includes(folder)) return join(folder, relative(at, path));
  }
  return undefined;
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path;
}

/** Those that are there, and of places in one another the outer one. */
function outermost(paths: readonly string[]): readonly string[] {
  const there = [...new Set(paths)].filter((path) => existsSync(path)).sort();
  return there.filter((path) => !there.some((other) => other !== path && isInside(path, other)));
}

function devices(names: RegExp): readonly string[] {
  return readdirSync('/dev')
    .filter((name) => names.test(name))
    .map((name) => join('/dev', name));
}

function inBubblewrap(command: readonly string[], cwd: string, walls: Walls): readonly string[] {
  const { network, hidden, readable, writable } = walls;
  return [
    ...['bwrap', '--die-with-parent', '--unshare-user-try', '--cap-drop', 'ALL'],
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts'],
    ...(network ? [] : ['--unshare-net']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Of root, the settings of the kernel are files of its own.
    ...KERNEL.map((name) => join('/proc', name)).flatMap((path) => ['--ro-bind-try', path, path]),
    ...devices(GPUS).flatMap((path) => ['--dev-bind', path, path]),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...readable.flatMap((path) => ['--ro-bind', path, path]),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...['--chdir', cwd, '--', ...command],
  ];
}

/**
 * The same without bubblewrap. A new root is put together from the old one and made read-only, the old one is left, and the
 * command runs in a user namespace of its own, in which it has no say about any of this. What cannot be made read-only must
 * be out of reach: a folder of another user, or one that is gone.
 */
const IN_NAMESPACES = `set -e
mount -t tmpfs tmpfs /dev/shm
root=/dev/shm/root
mkdir "$root"
lock() {
  while read -r _ _ _ _ place _; do
    case $place in "$1"|"$1"/*) mount -o remount,bind,ro "$place" 2>/dev/null || [ ! -w "$place" ] ;; esac
  done < /proc/self/mountinfo
}
mount --rbind / "$root"
lock "$root"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/\${number%:*}" "$root/dev/\${number#*:}"; done
put() {
  if [ -d "$1" ]; then mkdir -p "$root$1"
  elif [ ! -e "$root$1" ]; then mkdir -p "$(dirname "$root$1")"; touch "$root$1"; fi
  mount --rbind "$1" "$root$1"
}
while [ "$1" != -- ]; do
  case $1 in
    hide) mount -t tmpfs tmpfs "$root$2" ;;
    read) put "$2"; lock "$root$2" ;;
    write) put "$2" ;;
    start) if command -v ip > /dev/null; then ip link set "$2" up; fi ;;
    user) user=$2 ;;
    cwd) cwd=$2 ;;
  esac
  shift 2
done
shift
cd "$root"
pivot_root . .
umount -l .
mount -t proc proc /proc
for name in ${KERNEL.join(' ')}; do
  if [ -e "/proc/$name" ]; then mount --bind "/proc/$name" "/proc/$name"; lock "/proc/$name"; fi
done
cd "$cwd"
exec unshare --user --map-user="\${user%:*}" --map-group="\${user#*:}" -- "$@"`;

function inNamespaces(command: readonly string[], cwd: string, walls: Walls): readonly string[] {
  const { network, hidden, readable, writable } = walls;
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  return [
    ...['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child'],
    ...['--ipc', '--uts', ...(network ? [] : ['--net'])],
    ...['sh', '-c', IN_NAMESPACES, 'sh', 'user', user, 'cwd', cwd],
    ...(network ? [] : ['start', 'lo']),
    ...hidden.flatMap((path) => ['hide', path]),
    ...readable.flatMap((path) => ['read', path]),
    ...[...devices(HARMLESS), ...devices(GPUS), ...writable].flatMap((path) => ['write', path]),
    ...['--', ...command],
  ];
}

import { codeOf } from './failure.js';

/** Enough for a thousand files on a slow disk. */
const PATIENCE = 10_000;

/**
 * For each path on standard input, 1 where a new file in its place would not have the same metadata: it has extended
 * attributes (ACLs are among them, and the labels of SELinux), or its folder would give it an ACL.
 */
const ASKER = `
import errno, os, sys

def names(path):
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        return [] if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP) else ["unknown"]

inherited = {}

def inherits(folder):
    if folder not in inherited:
        found = names(folder)
        inherited[folder] = "system.posix_acl_default" in found or "unknown" in found
    return inherited[folder]

for path in sys.stdin.buffer.read().split(b"\\0"):
    sys.stdout.write("1" if names(path) or inherits(os.path.dirname(path)) else "0")
`;

/**
 * Those of these files (by their absolute paths) that certainly have no metadata which a new file in their place would lack.
 * Node cannot ask for extended attributes, Python on Linux can; where nobody can, no file is certain.
 */
export function plainFiles(paths: readonly string[]): ReadonlySet<string> {
  if (process.platform !== 'linux' || paths.length === 0) return new Set();
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const answer = spawnSync('python3', ['-I', '-S', '-c', ASKER], {
    // Nothing of the project decides which Python this is, or what it does.
    cwd: '/',
    env: { PATH: process.env['PATH'] },
    input: paths.join('\0'),
    encoding: 'latin1',
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
  });
  if (answer.error !== undefined && codeOf(answer.error) === undefined) throw answer.error;
  const marks = answer.status === 0 ? answer.stdout : '';
  return new Set(paths.filter((_, index) => marks.length === paths.length && marks[index] === '0'));
}

import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a program is, if it is on the PATH. */
export function programAt(name: string): string | undefined {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  return stdout.trim() || undefined;
}

/**
 * Installs a Debian package and answers why not, if it cannot. One at a time, as apt wants it: other files of tests may
 * be at it.
 */
export function install(debian: string): string | undefined {
  const lock = join(tmpdir(), 'memfix-test-apt.lock');
  const script = `apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ${debian}`;
  const { status, stderr, error } = spawnSync('flock', [lock, 'sh', '-c', script], { encoding: 'utf8' });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : `exit ${status}: ${stderr.trim().split('\n').at(-1)}`;
}

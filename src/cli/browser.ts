import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from './io.js';

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
  linux: ['xdg-open'],
};

/**
 * Asks the system to show an address that holds a secret. Any user of a machine sees the words of its processes, so the
 * browser is given a file that only its owner can read and that leads there. Answers with what takes the file away.
 */
export function showInBrowser(url: string, env: Io['env']): (() => void) | undefined {
  const [program, ...words] = OPENERS[process.platform] ?? [];
  const hasScreen = process.platform !== 'linux' || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (program === undefined || !hasScreen) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'memfix-review-'));
  const file = join(folder, 'review.html');
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`, { mode: 0o600 });
  // Whoever has no such program opens the address that was printed.
  const child = spawn(program, [...words, file], { detached: true, stdio: 'ignore', env: { ...env } });
  child.on('error', () => undefined);
  child.unref();
  return () => rmSync(folder, { recursive: true, force: true });
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { WORLD } from '../workspace/migrate/remotes.js';

export interface Reviewing {
  readonly url: string;
  readonly child: ChildProcess;
  /** As a person ends it: the exit code, and what was said. */
  end(signal?: NodeJS.Signals): Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** `memfix review` as a process, with toys, once it listens. */
export async function startReview(camp: string, ...words: readonly string[]): Promise<Reviewing> {
  const main = join(import.meta.dirname, 'toy-main.ts');
  const start = ['--import', import.meta.resolve('tsx'), main, 'review', ...words];
  const child = spawn(process.execPath, start, { cwd: camp, env: WORLD, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = once(child, 'close').then(() => undefined);
  const line = once(createInterface(child.stdout), 'line').then(([url]) => String(url));
  const url = await Promise.race([line, ended]);
  if (url === undefined) throw new Error(`memfix review ended: ${stderr}`);
  return {
    url,
    child,
    async end(signal = 'SIGINT') {
      child.kill(signal);
      await ended;
      return { code: child.exitCode, stderr };
    },
  };
}

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Files, git, repositoryWith } from '../workspace/folders.js';
import { realProgram } from './toy-program.js';

/** With threads and, where it loads, the native parser: what a person runs. */
const program = realProgram();

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

/** Set it to the number that a failure names to repeat its moments. */
const SEED = Number(process.env['MEMFIX_TEST_SEED'] ?? Date.now() % 1_000_000);

/** Uniform numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A file with one finding that takes the parser a while: the grammar reads on from each comment that may end a string. */
function trainer(index: number): string {
  return `import torch

def train_${index}(model, loader, optimizer):
    total = 0
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        total += loss
${"    # '''\n".repeat(1000)}    return float(total)
`;
}

const FILES: Files = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`f${String(index).padStart(2, '0')}.py`, trainer(index)]),
);

interface Ending {
  readonly code: number;
  /** It died of the signal: it came before memfix listened, or after it was done. */
  readonly isKilled: boolean;
  readonly stderr: string;
  /** Milliseconds from the signal to the end. */
  readonly took: number;
}

function start(cwd: string, words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [program, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Undefined where it had ended by itself. */
async function interrupted(
  cwd: string,
  words: readonly string[],
  signal: NodeJS.Signals,
  moment: number,
): Promise<Ending | undefined> {
  const child = start(cwd, words);
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const closed = once(child, 'close');
  await Promise.race([delay(moment), closed]);
  if (child.exitCode !== null) return undefined;
  const began = performance.now();
  child.kill(signal);
  const [code, killer] = (await closed) as [number | null, NodeJS.Signals | null];
  const number = SIGNALS.find(([name]) => name === killer)?.[1] ?? -1;
  return { code: code ?? number, isKilled: code === null, stderr, took: performance.now() - began };
}

test.each([
  ['check', 40],
  ['diff', 5],
  ['apply', 5],
] as const)(
  'a signal at any moment of %s ends it at once, with its own code and one line',
  { timeout: 300_000 },
  async (command, tries) => {
    const cwd = repositoryWith(FILES);
    const words = [command, '--no-cache', ...(command === 'check' ? ['--output-format', 'concise'] : [])];
    const began = performance.now();
    const whole = spawnSync(process.execPath, [program, ...words], { cwd, encoding: 'utf8' });
    const duration = performance.now() - began;
    expect(whole.stderr).not.toBe('');
    git(cwd, 'checkout', '-q', '.');
    const random = randomNumbers(SEED);
    for (let done = 0, at = 0; done < tries && at < 3 * tries; at++) {
      const [signal, expected] = SIGNALS[at % SIGNALS.length] ?? SIGNALS[0];
      const moment = random() * duration;
      const about = `MEMFIX_TEST_SEED=${SEED}, try ${at}: ${signal} after ${moment.toFixed()} ms`;
      const ending = await interrupted(cwd, words, signal, moment);
      git(cwd, 'checkout', '-q', '.');
      if (ending === undefined) continue;
      const { code, isKilled, stderr, took } = ending;
      const lines = stderr.match(/^Interrupted.*$/gm) ?? [];
      // It had ended before the signal came, or all was written by then.
      if (stderr === whole.stderr && code === whole.status) continue;
      expect(stderr, about).not.toContain('Napi');
      expect({ code, lines: lines.length }, `${about}: ${stderr}`).toEqual({
        code: expected,
        lines: isKilled ? lines.length : 1,
      });
      expect(took, about).toBeLessThan(10_000);
      if (!isKilled) done++;
    }
  },
);

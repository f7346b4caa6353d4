import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../../src/workspace/prove/child.js';
import { BoundedLog } from '../../../src/workspace/prove/log.js';
import { folderWith } from '../folders.js';

const KIB = 1024;
const PATH = process.env['PATH'];

function errand(script: string, more: { readonly metric?: RegExp; readonly timeout?: number } = {}) {
  const cwd = folderWith();
  const log = join(cwd, 'log.txt');
  const { signal } = new AbortController();
  const env = { PATH, MEMFIX_TEST_MARK: cwd };
  return { command: ['sh', '-c', script], cwd, env, mark: 'MEMFIX_TEST_MARK', log, signal, ...more };
}

describe('the log of a command', () => {
  test('has all of what is short, in the order in which it was written to either stream', async () => {
    const run = errand('echo out; echo err >&2; echo out; echo err >&2; printf end');
    expect(await runToEnd(run)).toMatchObject({ ending: { kind: 'exited', code: 0 }, logged: [] });
    expect(readFileSync(run.log, 'utf8')).toBe('out\nerr\nout\nerr\nend');
  });

  test('has the head and the tail of what is long, and says how much is between', async () => {
    const run = errand('echo first; yes middle | head -c 20000000; echo; echo last');
    await runToEnd(run);
    const text = readFileSync(run.log, 'utf8');
    expect(text.length).toBeLessThan(2 * 256 * KIB + 100);
    expect(text.length).toBeGreaterThan(2 * 256 * KIB - 100);
    expect(text).toMatch(/^first\nmiddle\n/);
    expect(text).toMatch(/\nlast\n$/);
    // Lines are left out whole.
    const [words = '', leftOut = ''] =
      /(?<=\nmiddle\n)\[memfix: (\d+) bytes are left out here\]\n(?=middle\n)/.exec(text) ?? [];
    const all = 20_000_000 + 'first\n\nlast\n'.length;
    expect(Number(leftOut)).toBe(all - (text.length - words.length));
  });

  test('stays short on disk while the command prints', async () => {
    const run = errand('yes 0123456789012345678901234567890123456789 & sleep 100', { timeout: 3 });
    const sizes: number[] = [];
    const isOver = { now: false };
    const watching = (async () => {
      while (!isOver.now) {
        sizes.push(statSync(run.log, { throwIfNoEntry: false })?.size ?? 0);
        await pause(20);
      }
    })();
    expect(await runToEnd(run)).toMatchObject({ ending: { kind: 'timed out' } });
    isOver.now = true;
    await watching;
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * 256 * KIB + 100);
    expect(statSync(run.log).size).toBeGreaterThan(256 * KIB);
  });

  test('is looked through for a metric also where it is left out', async () => {
    const script =
      'i=0; while [ $i -lt 1000 ]; do echo "loss $i"; head -c 2000 /dev/zero | tr "\\0" x; echo; i=$((i+1)); done';
    const { logged } = await runToEnd(errand(script, { metric: /loss (\d+)/g }));
    expect(logged).toEqual(Array.from({ length: 1000 }, (_, index) => index));
  });

  test('does not wait for one that keeps the output open', async () => {
    const setsid =
      'env -u MEMFIX_TEST_MARK setsid sh -c "echo $$ > pid; exec sleep 60" & sleep 0.3; echo done';
    const run = errand(setsid);
    const started = performance.now();
    await runToEnd(run);
    expect(performance.now() - started).toBeLessThan(50_000);
    expect(readFileSync(run.log, 'utf8')).toBe('done\n');
  });
});

test('nothing is left of a command, also where it has just started another program', async () => {
  for (let round = 0; round < 60; round += 1) {
    const run = errand('setsid sh -c "while :; do sleep 0.01; echo here >> late; done" &');
    await runToEnd(run);
    const late = join(run.cwd, 'late');
    const before = existsSync(late) ? statSync(late).size : 0;
    await pause(30);
    expect(existsSync(late) ? statSync(late).size : 0).toBe(before);
  }
});

test.each([0, 1, 9, 10, 11, 19, 20, 21, 45, 400])('%i bytes, of which ten are kept at each end', (count) => {
  const path = join(folderWith(), 'log');
  const text = Array.from({ length: count }, (_, index) => String(index % 10)).join('');
  for (const size of [1, 7, 1000]) {
    const log = new BoundedLog(path, undefined, 10);
    for (let at = 0; at < count; at += size) log.write(Buffer.from(text.slice(at, at + size)));
    log.close();
    const whole = count <= 20;
    const between = `\n[memfix: ${count - 20} bytes are left out here]\n`;
    expect(readFileSync(path, 'utf8')).toBe(whole ? text : text.slice(0, 10) + between + text.slice(-10));
  }
});

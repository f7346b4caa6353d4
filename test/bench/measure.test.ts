import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Conditions, type Contender, interleave } from '../../bench/measure.js';

describe('measuring', () => {
  let scratch: string;
  let conditions: Conditions;

  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'memfix-measure-'));
    conditions = { runs: 2, patience: 60, timeout: 30, scratch, progress: () => {} };
  });

  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  function script(name: string, code: string): Contender {
    const prepare = (): void => appendFileSync(join(scratch, 'order'), name);
    return { name, command: { argv: [process.execPath, '-e', code], cwd: scratch, prepare } };
  }

  it('warms all up, then runs them in turns', async () => {
    const [a, b] = await interleave([script('a', 'console.log(1)'), script('b', '')], conditions);
    expect(readFileSync(join(scratch, 'order'), 'utf8')).toBe('ababab');
    expect(a).toMatchObject({ name: 'a', lines: 1 });
    expect(a?.seconds).toHaveLength(2);
    expect(b?.lines).toBe(0);
  });

  it('keeps what failed, with the last words', async () => {
    const found = await interleave(
      [
        script('crash', 'console.error("no luck"); process.exit(3)'),
        { name: 'absent', command: 'cannot be installed' },
        { name: 'nowhere', command: { argv: [join(scratch, 'nowhere')], cwd: scratch } },
        script('well', 'process.exit(1)'),
      ],
      conditions,
    );
    expect(found.map(({ problem }) => problem)).toEqual([
      'exit 3: no luck',
      'cannot be installed',
      expect.stringContaining('ENOENT'),
      undefined,
    ]);
  });

  it('ends a run at the limit, and what it started with it', async () => {
    const code = `require('node:child_process').spawn(process.execPath, ['-e', 'setTimeout(() => require("node:fs").writeFileSync("late", ""), 2500)']);`;
    const [slow] = await interleave([script('slow', code)], { ...conditions, timeout: 1 });
    expect(slow?.problem).toBe('still running after 1 s');
    await new Promise((resume) => setTimeout(resume, 2500));
    expect(() => readFileSync(join(scratch, 'late'))).toThrow('ENOENT');
  });

  it('runs no more once patience is at an end', async () => {
    const [slow] = await interleave([script('slow', 'setTimeout(() => {}, 1100)')], {
      ...conditions,
      patience: 1,
    });
    expect(slow?.seconds).toHaveLength(1);
  });

  it.runIf(process.platform === 'linux')('sees the memory of all processes', async () => {
    const hold = 'const held = Buffer.alloc(1.5e8, 1); setTimeout(() => held.length, 700)';
    const both = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(hold)}]); ${hold}`;
    const [one, two] = await interleave([script('one', hold), script('two', both)], {
      ...conditions,
      runs: 1,
    });
    expect(one?.peakBytes).toBeGreaterThan(1.5e8);
    expect(one?.peakBytes).toBeLessThan(2.9e8);
    expect(two?.peakBytes).toBeGreaterThan(3e8);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from './random.js';
import type { Broken, Scenario } from './scenario.js';

export interface Report {
  readonly counts: ReadonlyMap<string, number>;
  readonly failures: readonly Broken[];
  readonly seconds: number;
  /** Why it was not run. */
  readonly skipped?: string;
}

/** Runs one scenario in a folder of its own. A scenario that throws has failed. */
export async function torture(
  scenario: Scenario,
  {
    seed,
    count,
    from = 0,
    onFailure,
  }: {
    readonly seed: number;
    readonly count: number;
    readonly from?: number | undefined;
    onFailure?(failure: Broken): void;
  },
): Promise<Report> {
  const counts = new Map<string, number>();
  const failures: Broken[] = [];
  const started = performance.now();
  const skipped = scenario.unavailable?.();
  if (skipped !== undefined) return { counts, failures, seconds: 0, skipped };
  const folder = mkdtempSync(join(tmpdir(), `torture-${scenario.name}-`));
  try {
    await scenario.run({
      seed,
      from,
      count,
      folder,
      random: (attempt) => new Random(seed, attempt),
      counted: (what, times = 1) => counts.set(what, (counts.get(what) ?? 0) + times),
      times: (what) => counts.get(what) ?? 0,
      failed: (failure) => {
        failures.push(failure);
        onFailure?.(failure);
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { counts, failures, seconds: (performance.now() - started) / 1000 };
}

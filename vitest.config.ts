import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const report = process.env['MEMFIX_TEST_REPORT'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/bundle-page.ts', 'test/support/state-folder.ts'],
    // The native parser is an addon and the sessions need a terminal: processes, not threads.
    pool: 'forks',
    // Two more than there are processors: many tests wait for child processes, forges and browsers.
    maxWorkers: availableParallelism() + 2,
    // A machine that does other things as well is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
  },
});

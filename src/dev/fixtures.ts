import { join } from 'node:path';
import { casesIn, type FixtureCase } from '../testing/fixtures.js';
import { root } from './project.js';

export const fixturesFolder = join(root, 'fixtures');

/** The environment variable with the folders that a test run is limited to; `npm test -- <id>…` sets it. */
export const ONLY = 'MEMFIX_FIXTURES';

const only = process.env[ONLY]?.split(',');

/** Whether this test run is for a folder of fixtures. */
export const isChosen = (folder: string): boolean => only?.includes(folder) ?? true;

/** Whether it is for all of them. */
export const areAllChosen = only === undefined;

/** Rewrites `findings.json`, and `output.py` where there is none. Contributors read the diff; CI never records. */
export const recording = process.env['UPDATE_FIXTURES'] === '1' && process.env['CI'] === undefined;

export function casesOf(folder: string): readonly FixtureCase[] {
  return casesIn(join(fixturesFolder, folder));
}

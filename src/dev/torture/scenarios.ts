import { clockJumps } from './clock.js';
import { damagedState } from './damaged-state.js';
import { fullDisk, readOnly } from './faulty-disk.js';
import { killApply } from './kill-apply.js';
import { killMigrate } from './kill-migrate.js';
import { killWorkers } from './kill-workers.js';
import { mutations } from './mutations.js';
import type { Scenario } from './scenario.js';
import { signals } from './signals.js';
import { twoProcesses } from './two-processes.js';

export const scenarios: readonly Scenario[] = [
  mutations,
  killApply,
  signals,
  twoProcesses,
  damagedState,
  fullDisk,
  readOnly,
  clockJumps,
  killMigrate,
  killWorkers,
];

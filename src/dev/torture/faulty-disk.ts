import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { badEnd, memfix, programMissing, type Setting } from './program.js';
import type { Broken, Scenario, Trial } from './scenario.js';
import {
  APPLY,
  copyOf,
  filesIn,
  lastWords,
  type Sample,
  sameFiles,
  sampleIn,
  strayFiles,
  tornFiles,
} from './tree.js';

/** Someone who is not root, for whom permissions count. */
const NOBODY = 65534;

/** A small disk of its own, which only root can make. */
function mounted(folder: string, kilobytes: number): boolean {
  mkdirSync(folder, { recursive: true });
  const options = `size=${kilobytes}k,mode=0777`;
  return spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]).status === 0;
}

function unmounted(folder: string): void {
  spawnSync('umount', ['-l', folder]);
}

function cannotMount(): string | undefined {
  const missing = programMissing();
  if (missing !== undefined) return missing;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can mount a small disk';
  const folder = join('/tmp', `torture-mount-${process.pid}`);
  const isPossible = mounted(folder, 64);
  unmounted(folder);
  rmSync(folder, { recursive: true, force: true });
  return isPossible ? undefined : 'no file system can be mounted here';
}

/** What holds after any fault: nothing is torn, all that was written can be taken back, nothing is left behind. */
async function settle(
  trial: Trial,
  attempt: number,
  sample: Sample,
  setting: Setting,
  repaired: () => void,
): Promise<void> {
  const broken = (law: string, detail: string): void =>
    trial.failed({ attempt, law, detail } satisfies Broken);
  const run = await memfix(setting, ...APPLY, '.');
  const bad = badEnd(run);
  if (bad !== undefined) broken('apply ends well', bad);
  const torn = tornFiles(setting.cwd, sample);
  if (torn.length > 0) broken('every file is old or new', torn.join(', '));
  const isWhole = sameFiles(sample.after, filesIn(setting.cwd, sample.before));
  trial.counted(isWhole ? 'applied all the same' : 'applied in part or not at all');
  if (!isWhole && run.status === 0) broken('a file that is not written is reported', lastWords(run));
  repaired();
  const undo = await memfix(setting, 'undo');
  const worse = badEnd(undo);
  if (worse !== undefined) broken('undo ends well', worse);
  if (!sameFiles(sample.before, filesIn(setting.cwd, sample.before)))
    broken('undo brings every byte back', lastWords(undo));
  const strays = strayFiles(setting.cwd, sample);
  if (strays.length > 0) broken('no drafts are left', strays.join(', '));
}

/** The disk of the project is full, or the one of the journal: at any size, so that it fills up at any moment. */
export const fullDisk: Scenario = {
  name: 'full-disk',
  summary: 'apply on disks that fill up: that of the project, and that of the undo journal',
  tries: { short: 4, long: 300 },
  unavailable: cannotMount,
  async run(trial) {
    const sample = await sampleIn(trial.folder, 12, trial.random(-1));
    const bytes = [...sample.before.values()].reduce(
      (sum, { length }) => sum + Math.ceil(length / 4096) * 4,
      0,
    );
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const isJournal = random.chance(0.5);
      const disk = join(trial.folder, `disk-${attempt}`);
      // Room for the sample itself, and then little more: each page of a file takes 4 KiB.
      const size = isJournal ? 4 + random.below(80) : bytes + random.below(10);
      if (!mounted(disk, size)) throw new Error('no disk could be mounted');
      try {
        const elsewhere = join(trial.folder, `elsewhere-${attempt}`);
        const cwd = join(isJournal ? elsewhere : disk, 'project');
        cpSync(sample.folder, cwd, { recursive: true });
        const state = isJournal ? disk : join(elsewhere, 'state');
        trial.counted(isJournal ? 'full disks of the journal' : 'full disks of the project');
        await settle(trial, attempt, sample, { cwd, state }, () => {
          spawnSync('mount', ['-o', 'remount,size=64m', disk]);
        });
      } finally {
        unmounted(disk);
      }
    }
  },
};

/** Folders of the project, or the one of the journal, may not be written to. */
export const readOnly: Scenario = {
  name: 'read-only',
  summary: 'apply where some folders, files or the journal cannot be written',
  tries: { short: 3, long: 200 },
  unavailable: () => (process.platform === 'win32' ? 'permissions are others there' : programMissing()),
  async run(trial) {
    const sample = await sampleIn(trial.folder, 8, trial.random(-1));
    chmodSync(trial.folder, 0o755);
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const place = join(trial.folder, `place-${attempt}`);
      const cwd = copyOf(sample, join(place, 'project'));
      const state = join(place, 'state');
      mkdirSync(state);
      const isRoot = process.getuid?.() === 0;
      if (isRoot) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, place]);
      const paths = [...sample.before.keys()].filter(() => random.chance(0.4));
      const closed = random.oneOf(
        [cwd],
        [state],
        paths.map((path) => join(cwd, path)),
        paths.map((path) => join(cwd, path, '..')),
      );
      for (const path of closed) spawnSync('chmod', ['a-w', path]);
      trial.counted('read-only places', closed.length);
      await settle(trial, attempt, sample, { cwd, state, ...(isRoot && { uid: NOBODY }) }, () => {
        spawnSync('chmod', ['-R', 'u+rwX', place]);
      });
    }
  },
};

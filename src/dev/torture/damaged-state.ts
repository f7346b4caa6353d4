import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { badEnd, memfix, programMissing } from './program.js';
import type { Random } from './random.js';
import type { Scenario } from './scenario.js';
import { APPLY, copyOf, everyFile, filesIn, lastWords, sameFiles, sampleIn, tornFiles } from './tree.js';

/** What can become of a file that nobody looks after. Each is done to one file of memfix's own. */
const DAMAGES: Readonly<Record<string, (path: string, random: Random) => void>> = {
  'flipped bit': (path, random) => {
    const bytes = readFileSync(path);
    const at = random.below(bytes.length);
    if (bytes.length > 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    writeFileSync(path, bytes);
  },
  'cut off': (path, random) => {
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, random.below(bytes.length)));
  },
  'line gone': (path, random) => {
    const lines = readFileSync(path, 'latin1').split('\n');
    lines.splice(random.below(lines.length), 1);
    writeFileSync(path, lines.join('\n'), 'latin1');
  },
  'line twice': (path, random) => {
    const lines = readFileSync(path, 'latin1').split('\n');
    const at = random.below(lines.length);
    lines.splice(at, 0, lines[at] ?? '');
    writeFileSync(path, lines.join('\n'), 'latin1');
  },
  'other content': (path, random) =>
    writeFileSync(
      path,
      random.oneOf(
        '',
        '\0\0\0',
        '{}',
        'null\n',
        '[]',
        '{"version":1}\n{"path":"../../x","before":"","after":""}\n',
      ),
    ),
  noise: (path, random) =>
    writeFileSync(path, Buffer.from(Array.from({ length: 5000 }, () => random.below(256)))),
  'very large': (path) => writeFileSync(path, Buffer.alloc(8 * 1024 * 1024, '{"path":"a"}\n')),
  gone: (path) => rmSync(path),
  'a folder': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a FIFO': (path) => {
    rmSync(path);
    spawnSync('mkfifo', [path]);
  },
  'a link to a device': (path) => {
    rmSync(path);
    symlinkSync('/dev/zero', path);
  },
  'a link to itself': (path) => {
    rmSync(path);
    symlinkSync(path, path);
  },
};

/**
 * Caches and journals are damaged. What `check` then says is what it says without any of them; `undo` brings old bytes back
 * or leaves a file as it is; nothing hangs, crashes or ends in a stack trace.
 */
export const damagedState: Scenario = {
  name: 'damaged-state',
  summary: 'flipped bits, cut files, foreign content, FIFOs and devices in place of caches and journals',
  tries: { short: 8, long: 1000 },
  unavailable: () => (process.platform === 'win32' ? 'it needs mkfifo' : programMissing()),
  async run(trial) {
    const sample = await sampleIn(trial.folder, 6, trial.random(-1));
    const applied = copyOf(sample, join(trial.folder, 'project'));
    const kept = join(trial.folder, 'state-kept');
    const [folder, state] = [applied, join(trial.folder, 'state')];
    await memfix({ cwd: folder, state: kept }, 'check', '.');
    await memfix({ cwd: folder, state: kept }, ...APPLY, '.');
    const second = await memfix({ cwd: folder, state: kept }, 'check', '--output-format', 'json', '.');
    const wanted = (
      await memfix(
        { cwd: folder, state: join(trial.folder, 'none') },
        'check',
        '--output-format',
        'json',
        '.',
      )
    ).stdout;
    if (second.stdout !== wanted)
      trial.failed({ attempt: trial.from, law: 'a second check says the same', detail: lastWords(second) });
    if (everyFile(kept).length === 0) throw new Error('memfix kept nothing in its state folder');
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      rmSync(state, { recursive: true, force: true });
      cpSync(kept, state, { recursive: true });
      const harmed = damage(state, random);
      trial.counted('damaged files');
      const setting = { cwd: folder, state };
      const broken = (law: string, detail: string): void =>
        trial.failed({ attempt, law, detail: `${harmed}: ${detail}` });
      const check = await memfix(setting, 'check', '--output-format', 'json', '.');
      const bad = badEnd(check);
      if (bad !== undefined) broken('check ends well', bad);
      else if (check.status !== 2 && check.stdout !== wanted)
        broken('check says the same as without a cache', lastWords(check));
      if (check.status === 2) trial.counted('checks refused');
      const undo = await memfix(setting, 'undo');
      const worse = badEnd(undo);
      if (worse !== undefined) broken('undo ends well', worse);
      const torn = tornFiles(folder, sample);
      if (torn.length > 0) broken('every file is old or new', torn.join(', '));
      const isBack = sameFiles(sample.before, filesIn(folder, sample.before));
      if (!isBack && harmed.includes('cache'))
        broken('a damaged cache does not keep undo from working', lastWords(undo));
      trial.counted(isBack ? 'undone all the same' : 'undo refused');
      // The next attempt starts from the changed files.
      for (const [path, bytes] of sample.after) writeFileSync(join(folder, path), bytes);
    }
  },
};

function damage(state: string, random: Random): string {
  const files = everyFile(state).filter((path) => lstatSync(join(state, path)).isFile());
  const path = random.pick(files) ?? '';
  const name = random.pick(Object.keys(DAMAGES)) ?? '';
  DAMAGES[name]?.(join(state, path), random);
  return `${path} (${name})`;
}

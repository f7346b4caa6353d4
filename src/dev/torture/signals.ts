import { constants } from 'node:os';
import { join } from 'node:path';
import { type Ended, memfix, programMissing } from './program.js';
import type { Scenario } from './scenario.js';
import { write } from './tree.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Mostly `check`, whose threads are in the native parser for most of the time. */
const COMMANDS = [
  ['check', '--no-cache', '--output-format', 'concise', '.'],
  ['check', '--no-cache', '--output-format', 'concise', '.'],
  ['diff', '--no-cache', '.'],
  ['apply', '--no-cache', '--allow-no-vcs', '.'],
] as const;

/** Milliseconds from the signal to the end, on a busy machine. */
const AT_ONCE = 10_000;

/** A signal at any moment of a command ends it at once, with the code of that signal and one line that says so. */
export const signals: Scenario = {
  name: 'signals',
  summary: 'Ctrl-C, SIGTERM and SIGHUP at any moment of check, diff and apply',
  tries: { short: 24, long: 500 },
  unavailable: programMissing,
  async run(trial) {
    const undisturbed = new Map<string, Ended>();
    for (let attempt = trial.from; attempt < trial.from + trial.count; attempt++) {
      const random = trial.random(attempt);
      const words = COMMANDS[attempt % COMMANDS.length] ?? COMMANDS[0];
      const [command] = words;
      const whole = undisturbed.get(command) ?? (await memfix(projectIn(trial.folder, command), ...words));
      undisturbed.set(command, whole);
      const signal = random.oneOf(...SIGNALS);
      const killAfter = random.next() * whole.milliseconds;
      const setting = projectIn(trial.folder, `${attempt}`);
      const ended = await memfix({ ...setting, killAfter, killWith: signal }, ...words);
      trial.counted('runs');
      // It was faster than the signal.
      if (ended.status === whole.status && ended.stderr === whole.stderr) continue;
      const about = `${signal} after ${killAfter.toFixed()} ms of ${command}`;
      const broken = (law: string, detail: string): void =>
        trial.failed({ attempt, law, detail: `${about}: ${detail}` });
      if (ended.milliseconds - killAfter > AT_ONCE) broken('it ends at once', `${ended.milliseconds} ms`);
      if (/Napi|\n\s+at /.test(ended.stderr)) broken('it does not crash', ended.stderr.slice(-300));
      if (ended.signal === signal) {
        trial.counted('ended before it listened');
        continue;
      }
      if (ended.status !== 128 + constants.signals[signal])
        broken('the exit code names the signal', `${ended.status ?? ended.signal}`);
      const lines = ended.stderr.match(/^Interrupted.*$/gm) ?? [];
      if (lines.length !== 1) broken('one line says so', ended.stderr.slice(-300));
      trial.counted('interrupted');
    }
  },
};

function projectIn(folder: string, name: string) {
  const cwd = join(folder, `project-${name}`);
  const files = Array.from(
    { length: 8 },
    (_, index) => [`f${index}.py`, Buffer.from(trainer(index))] as const,
  );
  write(cwd, new Map(files));
  return { cwd, state: join(folder, `state-${name}`) };
}

/** One finding, and work for the parser: the grammar reads on from each comment that may end a string. */
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
${"    # '''\n".repeat(500)}    return float(total)
`;
}

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clock, Pace } from '../../../../src/workspace/migrate/forge/pace.js';
import { folderWith } from '../../folders.js';

/** A machine whose clock is set by hand; `wait` is what a patient run would do. */
class Machine implements Clock {
  boot = 'first';
  #up = 1000;
  #now = Date.parse('2026-03-01T12:00:00Z');
  readonly file = join(folderWith(), 'pulls.log');

  up = () => this.#up;
  now = () => this.#now;

  pass(seconds: number): void {
    this.#up += seconds;
    this.#now += seconds * 1000;
  }

  set(seconds: number): void {
    this.#now += seconds * 1000;
  }

  restart(): void {
    this.boot += 'x';
    this.#up = 10;
  }

  /** How long a process that starts now has to wait for its turn; nothing when it takes it. */
  async ask(perHour: number): Promise<number> {
    const stop = new AbortController();
    let told = 0;
    const pace = new Pace(this.file, perHour, this);
    const turn = pace.turn('one', stop.signal, (seconds) => {
      told = seconds;
      stop.abort();
    });
    await turn.catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    return told;
  }
}

async function afterThree(): Promise<Machine> {
  const machine = new Machine();
  for (let count = 0; count < 3; count++) {
    expect(await machine.ask(3)).toBe(0);
    machine.pass(60);
  }
  return machine;
}

test('lets so many through in any hour, over restarts of the program and of the machine', async () => {
  const machine = await afterThree();
  expect(await machine.ask(3)).toBe(3600 - 180);
  expect(await machine.ask(4)).toBe(0);
  machine.restart();
  machine.pass(3600 - 180);
  expect(await machine.ask(4)).toBe(0);
  expect(await machine.ask(4)).toBe(60);
  expect(readFileSync(machine.file, 'utf8').trim().split('\n')).toHaveLength(5);
});

test.each([
  ['ahead', 5 * 3600],
  ['back', -5 * 3600],
])('is not misled by a clock that jumps %s', async (_, jump) => {
  const machine = await afterThree();
  machine.set(jump);
  expect(await machine.ask(3)).toBe(3600 - 180);
  machine.pass(3600 - 180);
  expect(await machine.ask(3)).toBe(0);
});

test('waits no longer than an hour where the machine started anew with an older clock', async () => {
  const machine = await afterThree();
  machine.restart();
  machine.set(-30 * 24 * 3600);
  expect(await machine.ask(3)).toBe(3600);
  machine.pass(1800);
  // Another process, which sees the same clock.
  expect(await machine.ask(3)).toBe(1800);
  machine.pass(1800);
  expect(await machine.ask(3)).toBe(0);
});

test('reads on past a line that a crash cut off', async () => {
  const machine = await afterThree();
  appendFileSync(machine.file, '2026-03-01T12:0');
  expect(await machine.ask(4)).toBe(0);
  expect(await machine.ask(4)).toBe(3600 - 180);
});

test('gives each turn to one of many that ask at once', async () => {
  const machine = new Machine();
  const told = await Promise.all(Array.from({ length: 5 }, () => machine.ask(3)));
  expect(told.sort()).toEqual([0, 0, 0, 3600, 3600]);
});

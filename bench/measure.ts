import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Puts things in place before each run, outside the measured time. */
  readonly prepare?: () => void;
}

export interface Contender {
  readonly name: string;
  /** A sentence where there is nothing to run, such as a peer that could not be installed. */
  readonly command: Command | string;
}

/** What one contender did in all its runs. */
export interface Measurement {
  readonly name: string;
  readonly seconds: readonly number[];
  /** Processor time of each run, over all its processes: other programs disturb it less. Zero without /proc. */
  readonly cpuSeconds: readonly number[];
  /** Lines of output: shows that it found something. */
  readonly lines: number;
  /** Of the whole process tree, shared pages counted once per process. Unknown without /proc. */
  readonly peakBytes: number | undefined;
  /** Why there is no measurement. */
  readonly problem?: string;
}

export interface Conditions {
  readonly runs: number;
  /** Seconds after which a contender gets no further run. */
  readonly patience: number;
  /** Seconds after which a run counts as failed. */
  readonly timeout: number;
  /** A folder for the output of the runs. */
  readonly scratch: string;
  readonly progress: (line: string) => void;
}

/** Findings make most linters exit with 1. */
const WELL: ReadonlySet<number | null> = new Set([0, 1]);

/** Each contender once with an eye on its memory, which also warms the page cache; then the timed rounds, A B C A B C. */
export async function interleave(
  contenders: readonly Contender[],
  conditions: Conditions,
): Promise<readonly Measurement[]> {
  const entrants: Entrant[] = [];
  for (const { name, command } of contenders) {
    const entrant: Entrant = { name, command, seconds: [], cpuSeconds: [], lines: 0, peakBytes: undefined };
    entrants.push(entrant);
    if (typeof command === 'string') entrant.problem = command;
    else {
      const { seconds, cpuSeconds, peakBytes, problem } = await run(command, true, conditions);
      // One that took so long to warm up is not made to run again, and a cold cache hardly mattered to it.
      if (seconds > conditions.patience) {
        entrant.seconds.push(seconds);
        entrant.cpuSeconds.push(cpuSeconds);
      }
      entrant.peakBytes = peakBytes;
      entrant.lines = linesOf(join(conditions.scratch, 'stdout'));
      if (problem !== undefined) entrant.problem = problem;
      conditions.progress(`  ${name}: ${problem ?? `${seconds.toFixed(2)} s to warm up`}`);
    }
  }
  for (let round = 0; round < conditions.runs; round++) {
    for (const entrant of entrants) {
      if (entrant.problem !== undefined || typeof entrant.command === 'string') continue;
      if (sum(entrant.seconds) > conditions.patience) continue;
      const { seconds, cpuSeconds, problem } = await run(entrant.command, false, conditions);
      if (problem === undefined) {
        entrant.seconds.push(seconds);
        entrant.cpuSeconds.push(cpuSeconds);
      } else entrant.problem = problem;
    }
  }
  return entrants.map(({ command: _command, ...measurement }) => measurement);
}

interface Entrant extends Contender {
  seconds: number[];
  cpuSeconds: number[];
  lines: number;
  peakBytes: number | undefined;
  problem?: string;
}

interface Run {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number | undefined;
  readonly problem?: string;
}

/** Runs a command to its end in a process group of its own, so that nothing it started outlives a timeout or Ctrl-C. */
async function run(command: Command, watch: boolean, { scratch, timeout }: Conditions): Promise<Run> {
  command.prepare?.();
  // Output goes to files: an empty sink lets some tools stop early, a pipe makes them wait for us.
  const files = ['stdout', 'stderr'].map((name) => openSync(join(scratch, name), 'w'));
  const [program, ...args] = command.argv;
  const cpuBefore = cpuOfEndedChildren();
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: command.cwd,
    env: environment(command),
    stdio: ['ignore', ...files],
    detached: true,
  });
  const { pid } = child;
  const end = (): void => {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  };
  const interrupted = (): never => {
    end();
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  let peak = 0;
  const look =
    watch && pid !== undefined ? setInterval(() => (peak = Math.max(peak, memoryOf(pid))), 5) : undefined;
  const limit = setTimeout(end, timeout * 1000);
  const ending = await new Promise<Ending>((resolve) => {
    child.on('error', (error) => resolve({ status: null, signal: null, error }));
    child.on('exit', (status, signal) => resolve({ status, signal }));
  });
  const seconds = (performance.now() - started) / 1000;
  clearTimeout(limit);
  clearInterval(look);
  process.off('SIGINT', interrupted);
  for (const file of files) closeSync(file);
  const problem = seconds >= timeout ? `still running after ${timeout} s` : complaint(ending, scratch);
  const cpuSeconds = cpuOfEndedChildren() - cpuBefore;
  return {
    seconds,
    cpuSeconds,
    peakBytes: peak === 0 ? undefined : peak,
    ...(problem !== undefined && { problem }),
  };
}

interface Ending {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

function complaint({ status, signal, error }: Ending, scratch: string): string | undefined {
  if (error !== undefined) return error.message;
  if (WELL.has(status)) return undefined;
  const said = readFileSync(join(scratch, 'stderr'), 'utf8').trim().split('\n').at(-1) ?? '';
  return `${signal ?? `exit ${status}`}: ${said.slice(0, 200)}`;
}

function linesOf(path: string): number {
  return readFileSync(path, 'latin1').split('\n').length - 1;
}

/** Extra certificates cost every Node process some 75 ms at the start, and none of these goes to the network. */
function environment({ env }: Command): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...rest } = process.env;
  return { ...rest, ...env };
}

/** Bytes that a process and all below it hold now, or that it alone ever held if that is more. Zero without /proc. */
function memoryOf(pid: number): number {
  const { now, ever } = residentOf(pid);
  return Math.max(ever, now + sum(descendants(pid).map((each) => residentOf(each).now)));
}

function residentOf(pid: number): { now: number; ever: number } {
  const status = readProc(`/proc/${pid}/status`);
  const bytes = (name: string): number =>
    1024 * Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
  return { now: bytes('VmRSS'), ever: bytes('VmHWM') };
}

function descendants(pid: number): readonly number[] {
  const children = readProc(`/proc/${pid}/task/${pid}/children`).trim();
  if (children === '') return [];
  return children
    .split(' ')
    .map(Number)
    .flatMap((child) => [child, ...descendants(child)]);
}

/** Fields 16 and 17 of the kernel's line about us, in ticks of 10 ms. */
function cpuOfEndedChildren(): number {
  const fields = readProc('/proc/self/stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / 100;
}

/** Empty for a process that has just ended. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

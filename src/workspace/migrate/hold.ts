import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { bytesOf, textOf } from '../bounded.js';
import { codeOf, Failure, reasonOf } from '../failure.js';
import { sha256 } from './hash.js';
import { beats, Heartbeat, silenceOf } from './heartbeat.js';

/** Whose a repository is while it is worked on. */
export interface Hold {
  /** The run that held it before was killed, or it was taken from it. */
  readonly isInherited: boolean;
  /** Nobody has taken it over: a process that was suspended for long counts as dead. */
  isOurs(): boolean;
  release(): void;
}

export interface HoldWish {
  /** What it means that it is held. */
  readonly title?: string;
  /** Takes it from whoever holds it. */
  readonly takeover?: boolean;
}

/** Takes a repository for this process; one whose holder is dead is taken over. */
export async function hold(file: string, wish: HoldWish = {}): Promise<Hold> {
  const folder = dirname(file);
  mkdirSync(folder, { recursive: true });
  const heartbeat = Heartbeat.join(folder);
  const mine = contentFor(heartbeat);
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, mine);
    const now = statSync(draft).mtimeMs;
    let isInherited = false;
    while (!isLinked(draft, file)) {
      const theirs = contentOf(file);
      if (theirs === undefined) continue;
      if (wish.takeover !== true && (await isAlive(theirs, folder, now)))
        throw held(theirs, folder, now, wish);
      isInherited = true;
      takeAway(file, theirs);
    }
    const isOurs = () => heartbeat.isHeard && contentOf(file) === mine;
    const release = () => {
      takeAway(file, mine);
      heartbeat.leave();
    };
    return { isInherited, isOurs, release };
  } catch (error) {
    heartbeat.leave();
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The same, or why it is another's. */
export async function tryHold(file: string, wish: HoldWish = {}): Promise<Hold | Failure> {
  try {
    return await hold(file, wish);
  } catch (error) {
    if (error instanceof Failure) return error;
    if (codeOf(error) === undefined) throw error;
    const next = 'Remove the cause; `memfix migrate resume` goes on from here.';
    return new Failure('The repository cannot be held', `${file}: ${reasonOf(error)}`, next);
  }
}

/** A link appears with its content, or not at all. */
function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function contentOf(file: string): string | undefined {
  try {
    return bytesOf(file).toString('utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Two may find the same dead holder: what was taken away is looked at once more, and given back to a living one. */
function takeAway(file: string, dead: string): void {
  const aside = `${file}.${randomUUID()}.dead`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (contentOf(aside) !== dead) isLinked(aside, file);
  rmSync(aside, { force: true });
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When it started, where the system says so: numbers are used again, in a container at once. */
  readonly start: string;
  /** Where its number means something; empty in a lock of an older memfix. */
  readonly realm: string;
  /** The name of its heartbeat. */
  readonly heartbeat: string;
}

function contentFor({ name }: Heartbeat): string {
  return `${process.pid} ${hostname()} ${startOf(process.pid) || '-'} ${realm()} ${name}\n`;
}

function holderIn(content: string): Holder {
  const [pid = '', host = '', start = '', realmOf = '', heartbeat = ''] = content.trim().split(' ');
  return {
    pid: Number(pid),
    host,
    start: start === '-' ? '' : start,
    realm: realmOf,
    // It comes from a file, and names one in the same folder.
    heartbeat: basename(heartbeat),
  };
}

/** This start of the machine and, in it, the container: in another one, the same number is another process. */
function realm(): string {
  ownRealm ??= sha256(`${textOf('/proc/sys/kernel/random/boot_id') ?? ''}${pidNamespace()}`).slice(0, 12);
  return ownRealm;
}

let ownRealm: string | undefined;

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return '';
  }
}

function canBeAsked(holder: Holder): boolean {
  return holder.host === hostname() && (holder.realm === '' || holder.realm === realm());
}

/** `now` by the clock of the file system. What runs elsewhere cannot be asked; its heartbeat can be looked at. */
async function isAlive(content: string, folder: string, now: number): Promise<boolean> {
  const holder = holderIn(content);
  const file = join(folder, holder.heartbeat);
  const lives = canBeAsked(holder) ? isRunning(holder) : holder.heartbeat === '' || (await beats(file, now));
  // From here on, whatever else it held is free, and if it lives after all, it knows.
  if (!lives && holder.heartbeat !== '') rmSync(file, { force: true });
  return lives;
}

function isRunning({ pid, start }: Holder): boolean {
  if (start !== '' && startOf(pid) !== start) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** When a process started, in ticks since the machine did; nothing where the system does not show it. */
function startOf(pid: number): string {
  const stat = textOf(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function held(content: string, folder: string, now: number, { title }: HoldWish): Failure {
  const holder = holderIn(content);
  const silence = holder.heartbeat === '' ? undefined : silenceOf(join(folder, holder.heartbeat), now);
  const heard =
    canBeAsked(holder) || silence === undefined
      ? ''
      : `, and was heard of ${Math.max(0, Math.round(silence / 1000))} s ago`;
  return new Failure(
    title ?? 'Another run is at this repository',
    `process ${holder.pid} on ${holder.host} holds it${heard}`,
    'Wait for it; a minute after its last sign of life it counts as dead. `--takeover` takes it at once.',
  );
}

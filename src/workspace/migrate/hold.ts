import { linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { bytesOf, textOf } from '../bounded.js';
import { codeOf, Failure, reasonOf } from '../failure.js';

/** Whose a repository is while it is worked on. */
export interface Hold {
  /** The run that held it before was killed. */
  readonly isInherited: boolean;
  release(): void;
}

/** Takes a repository for this process; one whose holder is dead is taken over. `title` says what it means that it is held. */
export function hold(file: string, title = 'Another run is at this repository'): Hold {
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${process.pid} ${hostname()} ${startOf(process.pid)}\n`;
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    let isInherited = false;
    while (!isLinked(draft, file)) {
      const theirs = contentOf(file);
      if (theirs === undefined) continue;
      if (isAlive(theirs)) throw held(title, file, theirs);
      isInherited = true;
      takeAway(file, theirs);
    }
    return { isInherited, release: () => rmSync(file, { force: true }) };
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The same, or why it is another's. */
export function tryHold(file: string): Hold | Failure {
  try {
    return hold(file);
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
  const aside = `${file}.${process.pid}.dead`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (contentOf(aside) !== dead) isLinked(aside, file);
  rmSync(aside, { force: true });
}

/** What runs on another machine cannot be asked. A number is used again, in a container at once: its start tells. */
function isAlive(content: string): boolean {
  const [pid = '', host = '', start = ''] = content.trim().split(' ');
  if (host !== hostname()) return true;
  if (start !== '' && startOf(Number(pid)) !== start) return false;
  try {
    process.kill(Number(pid), 0);
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

function held(title: string, file: string, content: string): Failure {
  const [pid, host] = content.trim().split(' ');
  return new Failure(
    title,
    `process ${pid} on ${host} holds it`,
    `Wait for it; if it is gone, delete ${file}.`,
  );
}

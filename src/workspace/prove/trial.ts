import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ending, type ProcessRecord, recordOf, type Trial } from '../../report/prove/record.js';
import { bytesOf } from '../bounded.js';
import { Failure } from '../failure.js';
import { type Enclose, runToEnd } from './child.js';
import { readOutput } from './output.js';

/**
 * What a run is for: memory and time, counts that take time, counts with what is trained read as well, or the lines of some files
 * that run.
 */
export type Kind = 'measured' | 'counted' | 'digested' | 'traced';

/** Where a process writes its record; by it the processes of a run are known, too. */
export const RECORDS = 'MEMFIX_PROVE_RECORDS';
const LOG = 'log.txt';
const LARGEST_RECORD = 256 * 1024 * 1024;

/** One run of the command in a copy of the tree. */
export interface Setting {
  readonly command: readonly string[];
  readonly kind: Kind;
  readonly tree: string;
  readonly copy: string;
  readonly cwd: string;
  /** Where the shim lies, which goes on PYTHONPATH. */
  readonly shim: string;
  /** Where its records and its output go. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeout?: number;
  readonly metric?: RegExp;
  /** The files of the copy whose lines a traced run looks at. */
  readonly lines?: readonly string[];
  /** Seeds and deterministic kernels are set. */
  readonly deterministic?: boolean;
  readonly signal: AbortSignal;
  readonly enclose?: Enclose;
}

/** What makes a command do the same each time, as far as the environment can; the rest is done by the shim. */
export const DETERMINISTIC = {
  MEMFIX_PROVE_DETERMINISTIC: '1',
  CUBLAS_WORKSPACE_CONFIG: ':4096:8',
  PYTHONHASHSEED: '0',
};

/** The shim in a folder of its own, as it must be on a PYTHONPATH. */
export function placeShim(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const source = fileURLToPath(new URL('./sitecustomize.py', import.meta.url));
  copyFileSync(source, join(folder, 'sitecustomize.py'));
  return folder;
}

export async function runTrial(setting: Setting): Promise<Trial> {
  const { folder, command, tree, copy, cwd, timeout, signal, metric } = setting;
  const records = join(folder, 'records');
  mkdirSync(records, { recursive: true });
  mkdirSync(cwd, { recursive: true });
  const words = command.map((word) => inCopy(word, tree, copy));
  // The git folder of a copy is in that of the tree, in which git works outside the sandbox, too.
  const places = { cwd, readable: [setting.shim, join(tree, '.git')], writable: [copy, records] };
  const { ending, seconds, logged } = await runToEnd({
    command: setting.enclose?.(words, places) ?? words,
    cwd,
    env: environmentOf(setting, records),
    mark: RECORDS,
    log: join(folder, LOG),
    signal,
    ...(timeout !== undefined && { timeout }),
    ...(metric !== undefined && { metric }),
  });
  return { ...readTrial(folder, ending), seconds, logged };
}

/** What a run left in its folder. */
export function readTrial(folder: string, ending: Ending, metric?: RegExp): Trial {
  const records = recordsIn(join(folder, 'records'));
  return {
    ending,
    seconds: Math.max(0, ...records.map((record) => record.seconds)),
    records,
    ...readOutput(join(folder, LOG), metric),
  };
}

function environmentOf(
  { env, shim, kind, tree, copy, cwd, lines, deterministic = false }: Setting,
  records: string,
): Record<string, string | undefined> {
  const path = env['PYTHONPATH'];
  return {
    // Nothing is to be written into an environment that is only linked.
    PYTHONDONTWRITEBYTECODE: '1',
    ...env,
    ...(deterministic && DETERMINISTIC),
    PWD: cwd,
    PYTHONPATH: path === undefined || path === '' ? shim : shim + delimiter + path,
    MEMFIX_PROVE_TREE: tree,
    MEMFIX_PROVE_COPY: copy,
    MEMFIX_PROVE_COUNT: kind === 'counted' || kind === 'digested' ? '1' : '0',
    MEMFIX_PROVE_DIGEST: kind === 'digested' ? '1' : '0',
    MEMFIX_PROVE_LINES: kind === 'traced' ? (lines ?? []).join('\n') : '',
    [RECORDS]: records,
  };
}

/** A word that names a place in the tree, such as `--out=/home/me/project/out`, names it in the copy instead. */
function inCopy(word: string, tree: string, copy: string): string {
  const at = word.startsWith(tree) ? 0 : word.indexOf(`=${tree}`) + 1;
  const path = word.slice(at);
  if (path !== tree && !path.startsWith(`${tree}/`)) return word;
  const moved = copy + path.slice(tree.length);
  return existsSync(moved) || !existsSync(path) ? word.slice(0, at) + moved : word;
}

/** The command can write there, so that anything may be in the place of a record. */
function recordText(path: string): string {
  const stats = lstatSync(path);
  return stats.isFile() && stats.size <= LARGEST_RECORD ? bytesOf(path, LARGEST_RECORD).toString('utf8') : '';
}

function recordsIn(folder: string): readonly ProcessRecord[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const record = recordOf(recordText(join(folder, name)));
      if (record !== undefined) return record;
      throw new Failure(
        'A record cannot be read',
        `${join(folder, name)} is not what the shim of this version writes`,
        'Run the command again with the shim that came with this memfix.',
      );
    });
}

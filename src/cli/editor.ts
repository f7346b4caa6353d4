import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { bytesOf } from '../workspace/bounded.js';
import type { Terminal } from './ask.js';
import { sharingCtrlC } from './shared-interrupt.js';

export type Edited =
  /** `isSaved`: the editor has written the file, with other text or the same. */
  | { readonly kind: 'edited'; readonly text: string; readonly isSaved: boolean }
  | { readonly kind: 'failed'; readonly reason: string; readonly text: string };

const LONG_AGO = new Date('2000-01-01T00:00:00Z');

type Environment = Readonly<Record<string, string | undefined>>;

/** Opens the text in the person's editor and waits. Whatever the editor saved comes back, also when it failed. */
export async function editText(
  text: string,
  name: string,
  terminal: Terminal,
  env: Environment,
): Promise<Edited> {
  const command = editorCommand(env);
  if (command === undefined) {
    const reason = 'no editor was found: set $VISUAL or $EDITOR to the one you use';
    return { kind: 'failed', reason, text };
  }
  const folder = mkdtempSync(join(tmpdir(), 'memfix-'));
  try {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    // Whoever saves in this very moment leaves another time.
    utimesSync(file, LONG_AGO, LONG_AGO);
    const end = await sharingCtrlC(
      () => run(command, file, terminal),
      (how) => how === ENDED_BY_CTRL_C,
    );
    const saved = bytesOf(file).toString('utf8');
    if (end !== 'done')
      return { kind: 'failed', reason: `the editor “${command}” ${end.failed}`, text: saved };
    const isSaved = saved !== text || statSync(file).mtimeMs !== LONG_AGO.getTime();
    return { kind: 'edited', text: saved, isSaved };
  } catch (error) {
    const reason = `the editor's file was lost: ${error instanceof Error ? error.message : String(error)}`;
    return { kind: 'failed', reason, text };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function editorCommand(env: Environment): string | undefined {
  const isSet = (value: string | undefined) => value !== undefined && value.trim() !== '';
  const chosen = [env['VISUAL'], env['EDITOR'], env['GIT_EDITOR']].find(isSet) ?? gitEditor(env);
  if (isSet(chosen)) return chosen;
  if (process.platform === 'win32') return 'notepad';
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return ['nano', 'vi'].find((name) => folders.some((folder) => isExecutable(join(folder, name))));
}

/** What the user has git open: by the user's own config, never by that of a repository, which may be a stranger's. */
function gitEditor(env: Environment): string | undefined {
  const { status, stdout } = spawnSync('git', ['config', '--global', '--get', 'core.editor'], {
    env,
    encoding: 'utf8',
    timeout: 5000,
  });
  return status === 0 ? stdout.trim() : undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

type End = 'done' | { readonly failed: string };

const ENDED_BY_CTRL_C: End = { failed: 'was ended by Ctrl-C' };

/**
 * The command is the shell's to read, as for git: it may have arguments and quotes.
 * The trap keeps the shell alive through a Ctrl-C, so that an editor which takes it for itself goes on.
 */
function run(command: string, file: string, { input, output }: Terminal): Promise<End> {
  const stdio: [NodeJS.ReadStream, NodeJS.WriteStream, NodeJS.WriteStream] = [input, output, output];
  const child =
    process.platform === 'win32'
      ? spawn(`${command} "${file}"`, { stdio, shell: true })
      : spawn('/bin/sh', ['-c', `trap : INT; ${command} "$@"`, command, file], { stdio });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ failed: `could not be started: ${error.message}` }));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve('done');
      else if (signal === 'SIGINT' || code === 130) resolve(ENDED_BY_CTRL_C);
      else if (code === 127) resolve({ failed: 'was not found' });
      else resolve({ failed: signal === null ? `ended with exit code ${code}` : `was ended by ${signal}` });
    });
  });
}

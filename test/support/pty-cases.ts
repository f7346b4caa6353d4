import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { stateOf } from '../workspace/folders.js';
import { Folder, type PtyOptions, PtySession } from './pty.js';

export const CTRL_C = '\x03';
export const A = 'def f(x):\n    hold(x)\n    y = 1\n    risk(x)\n    return y\n';
export const B = 'def g(x):\n    hint(x)\n    hold(x)\n';
export const A_FIXED = A.replace('hold', 'release').replace('risk', 'calm');

const open: { dispose(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.dispose();
});

/** Where the answers to a session in this folder are kept. */
export function answersOf(folder: Folder): string {
  return join(stateOf(folder.path).folder, 'answers.jsonl');
}

/** Four findings: `hold` and `risk` (unsafe) in a.py, `hint` (advice) and `hold` in b.py. */
export function folderOf(files: Readonly<Record<string, string>> = { 'a.py': A, 'b.py': B }): Folder {
  const folder = new Folder(files);
  open.push(folder);
  return folder;
}

export function start(folder: Folder, options: PtyOptions = {}): PtySession {
  const session = new PtySession(folder, options);
  open.push(session);
  return session;
}

/** An editor that is a shell script; `$1` is the file it edits. */
export function editor(folder: Folder, script: string): Readonly<Record<string, string>> {
  const path = join(folder.path, 'my editor');
  folder.write('my editor', `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return { EDITOR: `'${path}'` };
}

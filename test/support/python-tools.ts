import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../src/dev/project.js';
import { environment } from '../../src/dev/python.js';

let known: string | undefined;

/** The Python with the programs that memfix has to get along with: pre-commit, junitparser, check-jsonschema, nbformat. */
export function toolsPython(): string {
  known ??= environment({
    name: 'memfix-tools',
    requirements: join(root, 'test', 'support', 'python-tools', 'requirements.txt'),
    warning: 'half a minute, once',
  });
  return known;
}

/** Runs a Python program on standard input and answers with what it prints; fails when it fails. */
export function inPython(program: string, input: string): string {
  const { status, stdout, stderr } = spawnSync(toolsPython(), ['-c', program], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMANDS, commandInfo, isCommand } from '../../src/cli/commands.js';
import { SHELLS } from '../../src/cli/completion.js';
import { root } from '../../src/dev/project.js';
import { FORMAT_NAMES } from '../../src/report/formats/formats.js';
import { install, programAt } from '../support/debian.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const SLOW = 120_000;

async function scriptOf(shell: string): Promise<string> {
  const { code, stdout } = await memfix({ cwd: folderWith() }, 'completions', shell);
  expect(code).toBe(0);
  return stdout;
}

/** What a shell answers to a program of its own, with the completions in a file. */
async function ask(shell: string, program: (script: string) => string): Promise<readonly string[]> {
  const missing = programAt(shell) === undefined ? install(shell) : undefined;
  if (missing !== undefined) throw new Error(`${shell} could not be installed: ${missing}`);
  const folder = folderWith({ 'train.py': '', 'notes.log': '' });
  const file = join(folder, 'script');
  writeFileSync(file, await scriptOf(shell));
  const { stdout, stderr, status } = spawnSync(shell, ['-c', program(file)], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('bash', () => {
  const complete = (...words: readonly string[]) =>
    ask('bash', (file) => {
      const list = ['memfix', ...words].map((word) => `'${word}'`).join(' ');
      return `source ${file}; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _memfix; printf '%s\\n' "\${COMPREPLY[@]}"`;
    });

  test('commands, options, values, names and files', async () => {
    expect(await complete('ch')).toEqual(['check']);
    expect(await complete('')).toEqual([...Object.keys(COMMANDS), '--help', '--version']);
    expect(await complete('check', '--output-f')).toEqual(['--output-format']);
    expect(await complete('check', '--output-format', '')).toEqual(FORMAT_NAMES);
    expect(await complete('list', '--output-format', '')).toEqual(['full', 'json']);
    expect(await complete('check', '--select', 'drop')).toEqual(['drop-hold']);
    expect(await complete('check', '--select', '=', 'le')).toEqual(['leak']);
    expect(await complete('explain', 'told')).toEqual(['told-tale']);
    expect(await complete('check', 'tr')).toEqual(['train.py']);
    expect(await complete('check', '--oom', 'n')).toEqual(['notes.log']);
    expect(await complete('budget', '--batch', '')).toEqual([]);
    expect(await complete('completions', 'z')).toEqual(['zsh']);
  });
});

test('fish', { timeout: SLOW }, async () => {
  const complete = (line: string) =>
    ask('fish', (file) => `source ${file}; complete -C '${line}'`).then((lines) =>
      lines.map((each) => each.split('\t')[0]),
    );
  expect(await complete('memfix chec')).toEqual(['check']);
  expect(await complete('memfix check --output-format sa')).toEqual(['sarif']);
  expect(await complete('memfix check --unsafe')).toEqual(['--unsafe-fixes']);
  expect(await complete('memfix check --no-uns')).toEqual(['--no-unsafe-fixes']);
  expect(await complete('memfix explain told')).toEqual(['told-tale']);
});

test('zsh', { timeout: SLOW }, async () => {
  const told = (words: string, current: number) =>
    ask(
      'zsh',
      (file) =>
        `compdef() { :; }; source ${file}; _describe() { print -rl -- "\${(@P)2}"; }; _arguments() { print -rl -- "$@"; }; words=(${words}); CURRENT=${current}; _memfix`,
    );
  expect(await told('memfix ""', 2)).toContain('check:report findings; writes nothing');
  const check = await told('memfix check ""', 3);
  expect(check).toContainEqual(
    expect.stringMatching(/^\*--output-format=\[.*\]:value:\(short full concise json /),
  );
  expect(check).toContainEqual(expect.stringMatching(/^\*-q\[no summary\]$/));
  expect(check.at(-1)).toBe('*:file:_files');
});

test.each(SHELLS)('%s knows every option of every command', async (shell) => {
  const script = await scriptOf(shell);
  for (const name of Object.keys(COMMANDS)) {
    if (!isCommand(name)) throw new Error(name);
    expect(script).toContain(name);
    for (const option of commandInfo(name).options)
      expect(script).toMatch(
        new RegExp(shell === 'fish' ? `-l (?:no-)?${option}\\b` : `--(?:no-)?${option}\\b`),
      );
  }
});

test('another shell is wrong usage', async () => {
  expect(await memfix({ cwd: folderWith() }, 'completions', 'tcsh')).toMatchObject({ code: 2, stdout: '' });
});

test('the manual page is one, without a warning', () => {
  const page = join(root, 'docs', 'memfix.1');
  const missing = programAt('groff') === undefined ? install('groff') : undefined;
  if (missing !== undefined) throw new Error(missing);
  const { stdout, stderr, status } = spawnSync('groff', ['-man', '-ww', '-Tascii', '-P-cbou', page], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  for (const name of Object.keys(COMMANDS)) expect(stdout).toContain(`memfix ${name}`);
  expect(stdout).toContain('--output-format FORMAT');
  expect(readFileSync(page, 'utf8')).not.toMatch(/^\.(?!TH|SH|SS|TP|PP|B|I)/m);
});

import { expect, test } from 'vitest';
import { COMMANDS, commandInfo, isCommand } from '../../src/cli/commands.js';
import { OPTIONS } from '../../src/cli/options.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

const ask = (...words: readonly string[]) => memfix({ cwd: folderWith() }, ...words);

test('memfix alone shows its commands, and is wrong usage', async () => {
  const { code, stdout, stderr } = await ask();
  expect([code, stdout]).toEqual([2, '']);
  for (const command of Object.keys(COMMANDS))
    expect(stderr).toMatch(new RegExp(`\\n  memfix ${command}(?: |\\n)`));
});

test.each([['--help'], ['-h'], ['help']])('memfix %s shows the same on standard output', async (word) => {
  const answer = await ask(word);
  expect(answer).toMatchObject({ code: 0, stderr: '', stdout: (await ask()).stderr });
});

test.each(Object.keys(COMMANDS))(
  'memfix %s --help names every option it takes, with examples',
  async (command) => {
    if (!isCommand(command)) throw new Error(command);
    const { code, stdout, stderr } = await ask(command, '--help');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.startsWith(`memfix ${command}: `)).toBe(true);
    expect(stdout).toContain(`\nExamples:\n  memfix ${command}`);
    for (const name of commandInfo(command).options)
      expect(stdout).toMatch(new RegExp(`--(?:\\[no-\\]|no-)?${name}\\b`));
    expect((await ask('help', command)).stdout).toBe(stdout);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(124);
  },
);

test('every option belongs to a command', () => {
  const used = new Set(
    Object.keys(COMMANDS).flatMap((name) => (isCommand(name) ? commandInfo(name).options : [])),
  );
  expect([...used].sort()).toEqual(Object.keys(OPTIONS).sort());
});

test.each([[['--version']], [['-V']], [['check', '--version']]])('memfix %j', async (words) => {
  expect((await ask(...words)).stdout).toMatch(/^memfix \d+\.\d+\.\d+\n$/);
});

test('list shows every transform, as a table or as JSON', async () => {
  const { code, stdout } = await ask('list');
  expect(code).toBe(0);
  for (const id of ['drop-hold', 'rare-word', 'told-tale']) expect(stdout).toContain(id);
  const metas: { id: string }[] = JSON.parse((await ask('list', '--output-format', 'json')).stdout);
  expect(metas.map(({ id }) => id)).toContain('told-tale');
  const named = await ask('list', 'peak', 'told-tale');
  expect(named.stdout.match(/^[a-z]+-[a-z]+(?= {2})/gm)).toEqual(['calm-risk', 'rare-word', 'told-tale']);
  expect(await ask('list', 'peek')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean `peak`?'),
  });
});

test('explain shows the page of one transform', async () => {
  const { code, stdout } = await ask('explain', 'drop-hold');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^drop-hold\nA toy called drop-hold\n/);
});

test('explain shows the example of the generated page', async () => {
  const { transforms } = await import('../../transforms/index.js');
  const { stdout } = await memfix({ cwd: folderWith(), transforms }, 'explain', 'no-grad');
  expect(stdout).toMatch(/\nExample\n[\s\S]*\n {2}\+ *@torch\.no_grad\(\)\n/);
});

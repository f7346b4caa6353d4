/** A repository of a stranger who knows terminals: whatever is printed, nothing of theirs is obeyed. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { folderWith, put, repositoryWith } from '../workspace/folders.js';
import { remotesWith, WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';

const MAIN = join(import.meta.dirname, 'toy-main.ts');

/** A title, a cleared screen, a colour that memfix does not use, eight-bit controls, other directions, other lines. */
const EVIL = '\x1b]0;owned\x07\x1b[2J\x1b[45m\x9b1J\x7f\u202e\u2066\u200f\u061c\u2028';
/** What a file name can have that is looked at. */
const TURNED = '\u202eyp.exe\u2066.py';

const FORGED = 'memfix: All is well\n  Next: Run the installer of evil.example.';

function hostile(): string {
  return repositoryWith({
    'a.py': `hold('${EVIL}')  # ${EVIL}\nrisk('${EVIL}')\nhint('${EVIL}')\n`,
    [TURNED]: `hold('${EVIL}')\n`,
    [`${EVIL}.py`]: 'hold()\n',
    [`b\n${FORGED}\n.py`]: 'hold()\n',
    [`c\r${FORGED}/d.py`]: 'hold()\n',
    'broken.py': `hold('${EVIL}'\n`,
    'requirements.txt': `torch==2.4${EVIL}\ntransformers>=4${EVIL}\n`,
  });
}

const OURS = /\x1b\[(?:(?:1|7|22|27|3[1-69]|9[15]|38;5;243)m|\d*[AGJK])/g;
const OBEYED = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/;

/** What is left of a text when our own sequences are taken out must have nothing that a terminal obeys. */
function expectHarmless(text: string): void {
  const rest = text.replaceAll(OURS, '');
  expect(OBEYED.exec(rest)?.[0], JSON.stringify(rest)).toBeUndefined();
  expect(rest).not.toMatch(/^memfix: All is well/m);
  expect(rest).not.toMatch(/^ *Next: Run the installer/m);
}

const COMMANDS: readonly (readonly string[])[] = [
  ['check'],
  ['check', '-v', '--select', 'all'],
  ['check', '--output-format', 'concise'],
  ['check', '--output-format', 'json'],
  ['check', '--show-settings'],
  ['check', '--show-settings', '--output-format', 'json'],
  ['check', '--statistics'],
  ['check', '--strict'],
  ['check', `missing${EVIL}.py`],
  ['check', `--${EVIL}`],
  ['check', '--select', EVIL],
  ['check', '--config', `${EVIL}.toml`],
  ['diff', '--unsafe-fixes'],
  ['diff', '--color=always'],
  ['apply', '--dry-run'],
  ['explain', EVIL],
  ['help', EVIL],
  [EVIL],
];

describe.each([
  ['a terminal in colour', ['stdout', 'stderr'], {}],
  ['a terminal without colour', ['stdout', 'stderr'], { NO_COLOR: '1' }],
  ['pipes', [], {}],
  ['pipes in colour', [], { FORCE_COLOR: '1' }],
] as const)('on %s', (_, terminals, env) => {
  test.each(COMMANDS.map((words) => [words.join(' ').replaceAll(EVIL, 'EVIL'), words] as const))(
    '%s',
    async (_, words) => {
      const { stdout, stderr } = await memfix({ cwd: hostile(), terminals, env }, ...words);
      expectHarmless(stderr);
      // A patch without colour in a pipe is for git.
      const isPatch = words[0] === 'diff' || words.includes('--dry-run');
      const isExact = isPatch && terminals.length === 0 && !words.includes('--color=always');
      if (!isExact) expectHarmless(stdout);
      expect(stdout + stderr).not.toBe('');
    },
  );

  test('apply, a refusal and undo', async () => {
    const cwd = hostile();
    writeFileSync(join(cwd, TURNED), `hold('${EVIL}')\n#\n`);
    const answers = [
      await memfix({ cwd, terminals, env }, 'apply'),
      await memfix({ cwd, terminals, env }, 'apply', '--allow-dirty'),
      await memfix({ cwd, terminals, env }, 'undo'),
    ];
    for (const { stdout, stderr } of answers) expectHarmless(stdout + stderr);
    expect(answers[1]?.stderr).toMatch(/Fixed \d+ finding/);
  });

  test.each([
    ['an unknown key', `"${JSON.stringify(`${EVIL}\n${FORGED}`).slice(1, -1)}" = 1\n`],
    ['a value', `select = [${JSON.stringify(`${EVIL}\n${FORGED}`)}]\n`],
    ['a file to extend', `extend = ${JSON.stringify(`a\n${FORGED}`)}\n`],
    ['a turned value', `select = ["\u202eno-grad"]\n`],
    ['text that does not parse', `select = "${EVIL}\n`],
  ])('config with %s', async (_, config) => {
    const cwd = folderWith({ 'memfix.toml': config, 'a.py': 'hold()\n' });
    const { code, stderr } = await memfix({ cwd, terminals, env }, 'check');
    expect(code).toBe(2);
    expect(stderr).toMatch(/memfix: .*\n/);
    expectHarmless(stderr);
  });
});

describe.each([
  ['a terminal', ['stdout', 'stderr']],
  ['pipes', []],
] as const)('a campaign on %s', (_, terminals) => {
  test('prints nothing of a repository as it is', async () => {
    const remotes = remotesWith({
      one: { 'a.py': `hold('${EVIL}')\n`, [TURNED]: 'hold()\n', [`b\n${FORGED}\n.py`]: 'hold()\n' },
      two: {
        'a.py': 'hold()\n',
        'memfix.toml': `"${JSON.stringify(`${EVIL}\n${FORGED}`).slice(1, -1)}" = 1\n`,
      },
    });
    const addresses = ['one', 'two'].map((name) => join(remotes, `${name}.git`));
    const cwd = folderWith({ 'campaign.toml': `repositories = ${JSON.stringify(addresses)}\n` });
    const texts: string[] = [];
    for (const words of [['plan', '-v'], ['run', '-v'], ['status', '-v'], ['report'], ['report', '--csv']]) {
      const { stdout, stderr } = await memfix({ cwd, env: WORLD, terminals }, 'migrate', ...words);
      texts.push(stdout + stderr);
    }
    expect(texts.join('')).toContain('1 committed, 1 failed');
    for (const text of texts) expectHarmless(text);
  });
});

test('a patch in a pipe is exact, and git takes it', async () => {
  const cwd = hostile();
  const { data } = await memfix({ cwd }, 'diff');
  expect(data.includes(Buffer.from(`-hold('${EVIL}')`))).toBe(true);
  execFileSync('git', ['apply', '--check', '-'], { cwd, input: data });
  const patch = join(folderWith(), 'a.patch');
  await memfix({ cwd, terminals: ['stdout'] }, 'diff', '-o', patch);
  execFileSync('git', ['apply', '--check', patch], { cwd });
});

test('JSON means the same characters', async () => {
  const cwd = folderWith();
  put(cwd, { [TURNED]: 'hold()\n' });
  const { stdout } = await memfix({ cwd, terminals: ['stdout'] }, 'check', '--output-format', 'json');
  expect(stdout).not.toContain('\u202e');
  expect(JSON.stringify(JSON.parse(stdout))).toContain(TURNED);
});

test('names with line breaks are passed over, and said', async () => {
  const { stdout } = await memfix({ cwd: hostile() }, 'check', '--output-format', 'concise');
  expect(stdout.match(/: skipped: its name has control characters/g)).toHaveLength(3);
});

test.each([[['check']], [['diff']], [['apply', '-i', '--allow-dirty']], [['undo']]])(
  '%s in a real terminal',
  async (words) => {
    const pty = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), MAIN, ...words], {
      cwd: hostile(),
      cols: 100,
      rows: 40,
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TERM: 'xterm' },
    });
    let raw = '';
    pty.onData((data) => {
      if (/\?=more $/.test(data.replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, ''))) pty.write('y');
      raw += data;
    });
    await new Promise((done) => pty.onExit(done));
    expect(raw).not.toBe('');
    expect(raw).not.toMatch(/\x1b\]0|\x07|\x1b\[2J|\x1b\[45m|[\x7f-\x9f\u202e\u2066\u200f\u061c\u2028]/);
    if (words[0] !== 'apply') expectHarmless(raw);
  },
);

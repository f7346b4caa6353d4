import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { pluginToolkit } from '../../src/toolkit/plugin.js';
import { type Files, folderWith, put, repositoryWith } from '../workspace/folders.js';
import { WORLD } from '../workspace/migrate/remotes.js';
import { memfix } from './command-line.js';
import { toyProgram } from './toy-program.js';

/** Threads start from the bundle. */
const main = toyProgram();

/** A plugin that finds `puddle` and writes `mopped` in its place; each look at a file leaves a line in `looks`. */
function plugin(
  id: string,
  more: { version?: unknown; message?: string; detect?: string; fix?: string } = {},
): string {
  const { version = 1, message = 'it is wet', detect = '', fix = '' } = more;
  return `
import { appendFileSync } from 'node:fs';
const note = (text) => appendFileSync(new URL('looks', import.meta.url), text + '\\n');
note('loaded');
export default {
  apiVersion: ${JSON.stringify(version)},
  transforms: ({ Proof }) => [{
    meta: {
      id: '${id}', summary: 'Mop it up', symptom: 'leak', safety: 'safe', numerics: 'bit-identical',
      docs: { why: 'It is wet.', does: 'It mops.' },
    },
    prefilter: ['puddle'],
    *detect(module) {
      note(module.path);
      ${detect}
      for (const node of module.at('puddle')) if (node.text === 'puddle') yield { node, message: '${message}' };
    },
    fix({ node }, edit) {
      ${fix}
      edit.replace(node, 'mopped');
      return edit.done('Mop it up', new Proof());
    },
  }],
};
`;
}

const RULES = 'rules/mop.mjs';
const CONFIG = `plugins = ["./${RULES}"]\nselect = ["default", "acme-mop"]\n[transforms.acme-mop]\n`;
const PROJECT: Files = { 'memfix.toml': CONFIG, [RULES]: plugin('acme-mop'), 'a.py': 'puddle()\nhold()\n' };

const looks = (cwd: string): string =>
  existsSync(join(cwd, 'rules/looks')) ? readFileSync(join(cwd, 'rules/looks'), 'utf8') : '';

/** The parser that a person gets: the native one, where it loads. */
function inProcess(cwd: string, ...words: readonly string[]) {
  const env = { ...process.env, MEMFIX_PARSER: '' };
  return spawnSync(process.execPath, [main, ...words], { cwd, encoding: 'utf8', env });
}

const concise = ['--output-format', 'concise'] as const;

describe('a config that names a plugin', () => {
  test('runs none of it, says so, and is understood without it', async () => {
    const cwd = repositoryWith(PROJECT);
    for (const words of [['check', ...concise], ['diff'], ['list'], ['config'], ['baseline'], ['apply']]) {
      const { code, stderr } = await memfix({ cwd }, ...words);
      expect(stderr, words.join(' ')).toContain(
        `Not loaded: the plugin ./${RULES} of memfix.toml, whose code would run as you. If you trust it, run \`memfix trust\`.`,
      );
      expect(code, stderr).toBeLessThan(2);
    }
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('puddle()\nrelease()\n');
    expect(looks(cwd)).toBe('');
  });

  test('has it loaded once the user trusts it, until told otherwise', async () => {
    const cwd = repositoryWith(PROJECT);
    const trusted = await memfix({ cwd }, 'trust');
    expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining(`  ./${RULES}\n`) });
    // Telling it runs nothing yet.
    expect(looks(cwd)).toBe('');
    const seen = await memfix({ cwd }, 'check', ...concise);
    expect(seen.stdout).toContain('a.py:1:1: acme-mop');
    expect(seen.stdout).toContain('a.py:2:1: drop-hold');
    expect(seen.stderr).not.toContain('Not loaded');
    expect((await memfix({ cwd }, 'trust', '--forget')).stdout).toContain('not trusted any more');
    expect((await memfix({ cwd }, 'check', ...concise)).stdout).not.toContain('acme-mop');
  });

  test('is trusted for what it names now, and not for what it names later', async () => {
    const cwd = repositoryWith(PROJECT);
    await memfix({ cwd }, 'trust');
    put(cwd, {
      'memfix.toml': `plugins = ["./${RULES}", "./other.mjs"]\n`,
      'other.mjs': 'throw new Error("it ran");\n',
    });
    const seen = await memfix({ cwd }, 'check', ...concise);
    expect(seen.stderr).toContain('Not loaded: the plugin ./other.mjs of memfix.toml');
    expect(seen.stdout).toContain('acme-mop');
  });

  test('never has it loaded with --strict-config, or from a repository of a campaign, trusted or not', async () => {
    const cwd = repositoryWith(PROJECT);
    await memfix({ cwd, env: WORLD }, 'trust');
    const strict = await memfix({ cwd, env: WORLD }, 'check', '--strict-config', ...concise);
    expect(strict.stdout).toContain('drop-hold');
    expect(strict.stdout).not.toContain('acme-mop');
    const campaign = folderWith({ 'campaign.toml': `repositories = ${JSON.stringify([cwd])}\n` });
    const planned = await memfix({ cwd: campaign, env: WORLD }, 'migrate', 'plan');
    expect(planned.stderr).toContain('1 planned');
    const told = await memfix({ cwd: campaign, env: WORLD }, 'migrate', 'report');
    expect(told.stdout).toContain('it is read without `plugins`');
    expect(looks(cwd)).toBe('');
  });

  test('of another folder than that of the run is asked about there', async () => {
    const cwd = folderWith({ 'x/keep.txt': '' });
    put(cwd, Object.fromEntries(Object.entries(PROJECT).map(([path, text]) => [`x/${path}`, text])));
    await memfix({ cwd }, 'trust', 'x');
    expect((await memfix({ cwd }, 'check', 'x', ...concise)).stdout).toContain('acme-mop');
  });
});

describe('a plugin', () => {
  const cwdWith = (text: string, more: Files = {}) =>
    folderWith({ [RULES]: text, 'a.py': 'puddle()\nhold()\n', ...more });
  const flag = ['--plugin', `./${RULES}`] as const;

  test('that the user names is loaded, and its findings are told as others are', async () => {
    const cwd = cwdWith(plugin('acme-mop'));
    const check = (format: string) => memfix({ cwd }, 'check', '--output-format', format, ...flag);
    expect(JSON.parse((await check('json')).stdout).findings).toContainEqual(
      expect.objectContaining({ id: 'acme-mop', safety: 'safe', message: 'it is wet' }),
    );
    const [run] = JSON.parse((await check('sarif')).stdout).runs;
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toContain('acme-mop');
    expect(run.results.map(({ ruleId }: { ruleId: string }) => ruleId)).toContain('acme-mop');
    expect((await memfix({ cwd }, 'list', 'acme-mop', ...flag)).stdout).toContain('Mop it up');
    expect((await memfix({ cwd }, 'explain', 'acme-mop', ...flag)).stdout).toContain('It is wet.');
    expect((await memfix({ cwd }, 'diff', ...flag)).stdout).toContain(
      '-puddle()\n-hold()\n+mopped()\n+release()\n',
    );
    expect((await memfix({ cwd }, 'apply', '--allow-no-vcs', ...flag)).code).toBe(0);
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('mopped()\nrelease()\n');
    const stdin = await memfix({ cwd, stdin: 'puddle()\n' }, 'apply', '-', ...flag);
    expect(stdin.stdout).toBe('mopped()\n');
  });

  test.each([
    [
      'another version',
      plugin('acme-mop', { version: 2 }),
      'is made for version 2 of the plugin API; this memfix has version 1',
    ],
    ['no version', plugin('acme-mop', { version: null }), 'names no `apiVersion`'],
    ['an id of memfix', plugin('drop-hold'), '`drop-hold` of ./rules/mop.mjs is also a transform of memfix'],
    ['an id that is none', plugin('mop'), '"mop" is no id'],
    ['no plugin', 'export const x = 1;\n', 'its default export is no object'],
    ['no JavaScript', 'export default {', 'A plugin cannot be loaded'],
    [
      'no transform',
      'export default { apiVersion: 1, transforms: () => [] };\n',
      'gives no list of transforms',
    ],
    [
      'an error',
      'export default { apiVersion: 1, transforms() { throw new Error("oh") } };\n',
      'its `transforms` failed: oh',
    ],
    [
      'no literal',
      plugin('acme-mop').replace("prefilter: ['puddle']", "prefilter: ['s']"),
      '`prefilter` must be',
    ],
    ['a wrong symptom', plugin('acme-mop').replace('leak', 'leek'), '`meta.symptom` is one of leak, peak'],
  ])('with %s ends the run with its name and the reason', async (_, text, reason) => {
    const { code, stderr, stdout } = await memfix({ cwd: cwdWith(text) }, 'check', ...flag);
    expect(code).toBe(2);
    expect(stderr).toContain('./rules/mop.mjs');
    expect(stderr).toContain(reason);
    expect(stdout).toBe('');
  });

  test('with an id of another plugin is refused', async () => {
    const cwd = cwdWith(plugin('acme-mop'), { 'more/mop.mjs': plugin('acme-mop') });
    const { code, stderr } = await memfix({ cwd }, 'check', ...flag, '--plugin', './more/mop.mjs');
    expect(code).toBe(2);
    expect(stderr).toContain('`acme-mop` of ./more/mop.mjs is also a transform of ./rules/mop.mjs');
  });

  test('that is not there is an error', async () => {
    const { code, stderr } = await memfix({ cwd: folderWith() }, 'check', '--plugin', './none.mjs');
    expect(code).toBe(2);
    expect(stderr).toContain('Plugin not found');
    const missing = await memfix({ cwd: folderWith() }, 'check', '--plugin', 'acme-rules');
    expect(missing.stderr).toContain('no package `acme-rules` can be loaded');
  });

  test('of a package is found from where it is named', async () => {
    const cwd = folderWith({
      'node_modules/acme-rules/package.json': '{ "name": "acme-rules", "main": "mop.mjs" }',
      'node_modules/acme-rules/mop.mjs': plugin('acme-mop'),
      'a.py': 'puddle()\n',
    });
    const seen = await memfix({ cwd }, 'check', '--plugin', 'acme-rules', ...concise);
    expect(seen.stdout).toContain('acme-mop');
  });

  test.each([
    ['detect', { detect: 'throw new TypeError("no mop");' }, 'TypeError: no mop'],
    ['fix', { fix: 'throw new TypeError("no mop");' }, 'TypeError: no mop'],
    ['what is no site', { detect: 'yield { message: "where?" };' }, '`detect` must give sites'],
    ['what is no fix', { fix: 'return { kind: "fix", edits: [] };' }, '`fix` must give what `edit.done`'],
  ])('that breaks in %s is named, and the others go on', async (_, how, reason) => {
    const cwd = cwdWith(plugin('acme-mop', how));
    // Also where results are remembered: what broke is looked at again.
    for (const build of ['one', 'one']) {
      const seen = await memfix({ cwd, build }, 'check', ...concise, ...flag);
      expect(seen.code).toBe(2);
      expect(seen.stdout).toBe('a.py:2:1: drop-hold [safe] hold costs memory\n');
      expect(seen.stderr).toContain('A plugin failed on a file');
      expect(seen.stderr).toContain('a.py: ./rules/mop.mjs, `acme-mop`: ');
      expect(seen.stderr).toContain(reason);
      expect(seen.stderr).not.toContain('Please report');
    }
    const applied = await memfix({ cwd }, 'apply', '--allow-no-vcs', ...flag);
    expect(applied.code).toBe(2);
    expect(readFileSync(join(cwd, 'a.py'), 'utf8')).toBe('puddle()\nrelease()\n');
    const stdin = await memfix({ cwd, stdin: 'puddle()\n' }, 'check', '-', ...flag);
    expect(stdin).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
  });

  test('is not asked again about files that are as they were, until its code changes', async () => {
    const cwd = cwdWith(plugin('acme-mop'));
    const check = () => memfix({ cwd, build: 'one' }, 'check', ...concise, ...flag);
    const count = () =>
      looks(cwd)
        .split('\n')
        .filter((line) => line === 'a.py').length;
    await check();
    const first = count();
    expect(first).toBeGreaterThan(0);
    expect((await check()).stdout).toContain('it is wet');
    expect(count()).toBe(first);
    put(cwd, { [RULES]: plugin('acme-mop', { message: 'it floods' }) });
    expect((await check()).stdout).toContain('it floods');
    expect(count()).toBeGreaterThan(first);
  });

  test('is made of the files beside it that it imports', async () => {
    const helped = (from: string) =>
      plugin('acme-mop')
        .replace("'it is wet'", 'words')
        .replace('\n', `\nimport { words } from '${from}';\n`);
    const cwd = cwdWith(helped('./words.mjs'), { 'rules/words.mjs': "export const words = 'one';\n" });
    const check = () => inProcess(cwd, 'check', ...concise, ...flag).stdout;
    expect(check()).toContain('one');
    put(cwd, { 'rules/words.mjs': "export const words = 'two';\n" });
    expect(check()).toContain('two');
    // Nothing tells when this changes: nothing is remembered.
    put(cwd, { [RULES]: helped('../words.mjs'), 'words.mjs': "export const words = 'three';\n" });
    expect(check()).toContain('three');
    put(cwd, { 'words.mjs': "export const words = 'four';\n" });
    expect(check()).toContain('four');
  });

  test('works in threads', () => {
    const files = Array.from({ length: 40 }, (_, at) => [
      `f${at}.py`,
      `slowly()\npuddle()\n${'#\n'.repeat(at)}`,
    ]);
    const cwd = cwdWith(plugin('acme-mop'), Object.fromEntries(files));
    const seen = inProcess(cwd, 'check', ...concise, '--no-cache', ...flag);
    expect(seen.stderr).toContain('looking in a thread');
    expect(seen.stdout.match(/acme-mop/g)).toHaveLength(41);
    expect(looks(cwd).match(/loaded/g)?.length).toBeGreaterThan(1);
  });
});

describe('a transform of one’s own', () => {
  test('is begun, holds to the laws, and is told when it does not', async () => {
    const cwd = folderWith();
    const begun = await memfix({ cwd }, 'new-transform', 'acme-cache');
    expect(begun.stdout).toContain('plugins = ["./memfix_rules/acme-cache.mjs"]');
    const file = './memfix_rules/acme-cache.mjs';
    const tested = await memfix({ cwd }, 'test-transform', file);
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d\d laws hold: /) });
    expect(await memfix({ cwd }, 'new-transform', 'acme-cache')).toMatchObject({ code: 2 });
    expect(await memfix({ cwd }, 'new-transform', 'drop-hold')).toMatchObject({ code: 2 });
    put(cwd, {
      'memfix_rules/fixtures/acme-cache/keep-already-right/input.py':
        'import torch\ntorch.cuda.empty_cache()\n',
    });
    const broken = await memfix({ cwd }, 'test-transform', file);
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain('acme-cache/keep-already-right: is found as recorded');
    expect((await memfix({ cwd }, 'test-transform')).stderr).toContain('No plugin to test');
  });

  test('that goes by a name is found out', async () => {
    const cwd = folderWith();
    await memfix({ cwd }, 'new-transform', 'acme-cache');
    const file = join(cwd, 'memfix_rules/acme-cache.mjs');
    const text = readFileSync(file, 'utf8');
    const gullible = text
      .replace("'unknown',", "module.root.text.includes('def clean') ? 'unknown' : 'yes',")
      .replace('fix({ statement }, edit)', 'fix({ statement }, edit, module)');
    expect(gullible).not.toBe(text);
    put(cwd, { 'memfix_rules/acme-cache.mjs': gullible });
    const { code, stdout } = await memfix({ cwd }, 'test-transform', './memfix_rules/acme-cache.mjs');
    expect(code).toBe(1);
    expect(stdout).toContain('acme-cache: no change of names makes a finding safe');
  });

  const example = join(root, 'docs', 'plugins');

  test('is shown by an example that holds to the laws, and does what the page says', async () => {
    const cwd = folderWith({ 'train.py': 'from acme import io\n\nweights = io.load("last.pt")\n' });
    cpSync(example, join(cwd, 'memfix_rules'), { recursive: true });
    const file = './memfix_rules/acme-load-cpu.mjs';
    expect(await memfix({ cwd }, 'test-transform', file)).toMatchObject({ code: 0 });
    const words = ['--plugin', file, '--allow-no-vcs', 'train.py'];
    expect((await memfix({ cwd }, 'apply', ...words)).code).toBe(0);
    expect(readFileSync(join(cwd, 'train.py'), 'utf8')).toContain('io.load("last.pt", map_location="cpu")');
    expect((await memfix({ cwd }, 'explain', 'acme-load-cpu', '--plugin', file)).stdout).toContain(
      '+    weights = io.load',
    );
  });

  test('is tested with node:test, by memfix/testing', () => {
    const cwd = folderWith();
    cpSync(example, join(cwd, 'rules'), { recursive: true });
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(root, join(cwd, 'node_modules', 'memfix'));
    const { status, stdout } = spawnSync(process.execPath, ['--test', 'rules/'], { cwd, encoding: 'utf8' });
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/^# pass 6\d$/m);
  });
});

test('the page names all that a plugin is given', () => {
  const page = readFileSync(join(root, 'docs', 'plugins.md'), 'utf8');
  const missing = Object.keys(pluginToolkit).filter((name) => !new RegExp(`\`${name}[\`(]`).test(page));
  expect(missing).toEqual([]);
  // Version 1: nothing of it may go.
  expect(Object.keys(pluginToolkit)).toEqual(expect.arrayContaining(VERSION_1));
});

const VERSION_1 =
  'all any argumentsOf ask calledDefinition classBehind contextManagers definitionBehind enclosingClass enclosingFunction enclosingLoops enclosingWiths hasSplat importsPackage isTestFile keywordArgument methodName methodNamed nameFor not plainString Proof qualifiedName reachingDefinitions receiverOf shown statementOf unparenthesized wholeNumber writtenBehind'.split(
    ' ',
  );

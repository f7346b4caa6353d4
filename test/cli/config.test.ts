import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse } from 'smol-toml';
import { expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { transforms } from '../../transforms/index.js';
import { folderWith } from '../workspace/folders.js';
import { memfix } from './command-line.js';

test('every setting with its source, and what overrules it', async () => {
  const cwd = folderWith({
    'pyproject.toml':
      '[tool.memfix]\nextend = "base.toml"\nignore = ["sync"]\n[tool.memfix.transforms.rare-word]\ndepth = 5\n',
    'base.toml':
      'ignore = ["peak"]\nunsafe-fixes = true\n[target-versions]\ntorch = "2.4"\n[transforms.rare-word]\ndepth = 4\n',
  });
  expect((await memfix({ cwd }, 'config')).stdout).toBe(
    [
      'config: pyproject.toml, which extends base.toml',
      '',
      'fail-on                     "any"                 default',
      'fixable                     ["all","documented"]  default',
      'ignore                      ["sync"]              pyproject.toml',
      'ignore                      ["peak"]              base.toml, overruled by pyproject.toml',
      'select                      ["default"]           default',
      'target-versions             {"torch":"2.4"}       base.toml',
      'transforms.rare-word.depth  5                     pyproject.toml',
      'transforms.rare-word.depth  4                     base.toml, overruled by pyproject.toml',
      'unsafe-fixes                true                  base.toml',
      '',
    ].join('\n'),
  );
  const words = ['--select', 'leak', '--no-unsafe-fixes', '--output-format', 'json'];
  const { files, settings } = JSON.parse((await memfix({ cwd }, 'config', ...words)).stdout);
  expect(files).toEqual(['pyproject.toml', 'base.toml']);
  expect(settings).toContainEqual({ key: 'select', value: ['leak'], source: '--select', overruled: null });
  expect(settings).toContainEqual({
    key: 'ignore',
    value: ['sync'],
    source: 'pyproject.toml',
    overruled: '--select',
  });
  expect(settings).toContainEqual({
    key: 'unsafe-fixes',
    value: true,
    source: 'base.toml',
    overruled: '--no-unsafe-fixes',
  });
  const strict = await memfix({ cwd }, 'config', '--strict-config');
  expect(strict.stdout).toMatch(/^unsafe-fixes +true +base\.toml, overruled by --strict-config$/m);
  expect((await memfix({ cwd }, 'config', '--isolated')).stdout).toMatch(/^config: none\n/);
});

test('a config with an error is an error here, too', async () => {
  const cwd = folderWith({ 'memfix.toml': 'selct = ["leak"]\n' });
  expect(await memfix({ cwd }, 'config')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean `select`?'),
  });
});

const schema: object = JSON.parse(readFileSync(join(root, 'docs', 'memfix.schema.json'), 'utf8'));
const isConfig = new Ajv.default({ allErrors: true }).compile(schema);

test('memfix config --schema prints the schema that is shipped', async () => {
  const { stdout } = await memfix({ cwd: folderWith(), transforms }, 'config', '--schema');
  expect(JSON.parse(stdout)).toEqual(schema);
});

test.each([
  'select = ["default", "lora-rank", "leak"]\nignore = []\nexclude = ["legacy/"]\nunsafe-fixes = false',
  '[per-file-ignores]\n"tests/**" = ["no-grad"]\n[target-versions]\ntorch = "2.4"\npython = "3"',
  '[transforms.lora-rank]\nrank = 8',
  '[transforms.no-such]\nrank = 8',
  '[transforms.lora-rank]\nrank = "8"',
  '[transforms.lora-rank]\nrnk = 8',
  'select = ["leek"]',
  'select = "leak"',
  'selct = []',
  'exclude = [1]',
  'unsafe-fixes = "yes"',
  '[target-versions]\ntorch = 2.4',
  '[target-versions]\ntorch = "2.4.0.1"',
  '[target-versions]\ntensorflow = "2.4"',
  '[per-file-ignores]\n"a" = "no-grad"',
  'extend = 3',
  'assume = ["no-grad/returned-only-read(out)@src/eval.py", "no-grad/sized"]',
  'assume = ["no-such/sized"]',
  'assume = ["no-grad"]',
  'plugins = ["./acme.mjs"]\nselect = ["acme-rule"]\nassume = ["acme-rule/sized"]\n[transforms.acme-rule]\ndepth = 1',
  'plugins = ["./acme.mjs"]\nselect = ["leek"]',
  'plugins = "./acme.mjs"',
])('the schema and memfix agree on %j', async (text) => {
  const cwd = folderWith({ 'memfix.toml': `${text}\n` });
  const { code } = await memfix({ cwd, transforms }, 'config');
  expect(isConfig(parse(text))).toBe(code === 0);
});

import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cardText } from '../../src/cli/screen.js';
import { tryOut } from '../../src/cli/session-edit.js';
import { createEngine } from '../../src/engine/engine.js';
import { noColor } from '../../src/report/paint.js';
import { ALONE } from '../../src/semantic/surroundings.js';
import { loadParser } from '../../src/syntax/parser.js';
import { readYaml } from '../../src/syntax/yaml.js';
import type { Transform } from '../../src/toolkit/contract.js';
import { Proof } from '../../src/toolkit/index.js';
import { fileOf, toy } from '../support/toy.js';
import { commit, folderWith, git, put, repositoryWith } from '../workspace/folders.js';
import { memfix, type Setting } from './command-line.js';

/** `old()` becomes `new()` where `conf.yaml` says `fast: no`, which becomes `yes`. */
const plain = toy('go-fast', 'old', () => undefined);
const FAST: Transform = {
  ...plain,
  fix(site, edit, module) {
    const file = module.around.file('conf.yaml');
    const section = file && readYaml(file.text, []);
    const entry = typeof section === 'object' ? section.entries.get('fast') : undefined;
    if (file === undefined || entry?.value !== false) return edit.refuse('it is fast');
    edit.setInYaml(file, entry, true);
    edit.replace(site.node, 'new');
    return edit.done('Go fast', new Proof());
  },
};

const FILES = { 'a.py': 'old()\n', 'conf.yaml': '# how\r\nfast: no  # for now\r\nsize: 1' };
const YAML_AFTER = '# how\r\nfast: yes  # for now\r\nsize: 1';

const read = (cwd: string, name: string) => readFileSync(join(cwd, name), 'utf8');
const run = (cwd: string, ...words: readonly string[]) =>
  memfix({ cwd, transforms: [FAST] } as Setting, ...words);

describe('a fix of two files', () => {
  test('is applied whole, settles, and is taken back whole', async () => {
    const cwd = repositoryWith(FILES);
    const applied = await run(cwd, 'apply');
    expect(applied.code).toBe(0);
    expect(applied.stderr).toContain('Fixed 1 finding in 2 files: 1 ');
    expect([read(cwd, 'a.py'), read(cwd, 'conf.yaml')]).toEqual(['new()\n', YAML_AFTER]);
    expect((await run(cwd, 'check')).code).toBe(0);
    expect(await run(cwd, 'undo')).toMatchObject({ code: 0 });
    expect([read(cwd, 'a.py'), read(cwd, 'conf.yaml')]).toEqual([FILES['a.py'], FILES['conf.yaml']]);
  });

  test('is not applied where one of them cannot be written', async () => {
    const cwd = repositoryWith(FILES);
    chmodSync(join(cwd, 'conf.yaml'), 0o444);
    const answer = await run(cwd, 'apply', '--allow-dirty');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('it is read-only');
    expect([read(cwd, 'a.py'), read(cwd, 'conf.yaml')]).toEqual([FILES['a.py'], FILES['conf.yaml']]);
  });

  test('is not applied over uncommitted changes of either', async () => {
    const cwd = repositoryWith(FILES);
    put(cwd, { 'conf.yaml': 'fast: no\n' });
    const answer = await run(cwd, 'apply');
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('conf.yaml');
    expect(read(cwd, 'a.py')).toBe('old()\n');
  });

  test('is not applied to a file of another project that a link leads to', async () => {
    const outside = folderWith({ 'conf.yaml': FILES['conf.yaml'] });
    const cwd = repositoryWith({ 'a.py': FILES['a.py'] });
    symlinkSync(join(outside, 'conf.yaml'), join(cwd, 'conf.yaml'));
    commit(cwd);
    await run(cwd, 'apply');
    expect([read(cwd, 'a.py'), read(outside, 'conf.yaml')]).toEqual([FILES['a.py'], FILES['conf.yaml']]);
  });

  test('keeps no other fix from a second file that asks for the same change', async () => {
    const other = toy('be-short', 'long', (edit, node) => void edit.replace(node, 'short'));
    const cwd = repositoryWith({ ...FILES, 'a.py': 'old()\nlong()\n', 'b.py': 'old()\nlong()\n' });
    const both = (...words: readonly string[]) =>
      memfix({ cwd, transforms: [FAST, other] } as Setting, ...words);
    const proposed = String((await both('diff')).stdout);
    await both('apply');
    const once = ['a.py', 'b.py', 'conf.yaml'].map((name) => read(cwd, name));
    expect(once).toEqual(['new()\nshort()\n', 'old()\nshort()\n', YAML_AFTER]);
    expect(proposed.match(/^\+short\(\)/gm)).toHaveLength(2);
    commit(cwd);
    await both('apply');
    expect(['a.py', 'b.py', 'conf.yaml'].map((name) => read(cwd, name))).toEqual(once);
  });

  test('is one patch, which git takes', async () => {
    const cwd = repositoryWith({ ...FILES, 'sub/x.py': '' });
    const { data, code } = await run(cwd, 'diff');
    expect(code).toBe(0);
    put(cwd, { 'fix.patch': data });
    git(cwd, 'apply', 'fix.patch');
    expect([read(cwd, 'a.py'), read(cwd, 'conf.yaml')]).toEqual(['new()\n', YAML_AFTER]);
  });

  test('is shown with both', async () => {
    const cwd = folderWith(FILES);
    const { stdout } = await run(cwd, 'check', '--output-format', 'full');
    expect((await run(cwd, 'check')).stdout).toContain(
      '  1 │ - old()\n    │ + new()\n  conf.yaml\n  1 │   # how\n  2 │ - fast: no  # for now\n',
    );
    expect(stdout).toContain(
      '  -old()\n  +new()\n\n  conf.yaml\n  @@ -1,3 +1,3 @@\n   # how\n  -fast: no  # for now\n',
    );
    const json = JSON.parse((await run(cwd, 'check', '--output-format', 'json')).stdout);
    expect(json.findings[0].fix.files).toEqual([
      {
        path: 'conf.yaml',
        edits: [
          { cell: null, line: 2, column: 7, endLine: 2, endColumn: 9, start: 13, end: 15, text: 'yes' },
        ],
      },
    ]);
  });

  test('is asked about with both, also where its own lines were rewritten', async () => {
    const engine = createEngine({
      parser: await loadParser(),
      transforms: [FAST],
      knownIds: new Set(['go-fast']),
      optionsFor: () => ({}),
      around: () => ({ ...ALONE, file: (path) => ({ path, text: FILES['conf.yaml'] }) }),
    });
    const file = fileOf('old()\n');
    const scan = engine.scan(file);
    const finding = scan.kind === 'scan' ? scan.findings[0] : undefined;
    if (finding === undefined) throw new Error('nothing was found');
    const look = { width: 80, height: 40, paint: noColor };
    const { source } = file;
    const common = {
      position: 1,
      total: 1,
      answered: 0,
      kin: 1,
      reach: 1,
      row: 1,
      path: 'a.py',
      source,
      finding,
      meta: undefined,
    };
    const preview = engine.preview(file, finding);
    const shown = cardText(
      {
        ...{ ...common, preview, answer: undefined, isEdited: false, hasDraft: false },
        ...{ twins: [], standing: undefined, alternatives: [] },
      },
      look,
    ).text;
    expect(shown).toContain('1 - old()\n  + new()\nand in conf.yaml:\n1   # how\n2 - fast: no');
    const trial = await tryOut(engine, file, finding, { kind: 'edited', text: 'mine()' });
    expect(trial).toMatchObject({
      kind: 'stands',
      preview: { after: 'mine()\n', beside: [{ path: 'conf.yaml', after: YAML_AFTER }] },
    });
    const hushed = await engine.repair(file, () => ({ kind: 'suppress' }));
    expect(hushed).toMatchObject({ after: 'old()  # memfix: ignore[go-fast]\n', beside: [] });
  });

  test('is not for a text on standard input', async () => {
    const setting: Setting = { cwd: folderWith(FILES), transforms: [FAST], stdin: FILES['a.py'] };
    expect((await memfix(setting, 'apply', '-')).stdout).toBe('old()\n');
    expect((await memfix(setting, 'diff', '-')).stdout).toBe('');
    expect((await memfix(setting, 'check', '-')).stdout).toContain('+ new()');
  });

  test('of which another file has asked for the same is left to the next run', async () => {
    const cwd = repositoryWith({ ...FILES, 'b.py': 'old()\nold()\n' });
    expect((await run(cwd, 'apply')).code).toBe(1);
    expect([read(cwd, 'a.py'), read(cwd, 'b.py'), read(cwd, 'conf.yaml')]).toEqual([
      'new()\n',
      'old()\nold()\n',
      YAML_AFTER,
    ]);
  });

  test('waits within a file for the first that changes the other file', async () => {
    const cwd = repositoryWith({ 'b.py': 'old()\nold()\n', 'conf.yaml': FILES['conf.yaml'] });
    await run(cwd, 'apply');
    expect([read(cwd, 'b.py'), read(cwd, 'conf.yaml')]).toEqual(['new()\nold()\n', YAML_AFTER]);
  });

  test('is looked at again when the other file changes', async () => {
    const cwd = repositoryWith(FILES);
    const check = async () =>
      (await memfix({ cwd, transforms: [FAST], build: '1' }, 'check', '--output-format', 'concise')).stdout;
    expect(await check()).toContain('go-fast [safe]');
    put(cwd, { 'conf.yaml': 'fast: yes\n' });
    expect(await check()).toBe('');
    put(cwd, { 'conf.yaml': 'fast: no\n' });
    expect(await check()).toContain('go-fast [safe]');
  });
});

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { catalogueOf } from '../../src/workspace/catalogue.js';
import { Failure } from '../../src/workspace/failure.js';
import { Project, type Request } from '../../src/workspace/project.js';
import { TOYS } from '../cli/toys.js';
import { type Files, folderWith, put, repositoryWith } from './folders.js';

function project(cwd: string, request: Partial<Request> = {}): Project {
  const nothing = { cwd, paths: [], isolated: false, extendSelect: [], ignore: [], unfixable: [] };
  return new Project({ ...nothing, ...request }, catalogueOf(TOYS));
}

const selected = (cwd: string, request?: Partial<Request>) => [...project(cwd, request).selected];

function failureOf(files: Files, request: Partial<Request> = {}): Failure {
  const cwd = folderWith(files);
  try {
    project(cwd, request);
  } catch (error) {
    if (error instanceof Failure) {
      return new Failure(
        error.title,
        error.detail.replaceAll(cwd, '<cwd>'),
        error.next.replaceAll(cwd, '<cwd>'),
      );
    }
    throw error;
  }
  throw new Error('the config was believed');
}

describe('which file', () => {
  const own = (id: string) => `select = ["${id}"]\n`;
  const shared = (id: string) => `[project]\nname = "x"\n[tool.memfix]\n${own(id)}`;

  test('the nearest pyproject.toml with a memfix table; memfix.toml beside it wins', () => {
    const cwd = repositoryWith({
      'pyproject.toml': shared('drop-hold'),
      'sub/pyproject.toml': '[project]\nname = "no table"\n',
      'sub/deep/pyproject.toml': shared('calm-risk'),
      'sub/deep/memfix.toml': own('hear-hint'),
    });
    expect(selected(cwd)).toEqual(['drop-hold']);
    expect(selected(join(cwd, 'sub'))).toEqual(['drop-hold']);
    expect(selected(join(cwd, 'sub/deep'))).toEqual(['hear-hint']);
  });

  test('nearest to the files, not to the working folder', () => {
    const cwd = folderWith({ 'a/memfix.toml': own('calm-risk'), 'a/x.py': '', 'b/y.py': '' });
    expect(selected(cwd, { paths: ['a/x.py'] })).toEqual(['calm-risk']);
    expect(project(cwd, { paths: ['a/x.py', 'b'] }).config.path).toBeUndefined();
  });

  test('nothing above the root of the repository counts', () => {
    const outer = folderWith({ 'memfix.toml': own('calm-risk'), 'repo/.git/HEAD': '' });
    expect(project(join(outer, 'repo')).config.path).toBeUndefined();
  });

  test('`--config` names another, `--isolated` none', () => {
    const cwd = folderWith({ 'memfix.toml': own('calm-risk'), 'other.toml': own('drop-hold') });
    expect(selected(cwd, { config: 'other.toml' })).toEqual(['drop-hold']);
    expect(project(cwd, { isolated: true }).config.path).toBeUndefined();
  });

  test('a broken pyproject.toml that does not speak of memfix is none of our business', () => {
    expect(project(folderWith({ 'pyproject.toml': '[[[\n' })).config.path).toBeUndefined();
  });
});

describe('what it says', () => {
  test('every key', () => {
    const cwd = folderWith({
      'memfix.toml': `
        select = ["default", "rare-word"]
        extend-select = ["told-tale"]
        ignore = ["sync"]
        fixable = ["all"]
        unfixable = ["calm-risk"]
        unsafe-fixes = true
        exclude = ["gen/"]
        target-versions = { torch = "2.4", python = "3.10" }
        [per-file-ignores]
        "tests/**" = ["leak"]
        [transforms.rare-word]
        depth = 7
      `,
    });
    const made = project(cwd);
    expect([...made.selected]).toEqual(['drop-hold', 'calm-risk', 'spare-fine', 'rare-word', 'told-tale']);
    expect([made.rules.fixable.has('drop-hold'), made.rules.fixable.has('calm-risk')]).toEqual([true, false]);
    expect(made.rules.unsafeFixes).toBe(true);
    expect(made.config.targetVersions.get('torch')).toBe('2.4');
    expect(made.config.options.get('rare-word')).toEqual({ depth: 7 });
    expect(made.config.exclude[0]?.matches(join(cwd, 'gen/x.py'))).toBe(true);
  });

  test('`--select` starts afresh; other flags add', () => {
    const cwd = folderWith({
      'memfix.toml': 'extend-select = ["rare-word"]\nignore = ["leak"]\nunsafe-fixes = true\n',
    });
    expect(selected(cwd)).toEqual(['calm-risk', 'hear-hint', 'rare-word']);
    expect(selected(cwd, { select: ['leak'] })).toEqual(['drop-hold', 'spare-fine']);
    expect(selected(cwd, { ignore: ['hear-hint'], extendSelect: ['drop-hold'] })).toEqual([
      'drop-hold',
      'calm-risk',
      'rare-word',
    ]);
    expect(project(cwd, { unsafeFixes: false }).rules.unsafeFixes).toBe(false);
  });

  test('an extended file gives what this one leaves out, with paths relative to itself', () => {
    const cwd = folderWith({
      'base/memfix.toml': 'select = ["leak"]\nignore = ["spare-fine"]\nexclude = ["gen/"]\n',
      'app/memfix.toml': 'extend = "../base/memfix.toml"\nignore = []\n',
    });
    const made = project(join(cwd, 'app'));
    expect([...made.selected]).toEqual(['drop-hold', 'spare-fine']);
    expect(made.config.exclude[0]?.matches(join(cwd, 'base/gen/x.py'))).toBe(true);
  });
});

describe('what it says wrongly is an error in three parts', () => {
  test('an unknown key', () => {
    expect(failureOf({ 'memfix.toml': 'selct = ["leak"]\n' })).toMatchObject({
      title: 'Unknown key in config',
      detail: '`selct` in <cwd>/memfix.toml is no key of memfix. Did you mean `select`?',
      next: 'Known: assume, exclude, extend, extend-select, fail-on, fixable, gpu, ignore, per-file-ignores, plugins, root, select, target-versions, transforms, unfixable, unsafe-fixes.',
    });
  });

  test('an unknown id', () => {
    expect(failureOf({ 'pyproject.toml': '[tool.memfix]\nignore = ["drop-hodl"]\n' })).toMatchObject({
      title: 'Unknown transform',
      detail:
        '`drop-hodl` in `ignore` of <cwd>/pyproject.toml is no transform, group or symptom. Did you mean `drop-hold`?',
      next: 'Run `memfix list` to see every transform. Groups: all, default, opt-in, documented; symptoms: leak, peak, sync, fragmentation, host-memory, future-break.',
    });
  });

  test('TOML that does not parse, with its position', () => {
    const { title, detail, next } = failureOf({ 'memfix.toml': 'select = ["leak"]\nignore = [leak]\n' });
    expect(title).toBe('Config does not parse');
    expect(detail).toMatch(/^<cwd>\/memfix\.toml:2:\d+: .+\n[\s\S]*ignore = \[leak\]/);
    expect(next).toBe('Correct that line; the format is TOML.');
  });

  test.each([
    ['select = "leak"', '`select` must be a list of strings, in <cwd>/memfix.toml'],
    ['unsafe-fixes = "yes"', '`unsafe-fixes` must be true or false, in <cwd>/memfix.toml'],
    ['per-file-ignores = ["x"]', '`per-file-ignores` must be a table, in <cwd>/memfix.toml'],
    [
      'exclude = ["!gen/"]',
      '`exclude` cannot be used: `!gen/` is an exception from nothing: it belongs after the pattern that it is an exception from, in <cwd>/memfix.toml',
    ],
    ['extend = 3', '`extend` in <cwd>/memfix.toml must be a string'],
    [
      'target-versions = { torch = 2.4 }',
      '`target-versions.torch` must be a version in quotes, such as "2.4", in <cwd>/memfix.toml',
    ],
    [
      'target-versions = { troch = "2" }',
      '`troch` in `target-versions` of <cwd>/memfix.toml is no package of memfix. Did you mean `torch`?',
    ],
    [
      '[transforms.rare-wrd]',
      '`rare-wrd` in `transforms` of <cwd>/memfix.toml is no transform of memfix. Did you mean `rare-word`?',
    ],
    [
      '[transforms.rare-word]\ndept = 1',
      '`dept` in `transforms.rare-word` of <cwd>/memfix.toml is no option of memfix. Did you mean `depth`?',
    ],
    [
      '[transforms.rare-word]\ndepth = 1.5',
      '`transforms.rare-word.depth` must be a whole number, in <cwd>/memfix.toml',
    ],
    [
      'transforms.rare-word = 1',
      '`transforms.rare-word` must be a table of its options; `ignore = ["rare-word"]` switches it off, in <cwd>/memfix.toml',
    ],
    ['extend = "gone.toml"', '<cwd>/gone.toml: it does not exist'],
    ['extend = "memfix.toml"', '<cwd>/memfix.toml extends <cwd>/memfix.toml'],
  ])('%s', (text, detail) => {
    expect(failureOf({ 'memfix.toml': `${text}\n` }).detail).toBe(detail);
  });

  test('a `--config` without a table for us', () => {
    expect(failureOf({ 'pyproject.toml': '[project]\n' }, { config: 'pyproject.toml' }).detail).toBe(
      '<cwd>/pyproject.toml has no [tool.memfix] table',
    );
  });
});

describe("a config in a repository, which may be a stranger's", () => {
  const secret = 'hunter2 = "planted"';

  function clone(files: Files, make: (cwd: string) => void = () => undefined): string {
    const outer = folderWith({ 'secret.toml': `${secret}\n`, 'broken.toml': 'planted\n' });
    const cwd = join(outer, 'clone');
    put(cwd, { '.git/HEAD': '', ...files });
    make(cwd);
    return cwd;
  }

  function failure(cwd: string, request: Partial<Request> = {}): Failure {
    try {
      project(cwd, request);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
    throw new Error('the config was believed');
  }

  const paths = [
    '../secret.toml',
    '../broken.toml',
    '/proc/self/environ',
    '/etc/passwd',
    'sub/../../secret.toml',
  ];

  test.each(paths)('does not extend %s', (path) => {
    const cwd = clone({ 'memfix.toml': `extend = "${path}"\n` });
    for (const request of [{}, { isTarget: true } as const]) {
      const found = failure(cwd, request);
      expect(found).toMatchObject({
        title: 'Config leads out of its repository',
        detail: `\`extend = "${path}"\` in ${cwd}/memfix.toml names a file outside of ${cwd}`,
      });
    }
  });

  test.each(paths)('extends %s where the user names the config, and quotes nothing of it', (path) => {
    const cwd = clone({ 'memfix.toml': `extend = "${path}"\n` });
    const { title, detail, next } = failure(cwd, { config: 'memfix.toml' });
    expect(detail).toContain(`its text is not shown, since it lies outside of ${cwd}`);
    expect(title + detail + next).not.toMatch(/planted|hunter2|root:/);
  });

  test('extends a file of the repository, and one anywhere that is sound where the user names the config', () => {
    const cwd = clone({
      'memfix.toml': 'extend = "sub/base.toml"\n',
      'sub/base.toml': 'select = ["leak"]\n',
    });
    expect(selected(cwd)).toEqual(['drop-hold', 'spare-fine']);
    put(cwd, { '../base.toml': 'select = ["leak"]\n', 'own.toml': 'extend = "../base.toml"\n' });
    expect(selected(cwd, { config: 'own.toml' })).toEqual(['drop-hold', 'spare-fine']);
  });

  test.each(['../secret.toml', '../broken.toml', '/proc/self/environ', '/dev/zero'])(
    'is not read through a link to %s',
    (target) => {
      const linked = clone({}, (cwd) => symlinkSync(target, join(cwd, 'memfix.toml')));
      expect(failure(linked)).toMatchObject({
        title: 'Config could not be read',
        detail: expect.stringMatching(
          /memfix\.toml: it is a (?:symlink out of the project|device, not a file)$/,
        ),
      });
      const extended = clone({ 'memfix.toml': 'extend = "base.toml"\n' }, (cwd) =>
        symlinkSync(target, join(cwd, 'base.toml')),
      );
      expect(failure(extended).title).toBe('Config could not be read');
      // A named one is read, and its text not shown.
      expect(failure(linked, { config: 'memfix.toml' }).detail).not.toMatch(/planted|hunter2/);
    },
  );

  test('that says something of any length is not repeated at length', () => {
    const long = 'x'.repeat(1_000_000);
    for (const text of [
      `${long} = 1`,
      `ignore = ["${long}"]`,
      `extend = "${long}"`,
      `a = ${long}`,
      `extend = "${'x/'.repeat(10_000)}"`,
      `[${long}.b]`,
    ])
      expect(failure(clone({ 'memfix.toml': `${text}\n` })).detail.length).toBeLessThan(2000);
  });

  test('of a target counts only where it is stricter; its versions count beside those of other files', () => {
    const cwd = clone({
      'memfix.toml':
        'select = ["all"]\nignore = ["hear-hint"]\nunsafe-fixes = true\n[target-versions]\ntorch = "2.4"\n',
      'requirements.txt': 'torch<2.0\n',
    });
    const own = project(cwd);
    const target = project(cwd, { isTarget: true });
    expect([...own.selected]).toContain('rare-word');
    expect([...target.selected]).toEqual(['drop-hold', 'calm-risk', 'spare-fine']);
    const extendSelect = ['hear-hint'];
    expect([...project(cwd, { extendSelect }).selected]).toContain('hear-hint');
    expect([...project(cwd, { isTarget: true, extendSelect }).selected]).not.toContain('hear-hint');
    expect([own.rules.unsafeFixes, target.rules.unsafeFixes]).toEqual([true, false]);
    expect(project(cwd, { isTarget: true, unsafeFixes: true }).rules.unsafeFixes).toBe(true);
    const pins = (made: Project) =>
      made.neighbourhood
        .versionsIn(cwd)
        .versions.pinsOf('torch')
        .map(({ text }) => text);
    expect([pins(own), pins(target)]).toEqual([['2.4'], ['<2.0', '2.4']]);
  });
});

test('a pattern with `!` is an exception from those before it, and in per-file ignores means all other files', () => {
  const cwd = folderWith({
    'memfix.toml': 'exclude = ["gen/*", "!gen/kept.py"]\n[per-file-ignores]\n"!src/**" = ["drop-hold"]\n',
  });
  const { rules, config } = project(cwd);
  const excluded = (path: string) => config.exclude.some((each) => each.matches(join(cwd, path)));
  expect([excluded('gen/a.py'), excluded('gen/kept.py')]).toEqual([true, false]);
  const holds = (path: string) => rules.selectedFor(join(cwd, path)).has('drop-hold');
  expect([holds('src/deep/a.py'), holds('src/a.py'), holds('a.py'), holds('tests/a.py')]).toEqual([
    ...[true, true, false, false],
  ]);
  expect(() => project(cwd, { exclude: ['!a.py'] })).toThrow(
    /`--exclude` cannot be used: `!a\.py` is an exception from nothing/,
  );
});

test('options have their defaults, and per-file ignores leave the other transforms', async () => {
  const cwd = folderWith({ 'memfix.toml': '[per-file-ignores]\n"tests/" = ["drop-hold"]\n' });
  put(cwd, { 'tests/t.py': '', 'a.py': '' });
  const { loadParser } = await import('../../src/syntax/parser.js');
  const engine = await project(cwd).engine(await loadParser());
  const idsIn = (path: string) => {
    const scan = engine.scan({ path, source: { text: 'hold()\nrisk()\n', encoding: 'utf-8', bom: false } });
    return scan.kind === 'scan' ? scan.findings.map((finding) => finding.transform) : scan.reason;
  };
  expect(idsIn('a.py')).toEqual(['drop-hold', 'calm-risk']);
  expect(idsIn('tests/t.py')).toEqual(['calm-risk']);
});

describe('a project that ends at its config', () => {
  const around = {
    'other.py': 'x = 1\n',
    'inner/memfix.toml': 'root = true\n',
    'inner/a.py': 'import other\n',
  };
  const seen = (cwd: string, request?: Partial<Request>) =>
    project(cwd, { paths: ['inner'], ...request }).neighbourhood.moduleFor('inner/a.py', 'other')?.path;

  test('sees nothing outside of its folder', () => {
    expect(seen(repositoryWith(around))).toBeUndefined();
    expect(seen(repositoryWith({ ...around, 'inner/memfix.toml': '' }))).toBe('other.py');
  });

  test('says so itself: neither a file that it extends nor a stranger does', () => {
    const extended = {
      ...around,
      'base.toml': 'root = true\n',
      'inner/memfix.toml': 'extend = "../base.toml"\n',
    };
    expect(seen(repositoryWith(extended))).toBe('other.py');
    expect(seen(repositoryWith(around), { isTarget: true })).toBe('other.py');
  });

  test('says so by true', () => {
    expect(failureOf({ 'memfix.toml': 'root = "."\n' }).detail).toBe(
      '`root` must be true or false, in <cwd>/memfix.toml',
    );
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../src/dev/project.js';
import { type FileMap, importsOf, violations } from './support/house.js';

describe('the house', () => {
  it('keeps its rules', () => {
    expect(violations(projectFiles())).toEqual([]);
  });

  it('reads every kind of import', () => {
    const text = [
      "import fs from 'fs';",
      "import type { A } from './a.js';",
      "import {\n  b,\n  type C,\n} from './b.js';",
      "export * from './c.js';",
      "export type { D } from './d.js';",
      "import './e.js';",
      "const f = await import('./f.js');",
      "const g = require('g');",
      "// import h from './h.js';",
      'const i = \'import k from "./k.js"\'.length;',
    ].join('\n');
    expect(importsOf(text).map(({ from, typeOnly }) => (typeOnly ? `type ${from}` : from))).toEqual(
      expect.arrayContaining([
        'node:fs',
        'type ./a.js',
        './b.js',
        './c.js',
        'type ./d.js',
        './e.js',
        './f.js',
        'g',
      ]),
    );
    expect(importsOf(text)).toHaveLength(8);
  });

  const sound: Readonly<Record<string, string>> = {
    'src/text/lines.ts': 'export const a = 1;',
    'src/toolkit/index.ts': "export * from './verbs.js';",
    'src/toolkit/verbs.ts': "import { a } from '../text/lines.js';",
    'transforms/index.ts': "import { one } from './one.js';",
    'transforms/one.ts': "import { verb } from '../src/toolkit/index.js';",
    'transforms/one.md': '',
    'fixtures/one/fix-plain/input.py': '',
    'src/cli/main.ts': "import { all } from '../../transforms/index.js'; process.exitCode = 1;",
  };

  it('has nothing to say about sound files', () => {
    expect(violations(files({}))).toEqual([]);
  });

  it.each<readonly [string, Readonly<Record<string, string>>, RegExp]>([
    ['an import that goes up', { 'src/text/up.ts': "import { b } from '../edit/b.js';" }, /not below it/],
    [
      'a type import that goes up',
      { 'src/text/up.ts': "import type { B } from '../edit/b.js';" },
      /not below it/,
    ],
    [
      'a type import that goes up within a room',
      { 'src/torch/training/up.ts': "import type { B } from '../grad/b.js';" },
      /not below it/,
    ],
    [
      'a file of a room that imports one of its folders',
      { 'src/torch/gate.ts': "import { b } from './module/b.js';" },
      /not below it/,
    ],
    ['an export that changes', { 'src/text/e.ts': 'export let e = 1;' }, /others would keep/],
    [
      'a question that knows who asks it',
      { 'src/values/value/v.ts': "import { b } from '../../torch/grad/b.js';" },
      /not below it/,
    ],
    [
      'a fact about modules that asks a question',
      { 'src/torch/module/m.ts': "import { v } from '../../values/index.js';" },
      /not below it/,
    ],
    [
      'a dynamic import that goes up',
      { 'src/engine/e.ts': "await import('../cli/main.js');" },
      /not below it/,
    ],
    [
      'an engine that knows a transform',
      { 'src/engine/e.ts': "import '../../transforms/index.js';" },
      /not below/,
    ],
    ['a published room that uses dev', { 'src/cli/c.ts': "import '../dev/build.js';" }, /not below it/],
    [
      'a transform that reaches below',
      { 'transforms/one.ts': "import '../src/syntax/node.js';" },
      /only src\/toolkit/,
    ],
    ['a transform with a vendor', { 'transforms/one.ts': "import 'diff';" }, /no package/],
    [
      'a transform that reaches into another',
      { 'transforms/one.ts': "import './two/a.js';" },
      /its own folder/,
    ],
    [
      "a transform's folder that reaches into another",
      { 'transforms/one/a.ts': "import '../two/a.js';" },
      /imports itself/,
    ],
    [
      "a transform's folder that reaches up",
      { 'transforms/one/a.ts': "import '../../src/engine/e.js';" },
      /below the engine/,
    ],
    [
      "an engine that knows a transform's folder",
      { 'src/engine/e.ts': "import '../../transforms/one/a.js';" },
      /not below/,
    ],
    [
      'a vendor by the window',
      { 'src/report/text.ts': "import { x } from 'diff';" },
      /src\/report\/diff\.ts only/,
    ],
    [
      'a vendor with two doors',
      { 'src/cli/a.ts': "import 'smol-toml';", 'src/workspace/b.ts': "import 'smol-toml';" },
      /one door/,
    ],
    [
      'a package of one command that all would wait for',
      { 'src/workspace/a.ts': "import { Octokit } from '@octokit/core';" },
      /await import/,
    ],
    [
      'a disk in a pure room',
      { 'src/report/r.ts': "import { readFileSync } from 'node:fs';" },
      /imports node:fs/,
    ],
    [
      'a file that is read without bounds',
      { 'src/cli/c.ts': "import { readFileSync } from 'node:fs';\nreadFileSync('x');" },
      /read through src\/workspace\/bounded/,
    ],
    ['a disk without its prefix', { 'src/report/r.ts': "import fs from 'fs';" }, /imports node:fs/],
    ['an environment in a pure room', { 'src/engine/e.ts': 'const a = process.env;' }, /uses process/],
    ['a print in a pure room', { 'src/torch/t.ts': "console.log('a');" }, /uses console/],
    ['an escape sequence', { 'src/cli/c.ts': "const a = '\\x1b[2J';" }, /has an escape sequence/],
    ['a nameless file', { 'src/cli/utils.ts': '' }, /names no room/],
    ['a nameless folder', { 'src/core/a.ts': '' }, /names no room/],
    ['a cycle', { 'src/text/a.ts': "import './b.js';", 'src/text/b.ts': "import './a.js';" }, /a cycle/],
    ['raw offsets in a transform', { 'transforms/one.ts': 'const a = node.start;' }, /raw offsets/],
    ['a dotted name in a transform', { 'transforms/one.ts': "const a = 'torch.no_grad';" }, /dotted names/],
    [
      'a dotted name in a lower room',
      { 'src/semantic/s.ts': "const a = 'torch.nn.Module';" },
      /dotted names/,
    ],
    ['a folder of no transform', { 'transforms/loops/two.ts': '' }, /no transform/],
    ['a folder in the folder of a transform', { 'transforms/one/a/b.ts': '' }, /is flat/],
    ['a transform without fixtures', { 'transforms/two.ts': '', 'transforms/two.md': '' }, /no fixtures/],
    [
      'a transform without a page',
      { 'transforms/two.ts': '', 'fixtures/two/keep-a/input.py': '' },
      /no page/,
    ],
    ['an orphaned page', { 'transforms/gone.md': '' }, /no transform/],
    ['orphaned fixtures', { 'fixtures/gone/keep-a/input.py': '' }, /no transform/],
    ['an id that is not kebab-case', { 'transforms/noGrad.ts': '' }, /kebab-case/],
    ['a file that holds two ideas', { 'src/cli/long.ts': 'a;\n'.repeat(351) }, /351 lines/],
  ])('sees %s', (_, planted, message) => {
    expect(violations(files(planted)).join('\n')).toMatch(message);
  });

  it.each<readonly [string, Readonly<Record<string, string>>]>([
    [
      "a transform's own folder",
      {
        'transforms/one.ts': "import './one/a.js';",
        'transforms/one/a.ts': "import '../../src/text/lines.js'; import './b.js';",
        'transforms/one/b.ts': 'const a = node.start;',
      },
    ],
    ['a word in a comment', { 'src/text/a.ts': '// process.env is for the edge\n/* console.log */' }],
    ['a word in a string', { 'src/text/a.ts': "const a = 'process.env.HOME';" }],
    ['a property of that name', { 'src/text/a.ts': 'const a = job.process.id;' }],
    [
      'a cycle of types',
      { 'src/text/a.ts': "import type { B } from './b.js';", 'src/text/b.ts': "import './a.js';" },
    ],
    ['a package loaded late', { 'src/workspace/a.ts': "const a = await import('@octokit/core');" }],
    ['a method named require', { 'transforms/one.ts': "proof.require('unknown', because);" }],
    ['a quoted name in prose', { 'transforms/one.ts': "const a = 'needs `torch.stack` here';" }],
    ['a dotted name in prose', { 'transforms/one.ts': "const a = 'calls `torch.stack(x).mean()` once';" }],
  ])('is not fooled by %s', (_, planted) => {
    expect(violations(files(planted))).toEqual([]);
  });

  function files(planted: Readonly<Record<string, string>>): FileMap {
    return new Map(Object.entries({ ...sound, ...planted }));
  }
});

function projectFiles(): FileMap {
  const found = new Map<string, string>();
  for (const top of ['src', 'transforms', 'fixtures', 'test']) {
    for (const path of filesBelow(join(root, top))) {
      found.set(
        relative(root, path).split(sep).join('/'),
        path.endsWith('.ts') ? readFileSync(path, 'utf8') : '',
      );
    }
  }
  return found;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

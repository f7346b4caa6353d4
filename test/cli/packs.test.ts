import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../workspace/folders.js';

const LOADER = join(import.meta.dirname, '../../src/cli/packs.ts');

/** A part of two functions, one of which is so long that what V8 makes of it is worth keeping. */
const LONG = `exports.sum = (x) => {${'x += Math.sqrt(x) * 2 + [x, x].length;'.repeat(400)} return x > 0;};`;

const FIRST = `{ "main.js"(exports, require, module, __filename, __import) {
  const { sum } = require("./long.js");
  const { cpus } = require("node:os");
  console.log(sum(1), cpus().length > 0, require("./long.js") === require("./long.js"), typeof require("node:fs").statSync);
  __import("node:path").then(({ basename }) => console.log(basename("a/b")));
} }`;

function program(): string {
  return folderWith({
    'pack-1.js': `({"long.js"(exports, require, module, __filename) { "use strict"; ${LONG} }})`,
    'cli.mts': `
      import { createRequire } from 'node:module';
      import { Packs } from ${JSON.stringify(LOADER)};
      const outside = createRequire(import.meta.url);
      new Packs(import.meta.filename, ${FIRST}, { 'long.js': 'pack-1', 'gone.js': 'pack-1' }, outside, (name) => import(name)).require('./' + (process.argv[2] ?? 'main.js'));
    `,
  });
}

function run(folder: string, ...words: readonly string[]) {
  const tsx = import.meta.resolve('tsx');
  return spawnSync(process.execPath, ['--import', tsx, join(folder, 'cli.mts'), ...words], {
    encoding: 'utf8',
  });
}

function kept(folder: string): string {
  const [name = '', ...others] = readdirSync(join(folder, 'compiled'));
  expect(others).toEqual([]);
  return join(folder, 'compiled', name);
}

test('parts find each other, and what V8 made of a pack is kept and used again', () => {
  const folder = program();
  const first = run(folder);
  expect(first).toMatchObject({ stdout: 'true true true function\nb\n', stderr: '', status: 0 });
  const { mtimeMs, ino } = statSync(kept(folder));
  expect(run(folder).stdout).toBe(first.stdout);
  expect(statSync(kept(folder))).toMatchObject({ mtimeMs, ino });
});

test('what was kept and is of no use is replaced', () => {
  const folder = program();
  const { stdout } = run(folder);
  const file = kept(folder);
  const { size } = statSync(file);
  writeFileSync(file, 'not what V8 makes');
  expect(run(folder)).toMatchObject({ stdout, stderr: '', status: 0 });
  expect(statSync(kept(folder)).size).toBeGreaterThan(size / 2);
});

test('what was kept and has changed since is not run', () => {
  const folder = program();
  const { stdout } = run(folder);
  const file = kept(folder);
  const whole = readFileSync(file);
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 5)) {
    writeFileSync(
      file,
      whole.map((byte, index) => (index >= at && index < at + 64 ? byte ^ 0xff : byte)),
    );
    expect(run(folder)).toMatchObject({ stdout, stderr: '', status: 0 });
  }
});

test('a folder that cannot be written to costs time only', () => {
  const folder = program();
  writeFileSync(join(folder, 'compiled'), 'no folder');
  const { stdout, stderr, status } = run(folder);
  expect({ stdout, stderr, status }).toEqual({
    stdout: 'true true true function\nb\n',
    stderr: '',
    status: 0,
  });
});

test('a part that is nowhere is an error, not undefined', () => {
  const { stderr, status } = run(program(), 'gone.js');
  expect(stderr).toContain('memfix is not whole: gone.js is missing');
  expect(status).toBe(1);
});

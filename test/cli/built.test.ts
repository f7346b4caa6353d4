import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { repositoryWith } from '../workspace/folders.js';

const dist = join(root, 'dist');

// The loader reads packs byte by byte: a character of two bytes in a pattern or a template would become two others.
test('the built program is ASCII', () => {
  const files = readdirSync(dist).filter((name) => name.endsWith('.js') && name !== 'page.js');
  expect(files.length).toBeGreaterThan(3);
  for (const name of files)
    expect([name, /[^\x00-\x7f]/.exec(readFileSync(join(dist, name), 'latin1'))]).toEqual([name, null]);
});

test('the built program reads a traceback of Rich', () => {
  const cwd = repositoryWith({
    'evaluate.py':
      'import torch\n\n\ndef evaluate(model, x):\n    model.eval()\n    return model(x).item()\n',
    'run.log': `╭───────── Traceback (most recent call last) ─────────╮
│ /app/evaluate.py:6 in evaluate                      │
│                                                     │
│   5     model.eval()                                │
│ ❱ 6     return model(x).item()                      │
╰─────────────────────────────────────────────────────╯
OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
`,
  });
  const { stdout } = spawnSync(process.execPath, [join(dist, 'cli.js'), 'check', '--oom', 'run.log'], {
    ...{ cwd, encoding: 'utf8' },
    env: { ...process.env, NO_PAGER: '1' },
  });
  expect(stdout).toContain('evaluate.py:6  evaluate  return model(x).item()');
});

test('the example of the README for a library runs as it is printed, on scripts and notebooks', () => {
  const [, example = ''] =
    /<!-- library:begin -->\n```js\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
  // Inside of the package, its own name is known.
  const folder = mkdtempSync(join(root, 'build-example-'));
  try {
    const code =
      'import torch\n\ndef evaluate(model: torch.nn.Module, x):\n    model.eval()\n    print(model(x).item())\n';
    const cells = [{ cell_type: 'code', source: code, metadata: {}, outputs: [], execution_count: null }];
    writeFileSync(join(folder, 'example.mjs'), example);
    writeFileSync(join(folder, 'a.py'), code);
    writeFileSync(
      join(folder, 'a.ipynb'),
      JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }),
    );
    const run = (path: string) =>
      spawnSync(process.execPath, ['example.mjs', path], { cwd: folder, encoding: 'utf8' });
    const [script, notebook] = [run('a.py'), run('a.ipynb')];
    expect(script.stderr).toBe('');
    expect(script.stdout).toContain('{ line: 3, column: 5 } no-grad safe');
    expect(script.stdout).toContain('+@torch.no_grad()\n def evaluate');
    expect(notebook.stderr).toBe('');
    expect(notebook.stdout).toContain('cell: 1 } no-grad');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

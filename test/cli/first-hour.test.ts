import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { COLUMNS, DEMO, OOM } from '../../src/dev/readme.js';
import { SIZES, seen, widest } from '../support/seen.js';
import { commit, folderWith, git, put, repositoryWith } from '../workspace/folders.js';

const EVALUATE = `import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))


def evaluate(loader):
    model.eval()
    total = 0.0
    for inputs, labels in loader:
        total += F.cross_entropy(model(inputs), labels).item()
    return total
`;

const CHECKPOINTS = `import torch
from torch import nn

model = nn.Linear(8, 8)
${Array.from({ length: 9 }, (_, index) => `model.load_state_dict(torch.load("runs/checkpoint-${index}-with-a-name-that-is-rather-long.pt"))`).join('\n')}
`;

const flat = (text: string) => text.replaceAll(/\s+/g, ' ');

const FILES = { 'evaluate.py': EVALUATE, 'deep/in/some/folders/checkpoints.py': CHECKPOINTS };

describe('the README begins with what a newcomer gets', () => {
  const clone = () => {
    const cwd = folderWith({});
    git(root, 'clone', '--quiet', '--shared', root, join(cwd, 'memfix'));
    const copy = join(cwd, 'memfix');
    const changed = git(
      root,
      'ls-files',
      '--modified',
      '--others',
      '--exclude-standard',
      'README.md',
      'fixtures/_demo',
    );
    for (const path of changed.split('\n').filter(Boolean)) cpSync(join(root, path), join(copy, path));
    for (const folder of ['dist', 'node_modules']) symlinkSync(join(root, folder), join(copy, folder));
    return copy;
  };
  const shown = (name: string) => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    return (
      new RegExp(`<!-- ${name}:begin -->\n\`\`\`\n([\\s\\S]*?)\`\`\`\n<!-- ${name}:end -->`).exec(
        readme,
      )?.[1] ?? ''
    );
  };

  test('byte for byte, in a clone of the repository', async () => {
    const cwd = clone();
    for (const [name, words] of [
      ['demo', DEMO],
      ['oom', OOM],
    ] as const) {
      const { lines } = await seen({ cwd, cols: COLUMNS, rows: 200 }, ...words.split(' '), '--no-cache');
      const [command, ...expected] = shown(name)
        .replace(/\n…\n$/, '')
        .trimEnd()
        .split('\n');
      expect(command).toBe(`$ npx memfix ${words}`);
      expect(lines.slice(0, expected.length)).toEqual(expected);
    }
  });
});

describe.each(SIZES)('in a terminal of $cols × $rows', (size) => {
  test('check fits, erases its progress, tells like findings together and ends with what to do', async () => {
    const { code, text, lines } = await seen({ cwd: repositoryWith(FILES), ...size }, 'check', '--no-cache');
    expect(code).toBe(1);
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
    expect(text).not.toMatch(/\d+\/\d+ files/);
    expect(text).toContain('and 7 more like this');
    expect(text).toContain('+ @torch.no_grad()');
    expect(text.replaceAll(/\n {4} ?│ {3}/g, '')).toContain('map_location="cpu"');
    expect(text).toContain('Most worth fixing:');
    expect(text).toContain('memfix apply --select load-map-location');
  });

  test('apply says what it did, and leaves a dirty file alone', async () => {
    const cwd = repositoryWith(FILES);
    put(cwd, { 'evaluate.py': `${EVALUATE}\n` });
    const { code, text, lines } = await seen({ cwd, ...size }, 'apply', '--no-cache');
    expect(code).toBe(1);
    expect(lines.filter((line) => /^fixed +\S*checkpoints\.py:\d/.test(line))).toHaveLength(9);
    expect(text).toContain('evaluate.py: left alone: it has uncommitted changes');
    expect(text.replaceAll(/\s+/g, ' ')).toContain('Fixed 9 findings in 1 file: 9 free memory.');
    expect(git(cwd, 'diff', '--name-only')).toBe('deep/in/some/folders/checkpoints.py\nevaluate.py\n');
  });

  test('memfix alone tells about this folder, and the next command', async () => {
    const { code, text, lines } = await seen({ cwd: repositoryWith(FILES), ...size });
    expect(code).toBe(0);
    expect(text).toContain('2 Python files, torch in 2');
    // How far a quick look gets depends on the machine.
    expect(text).toMatch(
      /10 {2}would free memory {2}10 proven safe|files? takes?\s+longer\s+than\s+a\s+quick\s+look/,
    );
    expect(text).toContain('Next:  memfix check');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test.each([
    [['--help']],
    [['check', '--help']],
    [['list']],
    [['list', '-v', 'leak']],
    [['budget', '7B', '--fit', '24GB']],
  ])('%j fits', async (words) => {
    const { code, lines } = await seen({ cwd: folderWith(), ...size }, ...words);
    expect(code).toBe(0);
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test('--oom shows the frame that failed', async () => {
    const { text, lines } = await seen({ cwd: root, ...size }, ...OOM.split(' '), '--no-cache');
    expect(text).toContain('torch/nn/functional.py:2551');
    expect(text).toContain('It tried to allocate 512.00 MiB.');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });
});

describe.each(SIZES)('a long text at $cols × $rows', (size) => {
  const PAGER = 'sed s/^/paged:/';
  const paged = async (env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
    const cwd = repositoryWith({ ...FILES, 'more.py': CHECKPOINTS, 'still/more.py': CHECKPOINTS });
    const { text } = await seen({ cwd, ...size, env: { NO_PAGER: '', ...env } }, ...words);
    return text.includes('paged:');
  };

  test.each([['check', '--no-cache'], ['diff', '--no-cache'], ['list'], ['explain', 'no-grad']])(
    'of memfix %s goes through the pager',
    async (...words) => {
      expect(await paged({ PAGER }, ...words)).toBe(true);
    },
  );

  test('does not where git would not use one either', async () => {
    expect(await paged({ PAGER }, 'check', '--no-cache', '--no-pager')).toBe(false);
    expect(await paged({ PAGER, NO_PAGER: '1' }, 'check', '--no-cache')).toBe(false);
    expect(await paged({ PAGER: 'cat' }, 'check', '--no-cache')).toBe(false);
    expect(await paged({ PAGER }, 'check', '--no-cache', '--output-format', 'concise', 'evaluate.py')).toBe(
      false,
    );
  });

  test('is printed where there is no such pager', async () => {
    const cwd = repositoryWith(FILES);
    const { code, text } = await seen(
      { cwd, ...size, env: { NO_PAGER: '', PAGER: 'no-such-pager' } },
      'check',
      '--no-cache',
    );
    expect(code).toBe(1);
    expect(text).toContain('+ @torch.no_grad()');
  });
});

describe.each(SIZES)('no dead ends at $cols × $rows', (size) => {
  test('a transform that needs an option says so', async () => {
    const cwd = repositoryWith(FILES);
    const { text } = await seen({ cwd, ...size }, 'check', '--select', 'lora-rank');
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      '`lora-rank` does nothing before its option is set: [tool.memfix.transforms.lora-rank] rank = 64',
    );
    expect((await seen({ cwd, ...size }, 'explain', 'lora-rank')).text).toContain(
      '    [tool.memfix.transforms.lora-rank]\n    rank = 64\n',
    );
  });

  test('fix and check --fix are apply, and what others write is understood', async () => {
    for (const words of [['fix'], ['check', '--fix'], ['apply', '--select', 'ALL']]) {
      const own = repositoryWith({ 'evaluate.py': EVALUATE });
      const { code, text } = await seen({ cwd: own, ...size }, ...words);
      expect([code, /^fixed +evaluate\.py:8 +no-grad/m.test(text)]).toEqual([0, true]);
      commit(own);
    }
    const cwd = folderWith();
    const help = (await seen({ cwd, ...size }, 'check', '--help')).text;
    expect((await seen({ cwd, ...size }, '--help', 'check')).text).toBe(help);
    expect(flat(help)).toContain('short (default), full, concise, json,');
    expect(flat((await seen({ cwd, ...size }, 'list', '--help')).text)).toContain('full (default) or json');
  });

  test('no file to look at is said', async () => {
    const { code, text } = await seen({ cwd: folderWith({ 'notes.txt': '' }), ...size }, 'check');
    expect([code, text.trim()]).toEqual([0, 'There were no Python files to look at.']);
    const { text: changed } = await seen({ cwd: repositoryWith(FILES), ...size }, 'check', '--changed');
    expect(changed.trim()).toBe('No Python file has changed.');
  });

  test.each([
    [['check', '--show-fixes'], 'Did you mean `memfix diff`?'],
    [['check', '--fix-dry-run'], 'Did you mean `memfix diff`?'],
    [['check', '--add-noqa'], 'Did you mean `memfix baseline`?'],
    [['check', 'src/*.py'], 'Next: Check the pattern'],
  ])('%j leads to what memfix has, in lines that fit', async (words, expected) => {
    const { code, text, lines } = await seen({ cwd: folderWith(), ...size }, ...words);
    expect(code).toBe(2);
    expect(text.replace(/\n {2}/g, ' ')).toContain(expected);
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test('the next command aims at what was looked at', async () => {
    const cwd = repositoryWith({ 'one/evaluate.py': EVALUATE, 'two/evaluate.py': EVALUATE });
    const { text } = await seen({ cwd, ...size }, 'check', '--select', 'no-grad', 'one', '--no-cache');
    const next = /Run `memfix (apply [^`]*)` to fix (\d+)/.exec(text.replaceAll('\n', ' '));
    expect(next?.[1]).toBe('apply --select no-grad one');
    const { text: done } = await seen({ cwd, ...size }, ...(next?.[1] ?? '').split(' '));
    expect(done).toContain(`Fixed ${next?.[2]} finding`);
    expect(git(cwd, 'status', '--porcelain')).toBe(' M one/evaluate.py\n');
  });

  test('undo above several repositories names them', async () => {
    const above = folderWith({ 'one/evaluate.py': EVALUATE, 'two/evaluate.py': EVALUATE });
    for (const name of ['one', 'two']) {
      git(join(above, name), 'init', '--quiet');
      git(join(above, name), 'add', '.');
      git(join(above, name), 'commit', '--quiet', '--message', 'first');
    }
    expect((await seen({ cwd: above, ...size }, 'apply')).text).toContain('Fixed 2 findings in 2 files');
    const { code, text } = await seen({ cwd: above, ...size }, 'undo');
    expect([code, text]).toEqual([2, expect.stringContaining('  memfix undo one\n')]);
    expect(text).toContain('  memfix undo two\n');
    expect((await seen({ cwd: above, ...size }, 'undo', 'two')).code).toBe(0);
    expect(readFileSync(join(above, 'two', 'evaluate.py'), 'utf8')).toBe(EVALUATE);
  });
});

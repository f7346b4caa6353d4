/** What the first hour must not do to anybody, in a real terminal of each size that people have open. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../src/dev/project.js';
import { SIZES, seen, start, widest } from '../support/seen.js';
import { folderWith, git, put, repositoryWith } from '../workspace/folders.js';

const CTRL_C = '\x03';
const EVALUATE = `import torch


def evaluate(model: torch.nn.Module, loader):
    model.eval()
    total = 0.0
    for inputs in loader:
        total += model(inputs).sum().item()
    return total
`;
const MANY = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => [`part_${at % 12}/module_${at}.py`, EVALUATE.repeat(40)]),
);
const HANDS_OUT = EVALUATE.replace('total = 0.0', 'outs = []')
  .replace('total += model(inputs).sum().item()', 'outs.append(model(inputs))')
  .replace('return total', 'return outs');
const flat = (text: string) => text.replace(/\s+/g, ' ');

/** A site of a leak that is left alone: another file differentiates what is added up. */
function leakLeftAlone(): string {
  const folder = join(root, 'fixtures/detach-accumulated-loss/keep-caller-elsewhere-differentiates');
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  return repositoryWith({ 'input.py': file('input.py'), 'train.py': file('project/train.py') });
}

describe.each(SIZES)('at $cols × $rows', (size) => {
  test('the first command of the README finds what the README shows', async () => {
    const { code, text, lines } = await seen(
      { cwd: root, ...size },
      ...['check', 'fixtures/_demo', '--no-cache'],
    );
    expect(code).toBe(1);
    expect(flat(text)).toContain('3 safe findings in 3 files: 2 free memory, 1 keeps up with new versions.');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test.each([[['check']], [['apply']], [['diff']], [['apply', '-i']]])(
    'Ctrl-C ends memfix %j with 130 and one line',
    async (words) => {
      const cwd = repositoryWith(MANY);
      const terminal = start({ cwd, ...size }, ...words, '--no-cache');
      await terminal.sees(' files');
      terminal.type(CTRL_C);
      expect(await terminal.ended()).toBe(130);
      expect(terminal.lines.filter((line) => line !== '')).toEqual([expect.stringMatching(/^Interrupted/)]);
      expect(git(cwd, 'status', '--porcelain')).toBe('');
    },
  );

  test('a leak that was left alone is no all-clear, and is shown', async () => {
    const { text, lines } = await seen({ cwd: leakLeftAlone(), ...size }, 'check');
    expect(flat(text)).toContain(
      'No fixes. 1 suspicious site was left alone, a leak: `memfix check -v` says why',
    );
    expect(text).toContain('Memory may grow here too; left alone:');
    expect(text).toContain('input.py:13');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test('apply --changed and --staged write what they were asked to; the index goes along', async () => {
    const cwd = repositoryWith({ 'a.py': 'x = 1\n', 'b.py': 'x = 1\n' });
    put(cwd, { 'a.py': EVALUATE, 'b.py': EVALUATE });
    git(cwd, 'add', 'a.py');
    const staged = await seen({ cwd, ...size }, 'apply', '--staged');
    expect([staged.code, staged.text]).toEqual([0, expect.stringMatching(/^fixed +a\.py:4 +no-grad/m)]);
    expect(git(cwd, 'show', ':a.py')).toContain('@torch.no_grad()');
    expect(git(cwd, 'diff', '--name-only')).toBe('b.py\n');
    const changed = await seen({ cwd, ...size }, 'apply', '--changed');
    expect([changed.code, changed.text]).toEqual([0, expect.stringMatching(/^fixed +b\.py:4 +no-grad/m)]);
  });

  test('--since tells what is on changed lines, --whole-files all; advice alone is no failure', async () => {
    const cwd = repositoryWith({ 'a.py': EVALUATE });
    git(cwd, 'branch', 'base');
    put(cwd, {
      'a.py': `${EVALUATE}\n\n${EVALUATE.replace('import torch\n\n\n', '').replace('evaluate', 'validate')}`,
    });
    const since = await seen({ cwd, ...size }, 'check', '--since', 'base');
    expect(since.text.match(/a\.py:\d+:\d+/g)).toEqual(['a.py:12:5']);
    const whole = await seen({ cwd, ...size }, 'check', '--since', 'base', '--whole-files');
    expect(whole.text.match(/a\.py:\d+:\d+/g)).toEqual(['a.py:4:5', 'a.py:12:5']);
    const advice = { 'a.py': 'import torch\n\nx = torch.zeros(3)\ntorch.no_grad()\nprint(x)\n' };
    const advised = repositoryWith(advice);
    const alone = await seen({ cwd: advised, ...size }, 'check');
    expect([alone.code, alone.text]).toEqual([0, expect.stringContaining('idle-no-grad')]);
    expect((await seen({ cwd: advised, ...size }, 'check', '--strict')).code).toBe(1);
  });

  test('what is unproven is a question, in bold, and the session asks it', async () => {
    const cwd = repositoryWith({ 'a.py': HANDS_OUT });
    const check = start({ cwd, ...size }, 'check');
    expect(await check.ended()).toBe(1);
    expect(check.raw).toMatch(/\x1b\[33m\? \x1b\[39m\x1b\[1mIs `outs`, which `evaluate` returns, only/);
    expect(flat(check.text)).toContain(
      '? Is `outs`, which `evaluate` returns, only read and never differentiated?',
    );
    const session = start({ cwd, ...size }, 'apply', '-i');
    await session.sees('?=more');
    expect(flat(session.text)).toContain('? Is `outs`, which `evaluate` returns, only read and never');
    session.type('q');
    await session.ended();
  });

  test('no dead ends: options that are missing, settings, help, counts', async () => {
    const cwd = repositoryWith({ 'a.py': EVALUATE });
    const lora = await seen({ cwd, ...size }, 'check', '--select', 'lora-rank');
    expect(flat(lora.text)).toContain('`lora-rank` does nothing before its option is set');
    const settings = await seen({ cwd, ...size }, 'check', '--show-settings');
    expect(settings.text).toContain('versions in');
    expect(widest(settings.lines)).toBeLessThanOrEqual(size.cols);
    const help = await seen({ cwd, ...size }, 'check', '--help');
    expect((await seen({ cwd, ...size }, '--help', 'check')).text).toBe(help.text);
    const counted = await seen({ cwd, ...size }, 'check', '--statistics', '--output-format', 'json', '-q');
    expect(() => JSON.parse(counted.lines.join(''))).not.toThrow();
    const none = await seen({ cwd: folderWith({ 'a.txt': '' }), ...size }, 'check');
    expect(none.text.trim()).toBe('There were no Python files to look at.');
  });

  test('diff and apply -i take --oom, and are about what explains it', async () => {
    const words = ['--oom', 'fixtures/_demo/oom.log', 'fixtures/_demo', '--no-cache'];
    const diff = await seen({ cwd: root, ...size }, 'diff', ...words);
    expect(diff.text).toContain('+@torch.no_grad()');
    expect(diff.text).not.toContain('gradient_checkpointing_kwargs');
    const terminal = start({ cwd: root, ...size }, 'apply', '-i', '--allow-dirty', ...words);
    await terminal.sees('?=more');
    expect(terminal.text).toContain('evaluate.py');
    terminal.type('q');
    await terminal.ended();
  });

  test('budget knows 7B, names of models and of cards', async () => {
    const cwd = folderWith();
    const { text, lines } = await seen({ cwd, ...size }, 'budget', '7B', '--gpu', 'RTX 4090');
    expect(flat(text)).toContain('32 layers × 4096');
    expect(flat(text)).toContain('rtx-4090, 22.80 GiB usable: no');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
    expect(flat((await seen({ cwd, ...size }, 'budget', 'llama-2-7b')).text)).toContain('32 layers × 4096');
  });

  test('baseline records old debts; check --baseline tells what is new', async () => {
    const cwd = repositoryWith({ 'old.py': EVALUATE });
    const { code, text } = await seen({ cwd, ...size }, 'baseline');
    expect([code, flat(text)]).toEqual([0, expect.stringContaining('memfix check --baseline')]);
    const known = await seen({ cwd, ...size }, 'check', '--baseline');
    expect([known.code, flat(known.text)]).toEqual([
      0,
      expect.stringContaining('No new findings in 1 file. 1 known finding of the baseline is left out.'),
    ]);
    put(cwd, { 'new.py': EVALUATE });
    const more = await seen({ cwd, ...size }, 'check', '--baseline');
    expect([more.code, more.text.match(/\w+\.py:\d+:\d+/g)]).toEqual([1, ['new.py:4:5']]);
    expect(widest(more.lines)).toBeLessThanOrEqual(size.cols);
  });

  test('names mean the same everywhere: ALL, Default, and all in list', async () => {
    const cwd = repositoryWith({ 'a.py': EVALUATE });
    const concise = ['check', '--output-format', 'concise', '-q'];
    for (const name of ['ALL', 'all', 'Default', 'no-grad']) {
      const { lines } = await seen({ cwd, ...size }, ...concise, '--select', name);
      expect(lines[0]).toMatch(/^a\.py:4:5: no-grad \[safe\]/);
    }
    const listed = async (name: string) => {
      const { lines } = await seen({ cwd, ...size }, 'list', name, '--output-format', 'json');
      return JSON.parse(lines.join('')).length;
    };
    expect(await listed('all')).toBe(await listed('ALL'));
    expect(await listed('all')).toBeGreaterThan(await listed('default'));
  });

  test('the counts of JSON are those of the summary', async () => {
    const cwd = repositoryWith({ 'a.py': EVALUATE, 'b.py': HANDS_OUT });
    const { text } = await seen({ cwd, ...size }, 'check');
    expect(flat(text)).toContain('2 findings (1 safe, 1 unsafe) in 2 files');
    const json = await seen({ cwd, ...size }, 'check', '--output-format', 'json', '-q');
    const { findings } = JSON.parse(json.lines.join(''));
    expect(findings.map(({ safety }: { safety: string }) => safety).sort()).toEqual(['safe', 'unsafe']);
  });

  test('what is said of a text on standard input has its lines', async () => {
    const cwd = repositoryWith({ 'a.py': `${EVALUATE}\n\n${HANDS_OUT}` });
    const { text, lines } = await seen({ cwd, ...size, behind: '< a.py' }, 'check', '-');
    expect(text.match(/stdin\.py:\d+:\d+/g)).toEqual(['stdin.py:4:5', 'stdin.py:15:5']);
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test('a notebook that cannot be read is said', async () => {
    const cwd = repositoryWith({ 'a.py': EVALUATE, 'broken.ipynb': '{' });
    const { text, lines } = await seen({ cwd, ...size }, 'check');
    expect(flat(text)).toContain('broken.ipynb');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });

  test('budget of a network of images says what its numbers take for granted', async () => {
    const { text, lines } = await seen({ cwd: folderWith(), ...size }, 'budget', 'resnet50');
    expect(flat(text)).toContain('Convolutions take workspaces that depend on the card');
    expect(widest(lines)).toBeLessThanOrEqual(size.cols);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DEFAULT_FLOORS } from '../../src/library/since.js';
import { PyModule } from '../../src/semantic/module.js';
import { isAtLeast, standingOf } from '../../src/semantic/standing.js';
import { ALONE } from '../../src/semantic/surroundings.js';
import { pinOf, Versions } from '../../src/semantic/versions.js';
import { loadParser } from '../../src/syntax/parser.js';
import { PACKAGES } from '../../src/workspace/targets.js';

const parser = await loadParser();

/** `asked`: package to specifier. */
function fileOf(text: string, asked: Readonly<Record<string, string>> = {}): PyModule {
  const pins = Object.entries(asked).map(([name, words]) => [name, [pinOf(words, 'there:1')]] as const);
  const around = { ...ALONE, versions: new Versions(new Map(pins)) };
  return new PyModule('a.py', text, parser.parse(text), around);
}

/** The newest of some versions that a file proves where `>=1.0` of everything is allowed. */
function proven(text: string, asked = '>=1.0'): string | undefined {
  const module = fileOf(`import torch\n${text}\n`, { torch: asked });
  return ['2.6', '2.3', '2.0', '1.13', '1.11', '1.9'].find(
    (version) => isAtLeast(module, 'torch', version) === 'yes',
  );
}

test('a doubt names the line that allows older versions', () => {
  const pins = [pinOf('==2.4.0', 'lock:1'), pinOf('>=1.0', 'asked:2')];
  const around = { ...ALONE, versions: new Versions(new Map([['torch', pins]])) };
  const module = new PyModule('a.py', 'x\n', parser.parse('x\n'), around);
  expect(standingOf(module, 'torch', '2.1')).toMatchObject({
    answer: 'unknown',
    doubt: 'asked:2 says `>=1.0`',
  });
});

describe('what a file uses', () => {
  test.each([
    ['step = torch.compile(step)', '2.0'],
    ['from torch import inference_mode', '1.9'],
    ['import torch.nn.attention.flex_attention', '2.3'],
    ['from torch.amp import autocast, GradScaler', '2.3'],
    ['@torch.inference_mode()\ndef infer(): ...', '1.9'],
    ['scaler = torch.amp.GradScaler("cuda")', '2.3'],
    ['with torch.inference_mode():\n    run()', '1.9'],
    ['DEVICE = torch.accelerator.current_accelerator()', '2.6'],
    ['state = torch.load("x.pt", weights_only=True)', '1.13'],
    ['from torch.utils.checkpoint import checkpoint\ny = checkpoint(f, x, use_reentrant=False)', '1.11'],
  ])('%s proves its version', (text, version) => {
    expect(proven(text)).toBe(version);
  });

  test.each([
    ['in a try', 'try:\n    step = torch.compile(step)\nexcept AttributeError:\n    pass'],
    ['in an except clause', 'try:\n    import apex\nexcept ImportError:\n    step = torch.compile(step)'],
    ['under a condition', 'if FAST:\n    step = torch.compile(step)'],
    ['in a choice', 'step = torch.compile(step) if FAST else step'],
    ['after a test', 'FAST and torch.compile(step)'],
    ['where errors are swallowed', 'with suppress(AttributeError):\n    torch.compile(step)'],
    ['in a file that looks', 'step = torch.compile(step)\nprint(hasattr(torch, "compile"))'],
    ['in a file that asks for a version', 'step = torch.compile(step)\nprint(torch.__version__)'],
    ['in a function that the others need not call', 'def fast(step):\n    return torch.compile(step)'],
    ['as the attribute of something else', 'step = tool.compile(step)'],
    ['in a string', 'print("torch.compile")'],
    ['as the keyword of another function', 'load("x.pt", weights_only=True)'],
    ['as a name of its own', 'def compile(step): ...\nstep = compile(step)'],
  ])('%s it proves nothing against a bound', (_, text) => {
    expect(proven(text)).toBeUndefined();
  });

  test('in a function, it proves more than the default where nothing is asked for', () => {
    const text = 'import torch\ndef pick():\n    return torch.accelerator.current_accelerator()\n';
    expect(standingOf(fileOf(text), 'torch', '2.5')).toEqual({
      answer: 'yes',
      premise: { package: 'torch', atLeast: '2.5', because: 'a.py:3 uses `torch.accelerator`' },
    });
  });

  test('loses against a pin', () => {
    expect(isAtLeast(fileOf('import torch.accelerator\n', { torch: '==2.1' }), 'torch', '2.5')).toBe('no');
  });

  test.each([
    ['TrainingArguments("out", eval_strategy="no")', 'transformers', '4.41'],
    ['AutoModel.from_pretrained("x", attn_implementation="sdpa")', 'transformers', '4.36'],
    ['Trainer(model, processing_class=tokenizer)', 'transformers', '4.46'],
    ['SFTTrainer(model, processing_class=tokenizer)', 'trl', '0.12'],
  ])('%s', (call, name, version) => {
    const imports =
      'from transformers import AutoModel, Trainer, TrainingArguments\nfrom trl import SFTTrainer\n';
    expect(isAtLeast(fileOf(`${imports}x = ${call}\n`, { [name]: '>=0.1' }), name, version)).toBe('yes');
    expect(isAtLeast(fileOf(`x = ${call}\n`, { [name]: '>=0.1' }), name, version)).toBe('unknown');
  });

  test('a keyword that any configuration keeps proves nothing', () => {
    const text =
      'from transformers import AutoConfig\nc = AutoConfig.from_pretrained("x", attn_implementation="sdpa")\n';
    expect(isAtLeast(fileOf(text, { transformers: '>=4.0' }), 'transformers', '4.36')).toBe('unknown');
  });
});

describe('the default', () => {
  test('has a floor for each package, and the README says which', () => {
    expect([...DEFAULT_FLOORS.keys()].sort()).toEqual([...PACKAGES].sort());
    const readme = readFileSync('README.md', 'utf8').replace(/\s+/g, ' ');
    for (const [name, floor] of DEFAULT_FLOORS) expect(readme).toContain(`${name} ${floor}`);
  });

  test('is for projects that say nothing', () => {
    const answer = (name: string, version: string, asked = {}) => isAtLeast(fileOf('', asked), name, version);
    expect(answer('torch', '2.2')).toBe('yes');
    expect(answer('torch', '2.3')).toBe('unknown');
    expect(answer('torch', '2.2', { torch: '*' })).toBe('yes');
    expect(answer('torch', '2.2', { torch: '<3' })).toBe('unknown');
    expect(answer('transformers', '4.38', { torch: '==2.4' })).toBe('yes');
  });

  test('is none beside what is older than it', () => {
    const answer = (name: string, version: string, asked: Record<string, string>) =>
      isAtLeast(fileOf('', asked), name, version);
    expect(answer('transformers', '4.30', { torch: '==1.13' })).toBe('unknown');
    expect(answer('torch', '2.0', { transformers: '==4.30' })).toBe('unknown');
    // Whatever transformers it is, it needs a torch that has this.
    expect(answer('torch', '1.0', { transformers: '==4.30' })).toBe('yes');
    expect(answer('torch', '1.0', { python: '==3.6' })).toBe('unknown');
  });

  test.each([
    ['x = Variable(x, volatile=True)', 'unknown', 'unknown'],
    ['total += loss.data[0]', 'unknown', 'unknown'],
    ['x = Variable(x)', 'yes', 'unknown'],
    ['y = Variable(x).data[0]', 'unknown', 'unknown'],
    ['x = Variable(x).to(device)', 'yes', 'yes'],
    ['total += loss.item()\nx = Variable(x)', 'yes', 'yes'],
  ])('after %s: 1.0 %s, 2.2 %s', (text, old, young) => {
    const module = fileOf(`import torch\nfrom torch.autograd import Variable\n${text}\n`);
    expect(isAtLeast(module, 'torch', '1.0')).toBe(old);
    expect(isAtLeast(module, 'torch', '2.2')).toBe(young);
  });

  test('knows the variables of others', () => {
    expect(isAtLeast(fileOf('import torch\nx = tf.Variable(x)\n'), 'torch', '1.0')).toBe('yes');
  });
});

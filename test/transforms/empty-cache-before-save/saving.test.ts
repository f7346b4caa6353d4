import { describe, expect, it } from 'vitest';
import type { PyModule } from '../../../src/semantic/module.js';
import { repetitionOf } from '../../../src/semantic/repetition.js';
import { statementOf } from '../../../src/semantic/statements.js';
import { isTestCode } from '../../../src/semantic/test-code.js';
import type { PyNode } from '../../../src/syntax/node.js';
import {
  continuesSaves,
  isEmptiedAfter,
  isEmptiedBefore,
} from '../../../transforms/empty-cache-before-save/cuda-cache.js';
import { mayUseGpu, modelSave, trainerRun } from '../../../transforms/empty-cache-before-save/saving.js';
import { moduleOf, nodeAt } from '../../support/module.js';

/** The last statement of the text that holds the word. */
function at(text: string, word: string): readonly [PyModule, PyNode] {
  const module = moduleOf(text);
  return [module, statementOf(nodeAt(module, word, text.split(word).length - 2))];
}

describe('modelSave', () => {
  const saved = (body: string, imports = 'import torch\n'): string | undefined => {
    const text = `${imports}${body}`;
    return modelSave(...at(text, 'save'))?.isModel;
  };

  const made = 'import torch.nn as nn\nmodel = nn.Linear(2, 2)\n';
  const imported =
    'from transformers import AutoModelForCausalLM, Trainer\nfrom peft import get_peft_model\n';

  it.each([
    `${imported}x = AutoModelForCausalLM.from_pretrained(a)\nx.save_pretrained(out)\n`,
    `${imported}x = get_peft_model(a, b)\nx.save_pretrained(out)\n`,
    `${imported}trainer = Trainer(a)\ntrainer.model.save_pretrained(out)\n`,
    `${made}accelerator.unwrap_model(model).save_pretrained(out)\n`,
    `${made}(model.module if hasattr(model, "module") else model).save_pretrained(out)\n`,
    `${made}torch.save(obj=model.module.state_dict(), f=path)\n`,
    `${made}torch.save({"model": model.state_dict(), "step": 1}, path)\n`,
    `${made}torch.save({k: v.cpu() for k, v in model.state_dict().items()}, path)\n`,
    `${made}ckpt = dict(step=1)\nckpt["w"] = model.state_dict()\ntorch.save(ckpt, path)\n`,
    `${made}torch.save(get_peft_model_state_dict(model), path)\n`,
    `${made}torch.save(model, path)\n`,
    `from accelerate import Accelerator\n${made}acc = Accelerator()\nmodel, o = acc.prepare(model, o)\nmodel.save_pretrained(out)\n`,
    'class Net(torch.nn.Module):\n    pass\nnet = Net().cuda()\ntorch.save(net.state_dict(), path)\n',
  ])('%j is one', (body) => {
    expect(saved(body)).toBe('yes');
  });

  it.each([
    'def f(model): model.save_pretrained(out)\n',
    'trainer.model.save_pretrained(out)\n',
    'self.unwrapped_model.save_pretrained(out)\n',
    'accelerator.unwrap_model(x).save_pretrained(out)\n',
    'models["generator"].cpu().save_pretrained(out)\n',
    'torch.save(netG.state_dict(), path)\n',
    'def f(model): torch.save(model, path)\n',
    `${made}acc = other()\nmodel, o = acc.prepare(model, o)\nmodel.save_pretrained(out)\n`,
    'def f(thing): thing.save_pretrained(out)\n',
    'torch.save(agent.state_dict(), path)\n',
    'def f(state_dict): torch.save(state_dict, path)\n',
    'def f(trainer): trainer.save_model(out)\n',
  ])('%j may be one', (body) => {
    expect(saved(body)).toBe('unknown');
  });

  it.each([
    'tokenizer.save_pretrained(out)\n',
    'tok = AutoTokenizer.from_pretrained(a)\ntok.save_pretrained(out)\n',
    'x = AutoProcessor.from_pretrained(a)\nx.save_pretrained(out)\n',
    'model.config.save_pretrained(out)\n',
    'model_config.save_pretrained(out)\n',
    'pipeline.save_pretrained(out)\n',
    'super().save_pretrained(out)\n',
    'self.save_pretrained(out)\n',
    'model.save_pretrained(out, params=state.params)\n',
    'model = TFAutoModel.from_pretrained(a)\nmodel.save_pretrained(out)\n',
    'torch.save(optimizer.state_dict(), path)\n',
    'torch.save({"optimizer": optimizer.state_dict()}, path)\n',
    'torch.save(features, path)\n',
    'torch.save([a, b], path)\n',
    'np.save(model.state_dict(), path)\n',
    'y = model.save_pretrained(out)\n',
    'pool.submit(torch.save, model, path)\n',
    'accelerator.save_model(model, out)\n',
    'import onnx\nonnx.save_model(model, out)\n',
    'class Trainer: ...\ntrainer = Trainer()\ntrainer.save_model(out)\n',
  ])('%j is none', (body) => {
    expect(saved(body)).toBeUndefined();
  });

  it('knows torch by its imports', () => {
    const body = 'def f(model): model.save_pretrained(out)\n';
    expect(saved(body, 'from transformers import AutoModel\n')).toBe('unknown');
    expect(saved(body, 'from transformers import TFAutoModel\n')).toBeUndefined();
    expect(saved(body, 'import jax\nfrom transformers import AutoModel\n')).toBeUndefined();
    expect(saved(body, 'import os\n')).toBeUndefined();
    expect(
      saved('def f(trainer: Trainer): trainer.save_model()\n', 'from transformers import Trainer\n'),
    ).toBe('yes');
  });
});

it.each([
  ['from trl import SFTTrainer\ntrainer = SFTTrainer()\ntrainer.train()\n', 'yes'],
  ['from trl import SFTTrainer\ntrainer = SFTTrainer()\nresult = trainer.train(a)\n', 'yes'],
  ['def f(trainer): trainer.train()\n', 'unknown'],
  ['def f(model): model.train()\n', 'no'],
  ['print(trainer.train())\n', 'no'],
])('%j trains: %s', (text, answer) => {
  expect(trainerRun(...at(text, 'train('))).toBe(answer);
});

it.each([
  ['model = Net().cuda()\ntorch.save(model.state_dict(), p)\n', 'yes'],
  ['def f(model):\n    torch.save(model.state_dict(), p)\n', 'yes'],
  ['def f(self):\n    w = self.model.state_dict()\n    torch.save(w, p)\n', 'yes'],
  ['def f(lora_rank):\n    model = Net(lora_rank)\n    torch.save(model.state_dict(), p)\n', 'unknown'],
  ['model = Net(config)\ntorch.save(model.state_dict(), p)\n', 'unknown'],
  ['m = M.from_pretrained(a, device_map="cpu")\ntorch.save(m.state_dict(), p)\n', 'unknown'],
])('%j may use a GPU: %s', (text, answer) => {
  const [module, statement] = at(`import torch\n${text}`, 'save');
  const save = modelSave(module, statement);
  expect(save && mayUseGpu(module, save)).toBe(answer);
});

describe('the cache', () => {
  it.each([
    ['empty_cache()\nHERE\n', true],
    ['if a:\n    x.empty_cache()\nb()\nc()\nHERE\n', true],
    ['empty_cache()\nif a:\n    HERE\n', true],
    ['def free():\n    torch.cuda.empty_cache()\nfree()\nHERE\n', true],
    ['free_memory()\nHERE\n', true],
    ['empty_cache()\na()\nb()\nc()\nHERE\n', false],
    ['for a in b:\n    empty_cache()\nHERE\n', false],
    ['def f():\n    empty_cache()\nHERE\n', false],
    ['empty_cache()\ndef f():\n    HERE\n', false],
  ])('%j is emptied before: %s', (text, answer) => {
    expect(isEmptiedBefore(...at(text, 'HERE'))).toBe(answer);
  });

  it('may be emptied after', () => {
    expect(isEmptiedAfter(...at('HERE\na()\nempty_cache()\n', 'HERE'))).toBe(true);
    expect(isEmptiedAfter(...at('HERE\na()\nb()\nc()\nempty_cache()\n', 'HERE'))).toBe(false);
  });

  it.each([
    ['model.save_pretrained(a)\nHERE\n', true],
    [
      'model.save_pretrained(a)\ntok.save_pretrained(a)\nx.save_state()\ny.save_state()\nz.save_y()\nHERE\n',
      true,
    ],
    ['model.save_pretrained(a)\na()\nb()\nc()\nHERE\n', false],
    ['for a in b:\n    model.save_pretrained(a)\nHERE\n', false],
    ['if a:\n    model.save_pretrained(a)\nelse:\n    HERE\n', false],
    ['tok.save_pretrained(a)\nHERE\n', false],
  ])('%j goes on saving: %s', (text, answer) => {
    expect(continuesSaves(...at(`import torch\n${text}`, 'HERE'))).toBe(answer);
  });
});

describe('repetitionOf', () => {
  it.each([
    ['HERE\n', 'once'],
    ['for a in b:\n    HERE\n', 'loop'],
    ['while a:\n    if b:\n        HERE\n', 'loop'],
    ['for a in b:\n    c\nelse:\n    HERE\n', 'once'],
    ['def f():\n    HERE\nf()\n', 'once'],
    ['def f():\n    HERE\n', 'unseen'],
    ['def f():\n    HERE\nfor a in b:\n    f()\n', 'called'],
    ['def f():\n    HERE\ndef g():\n    f()\nwhile a:\n    g()\n', 'called'],
    ['def f():\n    HERE\nregister(f)\n', 'unseen'],
    [
      'class A:\n    def f(self):\n        HERE\n    def g(self):\n        for a in b:\n            self.f()\n',
      'called',
    ],
    ['class A:\n    def save(self):\n        self.model.save()\n        HERE\n', 'unseen'],
    ['import torch\nclass A:\n    def save(self):\n        HERE\ntorch.save(a)\n', 'unseen'],
    ['class A:\n    def on_save(self):\n        HERE\n', 'hook'],
    ['for a in b:\n    def f():\n        HERE\n', 'called'],
    ['def f():\n    HERE\ndef save():\n    f()\n', 'unseen'],
  ])('%j: %s', (text, kind) => {
    expect(repetitionOf(...at(text, 'HERE')).kind).toBe(kind);
  });
});

it('knows test code by its names', () => {
  expect(isTestCode(...at('def test_a():\n    assert HERE\n', 'HERE'))).toBe(true);
  expect(isTestCode(...at('import pytest\ndef test_a():\n    HERE\n', 'HERE'))).toBe(true);
  expect(isTestCode(...at('def test_epoch(model):\n    HERE\n', 'HERE'))).toBe(false);
  expect(isTestCode(...at('class TestA:\n    def f(self):\n        HERE\n', 'HERE'))).toBe(false);
  expect(isTestCode(...at('class TestA:\n    def test_f(self):\n        HERE\n', 'HERE'))).toBe(true);
  expect(isTestCode(...at('class TestA(Base):\n    def f(self):\n        HERE\n', 'HERE'))).toBe(true);
  expect(
    isTestCode(...at('class TestA:\n    def f(self):\n        HERE\ndef test_f():\n    pass\n', 'HERE')),
  ).toBe(true);
  expect(isTestCode(...at('def attest(test_set):\n    HERE\n', 'HERE'))).toBe(false);
});

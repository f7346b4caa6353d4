import { describe, expect, it } from 'vitest';
import type { PyModule } from '../../../src/semantic/module.js';
import { functionsOf } from '../../../src/semantic/reach.js';
import type { PyNode } from '../../../src/syntax/node.js';
import { evaluations, isFrozen, runsInEvalMode } from '../../../src/torch/grad/evaluation.js';
import { compilerOf, importsTorch, isCalledByTraining } from '../../../src/torch/grad/roles.js';
import { walks } from '../../../src/torch/grad/walks.js';
import { suspicionsOf } from '../../../src/values/effects/calls.js';
import { differentiatingModule, gradUseIn, gradUseReached } from '../../../src/values/effects/grad.js';
import {
  differentiatingCaller,
  isGradOff,
  onlyRunsGradOff,
  switchesGradOff,
  trainingAutocastAround,
} from '../../../src/values/effects/mode.js';
import { escapesOf } from '../../../src/values/uses/escapes.js';
import { GradTrace } from '../../../src/values/value/trace.js';
import { moduleOf } from '../../support/module.js';

const HEADER = 'import numpy as np\nimport torch\nimport torch as th\nfrom torch import nn\n';

/** A function `f(model, loader, x)` with these body lines; `;;` starts a new line, tabs indent it further. */
function functionOf(body: string, signature = 'def f(model, loader, x):'): { module: PyModule; f: PyNode } {
  const lines = body.split(';;').map((line) => `    ${line.replaceAll('\t', '    ')}\n`);
  const module = moduleOf(`${HEADER}${signature}\n${lines.join('')}`);
  return { module, f: named(module, 'f') };
}

function named(module: PyModule, name: string): PyNode {
  const found = functionsOf(module).find((each) => each.name?.text === name);
  if (found === undefined) throw new Error(`no function ${name}`);
  return found;
}

function words(body: string): string | undefined {
  const { module, f } = functionOf(body);
  return gradUseIn(module, f)?.words;
}

describe('gradUseIn', () => {
  it.each([
    ['x.sum().backward()', 'calls `x.sum().backward()`'],
    ['accelerator.backward(x)', 'calls `accelerator.backward()`'],
    ['self.manual_backward(x)', 'calls `self.manual_backward()`'],
    ['x.requires_grad_()', 'calls `x.requires_grad_()`'],
    ['x.requires_grad_(flag)', 'calls `x.requires_grad_()`'],
    ['x.requires_grad = True', 'asks for gradients with `requires_grad`'],
    ['y = torch.zeros(3, requires_grad=True)', 'asks for gradients with `requires_grad`'],
    ['with torch.enable_grad(): pass', 'sets the grad mode with `enable_grad`'],
    ['with torch.set_grad_enabled(x): pass', 'sets the grad mode with `set_grad_enabled`'],
    ['g = th.autograd.grad(x, x)', 'uses `th.autograd.grad`'],
    ['g = torch.func.jacrev(model)', 'uses `torch.func.jacrev`'],
    ['print(x.grad)', 'reads `x.grad`'],
    ['optimizer.step()', 'calls `optimizer.step()`'],
    ['self.opt.step(closure)', 'calls `self.opt.step()`'],
    ['model.zero_grad()', undefined],
    ['scaler.scale(x)', 'calls `scaler.scale()`'],
    ['x.register_hook(print)', 'calls `x.register_hook()`'],
    ['print(x.grad_fn)', 'reads `x.grad_fn`'],
    ['image.scale(x)', undefined],
    ['h = lambda: x.backward()', 'calls `x.backward()`'],
    ['def inner():;;\tx.backward()', 'calls `x.backward()`'],
    ['x.requires_grad_(False)', undefined],
    ['x.requires_grad = False', undefined],
    ['print(x.requires_grad)', undefined],
    ['with torch.no_grad(): pass', undefined],
    ['torch.set_grad_enabled(False)', 'sets the grad mode with `set_grad_enabled`'],
    ['with torch.set_grad_enabled(False): pass', undefined],
    ['obs = env.step(x)', undefined],
    ['scheduler.step(x)', undefined],
    ['pbar.step()', 'calls `pbar.step()`'],
    ['s = torch.optim.lr_scheduler.StepLR(x, 3);;s.step()', undefined],
    ['grad_norm = 3', undefined],
    ['s = "loss.backward()"  # loss.backward()', undefined],
  ])('%s', (body, expected) => {
    expect(words(body)).toBe(expected);
  });
});

describe('gradUseReached', () => {
  const reach = (text: string): string | undefined => {
    const module = moduleOf(`${HEADER}${text}`);
    const found = gradUseReached(module, named(module, 'f'));
    return found && (found.via?.name?.text ?? 'itself');
  };
  it('looks at decorators', () => {
    expect(reach('@torch.enable_grad()\ndef f(x):\n    return x\n')).toBe('itself');
  });

  const STEP = 'def step(x):\n    x.backward()\n';

  it.each([
    [`${STEP}def f(x):\n    step(x)\n`, 'step'],
    [`${STEP}def g(x):\n    return map(step, x)\ndef f(x):\n    return g(x)\n`, 'step'],
    ['class A:\n    def f(self, x):\n        self.go(x)\n    def go(self, x):\n        x.backward()\n', 'go'],
    ['class A:\n    def go(self, x):\n        x.backward()\ndef f(thing, x):\n    thing.go(x)\n', 'go'],
    ['class A:\n    def __init__(self, x):\n        x.backward()\ndef f(x):\n    return A(x)\n', '__init__'],
    [`${STEP}def f(x):\n    return x\n`, undefined],
    // Switching a network's mode is not calling somebody's `train` method.
    [
      'class A:\n    def train(self, x):\n        x.backward()\ndef f(model):\n    model.train()\n',
      undefined,
    ],
    [
      'class A:\n    def go(self, x):\n        x.backward()\nclass B:\n    def go(self, x):\n        pass\n    def f(self, x):\n        self.go(x)\n',
      undefined,
    ],
  ])('%j', (text, expected) => {
    expect(reach(text)).toBe(expected);
  });
});

describe('differentiatingModule', () => {
  it.each([
    ['class A(nn.Module):\n    def forward(self, x):\n        return torch.autograd.grad(x.sum(), x)\n', 'A'],
    [
      'class A(nn.Module):\n    def forward(self, x):\n        return self.g(x)\n    def g(self, x):\n        return x.grad\n',
      'A',
    ],
    [
      'class A(nn.Module):\n    def forward(self, x):\n        return x\n    def g(self, x):\n        return x.grad\n',
      undefined,
    ],
  ])('%j', (text, expected) => {
    expect(differentiatingModule(moduleOf(`${HEADER}${text}`))?.name).toBe(expected);
  });
});

describe('GradTrace', () => {
  const trace = (body: string): string => {
    const { module, f } = functionOf(body, 'def f(model, loader, x, n: int, acc, names):');
    const value = [...f.walk()].find((node) => node.type === 'return_statement')?.named[0];
    if (value === undefined) throw new Error('no return');
    return new GradTrace(module, f, new Set(['model'])).of(value);
  };

  it.each([
    ['return model(x)', 'graph'],
    ['return model(x).mean()', 'graph'],
    ['return model(x).mean().item()', 'plain'],
    ['return model(x).detach().cpu()', 'plain'],
    ['return model(x).detach().cpu().numpy()', 'plain'],
    ['return model(x).argmax(-1)', 'plain'],
    ['return (model(x) > 0).float()', 'plain'],
    ['return float(model(x).mean())', 'plain'],
    ['return f"{model(x)}"', 'plain'],
    ['return x', 'given'],
    ['return x * 2', 'derived'],
    ['return model', 'network'],
    ['return model.weight * 2', 'graph'],
    ['return model.encoder.embed(n)', 'graph'],
    ['return model.config.num_labels + 1', 'graph'],
    ['return [p * 2 for p in model.parameters()]', 'graph'],
    ['return consume(model(x))', 'graph'],
    ['return metric.compute()', 'unknown'],
    ['metric.update(model(x));;return metric.compute()', 'graph'],
    ['return n * 2', 'plain'],
    ['return [b for b in loader]', 'given'],
    ['return [model(b) for b in loader]', 'graph'],
    ['return [model(b).item() for b in loader]', 'plain'],
    ['return sum(model(b).item() for b in loader)', 'plain'],
    ['return sum(model(b).mean() for b in loader)', 'graph'],
    ['o = model(x);;o = o.detach();;return o', 'plain'],
    ['o = x.detach();;o = model(x);;return o', 'graph'],
    ['t = 0;;for b in loader:;;\tt += model(b).mean();;return t / 3', 'graph'],
    ['t = 0;;for b in loader:;;\tt += model(b).mean().item();;return t / 3', 'plain'],
    ['t = [];;for b in loader:;;\tt.append(model(b));;return t', 'graph'],
    ['t = [];;for b in loader:;;\tt.append(model(b).tolist());;return t', 'plain'],
    ['d = {};;d["a"] = model(x);;return d', 'graph'],
    ['s = [];;h = lambda m, i, o: s.append(o);;return s', 'graph'],
    ['_, i = model(x).topk(3);;return i', 'plain'],
    ['v, _ = model(x).topk(3);;return v', 'graph'],
    ['return np.mean(model(x))', 'plain'],
    ['return torch.cat([model(x)])', 'graph'],
    ['return torch.zeros(3)', 'plain'],
    ['return min(n, 3)', 'plain'],
    ['b = model(x);;return lambda z: b', 'graph'],
    ['return lambda z: model(z)', 'plain'],
    ['return unknown(n)', 'unknown'],
  ])('%s', (body, expected) => {
    expect(trace(body)).toBe(expected);
  });

  it.each([
    ['def g(o):\n    return o.mean().item()\n', 'plain'],
    ['def g(o):\n    return o.mean()\n', 'graph'],
    ['def g(o):\n    return g(o)\n', 'graph'],
  ])('follows %j', (helper, expected) => {
    const module = moduleOf(`${HEADER}${helper}def f(model, x):\n    return g(model(x))\n`);
    const f = named(module, 'f');
    const value = [...f.walk()].find((node) => node.type === 'return_statement')?.named[0];
    expect(value && new GradTrace(module, f, new Set(['model'])).of(value)).toBe(expected);
  });
});

describe('escapesOf', () => {
  it.each([
    ['return model(x)', true],
    ['yield model(x)', true],
    ['self.last = model(x)', true],
    ['x["out"] = model(x)', true],
    ['x.append(model(x))', true],
    ['losses.append(model(x))', true],
    ['setattr(x, "out", model(x))', true],
    ['global G;;G = model(x)', true],
    ['d = x.cache;;d[0] = model(x)', true],
    ['d = {};;d[0] = model(x)', false],
    ['d = [];;d.append(model(x))', false],
    ['meter.update(model(x))', true],
    ['self.last = model(x).item()', false],
    ['return {"a": model(x).tolist()}', false],
    ['print(model(x))', false],
    ['def inner():;;\treturn model(x);;return None', false],
  ])('%s', (body, expected) => {
    const { module, f } = functionOf(body);
    const found = [...escapesOf(module, f, new GradTrace(module, f, new Set(['model'])))];
    expect(found.length > 0).toBe(expected);
  });
});

describe('suspicionsOf', () => {
  it.each([
    ['train_one_epoch(model, loader)', 'trains'],
    ['trainer.train()', 'trains'],
    ['probe.fit(x)', 'trains'],
    ['y = attack(model, x)', 'trains'],
    ['accelerator.prepare(model, optimizer)', 'trains'],
    ['loss_scaler(x)', 'trains'],
    ['run_hooks(model)', 'opaque'],
    ['consume(model(x))', 'opaque'],
    ['torch.jit.trace(model, x)', 'opaque'],
    ['model.train()', undefined],
    ['model.train(was_training)', undefined],
    ['criterion(model(x), x)', 'opaque'],
    ['y = criterion(model(x), x)', undefined],
    ['y = policy_apply(model(x), x)', undefined],
    ['loader(3)', undefined],
    ['model.refresh()', undefined],
    ['logger.info(model(x))', undefined],
    ['print(model)', undefined],
    ['torch.save(model, "a")', undefined],
    ['get_lr(3)', undefined],
    ['train_loader()', undefined],
    ['y = model(x).view(-1).softmax(-1)', undefined],
  ])('%s', (body, expected) => {
    const { module, f } = functionOf(body);
    const models = new Set(['model']);
    expect(suspicionsOf(module, f, models, new GradTrace(module, f, models))[0]?.kind).toBe(expected);
  });
});

describe('evaluations', () => {
  const mode = (body: string): string | undefined => {
    const { module } = functionOf(body);
    const [evaluation] = evaluations(module);
    return evaluation && runsInEvalMode(module, evaluation);
  };

  it.each([
    ['model.eval();;model(x)', 'yes'],
    ['model.eval();;model.forward(x)', 'yes'],
    ['model.to(x).eval();;model(x)', 'yes'],
    ['net = build().cuda().eval();;net(x)', 'yes'],
    ['self.nets["a"].eval();;self.nets["a"](x)', 'yes'],
    ['model.eval();;model(x);;model.train()', 'yes'],
    ['model.train(False);;model.eval();;model(x)', 'yes'],
    ['for b in loader:;;\tmodel.eval();;\tmodel(b);;\tmodel.train()', 'yes'],
    ['model.eval();;for b in loader:;;\tmodel(b);;\tmodel.train()', 'unknown'],
    ['if x:;;\tmodel.eval();;model(x)', 'unknown'],
    ['if x:;;\tmodel.eval();;else:;;\tmodel.eval();;model(x)', 'yes'],
    ['if x:;;\tmodel.train();;\treturn;;model.eval();;model(x)', 'yes'],
    ['if x:;;\tmodel.eval();;else:;;\treturn;;model(x)', 'yes'],
    ['try:;;\tmodel.eval();;except E:;;\tpass;;model(x)', 'unknown'],
    ['if not training:;;\tmodel.eval();;model(x)', 'no'],
    ['if train:;;\tmodel.train();;else:;;\tmodel.eval();;model(x)', 'no'],
    ['model.eval();;model(x);;model.train();;model(x)', 'no'],
    ['model.train() if x else model.eval();;model(x)', 'no'],
    ['x or model.eval();;model(x)', 'unknown'],
    ['model(x);;model.eval()', undefined],
    ['model.train();;model(x);;model.eval()', undefined],
    ['model.eval();;other(x)', undefined],
    ['model.eval(x);;model(x)', undefined],
    ['model.get().eval();;model(x)', undefined],
    ['model.eval();;g = lambda: model(x)', undefined],
    ['model.eval();;with torch.no_grad():;;\tmodel(x)', undefined],
    ['model.eval();;with th.inference_mode():;;\tmodel(x)', undefined],
    ['model.eval();;with torch.set_grad_enabled(False):;;\tmodel(x)', undefined],
    ['model.eval();;c = torch.no_grad() if x else y;;with c:;;\tmodel(x)', undefined],
  ])('%s', (body, expected) => {
    expect(mode(body)).toBe(expected);
  });

  it.each([
    ['model.eval();;model.requires_grad_(False);;model(x)', true],
    ['model.eval();;for p in model.parameters():;;\tp.requires_grad = False;;model(x)', true],
    ['model.eval();;other.requires_grad_(False);;model(x)', false],
  ])('%s is frozen: %s', (body, expected) => {
    const { module } = functionOf(body);
    expect(evaluations(module).map((each) => isFrozen(module, each))).toEqual([expected]);
  });
});

describe('walks', () => {
  it.each([
    ['for p in model.parameters():;;\tprint(p.norm().item())', 'p.norm()'],
    ['for n, p in model.named_parameters():;;\tt = p.pow(2);;\tprint(t.sum().item())', 'p.pow(2)'],
    ['for m in model.modules():;;\tprint((m.weight - 1).abs().tolist())', 'm.weight - 1'],
    ['return sum(p.sum().item() for p in model.parameters())', 'p.sum()'],
    ['for p in model.parameters():;;\tprint(torch.norm(p).item())', 'torch.norm(p)'],
    ['for p in model.parameters():;;\tprint((p.abs() > 1).sum().item())', 'p.abs()'],
    ['for p in model.parameters():;;\tprint(f"{p.std()}")', 'p.std()'],
    ['for p in model.parameters():;;\tprint(p.numel(), p.shape)', undefined],
    ['for p in model.parameters():;;\tprint(p.data.norm().item())', undefined],
    ['for p in model.parameters():;;\tprint(p.detach().norm().item())', undefined],
    ['for p in model.parameters():;;\tprint(p.grad.norm().item())', undefined],
    ['for p in model.parameters():;;\tprint(p.item())', undefined],
    ['for n, p in model.named_parameters():;;\tprint(n + "x")', undefined],
    ['for p in model.parameters():;;\tt = p.norm()', undefined],
    ['with torch.no_grad():;;\tfor p in model.parameters():;;\t\tprint(p.norm().item())', undefined],
  ])('%s', (body, expected) => {
    expect(walks(functionOf(body).module)[0]?.math.text).toBe(expected);
  });
});

describe('grad mode around a function', () => {
  const at = (text: string): { module: PyModule; f: PyNode } => {
    const module = moduleOf(`${HEADER}${text}`);
    return { module, f: named(module, 'f') };
  };

  it.each([
    ['@torch.no_grad()\ndef f(): pass\n', true],
    ['@torch.no_grad\ndef f(): pass\n', true],
    ['@smart_inference_mode()\ndef f(): pass\n', true],
    ['def quiet(g):\n    return torch.inference_mode()(g)\n@quiet\ndef f(): pass\n', true],
    ['@torch.no_grad()\ndef outer():\n    def f(): pass\n', true],
    ['def outer():\n    with torch.no_grad():\n        def f(): pass\n', true],
    ['@torch.enable_grad()\ndef f(): pass\n', false],
    ['def loud(g):\n    return g\n@loud\ndef f(): pass\n', false],
  ])('isGradOff %j', (text, expected) => {
    const { module, f } = at(text);
    expect(isGradOff(module, f)).toBe(expected);
  });

  it.each([
    ['def f(): pass\n@torch.no_grad()\ndef g(): f()\n', true],
    ['def f(): pass\ndef h(): f()\nwith torch.no_grad():\n    h()\n', true],
    ['class A:\n    def f(self): pass\n    @torch.no_grad()\n    def g(self): self.f()\n', true],
    ['def f(): pass\nf()\nwith torch.no_grad():\n    f()\n', false],
    ['def f(): pass\n', false],
  ])('onlyRunsGradOff %j', (text, expected) => {
    const { module, f } = at(text);
    expect(onlyRunsGradOff(module, f)).toBe(expected);
  });

  it.each([
    ['torch.set_grad_enabled(False)\n', true],
    ['torch.inference_mode().__enter__()\n', true],
    ['torch.set_grad_enabled(True)\n', false],
    ['with torch.set_grad_enabled(False):\n    pass\n', false],
  ])('switchesGradOff %j', (text, expected) => {
    expect(switchesGradOff(moduleOf(`${HEADER}${text}`))).toBe(expected);
  });

  it.each([
    ['def f(): return 1\ndef g():\n    a = f()\n    b = a + 1\n    b.backward()\n', 'g'],
    ['def f(): return 1\ndef g():\n    torch.autograd.grad(f(), 1)\n', 'g'],
    ['def f(): return 1\ndef g(loss):\n    print(f())\n    loss.backward()\n', undefined],
    ['def f(): return 1\ndef g():\n    print(f())\n', undefined],
  ])('differentiatingCaller %j', (text, expected) => {
    const { module, f } = at(text);
    expect(differentiatingCaller(module, f)?.name?.text).toBe(expected);
  });

  it.each([
    ['def f(): pass\ndef g(x):\n    with torch.autocast("cuda"):\n        f()\n    x.backward()\n', true],
    ['def f(): pass\ndef g(x):\n    with torch.autocast("cuda"):\n        f()\n', false],
    ['def f(): pass\ndef g(x):\n    f()\n    x.backward()\n', false],
  ])('trainingAutocastAround %j', (text, expected) => {
    const { module, f } = at(text);
    expect(trainingAutocastAround(module, f) !== undefined).toBe(expected);
  });

  it.each([
    ['@torch.jit.script\ndef f(): pass\n', 'jit'],
    ['def f(): pass\ng = torch.jit.script(f)\n', 'jit'],
    ['@torch.compile\ndef f(): pass\n', 'compile'],
    ['import numba\n@numba.njit\ndef f(): pass\n', 'foreign'],
    ['@timed\ndef f(): pass\n', undefined],
  ])('compilerOf %j', (text, expected) => {
    const { module, f } = at(text);
    expect(compilerOf(module, f)).toBe(expected);
  });

  it.each([
    ['import lightning as L\nclass A(L.LightningModule):\n    def validation_step(self): pass\n', true],
    ['class A(nn.Module):\n    def forward(self): pass\n', true],
    ['class A(nn.Module):\n    def __call__(self): pass\n', true],
    ['class A:\n    def __call__(self): pass\n', false],
    ['class A:\n    def validation_step(self): pass\n', false],
    ['def compute_loss(): pass\n', false],
    ['class A(Trainer):\n    def compute_loss(self): pass\n', true],
    ['def eval_step(): pass\n', false],
  ])('isCalledByTraining %j', (text, expected) => {
    const module = moduleOf(`${HEADER}${text}`);
    expect(functionsOf(module).map((each) => isCalledByTraining(module, each))).toEqual([expected]);
  });

  it.each([
    ['import os, torch\n', 'yes'],
    ['from torch.nn import Linear\n', 'yes'],
    ['def f():\n    import torch\n', 'lazily'],
    ['from torchvision import models\n', 'related'],
    ['import torchless\nimport keras\n', 'no'],
    ['import keras\n', 'no'],
  ])('importsTorch %j', (text, expected) => {
    expect(importsTorch(moduleOf(text))).toBe(expected);
  });
});

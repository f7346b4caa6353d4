import { describe, expect, it } from 'vitest';
import { importsPackage, nameFor, qualifiedName } from '../../src/semantic/imports.js';
import { moduleOf, nodeAt } from '../support/module.js';

function qualified(text: string, word: string): string | undefined {
  const module = moduleOf(text);
  const last = text.split(word).length - 2;
  return qualifiedName(module, nodeAt(module, word, last));
}

describe('qualifiedName', () => {
  it.each([
    ['import torch as th\nth.no_grad\n', 'th.no_grad', 'torch.no_grad'],
    ['from torch import no_grad as ng\nng\n', 'ng', 'torch.no_grad'],
    ['import torch.nn.functional as F\nF.mse_loss\n', 'F.mse_loss', 'torch.nn.functional.mse_loss'],
    ['import torch.nn\ntorch.cuda\n', 'torch.cuda', 'torch.cuda'],
    ['import torch\nF = torch.nn.functional\nF.relu\n', 'F.relu', 'torch.nn.functional.relu'],
    ['def f():\n    import torch\n    return torch.mean\n', 'torch.mean', 'torch.mean'],
    [
      'try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.mean\n',
      'torch.mean',
      'torch.mean',
    ],
    ['from .models import net\nnet\n', 'net', '.models.net'],
    ['from torch import nn\ntorch.mean\n', 'torch.mean', undefined],
    ['import torch\ndef f(torch):\n    return torch.mean\n', 'torch.mean', undefined],
    ['try:\n    from a import amp\nexcept ImportError:\n    from b import amp\namp\n', 'amp', undefined],
    ['import torch\ntorch = wrap(torch)\ntorch.mean\n', 'torch.mean', undefined],
  ])('of %j', (text, word, path) => {
    expect(qualified(text, word)).toBe(path);
  });
});

describe('nameFor', () => {
  const at = (text: string): string | undefined => {
    const module = moduleOf(text);
    return nameFor(module, 'torch.cuda.empty_cache', nodeAt(module, 'HERE'));
  };

  it.each([
    ['import torch\nHERE\n', 'torch.cuda.empty_cache'],
    ['import torch as th\nfrom torch.cuda import empty_cache\ndef f():\n    HERE\n', 'empty_cache'],
    ['from torch import cuda\nHERE\n', 'cuda.empty_cache'],
    ['def f():\n    import torch\n    HERE\n', 'torch.cuda.empty_cache'],
    ['def f():\n    HERE\nimport torch\n', 'torch.cuda.empty_cache'],
    ['HERE\nimport torch\n', undefined],
    ['from torch import nn\nHERE\n', undefined],
    ['import torch\ndef f(torch):\n    HERE\n', undefined],
    ['try:\n    import torch\nexcept ImportError:\n    torch = None\nHERE\n', undefined],
    ['if TYPE_CHECKING:\n    import torch\nHERE\n', undefined],
    ['def g():\n    import torch\ndef f():\n    HERE\n', undefined],
    ['def f():\n    if x:\n        import torch\n    HERE\n', undefined],
    ['import torch\ndel torch\nHERE\n', undefined],
  ])('in %j', (text, name) => {
    expect(at(text)).toBe(name);
  });
});

describe('importsPackage', () => {
  it.each([
    ['import torch\n', true],
    ['import os, torch.nn as nn\n', true],
    ['from torch.nn import functional as F\n', true],
    ['def f():\n    try:\n        import torch\n    except ImportError: import torch.nn\n', true],
    ['import os; import torch\n', true],
    ['import torchvision\n', false],
    ['from lib import torch\n', false],
    ['from .torch import nn\n', false],
    ['"""\nimport torch\n"""\n', false],
  ])('%j of torch: %s', (text, expected) => {
    expect(importsPackage(moduleOf(text), 'torch')).toBe(expected);
  });
});

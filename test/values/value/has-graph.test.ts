import { expect, it } from 'vitest';
import { valueOf } from '../../../src/values/index.js';
import { moduleOf } from '../../support/module.js';

const IMPORTS = `import torch
import numpy as np
from torch import nn
import torchvision, functools
from torch.autograd import Variable
import shared
from shared import queue, Made, helper
`;

/** Whether what `kept` is given last may have a graph. */
function mayHaveGraph(code: string): boolean {
  const module = moduleOf(IMPORTS + code);
  const given = module.words('kept').flatMap((name) => {
    const assignment = name.closest('assignment');
    const isTarget = assignment?.left?.contains(name) === true;
    return isTarget && assignment.right !== undefined ? [assignment.right] : [];
  });
  const value = given.at(-1);
  if (value === undefined) throw new Error('nothing is kept');
  return valueOf(module, value).mayHaveGraph();
}

it.each([
  `
class N(nn.Module):
  def forward(self, x):
    y = self.f(x)
    self.kept = self.scale(y, 1.0)
  def scale(self, v, w=1.0):
    return v * w
`,
  `
def f(x):
  return 1 * g(2.0, x)
def g(a, w=1.0):
  kept = a * w
  return kept
def h(model, x):
  y = model(x)
  kept = g(2.0, y)
`,
  `
def f(x):
  y = x * 2
  kept = shared.last
`,
  `
def f(x):
  kept = queue[0]
`,
  `
def f(x):
  net = torchvision.models.resnet18()
  kept = net.fc.weight
`,
  `
def f():
  kept = nn.Parameter(torch.zeros(3))
`,
  `
def f():
  kept = torch.ones(3, requires_grad=True) * 2
`,
  `
def f(x):
  net = nn.Linear(2, 2)
  kept = net(torch.zeros(2))
`,
  `
class Ctx:
  def __init__(self):
    self.w = nn.Parameter(torch.zeros(2))
  def __enter__(self):
    return self.w * 2
  def __exit__(self, *a): pass
def f():
  with Ctx() as y:
    kept = y
`,
  `
class Gen:
  def __iter__(self):
    yield nn.Parameter(torch.zeros(2)) * 2
def f():
  for y in Gen():
    kept = y
`,
  `
def f():
  m = Made()
  kept = m.out
`,
  `
def f():
  kept = Made()
`,
  `
def f(x):
  kept = helper()
`,
  `
class N(nn.Module):
  def __init__(self):
    super().__init__()
    self.argmax = nn.Linear(2, 2)
  def forward(self, x):
    kept = self.argmax(x)
`,
  `
class N(nn.Module):
  def __init__(self):
    super().__init__()
    self.data = nn.Linear(2, 2)
  def forward(self, x):
    kept = self.data(x)
`,
  `
def f(x):
  y = yield x
  kept = y
`,
  `
def f(x):
  found = {}
  helper(found)
  kept = found["a"]
`,
  `
def f(x):
  found = []
  found.append(x * 2)
  kept = found
`,
  `
def f(x):
  buf = torch.zeros(3)
  buf[0] = x
  kept = buf
`,
  `
def f(x):
  buf = torch.zeros(3)
  torch.mul(x, 2, out=buf)
  kept = buf
`,
  `
def f(x):
  buf = torch.zeros(3)
  row = buf[0]
  row += x
  kept = buf
`,
  `
def f(x):
  kept = [v * 2 for v in x]
`,
  `
def f(x):
  kept = {"a": x}
`,
  `
def f(x):
  kept = lambda: x
`,
  `
def f(x):
  def inner():
    return x
  kept = inner()
`,
  `
def f(x):
  def inner():
    return x
  kept = inner
`,
  `
async def g(x):
  return 1.0
async def f(x):
  kept = await g(x)
`,
  `
@helper
def g(x):
  return 1.0
def f(x):
  kept = g(x)
`,
  `
def f(x):
  kept = functools.reduce(lambda a, b: a + b, x)
`,
  `
def f(x):
  kept = max(x)
`,
  `
def f(x):
  kept = x.max(1)[0]
`,
  `
def f(x):
  kept = x if x is not None else 0
`,
  `
def f(x, w=None):
  w = w or torch.zeros(1)
  kept = w
`,
  `
def f(x, w=1.0):
  kept = w
`,
  `
class N(nn.Module):
  def forward(self, x):
    kept = self.state
  def later(self, y):
    self.state = y
`,
  `
class N(nn.Module):
  def forward(self, x):
    kept = self.a
    self.b = x
    self.a = self.b
`,
  `
def f(x):
  kept = getattr(x, "y")
`,
  `
def f(x):
  kept = x.grad
`,
  `
def f(x):
  kept = Variable(x, requires_grad=True)
`,
  `
def f(x):
  kept = next(iter(x))
`,
  `
def f(x):
  total = 0.0
  total += x
  kept = total
`,
  `
class N(nn.Module):
  def forward(self, x):
    kept = super().forward(x)
`,
  `
class N(nn.Module):
  def forward(self, x):
    kept = self.join(x)
`,
  `
LAST = []
def f(x):
  kept = LAST[-1]
`,
  `
LAST = None
def f(x):
  global LAST
  LAST = x
def g():
  kept = LAST
`,
  `
class N(nn.Module):
  def forward(self, x):
    kept = [*x]
`,
  `
def f(x):
  a, b = x
  kept = (a, 1)
`,
  `
def f(x):
  kept = (y := x * 2)
`,
  `
def f(x):
  kept = x.type_as(torch.zeros(1))
`,
  `
def f(x):
  kept = torch.zeros(1).view_as(x) + x
`,
  `
def f(model, x):
  kept = list(model.parameters())
`,
  `
def f(model, x):
  kept = dict(a=x)
`,
  `
def f(rows):
  kept = np.stack(rows).sum() * rows[0]
`,
  `
def f(x):
  with torch.no_grad():
    with torch.enable_grad():
      y = x * 2
  kept = y
`,
  `
def f(x):
  kept = torch.FloatTensor(x * 2)
`,
  `
def f(x):
  kept = torch.Tensor(nn.Parameter(torch.zeros(2)))
`,
  `
from torchvision.ops.poolers import LevelMapper
def f(x):
  kept = LevelMapper(x.mean(), 5)
`,
])('a value that may have a graph: %s', (code) => {
  expect(mayHaveGraph(code)).toBe(true);
});

it.each([
  `
def f(x):
  kept = x.detach() * 2
`,
  `
def f(x):
  with torch.no_grad():
    y = x * 2
  kept = y
`,
  `
def f(x):
  kept = x.item() + 1
`,
  `
def f(x):
  b = x.size(0)
  kept = (b, 3)
`,
  `
def f(x):
  kept = torch.zeros(3).type_as(x)
`,
  `
def f(x):
  kept = torch.zeros(3).view_as(x)
`,
  `
def acc(a, b):
  return (a == b).float().mean()
def f(x, y):
  kept = acc(x, y)
`,
  `
@torch.no_grad()
def g(x):
  return x * 2
def f(x):
  kept = g(x)
`,
  `
class N(nn.Module):
  def __init__(self):
    super().__init__()
    self.register_buffer("m", torch.zeros(2))
  def forward(self, x):
    kept = self.m * 2
`,
  `
def f(x):
  kept = torch.FloatTensor(1, x.size(0)).normal_(0, 1).cuda()
`,
  `
from torch import Tensor
def f(x):
  kept = Tensor([x.mean().item()])
`,
  `
from torchvision.ops.poolers import LevelMapper
def f(x):
  kept = LevelMapper(x.mean().item(), 5)
`,
])('a value that has none: %s', (code) => {
  expect(mayHaveGraph(code)).toBe(false);
});

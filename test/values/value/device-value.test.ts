import { expect, it } from 'vitest';
import type { PyModule } from '../../../src/semantic/module.js';
import { argumentsOf } from '../../../src/semantic/statements.js';
import type { PyNode } from '../../../src/syntax/node.js';
import { isCertainDevice, isCpu, isDevice } from '../../../src/values/value/device-value.js';
import { moduleOf, nodeAt } from '../../support/module.js';

/** The argument of `probe(...)`. */
function probe(code: string): readonly [PyModule, PyNode] {
  const module = moduleOf(`import torch\n${code}\n`);
  const call = nodeAt(module, 'probe').closest('call');
  const [argument] = call === undefined ? [] : argumentsOf(call);
  if (argument === undefined) throw new Error('the code probes nothing');
  return [module, argument];
}

/** What is known of it. */
function probed(code: string): readonly [string, boolean] {
  return [isDevice(...probe(code)), isCpu(...probe(code))];
}

it.each([
  ['probe("cuda:0")', 'yes', false],
  ['probe(torch.device("cpu"))', 'yes', true],
  ['place = "cpu"\nprobe(place)', 'yes', true],
  ['place = "cpu" if a else "cuda"\nprobe(place)', 'yes', false],
  ['probe(model.device)', 'yes', false],
  ['probe(torch.float16)', 'no', false],
  ['probe(x.dtype)', 'no', false],
  ['def f(device: torch.Tensor):\n    probe(device)', 'no', false],
  ['def f(device):\n    probe(device)', 'yes', false],
  ['def f(other):\n    probe(other)', 'unknown', false],
  ['def f(device=torch.float16):\n    probe(device)', 'no', false],
  ['def f(dev):\n    probe(dev)', 'unknown', false],
  ['def f(dev="cuda"):\n    probe(dev)', 'yes', false],
  ['for device in (torch.float16, torch.float32):\n    probe(device)', 'no', false],
  ['with held() as device:\n    probe(device)', 'unknown', false],
  ['class C:\n    device = torch.half\n    def f(self):\n        probe(self.device)', 'no', false],
  ['def f(device=None):\n    probe(device)', 'yes', false],
  ['device = torch.zeros(3)\nprobe(device)', 'no', false],
  ['device = torch.float32\nprobe(device)', 'no', false],
])('%s', (code, device, cpu) => {
  expect(probed(code)).toEqual([device, cpu]);
});

it.each([
  ['probe("cuda:0")', true],
  ['device = torch.device("cuda")\nprobe(device)', true],
  ['for device in ("cpu", torch.device("cuda", 0)):\n    probe(device)', true],
  ['for device in ("cuda:0", None):\n    probe(device)', false],
  ['def f(device):\n    probe(device)', false],
  ['def f(device=None):\n    probe(device)', false],
  ['def f(device: torch.device):\n    probe(device)', true],
  ['def f(device: torch.device | None):\n    probe(device)', false],
  ['probe(model.device)', false],
  ['def f(x):\n    probe(x.device)\n    return x', false],
  ['def f(x):\n    probe(x.device)\n    return x * 2', true],
  ['def f(x):\n    probe(x.device)\n    x = x.rows\n    return x * 2', false],
  ['probe(torch.zeros(3).device)', true],
])('without a look at names, %s', (code, certain) => {
  expect(isCertainDevice(...probe(code))).toBe(certain);
});

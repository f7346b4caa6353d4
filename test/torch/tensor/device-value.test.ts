import { expect, it } from 'vitest';
import { argumentsOf } from '../../../src/semantic/statements.js';
import { isCpu, isDevice } from '../../../src/torch/tensor/device-value.js';
import { moduleOf, nodeAt } from '../../support/module.js';

/** What is known of the argument of `probe(...)`. */
function probed(code: string): readonly [string, boolean] {
  const module = moduleOf(`import torch\n${code}\n`);
  const call = nodeAt(module, 'probe').closest('call');
  const [argument] = call === undefined ? [] : argumentsOf(call);
  if (argument === undefined) throw new Error('the code probes nothing');
  return [isDevice(module, argument), isCpu(module, argument)];
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

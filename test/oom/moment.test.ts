import { expect, test } from 'vitest';
import type { Frame } from '../../src/oom/frame.js';
import { momentsOf } from '../../src/oom/moment.js';
import { PACKAGES } from './reading.js';

/** `train.py:fit` is of the user, `torch/optim/adamw.py:step` of a library. */
function stack(...places: readonly string[]): readonly Frame[] {
  return places.map((place) => {
    const [path = '', name = ''] = place.split(':');
    return { path: path.includes('/') ? `${PACKAGES}/${path}` : `/app/${path}`, line: 1, name };
  });
}

const CALL = 'torch/nn/modules/module.py:_call_impl';
const RUN = 'torch/autograd/graph.py:_engine_run_backward';

test.each<readonly [what: string, frames: readonly Frame[], moments: readonly string[]]>([
  ['a forward pass', stack('train.py:main', CALL, 'model.py:forward'), ['forward']],
  ['a backward pass', stack('train.py:main', 'torch/_tensor.py:backward', RUN), ['backward']],
  [
    'a forward pass that the backward pass repeats',
    stack(
      'train.py:main',
      'torch/_tensor.py:backward',
      RUN,
      'torch/utils/checkpoint.py:unpack_hook',
      CALL,
      'model.py:forward',
    ),
    ['backward'],
  ],
  ['the first step of an optimizer', stack('train.py:main', 'torch/optim/adamw.py:step'), ['optimizer']],
  [
    'a closure in a step',
    stack('train.py:main', 'torch/optim/adamw.py:step', 'lit.py:closure', CALL),
    ['forward'],
  ],
  [
    'a backward pass in a closure',
    stack('torch/optim/adamw.py:step', 'lit.py:closure', 'torch/_tensor.py:backward'),
    ['backward'],
  ],
  [
    'gradients that DeepSpeed reduces',
    stack('torch/_tensor.py:backward', RUN, 'deepspeed/runtime/zero/stage3.py:reduce_grads'),
    ['backward'],
  ],
  [
    'the step of DeepSpeed',
    stack('train.py:main', 'deepspeed/runtime/zero/stage3.py:_optimizer_step'),
    ['optimizer'],
  ],
  [
    'a model moved to the GPU',
    stack('train.py:main', 'torch/nn/modules/module.py:to', 'torch/nn/modules/module.py:_apply'),
    ['moving'],
  ],
  ['8-bit state', stack('train.py:main', 'bitsandbytes/optim/optimizer.py:step'), ['optimizer']],
  ['a checkpoint loaded', stack('train.py:resume', 'torch/serialization.py:load'), ['loading']],
  [
    'the state of an optimizer loaded',
    stack(
      'train.py:main',
      'torch/optim/optimizer.py:load_state_dict',
      'torch/optim/optimizer.py:_cast',
      'torch/optim/optimizer.py:_process_value_according_to_param_policy',
    ),
    ['loading'],
  ],
  ['a checkpoint saved', stack('train.py:main', 'torch/serialization.py:_save'), ['saving']],
  [
    'a model loaded',
    stack(
      'train.py:main',
      'transformers/modeling_utils.py:from_pretrained',
      'transformers/core_loading.py:spawn',
    ),
    ['loading'],
  ],
  ['batches', stack('train.py:main', 'torch/utils/data/dataloader.py:__next__'), ['data']],
  ['an evaluation', stack('train.py:main', 'train.py:evaluate', CALL), ['evaluation']],
  ['a validation step', stack('lit.py:validation_step', CALL), ['evaluation']],
  [
    'the evaluation of a trainer',
    stack(
      'train.py:main',
      'transformers/trainer.py:evaluation_loop',
      'transformers/trainer.py:prediction_step',
      CALL,
    ),
    ['evaluation'],
  ],
  [
    'a backward pass in an evaluation',
    stack('train.py:test', 'torch/_tensor.py:backward'),
    ['evaluation', 'backward'],
  ],
  ['a test of pytest', stack('_pytest/runner.py:pytest_runtest_call', 'test_a.py:run', CALL), ['forward']],
  [
    'a function that only sounds like it',
    stack('train.py:latest', 'train.py:contest', 'train.py:retrieval'),
    [],
  ],
  ['nothing telling', stack('train.py:main'), []],
])('%s', (_, frames, moments) => {
  expect(momentsOf(frames)).toEqual(moments);
});

test('where the last frame is the person’s own, its statement tells', () => {
  const own = (source: string): readonly Frame[] => [
    { path: '/app/train.py', line: 1, name: 'main', source },
  ];
  expect(momentsOf(own('loss.backward()'))).toEqual(['backward']);
  expect(momentsOf(own('optimizer_g.step()'))).toEqual(['optimizer', 'state']);
  expect(momentsOf(own('model.load_state_dict(torch.load(path))'))).toEqual(['loading']);
  expect(momentsOf(own('scheduler.step()'))).toEqual([]);
});

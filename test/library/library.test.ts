import { describe, expect, it } from 'vitest';
import { HUGGINGFACE_ROWS } from '../../src/library/huggingface.js';
import { allRows, builtin, canonical, isOperation, ofTensor, row } from '../../src/library/library.js';
import { NN_ROWS } from '../../src/library/nn.js';
import { OPTIM_ROWS } from '../../src/library/optim.js';
import { PACKAGE_ROWS } from '../../src/library/packages.js';
import { PYTHON_ROWS } from '../../src/library/python.js';
import { TENSOR } from '../../src/library/tensor.js';
import { TORCH_ROWS } from '../../src/library/torch.js';

/** `npm run prove -- --library` holds the rows to the packages; this needs no torch. */
describe('the library table', () => {
  it('says everything about a callable in one row', () => {
    const groups = [
      TENSOR,
      TORCH_ROWS,
      NN_ROWS,
      OPTIM_ROWS,
      PYTHON_ROWS,
      HUGGINGFACE_ROWS,
      PACKAGE_ROWS,
    ].flat();
    const paths = groups.flatMap(({ spaces, names }) =>
      spaces.flatMap((space) =>
        names
          .trim()
          .split(/\s+/)
          .map((name) => space + name),
      ),
    );
    expect(paths.filter((path, at) => paths.indexOf(path) !== at)).toEqual([]);
    expect(allRows()).toHaveLength(paths.length);
  });

  it('knows a callable under the names it is imported by', () => {
    expect(row('torch.nn.modules.loss.CrossEntropyLoss')).toBe(row('torch.nn.CrossEntropyLoss'));
    expect(row('torch.autograd.grad_mode.no_grad')?.gradMode).toBe('off');
    expect(canonical('torch.optim.adamw.AdamW')).toBe('torch.optim.AdamW');
    expect(canonical('torch.optim.lr_scheduler.StepLR')).toBe('torch.optim.lr_scheduler.StepLR');
    expect(row('trl.trainer.sft_config.SFTConfig')?.is).toBe('arguments');
    expect(row('functorch.vmap')?.differentiates).toBe(true);
    expect(row('somewhere.CrossEntropyLoss')).toBeUndefined();
  });

  it('derives that only tensors of floating point carry a graph', () => {
    expect(ofTensor('item')?.graph).toBe('cut');
    expect(ofTensor('argmax')?.graph).toBe('cut');
    expect(ofTensor('mean')?.graph).toBe('kept');
    expect(builtin('sum')?.graph).toBe('kept');
  });

  it('tells what computes a tensor from what makes one or reads it', () => {
    expect(isOperation(ofTensor('mean'))).toBe(true);
    expect(isOperation(ofTensor('shape'))).toBe(false);
    expect(isOperation(row('torch.zeros'))).toBe(false);
    expect(isOperation(ofTensor('item'))).toBe(false);
  });
});

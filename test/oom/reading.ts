import { LogReader, type OutOfMemory } from '../../src/oom/log.js';

/** What a log says, read line by line. */
export function reading(log: string): readonly OutOfMemory[] {
  const reader = new LogReader();
  for (const [index, line] of log.split('\n').entries()) reader.read(line, index + 1);
  return reader.end();
}

export const MESSAGE =
  'CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has a total capacity of 23.50 GiB of which 1.00 GiB is free. ' +
  'Including non-PyTorch memory, this process has 22.50 GiB memory in use. Of the allocated memory 20.00 GiB is allocated ' +
  'by PyTorch, and 512.00 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try ' +
  'setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.';

export const PACKAGES = '/opt/conda/lib/python3.11/site-packages';

/** A traceback of `main` calling `step`, which calls into torch. */
export const TRACEBACK = `Traceback (most recent call last):
  File "/app/src/train.py", line 40, in main
    step(model, batch)
  File "/app/src/train.py", line 12, in step
    out = model(batch)
          ^^^^^^^^^^^^
  File "${PACKAGES}/torch/nn/modules/module.py", line 1751, in _call_impl
    return forward_call(*args, **kwargs)
torch.OutOfMemoryError: ${MESSAGE}`;

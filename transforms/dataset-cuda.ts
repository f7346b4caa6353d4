/*
 * class Frames(Dataset):
 *     def __getitem__(self, index):
 *         return self.frames[index].to("cuda")       ← said
 *
 * A sample that is put on the GPU where it is made: in `__getitem__` of a torch dataset, or in a function that this file
 * gives to a loader as `collate_fn`. The DataLoader's workers are forked, and CUDA cannot be used in them; without workers
 * every sample is copied by itself. No edit of this file would do: the move belongs in the training loop. Files whose
 * loaders all say `num_workers=0` have chosen, and are passed over, as are samples that stay on the CPU.
 */
import type { PyModule, PyNode, Transform } from '../src/toolkit/index.js';
import {
  ancestryOf,
  argumentsOf,
  enclosingClass,
  enclosingFunction,
  isTestCode,
  keywordValue,
  methodName,
  valueOf,
} from '../src/toolkit/index.js';

export const datasetCuda: Transform = {
  meta: {
    id: 'dataset-cuda',
    summary: 'Point out samples that are moved to the GPU inside a dataset or a collate function',
    symptom: 'sync',
    moments: ['data'],
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A dataset runs in the workers of the DataLoader. These are forked, and a process that is forked after CUDA was initialised cannot use it: "Cannot re-initialize CUDA in forked subprocess". Without workers each sample is copied by itself, the host waits each time, and batches cannot be pinned.',
      does: 'Names the move. Return CPU tensors, and move the whole batch in the loop: with `pin_memory=True` and `.to(device, non_blocking=True)` the copy overlaps with the work before it.',
      refuses: [],
      limits: [
        'Only datasets that derive from torch’s or torchvision’s, and functions that this file gives to a loader as `collate_fn`, are looked at.',
        'Not said where all loaders of the file have `num_workers=0`, or where the device is the CPU.',
      ],
    },
    evidence: {
      verdict:
        'One synchronisation less per sample: 16 ms instead of 25 ms for 1024 small ones without workers. With workers it raises',
      measurements: [],
    },
    origin: [],
    example: 'report-getitem',
  },

  skipsTests: true,
  prefilter: [
    ['.cuda(', '.to('],
    ['__getitem__', 'collate_fn'],
  ],
  cue: (_text, _path, glimpse) => loaderCode(glimpse).size > 0,

  *detect(module) {
    const code = loaderCode(module.glimpse);
    const seen = new Set<PyNode>();
    for (const hit of ['.cuda(', '.to('].flatMap((move) => module.atWhere(move, (each) => code.has(each)))) {
      const call = hit.parent?.parent;
      const around = call && enclosingFunction(call);
      if (call?.type !== 'call' || around === undefined || seen.has(around) || !isMove(module, call))
        continue;
      const where = placeOf(module, around);
      if (where === undefined || isTestCode(module, call) || hasOnlyMainProcessLoaders(module)) continue;
      seen.add(around);
      yield {
        node: hit,
        message: `${where} runs in the workers of the DataLoader, where CUDA cannot be used after a fork; without workers the host waits for every copy, and batches cannot be pinned`,
      };
    }
  },

  fix(_site, edit) {
    return edit.advise(
      'Return CPU tensors, and move the batch in the loop: `pin_memory=True` and `.to(device, non_blocking=True)`',
    );
  },
};

/** The code that moves something in what a DataLoader may run, going by the text alone. */
function loaderCode({ stretches }: PyModule['glimpse']): ReadonlySet<string> {
  const collates = stretches.flatMap((code) => [...code.matchAll(/\bcollate_fn\s*=[\w\s.]*?(\w+)\s*[,)]/g)]);
  const names = new Set(['__getitem__', '__getitems__', ...collates.map(([, name]) => name)]);
  return new Set(
    stretches.filter(
      (code) =>
        /\.(?:cuda|to)\(/.test(code) &&
        [...code.matchAll(/\bdef\s+(\w+)/g)].some(([, name]) => names.has(name)),
    ),
  );
}

function isMove(module: PyModule, call: PyNode): boolean {
  if (methodName(call) === 'cuda') return true;
  const [first] = argumentsOf(call);
  const device = first?.type === 'keyword_argument' ? first.value : first;
  if (first?.type === 'keyword_argument' && first.name?.text !== 'device') return false;
  return (
    methodName(call) === 'to' &&
    device !== undefined &&
    valueOf(module, device).isDevice === 'yes' &&
    !valueOf(module, device).isCpu
  );
}

/** What the function is, where a DataLoader runs it. */
function placeOf(module: PyModule, functionNode: PyNode): string | undefined {
  const name = functionNode.name?.text ?? '';
  const classNode = enclosingClass(functionNode);
  if (classNode !== undefined && /^__getitems?__$/.test(name)) {
    const { imported } = ancestryOf(module, classNode);
    return imported.some(isDatasetClass) ? `\`${name}\` of a dataset` : undefined;
  }
  const given = module.at('collate_fn').some((hit) => {
    const keyword = hit.parent;
    const value = keyword?.type === 'keyword_argument' ? keyword.value : undefined;
    const last = value?.type === 'attribute' ? value.attribute : value;
    return keyword?.name === hit && last?.text === name;
  });
  return given ? `\`${name}\`, which collates batches,` : undefined;
}

/** Every loader of the file, and there is one, says that it has no workers. */
function hasOnlyMainProcessLoaders(module: PyModule): boolean {
  const loaders = module
    .at('DataLoader(')
    .flatMap((hit) =>
      hit.parent?.type === 'call'
        ? [hit.parent]
        : hit.parent?.parent?.type === 'call'
          ? [hit.parent.parent]
          : [],
    );
  return loaders.length > 0 && loaders.every((call) => keywordValue(call, 'num_workers')?.text === '0');
}

/** Where samples come from, one by one. */
function isDatasetClass(path: string): boolean {
  return /^torch(?:vision)?\.(?:\w+\.)*(?:\w*Dataset|ImageFolder|DatasetFolder)$/.test(path);
}

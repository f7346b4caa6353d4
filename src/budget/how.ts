import type { Row, RowName, Run } from './memory.js';
import type { Pass } from './pass.js';
import { bucketWords, divided } from './processes.js';
import { countOf } from './quantity.js';
import { byteText, optimizerBytes, trainedBytes } from './state.js';

const WHOLE: Row['how'] = 'given';

/** The arithmetic of each row in words. */
export function howOf(run: Run, pass: Pass): Readonly<Record<RowName, Pick<Row, 'how' | 'given'>>> {
  const { parameters, trainable, dtype, lora, given, shape, gpus, passes = 1 } = run;
  const each = trainedBytes(run);
  const spread = divided(run) > 1 ? ` ÷ ${gpus} GPUs` : '';
  const trained =
    trainable < parameters || lora !== undefined ? `${countOf(trainable)} trained` : countOf(trainable);
  const own = (how: string, figure?: number) =>
    figure === undefined ? { how, given: false } : { how: WHOLE, given: true };
  const vocabulary = shape.kind === 'transformer' ? shape.vocabulary : shape.labels;
  return {
    weights: own(`${countOf(parameters)} × ${byteText(dtype)}${spread}`),
    others: own(otherWords(run)),
    adapters: own(`${trained} × ${each} bytes (fp32)${spread}`, given.adapters),
    gradients: own(`${trained} × ${each} bytes${spread}`, given.gradients),
    optimizer: own(`${trained} × ${optimizerBytes(run)[1]}${spread}`, given.optimizer),
    activations: own(
      run.task === 'generate'
        ? 'the widest moment of one block'
        : `${passes > 1 ? `${passes} passes of ` : ''}${pass.words}${run.checkpointing ? ', their inputs, and one anew' : ''}`,
      given.activations,
    ),
    logits: own(
      `a vocabulary of ${vocabulary}: logits, copies and gradients${run.chunkedLoss ? ', in parts' : ''}`,
    ),
    casts: own('half-precision copies of weights under autocast'),
    cache: own('keys and values of all tokens'),
    temporaries: own(run.optimizer === 'adafactor' ? 'of one tensor' : 'what the step works on, once more'),
    buckets: own(bucketWords(run)),
    gathered: own('the embeddings whole, and two whole layers at a time'),
    workspaces: own(`${shape.kind === 'convolutional' ? 'cuBLAS, cuDNN' : 'cuBLAS'}, and the batch itself`),
    overhead: own(WHOLE, given.overhead),
  };
}

/** `2 × 124.44M, not trained`. */
function otherWords({ others = [] }: Run): string {
  const sizes = others.map(({ parameters }) => countOf(parameters));
  const each = [...new Set(sizes)].map((size) => {
    const count = sizes.filter((other) => other === size).length;
    return count > 1 ? `${count} × ${size}` : size;
  });
  return `${each.join(', ')}, not trained`;
}

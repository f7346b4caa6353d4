import type { Dtype, Run } from './memory.js';
import { embeddingParameters } from './shape.js';

export const WEIGHT_BYTES: Readonly<Record<Dtype, number>> = {
  fp32: 4,
  mixed: 4,
  bf16: 2,
  fp16: 2,
  int8: 1,
  int4: 0.5,
};
/** bitsandbytes keeps a byte for every 64 weights, and 4 for every 256 of those. */
const INT4_SCALES = 1 / 64 + 4 / (64 * 256);
/** Moments in 8 bits, and an fp32 scale for every 256 of them. */
const MOMENT_8BIT = 1 + 4 / 256;

export function isHalf(dtype: Dtype): boolean {
  return dtype !== 'fp32';
}

export function isQuantized(dtype: Dtype): boolean {
  return dtype === 'int8' || dtype === 'int4';
}

/** Bytes of one trained weight: adapters are fp32 by peft's default, whatever the model is. */
export function trainedBytes({ dtype, lora }: Pick<Run, 'dtype' | 'lora'>): number {
  return lora === undefined ? WEIGHT_BYTES[dtype] : 4;
}

export function weightBytes({ parameters, dtype, shape, prepared }: Run): number {
  if (!isQuantized(dtype) || shape.kind === 'convolutional') return parameters * WEIGHT_BYTES[dtype];
  const kept = Math.min(parameters, embeddingParameters(shape));
  const scale = dtype === 'int4' ? INT4_SCALES : 0;
  return (parameters - kept) * (WEIGHT_BYTES[dtype] + scale) + kept * (prepared === undefined ? 2 : 4);
}

export function byteText(dtype: Dtype): string {
  if (isQuantized(dtype)) return `${WEIGHT_BYTES[dtype]} bytes (${dtype}; embeddings 2 bytes)`;
  return `${WEIGHT_BYTES[dtype]} bytes (${dtype === 'mixed' ? 'fp32 under autocast' : dtype})`;
}

/** Bytes for each trained parameter. torch keeps the moments in the dtype of the weight. */
export function optimizerBytes(run: Run): readonly [bytes: number, how: string] {
  const each = trainedBytes(run);
  const master = run.masterWeights && each < 4 ? 4 : 0;
  const moment = master > 0 ? 4 : each;
  const plus = master > 0 ? ' + 4 for the fp32 copy' : '';
  switch (run.optimizer) {
    case 'adamw':
    case 'adamw-fused':
      return [2 * moment + master, `2 moments of ${moment} bytes${plus}`];
    case 'adamw-8bit':
      return [2 * MOMENT_8BIT + master, `2 moments of 1 byte, and their scales${plus}`];
    case 'sgd-momentum':
      return [moment + master, `${moment} bytes of momentum${plus}`];
    case 'sgd':
    case 'adafactor':
      return [master, master > 0 ? '4 bytes for the fp32 copy' : 'nothing'];
  }
}

/** Tensors of state in the shape of each weight, of its own dtype. */
export function momentsOf({ optimizer }: Run): number {
  return { adamw: 2, 'adamw-fused': 2, 'sgd-momentum': 1, 'adamw-8bit': 0, sgd: 0, adafactor: 0 }[optimizer];
}

/** The default AdamW of torch works on lists of tensors, and makes a copy of all of them; Adafactor three of one. */
export function temporariesOf(run: Run): number {
  const { optimizer, trainable, shape } = run;
  if (optimizer === 'adamw') return trainable * (run.masterWeights ? 4 : trainedBytes(run));
  if (optimizer !== 'adafactor' || shape.kind === 'convolutional') return 0;
  return 3 * 4 * Math.min(trainable, shape.vocabulary * shape.hidden);
}

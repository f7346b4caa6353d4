import type { Run } from './memory.js';
import { linearsOf } from './shape.js';

const MIB = 2 ** 20;
/** torch's caching allocator cuts blocks of 1 to 10 MiB out of segments of this size. */
const SEGMENT = 20 * MIB;
/** Larger ones get a segment of their own, a multiple of this. */
const STEP = 2 * MIB;
/** What is left of a segment is cut off only where it is more than this. */
const LEAST = MIB;

/** What the allocator adds to a tensor of so many bytes. */
export function wasteOn(bytes: number): number {
  if (bytes < MIB) return 0;
  const fitting = bytes >= 10 * MIB ? 1 : Math.floor(SEGMENT / bytes);
  const left = bytes >= 10 * MIB ? Math.ceil(bytes / STEP) * STEP - bytes : SEGMENT - fitting * bytes;
  return left <= LEAST ? left / fitting : 0;
}

/** What it adds to the linear layers of all blocks, each number of so many bytes. */
export function wasteOf({ shape, dtype, parallel }: Run, each: number): number {
  // Shards are cut out of one flat tensor, and of a shape that is guessed nobody knows the tensors.
  if (parallel === 'sharded' || (shape.kind === 'transformer' && shape.guessed)) return 0;
  if (shape.kind === 'convolutional' || dtype === 'int4' || dtype === 'int8' || shape.experts > 1) return 0;
  const { layers, encoderLayers, family } = shape;
  const linears = linearsOf(shape);
  let wasted = 0;
  for (const [name, [inputs, outputs]] of linears) {
    const isFused = family.fused && (name === 'q' || name === 'k' || name === 'v');
    if (!isFused) wasted += wasteOn(inputs * outputs * each);
  }
  return wasted * (layers + encoderLayers);
}

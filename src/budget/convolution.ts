import type { Block } from './block.js';
import type { Run } from './memory.js';
import type { ConvNet } from './shape.js';

const STEM = 64;
const STAGES = [64, 128, 256, 512] as const;
const NAMED: Readonly<Record<string, readonly [stages: readonly number[], bottleneck: boolean]>> = {
  resnet18: [[2, 2, 2, 2], false],
  resnet34: [[3, 4, 6, 3], false],
  resnet50: [[3, 4, 6, 3], true],
  resnet101: [[3, 4, 23, 3], true],
  resnet152: [[3, 8, 36, 3], true],
};

/** The residual networks of torchvision, by name. */
export function convNetOf(name: string, labels = 1000): ConvNet | undefined {
  const [stages, bottleneck] = NAMED[name] ?? [];
  if (stages === undefined || bottleneck === undefined) return undefined;
  return { kind: 'convolutional', model: name, stages, bottleneck, labels };
}

/** One convolution and the batch norm behind it. */
interface Layer {
  readonly weights: number;
  readonly channels: number;
  /** Side of what it gives, as a part of the image's. */
  readonly side: number;
  /** Its norm's result is added to another one and not kept. */
  readonly isAdded: boolean;
}

function* layersOf({ stages, bottleneck }: ConvNet): Generator<Layer> {
  yield { weights: 3 * STEM * 49, channels: STEM, side: 2, isAdded: false };
  let incoming = STEM;
  for (const [stage, blocks] of stages.entries()) {
    const width = STAGES[stage] ?? STEM;
    const outgoing = bottleneck ? 4 * width : width;
    for (let block = 0; block < blocks; block++) {
      const side = 4 * 2 ** stage;
      const before = block === 0 && stage > 0 ? side / 2 : side;
      if (bottleneck) {
        yield { weights: incoming * width, channels: width, side: before, isAdded: false };
        yield { weights: 9 * width * width, channels: width, side, isAdded: false };
        yield { weights: width * outgoing, channels: outgoing, side, isAdded: false };
      } else {
        yield { weights: 9 * incoming * width, channels: width, side, isAdded: false };
        yield { weights: 9 * width * width, channels: width, side, isAdded: false };
      }
      if (incoming !== outgoing)
        yield { weights: incoming * outgoing, channels: outgoing, side, isAdded: true };
      incoming = outgoing;
    }
  }
}

export function convParameters(net: ConvNet): number {
  const last = (STAGES.at(-1) ?? STEM) * (net.bottleneck ? 4 : 1);
  const layers = [...layersOf(net)].reduce((sum, { weights, channels }) => sum + weights + 2 * channels, 0);
  return layers + (last + 1) * net.labels;
}

/** The whole network as one block: every convolution's result and every norm's are kept. */
export function convBlock(net: ConvNet, run: Run): Block {
  const narrow = run.dtype === 'fp32' ? 4 : 2;
  const pixels = (side: number) => run.batch * Math.ceil(run.sequence / side) ** 2;
  let kept = 0;
  let largest = 0;
  let weights = 0;
  for (const layer of layersOf(net)) {
    const bytes = layer.channels * pixels(layer.side) * narrow;
    kept += bytes * (layer.isAdded ? 1 : 2);
    largest = layer.side > 4 ? Math.max(largest, bytes) : largest;
    weights += layer.weights;
  }
  // Pooling keeps what it gives and where it took it from, in 8 bytes.
  kept += STEM * pixels(4) * (narrow + 8);
  const cast = run.dtype === 'mixed' ? 3 * run.batch * run.sequence ** 2 * narrow : 0;
  return {
    kept: kept + cast,
    keptByFeedForward: 0,
    input: 0,
    inputKept: 0,
    cached: 0,
    feedForwardBackward: largest / 2,
    attentionBackward: 0,
    forward: largest * 2,
    casts: run.dtype === 'mixed' ? 2 * weights : 0,
  };
}

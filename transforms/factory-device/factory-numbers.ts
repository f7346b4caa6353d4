import type { PyModule } from '../../src/semantic/module.js';
import { keywordValue, methodName, positionalArguments, receiverOf } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';

/** `torch.empty(0)`: there is nothing to copy, and nothing to wait for. */
export function isEmpty(path: string, factory: PyNode): boolean {
  const given = positionalArguments(factory);
  const sizes = path.endsWith('.full') ? given.slice(0, 1) : given;
  return (
    /\.(?:empty|full|ones|zeros)$/.test(path) &&
    sizes
      .flatMap((size) => (/^(?:tuple|list)$/.test(size.type) ? size.named : size))
      .some(({ text }) => text === '0')
  );
}

/** `torch.empty(n)` holds what was left in memory, unless it is filled on the spot. */
export function isFilled(path: string, moved: PyNode): boolean {
  if (!path.endsWith('.empty')) return true;
  for (let at: PyNode | undefined = moved; at?.type === 'call'; at = receiverOf(at))
    if (methodName(at) === 'fill_') return true;
  return false;
}

const WHOLE = /\b(?:int|int8|int16|int32|int64|long|short|uint8|bool)$/;
const FULL_PRECISION = /\b(?:float|float32|float64|double|None)$/;

/** Ranges in half precision differ between host and device: what is not written may be one. */
export function roundsAlike(path: string, factory: PyNode): 'yes' | 'unknown' {
  const dtype = dtypeOf(factory);
  if (FULL_PRECISION.test(dtype) || WHOLE.test(dtype)) return 'yes';
  return /\.(?:arange|linspace)$/.test(path) ? 'unknown' : 'yes';
}

/** `linspace` in whole numbers cuts off what the host computes in double and a GPU in single precision: one apart. */
export function cutsAlike(path: string, factory: PyNode): 'yes' | 'unknown' {
  return path.endsWith('.linspace') && WHOLE.test(dtypeOf(factory)) ? 'unknown' : 'yes';
}

function dtypeOf(factory: PyNode): string {
  return keywordValue(factory, 'dtype')?.text ?? 'float';
}

/** A GPU sums fractional steps up in other precision; where the start and the step are integers, all numbers are exact. */
export function isExactOnAnyDevice(module: PyModule, factory: PyNode, path: string): boolean {
  if (path.endsWith('.linspace')) return false;
  if (!path.endsWith('.arange')) return true;
  const given = positionalArguments(factory);
  const [start, step] = given.length > 1 ? [given[0], given[2]] : [undefined, undefined];
  const keyword = (name: string): PyNode | undefined => keywordValue(factory, name);
  return [start ?? keyword('start'), step ?? keyword('step')].every(
    (value) => value === undefined || valueOf(module, value).isFloating === 'no',
  );
}

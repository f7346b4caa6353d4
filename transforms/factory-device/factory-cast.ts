import { ofTensor } from '../../src/library/library.js';
import type { PyModule } from '../../src/semantic/module.js';
import {
  argumentsOf,
  keywordArgument,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
} from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/** A cast between a factory and its move. */
export interface Cast {
  /** `torch.zeros(n).long()` */
  readonly call: PyNode;
  readonly name: string;
  /** The dtype that the factory can be given instead: it fills the tensor with the same numbers. */
  readonly dtype: string | undefined;
}

/** Casts that have another name than their dtype. */
const DTYPES: Readonly<Record<string, string>> = { byte: 'uint8', char: 'int8' };

export function castIn(module: PyModule, path: string, factory: PyNode, moved: PyNode): Cast | undefined {
  const casts: PyNode[] = [];
  for (let at: PyNode | undefined = moved; at?.type === 'call'; at = receiverOf(at)) {
    const known = ofTensor(methodName(at) ?? '');
    if (known?.storage === 'perhaps' && known.dtype !== 'same') casts.push(at);
  }
  const [call, ...others] = casts;
  if (call === undefined) return undefined;
  const name = methodName(call) ?? '';
  const isAlone = others.length === 0 && argumentsOf(call).length === 0 && !hasComment(call, factory);
  const isExact = keywordArgument(factory, 'dtype') === undefined && fillsExactly(module, path, factory);
  return { call, name, dtype: isAlone && isExact ? (DTYPES[name] ?? name) : undefined };
}

/** Nothing but zeros, ones and small whole numbers: every dtype holds them, however the tensor comes to it. */
function fillsExactly(_module: PyModule, path: string, factory: PyNode): boolean {
  if (/\.(?:zeros|ones|eye)$/.test(path)) return true;
  if (!path.endsWith('.full')) return false;
  const given = positionalArguments(factory);
  const value = keywordValue(factory, 'fill_value') ?? given[1];
  // Booleans and bytes hold no more.
  return value?.type === 'integer' && /^[01]$/.test(value.text);
}

function hasComment(call: PyNode, factory: PyNode): boolean {
  return [...call.walk()].some((node) => node.type === 'comment' && !factory.contains(node));
}

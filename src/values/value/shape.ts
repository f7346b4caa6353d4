import { ofTensor, type Row, row } from '../../library/library.js';
import { initialValue, lastingName } from '../../semantic/attribute-uses.js';
import { attributeOfSelf } from '../../semantic/definitions.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  hasSplat,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
  unparenthesized,
} from '../../semantic/statements.js';
import { onlyValue } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { kindOf } from './tensor.js';
import { isWhole } from './tensor-calls.js';

/** A number, or an expression with one value for the life of the object; undefined where nothing is known. */
export type Dimension = string | undefined;

export interface Shape {
  readonly dimensions: readonly Dimension[];
  /** More dimensions may stand in front, as with the output of `nn.Linear`. */
  readonly open: boolean;
}

/** `likely`: the last dimensions agree and how many stand in front is not known. */
export type Fit = 'yes' | 'likely' | 'unknown' | 'no';

const ONE_NUMBER: Shape = { dimensions: [], open: false };
const MAX_DEPTH = 20;

/** Whether `into.add_(value)` keeps the shape of `into`: broadcasting must not make it larger. */
export function fits(value: Shape | undefined, into: Shape): Fit {
  if (value === undefined || into.open) return 'unknown';
  if (value.dimensions.length > into.dimensions.length) return 'no';
  let proven = true;
  for (let back = 1; back <= value.dimensions.length; back++) {
    const given = value.dimensions.at(-back);
    const own = into.dimensions.at(-back);
    if (given === '1' || (given !== undefined && given === own)) continue;
    if (isNumeral(given) && isNumeral(own)) return 'no';
    proven = false;
  }
  if (!proven) return 'unknown';
  if (!value.open) return 'yes';
  return value.dimensions.length > 0 ? 'likely' : 'unknown';
}

/** Holds one element, so that any larger value would make it grow. */
export function isSingle(shape: Shape): boolean {
  return !shape.open && shape.dimensions.every((size) => size === '1');
}

function isNumeral(dimension: Dimension): boolean {
  return dimension !== undefined && /^\d+$/.test(dimension);
}

export function shapeOf(module: PyModule, expression: PyNode, depth = 0): Shape | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const node = unparenthesized(expression);
  const kind = kindOf(module, node);
  if (kind === 'number' || kind === 'scalar-tensor') return ONE_NUMBER;
  const of = (inner: PyNode | undefined): Shape | undefined => inner && shapeOf(module, inner, depth + 1);
  switch (node.type) {
    case 'unary_operator':
      return of(node.argument);
    case 'binary_operator':
      return node.operator?.text === '@' ? undefined : joined(of(node.left), of(node.right));
    case 'comparison_operator':
      return node.named.length === 2 ? joined(of(node.named[0]), of(node.named[1])) : undefined;
    case 'identifier':
      return of(onlyValue(module, node));
    case 'subscript':
    case 'attribute':
      return pairedReduction(module, node, of);
    case 'call':
      return hasSplat(node) ? undefined : callShape(module, node, of);
    default:
      return undefined;
  }
}

type ShapeOf = (node: PyNode | undefined) => Shape | undefined;

/** `x.max(dim=0).values` and `x.max(dim=0)[0]`. */
function pairedReduction(module: PyModule, node: PyNode, of: ShapeOf): Shape | undefined {
  const value = node.field(node.type === 'subscript' ? 'value' : 'object');
  const chosen = node.field(node.type === 'subscript' ? 'subscript' : 'attribute')?.text;
  if (value?.type !== 'call' || (chosen !== '0' && chosen !== 'values')) return undefined;
  const { known, operands } = operation(module, value);
  return known?.paired && known.shape === 'one' && operands.length > 0
    ? reduced(value, known, operands, of)
    : undefined;
}

function callShape(module: PyModule, call: PyNode, of: ShapeOf): Shape | undefined {
  const { known, name, operands, isFunction } = operation(module, call);
  const [first, ...rest] = operands;
  if (isFunction && known?.makes === 'sizes')
    return sizes(module, name === 'full' ? operands.slice(0, 1) : operands);
  if (isFunction && name === 'tensor') return first?.type === 'list' ? listShape(first) : undefined;
  if (isFunction && name === 'one_hot') {
    const classes = rest[0] ?? keywordValue(call, 'num_classes');
    return classes === undefined ? undefined : { dimensions: [lastingName(module, classes)], open: true };
  }
  if (known?.shape === 'one' && known.loss === undefined && first !== undefined) {
    if (isWhole(known, rest, call)) return ONE_NUMBER;
    return known.paired ? undefined : reduced(call, known, operands, of);
  }
  if (name === 'view' || name === 'reshape') return sizes(module, rest);
  if (name === 'flatten') return flattened(rest, of(first));
  if (known?.shape === 'same' || name === 'pow') return of(first);
  return first === undefined || isFunction ? undefined : layerShape(module, call);
}

interface Operation {
  readonly known: Row | undefined;
  readonly name: string;
  /** The tensor first, whether it is the receiver or an argument. */
  readonly operands: readonly PyNode[];
  readonly isFunction: boolean;
}

function operation(module: PyModule, call: PyNode): Operation {
  const positional = positionalArguments(call);
  const path = calledPath(module, call);
  if (path !== undefined) {
    const known = row(path);
    return { known, name: known?.path.split('.').at(-1) ?? '', operands: positional, isFunction: true };
  }
  const receiver = receiverOf(call);
  const name = methodName(call) ?? '';
  return {
    known: ofTensor(name),
    name,
    operands: receiver === undefined ? [] : [receiver, ...positional],
    isFunction: false,
  };
}

function reduced(call: PyNode, { path }: Row, operands: readonly PyNode[], of: ShapeOf): Shape | undefined {
  const [first, ...rest] = operands;
  // The first argument of `norm` is its order.
  const written = keywordValue(call, 'dim') ?? (/norm$/.test(path) ? rest[1] : rest[0]);
  const keep = keywordValue(call, 'keepdim')?.text ?? rest.at(-1)?.text;
  const base = of(first);
  const index = written === undefined ? Number.NaN : Number(written.text.replace(/\s/g, ''));
  if (base === undefined || !Number.isInteger(index)) return undefined;
  const { dimensions, open } = base;
  if (open && index >= 0) return keep === 'True' || dimensions.length === 0 ? undefined : base;
  const at = index < 0 ? dimensions.length + index : index;
  if (at < 0 || at >= dimensions.length) return undefined;
  const left = keep === 'True' ? ['1'] : [];
  return { dimensions: [...dimensions.slice(0, at), ...left, ...dimensions.slice(at + 1)], open };
}

function flattened(range: readonly PyNode[], of: Shape | undefined): Shape | undefined {
  const text = range.map((node) => node.text.replace(/\s/g, '')).join(',');
  if (text === '') return { dimensions: [undefined], open: false };
  const last = of?.dimensions.at(-1);
  return text === '0,-2' && last !== undefined ? { dimensions: [undefined, last], open: false } : undefined;
}

/** `self.layer(x)` where the layer fixes the last dimension, e.g. `nn.Linear(in, out)`. */
function layerShape(module: PyModule, call: PyNode): Shape | undefined {
  const name = call.function && attributeOfSelf(call.function)?.name;
  const made = name === undefined ? undefined : initialValue(module, call, name);
  const path = made && calledPath(module, made);
  const place = path === undefined ? undefined : row(path)?.lastDimension;
  if (made === undefined || place === undefined) return undefined;
  const size = keywordValue(made, place.keyword) ?? argumentsOf(made)[place.position];
  const dimension =
    size === undefined || size.type === 'keyword_argument' ? undefined : lastingName(module, size);
  return dimension === undefined ? undefined : { dimensions: [dimension], open: true };
}

function sizes(module: PyModule, written: readonly PyNode[]): Shape | undefined {
  const [only] = written;
  const listed =
    written.length === 1 && (only?.type === 'tuple' || only?.type === 'list') ? only.named : written;
  if (listed.length === 0 && only === undefined) return undefined;
  const names = listed.map((node) => (node.text === '-1' ? undefined : lastingName(module, node)));
  // A single name may as well be a tuple.
  const certain = listed !== written || written.length > 1 || isNumeral(names[0]) || isInteger(module, only);
  return certain ? { dimensions: names, open: false } : undefined;
}

/** `dim` in `torch.zeros(dim)` is one size unless it is a tuple; names of sizes are taken for what they say. */
function isInteger(module: PyModule, node: PyNode | undefined): boolean {
  return node !== undefined && (kindOf(module, node) === 'number' || !/shape|size\b|sizes/i.test(node.text));
}

function listShape(list: PyNode): Shape | undefined {
  const flat = list.named.every(({ type }) => ['integer', 'float', 'unary_operator'].includes(type));
  return flat ? { dimensions: [`${list.named.length}`], open: false } : undefined;
}

function joined(a: Shape | undefined, b: Shape | undefined): Shape | undefined {
  if (a === ONE_NUMBER) return b;
  if (b === ONE_NUMBER) return a;
  const same = a !== undefined && b !== undefined && JSON.stringify(a) === JSON.stringify(b);
  return same && a.dimensions.every((size) => size !== undefined) ? a : undefined;
}

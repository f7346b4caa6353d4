/** What is known about code that is not in the project. Whoever needs a new fact adds a row, not a list. */
import { HUGGINGFACE_ROWS } from './huggingface.js';
import { NN_ROWS } from './nn.js';
import { OPTIM_ROWS } from './optim.js';
import { PYTHON_ROWS } from './python.js';
import { type Row, rowsOf } from './row.js';
import { TENSOR } from './tensor.js';
import { ALIASES, TORCH_ROWS } from './torch.js';

export type { Row } from './row.js';

let table: ReadonlyMap<string, Row> | undefined;

/** Every row by its path. Made on the first question. */
export function allRows(): ReadonlyMap<string, Row> {
  table ??= new Map(
    rowsOf([...TENSOR, ...TORCH_ROWS, ...NN_ROWS, ...OPTIM_ROWS, ...PYTHON_ROWS, ...HUGGINGFACE_ROWS]).map(
      (row) => [row.path, row],
    ),
  );
  return table;
}

/** The row of a dotted name, under whichever of its names it is imported. */
export function row(path: string): Row | undefined {
  return allRows().get(path) ?? allRows().get(canonical(path));
}

/** The name that the table has for a path: `torch.nn.Linear` for `torch.nn.modules.linear.Linear`. */
export function canonical(path: string): string {
  return ALIASES.reduce((name, [prefix, instead]) => name.replace(prefix, instead), path);
}

/** A method or attribute of tensors. */
export function ofTensor(name: string): Row | undefined {
  return allRows().get(`Tensor.${name}`);
}

/** A function of torch, or a method of tensors by its name alone, that computes tensors from tensors. */
export function isOperation(known: Row | undefined): known is Row {
  return (
    (known?.gives === 'tensor' || known?.gives === 'self') && known.makes === undefined && !known.attribute
  );
}

/** A Python value that holds no tensor: a number, a size, a dtype. */
export function isPlain(known: Row | undefined): boolean {
  return known?.gives === 'number' || known?.gives === 'plain';
}

/** What it gives shares no memory with what it was given. */
export function isFresh(known: Row | undefined): boolean {
  return known?.storage === 'new' || isPlain(known);
}

/** Runs without drawing random numbers. */
export function isSteady(known: Row | undefined): boolean {
  const computes = known?.gives !== undefined && known.gives !== 'nothing' && known.is === undefined;
  return computes && !known.random && !known.runs;
}

const CONTAINERS = ['list.', 'dict.', 'set.', 'collections.deque.', 'queue.Queue.'];

/** A method by which a container of Python takes something in. */
export function isKeptBy(name: string): boolean {
  return CONTAINERS.some((space) => allRows().get(`${space}${name}`)?.keeps === true);
}

/** A method that changes the tensor it is called on; torch marks them by a last underscore. */
export function changesTensor(name: string): boolean {
  return /[^_]_$/.test(name);
}

/** A method that tensors and modules share. */
export function isOfModulesToo(name: string): boolean {
  return allRows().has(`Module.${name}`) && ofTensor(name) !== undefined;
}

/** A builtin of Python. */
export function builtin(name: string): Row | undefined {
  return allRows().get(`builtins.${name}`);
}

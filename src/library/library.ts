/** What is known about code that is not in the project. Whoever needs a new fact adds a row, not a list. */
import { HUGGINGFACE_ROWS } from './huggingface.js';
import { NN_ROWS } from './nn.js';
import { OPTIM_ROWS } from './optim.js';
import { PACKAGE_ROWS } from './packages.js';
import { PYTHON_ROWS } from './python.js';
import { type Group, indexed, type Row, rowOf } from './row.js';
import { TENSOR } from './tensor.js';
import { ALIASES, TORCH_ROWS } from './torch.js';

export type { Row } from './row.js';

const GROUPS = [
  ...TENSOR,
  ...TORCH_ROWS,
  ...NN_ROWS,
  ...OPTIM_ROWS,
  ...PYTHON_ROWS,
  ...HUGGINGFACE_ROWS,
  ...PACKAGE_ROWS,
];

let groups: ReadonlyMap<string, Group> | undefined;
const made = new Map<string, Row>();

/** The row of this very path. Names are looked up on the first question, and a row is made when it is asked for. */
function rowAt(path: string): Row | undefined {
  groups ??= indexed(GROUPS);
  const group = groups.get(path);
  if (group === undefined) return undefined;
  const known = made.get(path) ?? rowOf(path, group);
  made.set(path, known);
  return known;
}

/** Every row, for those who check them. */
export function allRows(): readonly Row[] {
  return [...indexed(GROUPS)].map(([path, group]) => rowOf(path, group));
}

/** The row of a dotted name, under whichever of its names it is imported. */
export function row(path: string): Row | undefined {
  const own = rowAt(path);
  if (own !== undefined) return own;
  const name = canonical(path);
  return rowAt(name) ?? rowAt(name.replace(/\w+$/, '*'));
}

/** The name that the table has for a path: `torch.nn.Linear` for `torch.nn.modules.linear.Linear`. */
export function canonical(path: string): string {
  for (const [prefix, instead] of ALIASES) if (prefix.test(path)) return path.replace(prefix, instead);
  return path;
}

/** What is known about everything that a package has: for `numpy.linalg.norm`, the row of `numpy`. */
export function packageOf(path: string): Row | undefined {
  return rowAt(path.split('.', 1)[0] ?? '');
}

/** A method or attribute of tensors. */
export function ofTensor(name: string): Row | undefined {
  return rowAt(`Tensor.${name}`);
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

/** What it gives may share the memory of what it was given. */
export function mayShare(known: Row | undefined): boolean {
  return known?.storage === 'shared' || known?.storage === 'perhaps';
}

/** A builtin that keeps nothing of what it is handed: a number is left, or a text. */
export function readsOnly(name: string): boolean {
  const known = builtin(name);
  return isPlain(known) || known?.reports === true;
}

/** A builtin that runs no code it is handed, and stores nothing. */
export function isHarmlessBuiltin(name: string): boolean {
  const known = builtin(name);
  return known !== undefined && !known.runs && !known.keeps;
}

const CONTAINERS = ['list.', 'dict.', 'set.', 'collections.deque.'];

/** A method by which a container or a queue of Python takes something in. */
export function isKeptBy(name: string): boolean {
  return [...CONTAINERS, 'queue.Queue.'].some((space) => rowAt(`${space}${name}`)?.keeps === true);
}

/** A method of a container that gives nothing of what it is handed: what it takes in, it has. */
export function endsInContainer(name: string): boolean {
  return CONTAINERS.some((space) => /nothing|number/.test(rowAt(`${space}${name}`)?.gives ?? ''));
}

/** A method that changes the tensor it is called on; torch marks them by a last underscore. */
export function changesTensor(name: string): boolean {
  return /[^_]_$/.test(name);
}

/** A method that fills the tensor with zeros or random numbers, and is told how by Python's numbers alone. */
export function fillsTensor(name: string): boolean {
  return /^(?:cauchy|exponential|geometric|log_normal|normal|random|uniform|zero)_$/.test(name);
}

/** A cast, or another form of the same numbers: exact on every device. */
export function isExact(name: string): boolean {
  const known = ofTensor(name);
  if (known?.rearranges) return true;
  return known?.storage === 'perhaps' && (known.dtype === 'float' || known.dtype === 'whole');
}

/** A method that tensors and modules share. */
export function isOfModulesToo(name: string): boolean {
  return rowAt(`Module.${name}`) !== undefined && ofTensor(name) !== undefined;
}

/** A method of modules that gives the module back. */
export function givesModule(name: string): boolean {
  return rowAt(`Module.${name}`)?.gives === 'self';
}

/** A maker of a tensor on the default device, whatever device the data around it are on. */
export function isMaker(path: string): boolean {
  const known = row(path);
  return known?.makes !== undefined && known.makes !== 'like' && known.gives === 'tensor';
}

/** The graph of what it is given ends there, and the result is memory of its own, if it is any. */
export function onlyLooks(path: string): boolean {
  const known = row(path);
  return known?.graph === 'cut' && (isFresh(known) || known.gives === 'nothing');
}

/** A method or attribute that gives a value without the graph of its tensor: a number, a copy that is cut off, whole numbers. */
export function cutsGraph(name: string): boolean {
  const known = ofTensor(name);
  return known?.graph === 'cut' && !known.asksGraph;
}

const OTHERS = [
  'str.',
  'datetime.datetime.',
  'dict.',
  'Module.',
  'transformers.PreTrainedTokenizerBase.',
  'tokenizers.Tokenizer.',
];

/** A method that gives nothing with a graph, on whatever has it. */
export function isPlainMethod(name: string): boolean {
  if (ofTensor(name) !== undefined) return cutsGraph(name);
  const found = OTHERS.flatMap((space) => rowAt(`${space}${name}`) ?? []);
  return found.length > 0 && found.every(({ graph, gives }) => graph === 'cut' && gives !== 'nothing');
}

/** A method of tensors that makes something of them, and does nothing else. */
export function onlyComputes(name: string): boolean {
  const known = ofTensor(name);
  return (
    known !== undefined &&
    known.gives !== 'nothing' &&
    !(known.changes || known.asksGraph || known.keeps || known.runs || known.attribute)
  );
}

/** A method of a dict that gives what it holds. */
export function givesHeld(name: string): boolean {
  return rowAt(`dict.${name}`)?.gives === 'arguments';
}

/** A method that every module has. */
export function isOfModule(name: string): boolean {
  return rowAt(`Module.${name}`) !== undefined;
}

/** A method of tensors, of collections or of strings. */
export function isOfPlainValues(name: string): boolean {
  return ['Tensor', 'dict', 'list', 'set', 'str'].some((type) => rowAt(`${type}.${name}`) !== undefined);
}

/** A method of modules that gives its parts. */
export function walksModule(name: string): boolean {
  return rowAt(`Module.${name}`)?.walks === true;
}

/** A method by which a logger or a file of Python writes what it is handed. */
export function isReportedBy(name: string): boolean {
  return (
    rowAt(`logging.Logger.${name}`)?.reports === true || rowAt(`io.TextIOBase.${name}`)?.reports === true
  );
}

/** A method that changes the array of numpy it is called on. */
export function changesArray(name: string): boolean {
  return rowAt(`numpy.ndarray.${name}`)?.changes === true;
}

/** A builtin of Python. */
export function builtin(name: string): Row | undefined {
  return rowAt(`builtins.${name}`);
}

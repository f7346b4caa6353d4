import {
  builtin,
  givesHeld,
  isOfModule,
  isPlainMethod,
  ofTensor,
  packageOf,
  row,
} from '../../library/library.js';

/** Which calls and attributes give values without a graph, whatever they are given. */

/** An attribute that carries no graph. */
export function isPlainAttribute(name: string): boolean {
  return (
    /^(?:__name__|training)$/.test(name) ||
    (ofTensor(name)?.attribute === true && ofTensor(name)?.graph === 'cut')
  );
}

/** Of torch, what runs or differentiates what it is handed. */
const RUNS = /^torch\.(?:jit|optim)\b/;
const TOKENIZERS = /^transformers\.(?:AutoTokenizer|PreTrainedTokenizer\w*)\b/;

/** A function of a package that neither trains a network it is handed nor differentiates what it gets. */
export function isOfKnownPackage(path: string): boolean {
  const known = row(path);
  if (/^torch(?:\.|$)/.test(path)) return (known?.harmless || !RUNS.test(path)) && !known?.differentiates;
  return packageOf(path)?.harmless === true || TOKENIZERS.test(path);
}

/** A method of tensors and arrays that is given sizes, a dtype or a device: no graph comes by them, whoever says them. */
export function takesForm(name: string): boolean {
  const known = ofTensor(name);
  return known?.shape === 'sizes' || known?.dtype === 'argument' || known?.places === true;
}

/** An exception of Python, by the name that all of them have. */
export function isException(name: string): boolean {
  return /^[A-Z]\w*(?:Error|Exception)$/.test(name);
}

/** Python's own functions, without those that run code or call back. */
export function isOfPython(name: string): boolean {
  return (
    isException(name) ||
    /^(?:slice|xrange)$/.test(name) ||
    (builtin(name) !== undefined && !/^(?:filter|map)$/.test(name))
  );
}

/** Methods of containers, modules, optimizers and loops that any object may have: by them alone no class is known. */
const OF_MANY: ReadonlySet<string> = new Set(
  'add append backward call clear close extend fit forward init insert load log loss main parse put reset run save send setdefault sort step train update write zero_grad'.split(
    ' ',
  ),
);

export function isMethodOfLibraries(name: string): boolean {
  return OF_MANY.has(name) || isPlainMethod(name) || givesHeld(name) || isOfModule(name);
}

/**
 * What a function of a known package hands back: nothing with a graph, what it was given, the objects but not the tensors
 * of that, or something computed from it.
 */
export function resultOf(path: string): 'plain' | 'passed' | 'objects' | 'computed' | 'unknown' {
  const known = row(path) ?? packageOf(path);
  if (known?.keepsObjects) return 'objects';
  if (known?.gives === 'arguments') return 'passed';
  if (/^torch(?:vision|audio|metrics)?\./.test(path)) return known?.graph === 'cut' ? 'plain' : 'computed';
  if (known?.dtype === 'promoted') return 'computed';
  return known?.gives === 'plain' ? 'plain' : 'unknown';
}

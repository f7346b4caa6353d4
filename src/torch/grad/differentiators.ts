import { ancestryOf, methodsOf } from '../../semantic/definitions.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { type Arity, arityOf } from '../../semantic/project-names.js';
import { decoratorsOf, enclosingClass, enclosingFunction, methodName } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';
import { AUTOGRAD_FUNCTIONS, isModuleClass, PLAIN_BASES } from '../catalog.js';
import { placeOf } from '../gate.js';
import { functionsOf, type GradUse, gradUseReached, gradUses } from './grad.js';

/** A function of the project that differentiates, or runs one of its file that does. Plain data: it outlives the scan. */
export interface Differentiator {
  readonly name: string;
  /** The class that it is a method of. */
  readonly owner: string | undefined;
  /** Its class may be an `nn.Module`. */
  readonly mayBeModule: boolean;
  /** Names of the classes, last part only, that its class inherits from. */
  readonly bases: readonly string[];
  /** `file.py:12` */
  readonly place: string;
  readonly words: string;
  readonly arity: Arity;
  /** Its file stores it, passes it on, or decorates it: it may be called by another name. */
  readonly isValue: boolean;
}

/** Code of the project that a call may run and that differentiates. */
export interface Suspect {
  readonly name: string;
  readonly place: string;
  /** A clause about it: `which calls …`, `whose forward calls …`. */
  readonly clause: string;
}

/** What runs when an object is called. */
export const CALLED: ReadonlySet<string> = new Set(['forward', '__call__']);

export interface Differentiators {
  readonly found: readonly Differentiator[];
  /** Too many files to look into. */
  readonly unread: boolean;
}

/** Every spelling of a differentiation has one of these words. */
const WORDS: readonly string[] = [
  ...['autograd', 'backward', 'create_graph', 'enable_grad', 'functorch', 'grad', 'hessian', 'jacobian'],
  ...['register_hook', 'requires_grad', 'requires_grad_', 'retain_grad', 'set_grad_enabled', 'vjp', 'jvp'],
];

/** The functions of other files of the project that differentiate. */
export function differentiators(module: PyModule): Differentiators {
  return module.memo(findDifferentiators, module);
}

function findDifferentiators(module: PyModule): Differentiators {
  const found = new Map<string, Differentiator>();
  let unread = false;
  for (const word of WORDS) {
    const files = module.around.summaries({ word, beside: [] }, differentiatorsIn);
    if (files === undefined) unread = true;
    for (const each of files?.flat() ?? []) found.set(`${each.place} ${each.name}`, each);
  }
  return { found: [...found.values()], unread };
}

/** Those of one file. */
export function differentiatorsIn(alone: PyModule): readonly Differentiator[] {
  return alone.memo(findIn, alone);
}

function findIn(module: PyModule): readonly Differentiator[] {
  if (gradUses(module).length === 0) return [];
  return functionsOf(module).flatMap((node) => {
    const name = node.field('name')?.text;
    const classNode = enclosingClass(node);
    const use = gradUseReached(module, node)?.use ?? (classNode && usedByClass(module, classNode));
    if (name === undefined || use === undefined) return [];
    const { isFunction, mayBeModule, bases } = kindOfClass(module, classNode);
    // Torch runs the forward of a custom function without gradients anyway.
    if (isFunction) return [];
    return {
      ...{ name, mayBeModule, bases, words: use.words, arity: arityOf(node) },
      owner: classNode?.field('name')?.text,
      place: placeOf(module, node).replaceAll('`', ''),
      isValue: isValue(module, node, name),
    };
  });
}

/** An alias in the body of the class: `diff = staticmethod(torch.autograd.grad)`. */
function usedByClass(module: PyModule, classNode: PyNode): GradUse | undefined {
  return gradUses(module).find(({ node }) => {
    const around = enclosingFunction(node);
    return classNode.contains(node) && (around === undefined || !classNode.contains(around));
  });
}

function kindOfClass(module: PyModule, classNode: PyNode | undefined) {
  if (classNode === undefined) return { isFunction: false, mayBeModule: false, bases: [] };
  const { classes, imported, unknown } = ancestryOf(module, classNode);
  const last = imported.map((path) => path.slice(path.lastIndexOf('.') + 1));
  return {
    isFunction: imported.some((path) => AUTOGRAD_FUNCTIONS.has(path)),
    mayBeModule:
      unknown ||
      imported.some((path) => isModuleClass(path) || !PLAIN_BASES.has(path)) ||
      classes.some((each) => methodsOf(each).some((method) => method.field('name')?.text === 'eval')),
    bases: [...classes.slice(1).map((each) => each.field('name')?.text ?? ''), ...last],
  };
}

/** What a decorator of these leaves is called by the function's own name. */
const PLAIN_DECORATORS =
  /^(?:staticmethod|classmethod|property|(?:abc\.)?abstractmethod|(?:\w+\.)*no_grad\(\))$/;

/** Whether its file uses a function otherwise than by calling it. A closure for an optimizer's step is that optimizer's. */
function isValue(module: PyModule, functionNode: PyNode, name: string): boolean {
  if (decoratorsOf(functionNode).some(({ text }) => !PLAIN_DECORATORS.test(text))) return true;
  return usedAsValue(module, name);
}

/** Whether the code of a file uses a name, or an attribute of that name, otherwise than by calling it. */
export function usedAsValue(module: PyModule, name: string): boolean {
  return module.words(name).some((node) => {
    if (node.type !== 'identifier' || node.text !== name) return false;
    const place = node.parent;
    if (
      place === undefined ||
      /import|^dotted_name$|^(?:function|class)_definition$|parameter|global/.test(place.type)
    )
      return false;
    if (place.type === 'keyword_argument' && place.field('name') === node) return false;
    const value = place.type === 'attribute' && place.field('attribute') === node ? place : node;
    const user = value.parent;
    if (user?.type === 'call' && user.field('function') === value) return false;
    if (user?.type === 'attribute' && user.field('object') === value) return false;
    if (user?.type === 'assignment' && user.field('left') === value) return false;
    return !isGivenToLibrary(module, value);
  });
}

/** `mp.spawn(worker)`, `optimizer.step(closure)`: what a library runs, no other code of the project gets. */
function isGivenToLibrary(module: PyModule, value: PyNode): boolean {
  const holder = value.parent?.type === 'keyword_argument' ? value.parent : value;
  const call = holder.parent?.type === 'argument_list' ? holder.parent.parent : undefined;
  const callee = call?.type === 'call' ? call.field('function') : undefined;
  if (call === undefined || callee === undefined) return false;
  if (methodName(call) === 'step') return true;
  return RUNS_IT.test(qualifiedName(module, callee) ?? '');
}

const RUNS_IT =
  /^(?:torch\.multiprocessing|multiprocessing|threading|concurrent|fire|click|typer|hydra|atexit|signal|torch\.distributed)\./;

import { isOnlyAsked } from '../../semantic/given-away.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  calleeOf,
  decoratorsOf,
  enclosingFunction,
  isCallee,
  wholeName,
} from '../../semantic/statements.js';
import { plainString } from '../../semantic/strings.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isOfKnownPackage } from '../value/plain.js';
import { runByForwards } from './forward.js';
import { type HandedOn, handedOn } from './handed-on.js';

/** Who calls something by a name. Plain data: it outlives the scan. */
export interface Callers extends Pick<HandedOn, 'methods' | 'steps'> {
  /** A forward may be among them. */
  readonly isForward: boolean;
  /** Its name is a text, by which somebody may take it. */
  readonly isQuoted: boolean;
  /** The functions around the calls, and around what hands it on; empty at the top of a file. */
  readonly names: readonly string[];
}

/** Those of a file. A function that is stored may be called by a forward. */
export function callersIn(module: PyModule, name: string): Callers {
  const words = module.words(name);
  const uses = words.filter(
    (node) => !/import|dotted_name|function_definition/.test(node.parent?.type ?? ''),
  );
  const { isValue, owners, methods, steps } = handedOn(module, name);
  const found = callersAt(module, uses);
  const isStored = isValue || owners.length > 0 || words.some((node) => isRegistered(module, node));
  const isForward = isStored || found.isForward || isTakenByName(module, name);
  return { ...found, isForward, isQuoted: new RegExp(`["']${name}["']`).test(module.code), methods, steps };
}

/** By a decorator that may store it. */
function isRegistered(module: PyModule, { parent, start }: PyNode): boolean {
  if (!/^(?:function|class)_definition$/.test(parent?.type ?? '') || parent?.name?.start !== start)
    return false;
  return decoratorsOf(parent).some((decorator) => {
    const callee = calleeOf(decorator);
    if (isUnbound(module, callee)) return !/^(?:property|staticmethod|classmethod)$/.test(callee.text);
    return !isOfKnownPackage(qualifiedName(module, callee) ?? '') && !/\.setter$/.test(callee.text);
  });
}

/** `getattr(tools, "score")` */
function isTakenByName(module: PyModule, name: string): boolean {
  return module.words('getattr').some((node) => textTaken(node) === name);
}

function textTaken(getter: PyNode): string | undefined {
  const call = getter.parent;
  const name = call?.type === 'call' && call.function === getter ? argumentsOf(call)[1] : undefined;
  return name && plainString(name);
}

/** What takes anything by a text. */
export const TAKES_BY_TEXT: readonly string[] = [
  ...['getattr', 'eval', 'import_module', '__getattribute__', 'methodcaller', 'attrgetter', 'exec'],
  ...['globals', 'locals', 'vars', '__dict__', '__import__', 'run_module', 'run_path'],
];

/** Those who run in a file what they take by a text that is computed; a forward may run what they do not run on the spot. */
export function takersIn(module: PyModule, word: string): Callers {
  const uses = module.words(word).filter((node) => takesAny(module, node));
  const found = callersAt(module, uses);
  return { ...found, isForward: found.isForward || !uses.every((node) => isRunHere(module, node)) };
}

function takesAny(module: PyModule, node: PyNode): boolean {
  if (/import|dotted_name/.test(node.parent?.type ?? '')) return false;
  // `net.eval()`
  if (node.text === 'eval') return node.parent?.attribute !== node;
  if (node.text !== 'getattr' && node.text !== '__dict__') return true;
  // `models.__dict__[name]`
  const [object] = node.parent?.type === 'call' ? argumentsOf(node.parent) : [wholeName(node).object];
  const isOfPackage = object !== undefined && isOfKnownPackage(qualifiedName(module, object) ?? '');
  return textTaken(node) === undefined && !isOfPackage;
}

function isRunHere(module: PyModule, node: PyNode): boolean {
  const call = wholeName(node).parent;
  if (call?.type !== 'call' || !/^(?:getattr|eval|import_module)$/.test(node.text)) return false;
  if (node.text === 'import_module' || isCallee(call) || isOnlyAsked(call)) return true;
  const callee = call.parent?.type === 'argument_list' ? call.parent.parent?.function : undefined;
  return isUnbound(module, callee) && /^(?:bool|float|int|list|str|tuple)$/.test(callee?.text ?? '');
}

function callersAt(module: PyModule, uses: readonly PyNode[]): Callers {
  const functions = uses.map((node) => enclosingFunction(node));
  const isForward =
    uses.some((node) => node.closest('lambda') !== undefined) ||
    functions.some((each) => each && module.memo(runByForwards, module).has(each));
  const names = functions.map((each) => each?.name?.text ?? '');
  return { isForward, isQuoted: false, names, methods: [], steps: [] };
}

import { calledDefinition, selfName } from '../../src/semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../src/semantic/elsewhere.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { argumentsByParameter } from '../../src/semantic/parameters.js';
import { isPrivate } from '../../src/semantic/program.js';
import type { PyNode } from '../../src/syntax/node.js';

/** From function to function, this far. */
const MAX_HOPS = 4;

/**
 * Whether nobody gets hold of the object that an expression makes but the code around it, and the functions of the project
 * that it is given to, which do no more than use what it has: `with f():`, `x = f(); x.step()`.
 */
export function isAtHand(module: PyModule, made: PyNode): boolean {
  return staysAt(module, made, 0);
}

/** Expressions that hand on what one of their parts is. */
const CHOICES: ReadonlySet<string> = new Set([
  'boolean_operator',
  'conditional_expression',
  'parenthesized_expression',
]);

function staysAt(module: PyModule, node: PyNode, hops: number): boolean {
  const holder = node.parent;
  if (holder === undefined) return false;
  if (CHOICES.has(holder.type)) return isTested(node) || staysAt(module, holder, hops);
  switch (holder.type) {
    case 'with_item':
    case 'decorator':
    case 'expression_statement':
      return true;
    case 'as_pattern': {
      const name = holder.named[1]?.named[0];
      return name?.type === 'identifier' && staysByName(module, name, hops);
    }
    case 'attribute':
      return holder.object === node && !/^__/.test(holder.attribute?.text ?? '');
    case 'assignment': {
      const target = holder.left;
      const isAgain = holder.parent?.type === 'assignment';
      if (target?.type !== 'identifier' || !staysByName(module, target, hops)) return false;
      return !isAgain || staysAt(module, holder, hops);
    }
    case 'argument_list':
    case 'keyword_argument':
      return staysInCall(module, node, hops);
    default:
      return isTested(node);
  }
}

/** `if x:`, `not x`, `x is None`: nothing is learned but whether it is there. */
function isTested(node: PyNode): boolean {
  const holder = node.parent;
  if (holder?.type === 'conditional_expression') return holder.named[1] === node;
  if (holder?.type === 'not_operator') return true;
  if (holder?.type === 'comparison_operator') return holder.named.some(({ type }) => type === 'none');
  return /^(?:if|elif|while)_/.test(holder?.type ?? '') && holder?.condition === node;
}

function staysByName(module: PyModule, name: PyNode, hops: number): boolean {
  const scope = module.resolve(name);
  if (scope === undefined || hops > MAX_HOPS) return false;
  if (scope.kind === 'class' || (scope === module.scope && isPrivate(module, [name]) !== 'yes')) return false;
  if (/\b(?:locals|vars|globals|exec|eval)\(/.test(module.codeOf(scope.node))) return false;
  return module.reads(scope, name.text).every((read) => staysAt(module, read, hops));
}

function staysInCall(module: PyModule, node: PyNode, hops: number): boolean {
  const argument = node.parent?.type === 'keyword_argument' ? node.parent : node;
  const call = argument.parent?.parent;
  const run = call?.type === 'call' ? functionRun(module, call) : undefined;
  const given = run && call && argumentsByParameter(module, run.node, call);
  const name = [...(given ?? [])].find(([, value]) => value === node)?.[0];
  const [parameter] = name === undefined || run === undefined ? [] : bindingsOf(run, name);
  return run !== undefined && parameter !== undefined && staysByName(run.module, parameter, hops + 1);
}

function bindingsOf({ module, node }: Elsewhere, name: string): readonly PyNode[] {
  return module.writes(module.scopeOf(node), name).filter((write) => roleOf(write) === 'parameter');
}

function functionRun(module: PyModule, call: PyNode): Elsewhere | undefined {
  const own = calledDefinition(module, call);
  const path = own === undefined ? qualifiedName(module, call.function ?? call) : undefined;
  const found =
    own === undefined
      ? path === undefined
        ? undefined
        : definedElsewhere(module, path)
      : { module, node: own };
  // Of a method, a subclass may have another one.
  return found?.node.type === 'function_definition' && selfName(found.node) === undefined ? found : undefined;
}

import { LOAD, UNPICKLES } from '../library/names.js';
import type { PyNode } from '../syntax/node.js';
import { isAnywhere } from './anywhere.js';
import { calledPath, qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { readsArguments } from './program.js';
import { methodName } from './statements.js';
import { readsOf } from './variables.js';

/** What reads objects that were once written: by other names than those of the library, and in other formats. */
interface Reader {
  readonly paths: (path: string) => boolean;
  readonly others: RegExp;
}

/** Files in which people put networks as a whole. */
export const ofNetworks: Reader = {
  paths: (path) => path === LOAD,
  others:
    /\b(?:load_learner|load_session|PackageImporter|mlflow|bentoml|shelve)\b|\bfrom[ \t]+torch\b[^\n]*\bimport\b[^\n]*\bload\b|["']load["']/,
};

export const ofTorch: Reader = {
  ...ofNetworks,
  others: new RegExp(`\\ballow_pickle\\b|${ofNetworks.others.source}`),
};

export const ofPython: Reader = {
  paths: (path) => path !== LOAD && UNPICKLES.has(path.replace(/^_pickle|^cPickle/, 'pickle')),
  others:
    /\b(?:read_pickle|Unpickler)\b|\bfrom[ \t]+(?:\w*[pP]ickle|dill|joblib)\b[^\n]*\bimport\b[^\n]*\bloads?\b|["']loads["']/,
};

/** Whether a file may get an object with code of its own out of a file that was written: neither numbers nor what networks load. */
export function takesObjects(alone: PyModule, { paths, others }: Reader): boolean {
  if (alone.mentions(others)) return true;
  return ['load', 'loads'].some((word) =>
    alone.words(word).some((node) => {
      const named = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
      if (!paths(qualifiedName(alone, named) ?? '')) return false;
      const call =
        named.parent?.type === 'call' && named.parent.function === named ? named.parent : undefined;
      return call === undefined || !isState(alone, call, new Set());
    }),
  );
}

/** Whether some file of the project may write objects of its classes, by Python's own writer or one like it. */
export function writesObjects(module: PyModule): boolean {
  return WRITERS.some((word) => isAnywhere(module, word, mayWrite));
}

const WRITERS = ['dump', 'dumps', 'to_pickle', 'Pickler'];

function mayWrite(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => {
    const named = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
    const path = qualifiedName(alone, named);
    if (path === undefined) return word !== 'dump' && word !== 'dumps' ? true : isOfPicklers(alone);
    return !/^(?:json|yaml|ujson|simplejson|orjson|toml|marshal)\./.test(path);
  });
}

/** A writer by another name: then any module that has one may be behind it. */
function isOfPicklers(alone: PyModule): boolean {
  return alone.mentions(/\b(?:\w*[pP]ickle|dill|joblib)\b/);
}

/** Methods of dictionaries and lists that give their parts. */
const PARTS = /^(?:copy|get|items|keys|pop|values)$/;

/** Builtins that run nothing of what they are given, and of whose parts they make no more. */
const READS = /^(?:bool|float|int|isinstance|len|max|min|print|range|str|sum|type)$/;

/** Whether a value is only read, and loaded into networks: nothing calls it, and nobody else gets it. */
function isState(module: PyModule, value: PyNode, seen: Set<PyNode>): boolean {
  const user = value.parent;
  if (seen.has(value)) return true;
  seen.add(value);
  switch (user?.type) {
    case 'subscript':
      return user.value !== value || isState(module, user, seen);
    case 'parenthesized_expression':
    case 'conditional_expression':
    case 'boolean_operator':
    case 'dictionary':
    case 'pair':
    case 'list':
    case 'tuple':
      return isState(module, user, seen);
    case 'attribute': {
      const call = user.parent?.type === 'call' && user.parent.function === user ? user.parent : undefined;
      return call !== undefined && PARTS.test(user.attribute?.text ?? '') && isState(module, call, seen);
    }
    case 'keyword_argument':
    case 'argument_list': {
      const call = user.closest('call');
      if (call === undefined) return false;
      if (methodName(call) === 'load_state_dict' || methodName(call) === 'format') return true;
      const path = calledPath(module, call);
      return path === undefined ? READS.test(call.function?.text ?? '') : /^(?:numpy|pandas)\./.test(path);
    }
    case 'assignment':
      return user.right === value && user.left !== undefined && isStateBy(module, user.left, user, seen);
    case 'for_statement':
    case 'for_in_clause':
      return user.right === value && user.left !== undefined && isStateBy(module, user.left, user, seen);
    case 'binary_operator':
    case 'unary_operator':
    case 'not_operator':
    case 'comparison_operator':
    case 'augmented_assignment':
    case 'interpolation':
    case 'if_statement':
    case 'elif_clause':
    case 'delete_statement':
    case 'expression_statement':
      return true;
    default:
      return false;
  }
}

/** The same of what a value is given the name of, or is put into. */
function isStateBy(module: PyModule, target: PyNode, holder: PyNode, seen: Set<PyNode>): boolean {
  if (target.type === 'subscript')
    return target.value !== undefined && isStateBy(module, target.value, holder, seen);
  if (/^(?:pattern_list|tuple_pattern)$/.test(target.type))
    return target.named.every((each) => isStateBy(module, each, holder, seen));
  if (target.type !== 'identifier') return false;
  const scope = module.resolve(target);
  // Others may import it.
  const isStarted = () => /\b__name__\s*==|\.parse_args\(/.test(module.code) || readsArguments(module);
  if (scope === undefined || (scope === module.scope && !isStarted())) return false;
  return readsOf(module, target).every((read) => isState(module, read, seen));
}

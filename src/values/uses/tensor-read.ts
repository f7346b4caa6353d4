import { isKeptBy, isPlain, mayShare, ofTensor, onlyLooks, readsOnly, row } from '../../library/library.js';
import { TORCH } from '../../library/names.js';
import { type Gate, placeOf, shown } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import { remembered } from '../../semantic/remembered.js';
import { argumentsOf, isCallee, isTarget, keywordArgument } from '../../semantic/statements.js';
import { attributeUsesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { recordsNoGraph } from '../value/gradient.js';

/** What becomes of a stored tensor where it is read. */
export interface TensorRead {
  readonly use:
    | 'number' // a Python number, a shape, a line of text, a truth value
    | 'graph' // whether it has one: `.requires_grad`
    | 'reset' // `.zero_()`, `.fill_(0)`
    | 'changed' // any other in-place method, or an element assigned
    | 'copied' // `.clone()`
    | 'operand' // the input of an operation
    | 'returned'
    | 'kept' // another name or container holds it
    | 'passed'; // given to a function the file says nothing about
  /** `.detach()` or `.data` stands in between. */
  readonly detached: boolean;
  readonly gradOff: boolean;
  /** The function it is passed to writes it somewhere for people to read. */
  readonly logged: boolean;
}

const LOGGING =
  /(?:^|[._])(?:add_(?:scalar|histogram|scalars)|debug|info|log(?:_\w+)?|print|warn(?:ing)?|write)$/;

export const tensorRead = remembered((module: PyModule, attribute: PyNode): TensorRead => {
  const found = follow(module, attribute);
  return { ...found, gradOff: recordsNoGraph(module, attribute) };
});

/**
 * What other files do with an attribute of the class, of whatever object that may have it. `gateFor` judges a read as it
 * does one of the class; `harm` completes "`net.center` may …" where that is not a yes, and `asked` "Does that place …?".
 * `writes`: whether a value that they give it matters too.
 */
export function readGatesElsewhere(
  module: PyModule,
  classNode: PyNode,
  name: string,
  { harm, asked }: { readonly harm: string; readonly asked: string },
  gateFor: (there: PyModule, read: PyNode) => Gate,
  writes: boolean,
): readonly Gate[] {
  // A tensor is not called: what is called by that name is a method of somebody else.
  const read = new RegExp(`\\.\\s*${name}\\b(?!\\s*\\()`);
  const look = { may: (text: string) => read.test(text), byName: true };
  const { uses, unread } = attributeUsesElsewhere(module, classNode, name, look);
  const gates = uses.flatMap(({ module: there, node, isCertain }): Gate[] => {
    if (isCallee(node)) return [];
    if (isTarget(node)) {
      if (!writes) return [];
      const otherwise = ask(
        'written-elsewhere',
      )`Does ${placeOf(there, node)}, which gives \`${shown(node)}\` another value, give it to a buffer as well?`;
      return [{ answer: 'unknown', otherwise }];
    }
    const { answer } = gateFor(there, node);
    if (answer === 'yes') return [];
    const reads = `${placeOf(there, node)} reads \`${shown(node)}\`, which may ${harm}`;
    return [
      {
        answer: isCertain ? answer : 'unknown',
        otherwise: {
          no: reads,
          unknown: ask(
            'read-elsewhere',
          )`Does ${placeOf(there, node)}, which reads \`${shown(node)}\`, ${asked}?`,
        },
      },
    ];
  });
  if (unread === undefined) return gates;
  const otherwise = ask('read-elsewhere')`Do the readers of \`${name}\` in ${unread} ${asked}?`;
  return [...gates, { answer: 'unknown', otherwise }];
}

function follow(module: PyModule, attribute: PyNode): Omit<TensorRead, 'gradOff'> {
  let node = attribute;
  let detached = false;
  const as = (use: TensorRead['use'], logged = false): Omit<TensorRead, 'gradOff'> => ({
    use,
    detached,
    logged,
  });
  for (let parent = node.parent; parent !== undefined; parent = node.parent) {
    switch (parent.type) {
      case 'attribute': {
        const name = parent.attribute?.text ?? '';
        const call = isCallee(parent);
        const known = ofTensor(name);
        if (!call && known?.asksGraph) return as('graph');
        if (!call && !known?.attribute) return as('passed');
        if (isPlain(known)) return as('number');
        if (name === 'zero_' || name === 'fill_') return as('reset');
        if (/[a-z]_$/.test(name)) return as('changed');
        if (name === 'clone') {
          const behind = parent.parent?.parent?.attribute?.text;
          detached ||= behind === 'detach' || behind === 'data';
          return as('copied');
        }
        if (call && !mayShare(known)) return as(endsAsNumber(parent.parent) ? 'number' : 'operand');
        detached ||= name === 'detach' || name === 'data' || name === 'numpy';
        node = call && parent.parent !== undefined ? parent.parent : parent;
        continue;
      }
      case 'subscript':
        if (parent.value !== node) return as('operand');
        if (isTarget(parent, true)) return as('changed');
        break;
      case 'parenthesized_expression':
      case 'expression_list':
      case 'tuple':
      case 'list':
      case 'set':
      case 'dictionary':
      case 'pair':
      case 'conditional_expression':
      case 'boolean_operator':
        break;
      case 'binary_operator':
      case 'unary_operator':
        return as(endsAsNumber(parent) ? 'number' : 'operand');
      case 'augmented_assignment':
        return as('operand');
      case 'comparison_operator':
      case 'not_operator':
      case 'interpolation':
      case 'expression_statement':
      case 'assert_statement':
      case 'if_statement':
      case 'elif_clause':
      case 'while_statement':
        return as('number');
      case 'return_statement':
      case 'yield':
      case 'lambda':
        return as('returned');
      case 'assignment':
      case 'named_expression':
      case 'for_statement':
      case 'for_in_clause':
        return as('kept');
      case 'keyword_argument':
        break;
      case 'argument_list': {
        const callee = parent.parent?.function;
        const path = callee && qualifiedName(module, callee);
        if (path !== undefined && onlyLooks(path)) return as('number');
        if (parent.parent !== undefined && mayWriteInto(parent.parent, path ?? '')) return as('changed');
        if (path?.startsWith(TORCH) && parent.parent !== undefined) {
          if (!mayShare(row(path))) return as(endsAsNumber(parent.parent) ? 'number' : 'operand');
          node = parent.parent;
          continue;
        }
        if (callee?.type === 'identifier' && readsOnly(callee.text)) return as('number');
        if (isKeptBy(callee?.attribute?.text ?? '')) return as('kept');
        return as('passed', LOGGING.test(callee?.text ?? ''));
      }
      default:
        return as('passed');
    }
    node = parent;
  }
  return as('passed');
}

/** `dist.all_reduce(x)`, `torch.relu_(x)`, `F.relu(x, inplace=True)`, `torch.mul(x, 2, out=x)`. */
function mayWriteInto(call: PyNode, path: string): boolean {
  if (!path.startsWith(TORCH)) return false;
  return (
    /^torch\.distributed\.|_$/.test(path) ||
    keywordArgument(call, 'out') !== undefined ||
    keywordArgument(call, 'inplace') !== undefined ||
    (path.startsWith('torch.nn.functional.') && argumentsOf(call).some(({ type }) => type === 'true'))
  );
}

/** `x.mean().item()`, `float(x.mean())`, `(x - y).item()`: of the tensor that was computed only a number is left. */
function endsAsNumber(computed: PyNode | undefined): boolean {
  const holder = computed?.parent;
  if (/^(?:parenthesized_expression|(?:binary|unary)_operator)$/.test(holder?.type ?? ''))
    return endsAsNumber(holder);
  if (holder?.type === 'attribute') {
    const name = holder.attribute?.text ?? '';
    return holder.parent?.type === 'call' && (isPlain(ofTensor(name)) || endsAsNumber(holder.parent));
  }
  if (holder?.type === 'interpolation' || holder?.type === 'comparison_operator') return true;
  const callee = holder?.type === 'argument_list' ? holder.parent?.function : undefined;
  return callee?.type === 'identifier' && readsOnly(callee.text);
}

import { givesModule, ofTensor, row } from '../../library/library.js';
import { attributeValuesInProject } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere } from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { allGiven } from '../../semantic/function-uses.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { partsOfLiteral } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsNamed } from '../../semantic/project-names.js';
import { returnsOf } from '../../semantic/returns.js';
import { methodName, receiverOf, unparenthesized } from '../../semantic/statements.js';
import { isUnbound, waysGiven } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { resultOf } from '../value/plain.js';

/** From one function to the one whose result it hands back, this far. */
const MAX_HOPS = 3;

/** Methods of Python's containers and of tensors that give what somebody holds already, or a view of it. */
const GIVES_HELD =
  /^(?:get|setdefault|pop|popitem|popleft|values|items|to|cuda|cpu|float|double|half|type|view|reshape|squeeze|unsqueeze|expand|narrow|permute|transpose|t|contiguous|detach|data_ptr|__getitem__|__enter__)(?:$|_)/;

/** Whether evaluating an expression makes a new object, unlike `self.bank`, `bank or []`, `registry.get("bank")`, `current()`. */
export function isMadeBy(module: PyModule, expression: PyNode, hops = 0): boolean {
  const value = unparenthesized(expression);
  if (value.type === 'conditional_expression')
    return [value.named[0], value.named[2]].every(
      (each) => each !== undefined && isMadeBy(module, each, hops),
    );
  if (/^(?:identifier|attribute|subscript|boolean_operator|await|named_expression)$/.test(value.type))
    return false;
  const callee = value.type === 'call' ? value.function : undefined;
  if (callee === undefined) return true;
  const own = calledDefinition(module, value);
  if (own !== undefined) return isMaker({ module, node: own }, hops);
  const path = qualifiedName(module, callee);
  if (path !== undefined) {
    const found = definedElsewhere(module, path);
    if (found !== undefined) return isMaker(found, hops);
    return (
      resultOf(path) !== 'passed' || /\.(?:deepcopy|copy|deque|defaultdict|OrderedDict|Counter)$/.test(path)
    );
  }
  // What one of Python's own types is called with is new; `getattr` and `next` find something.
  if (callee.type === 'identifier' && isUnbound(module, callee))
    return !/^(?:getattr|next|max|min|vars|globals|locals)$/.test(callee.text);
  if (callee.type === 'identifier') return isLoss({ module, node: callee }, hops);
  const { object, attribute } = callee;
  if (attribute === undefined || functionsNamed(module, attribute.text)?.length !== 0) return false;
  if (!GIVES_HELD.test(attribute.text)) return true;
  // `torch.zeros(n).cuda()` is what was made there, or a copy of it.
  if (ofTensor(attribute.text)?.gives !== 'tensor' || object?.type !== 'call') return false;
  return isMadeBy(module, object, hops);
}

/** One of torch's own losses, by all that makes it here or gives it to a parameter: `nn.MSELoss().to(device)`. */
export function isLoss({ module, node }: Elsewhere, hops = 0): boolean {
  if (hops > MAX_HOPS) return false;
  const value = unparenthesized(node);
  if (value.type === 'call') {
    const receiver = givesModule(methodName(value) ?? '') ? receiverOf(value) : undefined;
    if (receiver !== undefined) return isLoss({ module, node: receiver }, hops + 1);
    return row(calledPath(module, value) ?? '')?.is === 'loss';
  }
  const isMade = (node: PyNode): boolean => isLoss({ module, node }, hops + 1);
  const held = value.type === 'attribute' ? attributeValuesInProject(module, value) : [];
  if (held === undefined || held.length > 0) return held?.every(isMade) ?? false;
  const ways = value.type === 'identifier' ? waysGiven(module, value) : [];
  const isOne = (way: Definition): boolean => {
    if (way.kind === 'value') return isMade(way.value);
    const given = way.kind === 'parameter' ? allGiven(module, way.node) : undefined;
    return given?.every((each) => isLoss(each, hops + 1)) ?? false;
  };
  return ways.length > 0 && ways.every(isOne);
}

/** A class makes one; a function where all that it returns is made there. */
function isMaker({ module, node }: Elsewhere, hops: number): boolean {
  if (node.type === 'class_definition' || hops >= MAX_HOPS) return node.type === 'class_definition';
  const returned = returnsOf(node).flatMap((each) => (each ? partsOfLiteral(each) : []));
  return returned.every((each) => isMadeIn(module, node, each, hops + 1));
}

/** The same of a variable of the function, by all that it is given there. */
export function isMadeIn(module: PyModule, functionNode: PyNode, expression: PyNode, hops: number): boolean {
  const value = unparenthesized(expression);
  if (value.type !== 'identifier') return isMadeBy(module, value, hops);
  if (module.resolve(value)?.node !== functionNode) return false;
  return waysGiven(module, value).every(
    (way) => way.kind === 'update' || (way.kind === 'value' && isMadeBy(module, way.value, hops)),
  );
}

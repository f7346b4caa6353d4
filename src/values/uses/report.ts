import { packageOf, readsOnly } from '../../library/library.js';
import { PASSING } from '../../semantic/holders.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { functionsNamed } from '../../semantic/project-names.js';
import { enclosingFunction, methodName, receiverOf } from '../../semantic/statements.js';
import { isUnbound } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { isGradOff } from '../effects/mode.js';
import { endsGraph } from '../value/ends-graph.js';

/** Methods of loggers and progress bars of libraries: they give a text, a number or a line in a log. */
export const REPORTING =
  /^(?:pprint|echo|log|info|debug|warning|warn|error|critical|exception|print|write|log_(?:metrics?|scalars?|dict|values?|stats|history|step|epoch|message|line|row)|add_scalars?|add_histogram|set_postfix|set_postfix_str|set_description|set_description_str)$/;
export const SCHEDULE = /sched|plateau/i;
export const DIFFERENTIATES = /backward|gradient|closure|(?:^|_)(?:step|optimi[sz]e|minimi[sz]e|adapt)$/;

/** The code around a node evaluates: grad mode is off there, or its function puts a model into eval mode. */
export function isEvaluation(module: PyModule, node: PyNode): boolean {
  const functionNode = enclosingFunction(node);
  if (functionNode === undefined) return false;
  return isGradOff(module, node) || module.atWithin('.eval(', functionNode).length > 0;
}

/** Whether this use of a value turns it into a number, a text or a log entry. */
export function isReport(module: PyModule, use: PyNode): boolean {
  let child = use;
  for (const holder of use.ancestors()) {
    if (holder.type === 'interpolation') return true;
    if (holder.type === 'attribute' && endsGraph(module, holder.attribute?.text ?? '')) return true;
    if (holder.type === 'call') return holder.function !== child && reports(module, holder);
    if (!PASSING.has(holder.type)) return false;
    child = holder;
  }
  return false;
}

/** `print(x)`, `float(x)`, `"…".format(x)`, `logger.info(x)`; not `torch.log(x)`, nor a method that the project has itself. */
function reports(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee !== undefined && isUnbound(module, callee)) return readsOnly(callee.text);
  const name = methodName(call) ?? '';
  const path = callee && qualifiedName(module, callee);
  if (name === 'format') return /string$/.test(receiverOf(call)?.type ?? '');
  if (path !== undefined) return packageOf(path)?.reports === true || path.startsWith('logging.');
  return REPORTING.test(name) && functionsNamed(module, name)?.length === 0;
}

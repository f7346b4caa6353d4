import { givesModule } from '../../library/library.js';
import type { Answer } from '../../semantic/answer.js';
import { callOfMethod } from '../../semantic/called-name.js';
import type { PyModule } from '../../semantic/module.js';
import { roleOf } from '../../semantic/names.js';
import { excludeOneAnother, lastOf } from '../../semantic/paths.js';
import { remembered } from '../../semantic/remembered.js';
import {
  argumentsOf,
  argumentValue,
  enclosingFunction,
  enclosingLoops,
  isPlainPath,
  methodName,
  ownNodes,
  receiverOf,
  statementOf,
} from '../../semantic/statements.js';
import { type CodeLine, isWithin, linesOf } from '../../syntax/code-text.js';
import type { PyNode } from '../../syntax/node.js';
import { reachesGradUse } from '../../values/effects/grad.js';
import { isGradOff } from '../../values/effects/mode.js';
import { IN_FILE, IN_PROJECT, isForward, isPartInFile, runsNetwork } from './runs.js';

/** A network that a function puts into evaluation mode and runs with gradients on. */
export interface Evaluation {
  readonly functionNode: PyNode;
  /** The network as written: `model`, `self.net`, `args.model`. */
  readonly model: PyNode;
  readonly evals: readonly PyNode[];
  /** Its switches to training mode, or to a mode that is not known. */
  readonly trains: readonly PyNode[];
  /** Its calls that record a graph. */
  readonly forwards: readonly PyNode[];
  /** Its calls that run under no-grad already. */
  readonly gradless: readonly PyNode[];
}

/** The evaluations of a file, one per function and network. */
export const evaluations = remembered((module: PyModule): readonly Evaluation[] => {
  const found = new Map<PyNode, Map<string, { model: PyNode; evals: PyNode[] }>>();
  for (const node of SWITCHES.flatMap((literal) => module.atWhere(literal, mayEvaluate))) {
    const call = callOfMethod(node);
    if (call === undefined || !switchesToEvaluation(call)) continue;
    const model = networkOf(call);
    const functionNode = enclosingFunction(call);
    const owner = call.closest('lambda', 'class_definition', 'function_definition');
    if (model === undefined || functionNode === undefined || owner !== functionNode) continue;
    const models = found.get(functionNode) ?? new Map<string, { model: PyNode; evals: PyNode[] }>();
    const known = models.get(model.text) ?? { model, evals: [] };
    known.evals.push(call);
    found.set(functionNode, models.set(model.text, known));
  }
  return [...found].flatMap(([functionNode, models]) => {
    const calls = ownNodes(functionNode).filter(({ type }) => type === 'call');
    return [...models.values()].flatMap(({ model, evals }) => {
      const runs = runsOf(module, functionNode, calls, model.text);
      const gradless = runs.filter((call) => isGradOff(module, call));
      // Whoever runs the network without gradients has seen to it; what is left around that is no forward.
      const isSeenTo = gradless.some((call) => isForward(call, model.text));
      const forwards = runs.filter(
        (call) => !gradless.includes(call) && (!isSeenTo || isForward(call, model.text)),
      );
      const trains = calls.filter((call) => switchesToTraining(call, model.text));
      const switched = lastOf(module, [...evals, ...trains]);
      // Where all that records a graph is the training part, there is nothing to say.
      if (!forwards.some((forward) => evals.some((call) => switched(forward).events.has(call)))) return [];
      return [{ functionNode, model, evals, trains, forwards, gradless }];
    });
  });
});

/** A function with such a decorator runs without gradients; on an asynchronous one it has no effect. */
const DECORATED_OFF = /^(?:@.*\s*)*@(?:[\w.]+\.)?(?:no_grad|inference_mode)\([\s\S]*?(?<!async[ \t]+)\bdef\b/;

const GRAD_OFF =
  /^(?:async[ \t]+)?with\b[\s\S]*(?:no_?grad|inference_?mode|disable_?grad|without_?grad)(?![^,()]*\bas\b)/i;
const FUNCTION = /^(?:async[ \t]+)?def\b/;
/** Where a network may be put into evaluation mode: `.eval()`, `.train(False)`. */
export const SWITCHES: readonly string[] = ['.eval()', '.train('];
const SWITCH = /\.eval\(\)|\.train\((?:mode=)?False\)/;
const PATH = String.raw`(?<![\w\u0080-\uffff.])[\w\u0080-\uffff.]+?`;
const CALLED = new RegExp(String.raw`(${PATH})(?:\[[^\][\n]*\])*[\s\\]*\(`, 'g');
/** `model =`, and `model` of `model.to(device).eval()`. */
const OBJECT = new RegExp(String.raw`(${PATH})(?:\.\w+[\s\\]*\(|(?![\w\u0080-\uffff.]|[\s\\]*\())`, 'g');

/** Whether a function could put a network into evaluation mode and run it with gradients on, going by the code alone. */
export function mayEvaluate(code: string): boolean {
  return linesBeforeForward(code).some((line) => isWithin(line, FUNCTION));
}

/** The lines with an `eval()` after which the network may run with gradients on. */
export function linesBeforeForward(code: string): readonly CodeLine[] {
  if (!SWITCH.test(code) || (code.startsWith('@') && DECORATED_OFF.test(code))) return [];
  const later = new LaterCalls();
  return linesOf(code)
    .toReversed()
    .filter((line) => {
      const { text } = line;
      if (!isWithin(line, GRAD_OFF)) later.add(text);
      // An item is not told from others by the code alone.
      return (
        SWITCH.test(text) &&
        (text.includes('[') || [...text.matchAll(OBJECT)].some(([, object = '']) => later.mayRun(object)))
      );
    });
}

/** The calls of some lines: a network may run by its own name, by that of a part, or in a function that gets it. */
class LaterCalls {
  readonly #names = new Set<string>();
  #ownMethod = false;

  add(text: string): void {
    for (const [, name = ''] of text.matchAll(CALLED)) {
      this.#names.add(name);
      this.#ownMethod ||= /^self\.\w+$/.test(name);
      if (MODE.test(name)) continue;
      for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1))
        this.#names.add(name.slice(0, dot));
    }
    for (const [, name = ''] of text.matchAll(GIVEN)) this.#names.add(name);
  }

  mayRun(object: string): boolean {
    return this.#names.has(object) || (this.#ownMethod && object.startsWith('self.'));
  }
}

const GIVEN = /[(,=][\s\\]*([\w\u0080-\uffff.]+)(?=[\s\\]*[,)])/g;
const MODE = /\.(?:eval|train|to|cuda|cpu|parameters|state_dict|load_state_dict)$/;

/** The project is asked only where the file shows no forward, and the function could do without gradients. */
function runsOf(
  module: PyModule,
  functionNode: PyNode,
  calls: readonly PyNode[],
  model: string,
): readonly PyNode[] {
  let isOpen = false;
  const near = calls.filter((call) =>
    runsNetwork(module, call, model, {
      isPart: (inside, name) => {
        const isHere = isPartInFile(inside, name);
        isOpen ||= !isHere;
        return isHere;
      },
      called: (inside, each) => {
        const found = IN_FILE.called(inside, each);
        isOpen ||= found === undefined;
        return found;
      },
    }),
  );
  if (near.length > 0 || !isOpen || reachesGradUse(module, functionNode)) return near;
  return calls.filter((call) => runsNetwork(module, call, model, IN_PROJECT));
}

/** `model.eval()` and `model.train(False)`. */
export function switchesToEvaluation(call: PyNode): boolean {
  const given = argumentsOf(call);
  if (methodName(call) === 'eval') return given.length === 0;
  const [mode, ...others] = given.map(argumentValue);
  return methodName(call) === 'train' && others.length === 0 && mode?.type === 'false';
}

/** `model` of `model.eval()`, `model.to(device).eval()` and `model = build().eval()`. */
export function networkOf(evalCall: PyNode): PyNode | undefined {
  let outer = evalCall;
  while (
    outer.parent?.type === 'attribute' &&
    outer.parent.parent?.type === 'call' &&
    givesModule(outer.parent.attribute?.text ?? '')
  )
    outer = outer.parent.parent;
  const { parent } = outer;
  if (parent?.type === 'assignment' && parent.right === outer)
    return parent.left !== undefined && isPlainPath(parent.left) ? parent.left : undefined;
  let inner = receiverOf(evalCall);
  while (inner?.type === 'call' && givesModule(methodName(inner) ?? '')) inner = receiverOf(inner);
  return inner !== undefined && isPlainPath(inner) ? inner : undefined;
}

/** `model.train()`, or a switch to a mode that is not known. */
export function switchesToTraining(call: PyNode, model: string): boolean {
  return methodName(call) === 'train' && receiverOf(call)?.text === model && !switchesToEvaluation(call);
}

/**
 * Whether every forward runs in evaluation mode: an `eval()` before it that nothing can skip, and no `train()` of the same
 * network between the two.
 */
export function runsInEvalMode(module: PyModule, { evals, trains, forwards }: Evaluation): Answer {
  const switched = lastOf(module, [...evals, ...trains]);
  let answer: Answer = 'yes';
  for (const forward of forwards) {
    const { events, fromEntry } = switched(forward);
    const training = trains.filter((train) => events.has(train));
    // One of an earlier round of a loop is no proof that this one trains.
    if (training.some((train) => train.start < forward.start)) return 'no';
    if (fromEntry && evals.some(dependsOnTraining)) return 'no';
    if (fromEntry || training.length > 0) answer = 'unknown';
  }
  return answer;
}

/** `if not training: model.eval()`, `else: model.eval()` of such a test. */
function dependsOnTraining(call: PyNode): boolean {
  for (const at of call.ancestors()) {
    if (at.type === 'function_definition') return false;
    if (
      /^(?:if_statement|elif_clause)$/.test(at.type) &&
      /\btrain|phase|\bmode\b/.test(at.condition?.text ?? '')
    )
      return true;
  }
  return false;
}

/** `if frozen:` runs under no-grad what runs with gradients otherwise. */
export function choosesGradMode(module: PyModule, { forwards, gradless }: Evaluation): boolean {
  return forwards.some((forward) =>
    gradless.some(
      (other) =>
        other.text === forward.text && excludeOneAnother(module, forward, other, enclosingLoops(forward)[0]),
    ),
  );
}

/** The function, or the class for `self.net`, switches the network's gradients off for good: it records nothing anyway. */
export function isFrozen(module: PyModule, { functionNode, model }: Evaluation): boolean {
  const around = model.text.includes('.')
    ? (functionNode.closest('class_definition') ?? functionNode)
    : functionNode;
  if (module.atWithin('freeze', around).some((node) => freezes(module, node, model))) return true;
  return ['requires_grad', 'detach_'].some((word) =>
    module.atWithin(word, around).some((node) => {
      const statement = statementOf(node);
      if (!FREEZES.test(statement.text)) return false;
      const loop = statement.parent?.parent;
      const walked = loop?.type === 'for_statement' ? (loop.right?.text ?? '') : statement.text;
      return walked.startsWith(`${model.text}.`);
    }),
  );
}

/** `p.requires_grad = False`, `net.requires_grad_(False)`, `p.detach_()` of a parameter. */
const FREEZES =
  /requires_grad\s*=\s*False|requires_grad_\(\s*(?:requires_grad\s*=\s*)?False\s*\)|^\w+\.detach_\(\)$/;

/** `model.freeze()` of Lightning. */
function freezes(module: PyModule, node: PyNode, model: PyNode): boolean {
  const call = node.closest('call');
  return call?.text === `${model.text}.freeze()` && module.mentions(/\blightning\b|pytorch_lightning\b/);
}

/** The function makes the network itself and hands it back, so that all of its making would run without gradients. */
export function returnsOwnModel(module: PyModule, { functionNode, model }: Evaluation): boolean {
  const scope = model.type === 'identifier' ? module.resolve(model) : undefined;
  if (
    scope?.node !== functionNode ||
    module.writes(scope, model.text).every((write) => roleOf(write) === 'parameter')
  )
    return false;
  return ownNodes(functionNode).some(
    (node) =>
      node.type === 'return_statement' &&
      [...node.walk()].some(
        (inner) => inner.type === 'identifier' && inner.text === model.text && inner.parent?.type !== 'call',
      ),
  );
}

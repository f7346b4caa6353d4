/*
 * best = copy.deepcopy(model.state_dict())
 *
 * best = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
 *
 * The receiver must be used as a module: the state of an optimizer is nested, and `.detach()` on it would raise. A state
 * dict that is kept without a copy, `best = model.state_dict()`, holds the live weights: that is no best state at all, and
 * is pointed out with the same rewrite.
 */
import type { Answer, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  all,
  argumentsOf,
  ask,
  DEEPCOPY,
  enclosingFunction,
  enclosingLoops,
  isCallee,
  isTestCode,
  keywordArgument,
  methodName,
  nameSaysModel,
  Proof,
  qualifiedName,
  receiverOf,
  shown,
} from '../src/toolkit/index.js';

interface StateSite extends Site {
  /** What gives way: the copy, or the state dict itself. */
  readonly value: PyNode;
  readonly model: PyNode;
  /** `best`, or `self.best_state` */
  readonly target: PyNode;
  readonly isCopy: boolean;
}

export const bestStateCpu: Transform<StateSite> = {
  meta: {
    id: 'best-state-cpu',
    summary: 'Keep the copy of the best weights in host memory instead of on the GPU',
    symptom: 'peak',
    movesTo: 'host',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: '`copy.deepcopy(model.state_dict())` keeps a second set of all weights on the GPU until the end of training, and a third one while the next copy is made.',
      does: 'Copies the weights to host memory, tensor by tensor. `load_state_dict` copies them back to wherever the model is. A state dict that is kept without a copy, `best = model.state_dict()`, holds the live weights, which training goes on changing; the same rewrite is offered there as advice, because it changes what is loaded in the end.',
      refuses: [
        'the state is loaded with `assign=True`, which would leave the model on the CPU',
        'the state dict is asked for with arguments, or is that of an optimizer, a scheduler or a scaler',
      ],
      limits: [
        'The copy waits for the GPU; it takes a moment per improvement.',
        'The versions that modules note in their state dict (`_metadata`) are lost; modules that read them take the state for an old one.',
        'Modules with extra state that is no tensor (`get_extra_state`) raise.',
        'Where the state is saved with `torch.save`, the file then holds CPU tensors.',
      ],
    },
    evidence: {
      verdict:
        'Real: one set of weights less on the GPU for as long as the best state is kept, 5 % of the peak in a small GPT. Taking the copy takes 338 ms instead of 5 ms, and waits for the GPU',
      measurements: [],
    },
    origin: [],
    example: 'fix-best-weights',
  },

  skipsTests: true,
  prefilter: ['state_dict()', ['best', 'deepcopy']],
  cue: (text) => /=\s*(?:[\w.]*deepcopy\(\s*)?[\w.]+\.state_dict\(\)/.test(text),

  *detect(module) {
    for (const hit of module.at('state_dict()')) {
      const call = hit.parent?.parent;
      const model = call?.type === 'call' ? receiverOf(call) : undefined;
      if (call === undefined || model === undefined || methodName(call) !== 'state_dict') continue;
      if (argumentsOf(call).length > 0 || isTestCode(module, call) || isOther(model)) continue;
      if (isConstructor(call)) continue;
      const copy = deepcopyAround(module, call);
      const value = copy ?? call;
      const assignment = value.parent;
      const target = assignment?.type === 'assignment' ? assignment.left : undefined;
      if (target === undefined || assignment?.right !== value) continue;
      if (target.type !== 'identifier' && target.type !== 'attribute') continue;
      if (copy === undefined && !isAliasedBest(module, model, target)) continue;
      yield {
        node: hit,
        value,
        model,
        target,
        isCopy: copy !== undefined,
        message:
          copy === undefined
            ? `\`${target.text}\` holds the live weights of \`${shown(model)}\`, which training goes on changing: what is loaded in the end are the last weights, not the best`
            : `\`${target.text}\` keeps a second set of the weights of \`${shown(model)}\` on the GPU`,
      };
    }
  },

  fix({ value, model, target, isCopy }, edit, module) {
    const loads = loadsOf(module, target);
    const proof = new Proof()
      .forbid(
        [...value.walk()].some(({ type }) => type === 'comment'),
        'a comment stands in the way',
      )
      .forbid(
        [...model.walk()].some(({ type }) => type === 'named_expression'),
        'its model is assigned in the same expression',
      )
      .forbid(
        loads.some((load) => keywordArgument(load, 'assign') !== undefined),
        'it is loaded with `assign=`, which would leave the model on the CPU',
      )
      .require(isUsedAsModule(module, model), {
        no: `\`${shown(model)}\` is no module`,
        unknown: ask('is-module')`Is \`${shown(model)}\` a module, whose state holds only tensors?`,
      })
      .require(
        loads.length > 0 ? 'yes' : 'unknown',
        ask('only-loaded')`Is \`${target.text}\` only loaded or saved?`,
      );
    proof.require(
      'unknown',
      ask('host-room')`Does the host have room for the weights of \`${shown(model)}\`?`,
    );
    edit.replace(value, `{k: v.detach().cpu().clone() for k, v in ${model.text}.state_dict().items()}`);
    return edit.done(
      'Keep the best weights in host memory',
      proof,
      isCopy ? {} : { safety: 'advice', numerics: 'changes-training' },
    );
  },
};

/** What a constructor copies is still on the CPU, and stays there: only modules move with their owner. */
function isConstructor(node: PyNode): boolean {
  return enclosingFunction(node)?.name?.text === '__init__';
}

/** Optimizers, schedulers and the like have state dicts of another shape. */
function isOther(model: PyNode): boolean {
  const name = (model.type === 'attribute' ? model.attribute : model)?.text ?? '';
  return /optim|sched|scaler|^opt|ema|loader|sampler/i.test(name) || nameSaysModel(name) === 'no';
}

function deepcopyAround(module: PyModule, call: PyNode): PyNode | undefined {
  const copy = call.parent?.type === 'argument_list' ? call.parent.parent : undefined;
  const callee = copy?.function;
  if (copy === undefined || callee === undefined || argumentsOf(copy).length !== 1) return undefined;
  return qualifiedName(module, callee) === DEEPCOPY ? copy : undefined;
}

/** Kept in a loop under a name that says so, and loaded into the same model later. */
function isAliasedBest(module: PyModule, model: PyNode, target: PyNode): boolean {
  if (!/best/i.test(target.text) || enclosingLoops(target).length === 0) return false;
  return loadsOf(module, target).some((load) => receiverOf(load)?.text === model.text);
}

/** `….load_state_dict(target)` in the file. */
function loadsOf(module: PyModule, target: PyNode): readonly PyNode[] {
  return module.at('load_state_dict(').flatMap((hit) => {
    const call = hit.parent?.parent;
    return call?.type === 'call' && argumentsOf(call)[0]?.text === target.text ? [call] : [];
  });
}

/** Called, or asked for its parameters: what an optimizer or a scheduler is not. */
function isUsedAsModule(module: PyModule, model: PyNode): Answer {
  const name = (model.type === 'attribute' ? model.attribute : model)?.text ?? '';
  const asked = module.at('parameters()').some((hit) => hit.parent?.object?.text === model.text);
  const called = module.at(`${name}(`).some((hit) => {
    const callee = hit.parent?.type === 'attribute' ? hit.parent : hit;
    return callee.text === model.text && isCallee(callee);
  });
  return asked || called ? 'yes' : all(['unknown', nameSaysModel(name)]);
}

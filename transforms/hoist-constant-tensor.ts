/*
 * for batch in loader:                                  identity = torch.tensor([0.0, 1.0])
 *     weight = torch.tensor([0.2, 0.8]).to(device)      for layer in layers:
 *     …                                                     target = identity.to(layer.weight.device)
 *
 * weight = torch.tensor([0.2, 0.8]).to(device)          identity = torch.tensor([0.0, 1.0])
 * for batch in loader:                                  for layer in layers:
 *     …                                                     identity = identity.to(layer.weight.device)
 *                                                           target = identity
 *
 * The contents must be literals, the variable have this one value, and nobody change the tensor in place, keep it or hand it
 * out: then one tensor can serve all iterations. A device that the loop may change stays in the loop, as a move that does
 * nothing when the tensor is there already. Random makers and tensors that require grad are no constants.
 */
import type {
  Constant,
  ConstantUse,
  PyModule,
  PyNode,
  Scope,
  Site,
  Transform,
} from '../src/toolkit/index.js';
import {
  argumentsOf,
  CONSTANT_MAKERS,
  changesModes,
  constantAt,
  enclosingLoops,
  isDevice,
  isInvariant,
  isTestCode,
  keywordValue,
  loopToLeave,
  methodName,
  Proof,
  roleOf,
  runsFirst,
  shown,
  statementOf,
  usesOfName,
} from '../src/toolkit/index.js';

interface HoistSite extends Site {
  readonly constant: Constant;
  /** What becomes of it, wherever it is read. */
  readonly use: ConstantUse;
  /** The loop to stand before; undefined where the constant stands outside already, and is moved inside. */
  readonly loop: PyNode | undefined;
  /** `identity.to(device)` in loops. */
  readonly moves: readonly PyNode[];
}

const MAKERS: readonly string[] = [...CONSTANT_MAKERS].map((path) => `${path.slice(path.indexOf('.') + 1)}(`);

export const hoistConstantTensor: Transform<HoistSite> = {
  meta: {
    id: 'hoist-constant-tensor',
    summary:
      'Build a constant tensor once instead of in every iteration, and move it at most once per device',
    symptom: 'sync',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A constant that is built on the host and moved to the GPU inside a loop costs one copy per iteration, and the host waits for each. This, and not adding up losses, is what synchronises in such loops.',
      does: 'Moves the assignment above the loop when its device is the same for all iterations. Otherwise the tensor is built above the loop and rebound inside, `c = c.to(device)`, which does nothing once it is there. A constant that already stands above the loop and is moved inside is rebound in the same way.',
      refuses: [
        'the loop switches the default dtype or device, or looks at its variables through `locals()`',
        'its statement shares its line with other code, or is all that the loop does',
      ],
      limits: [
        'A tensor that is changed in place, stored, returned, yielded, captured by a function or deleted is a start value, not a constant, and is passed over.',
        'Only contents that are written as numbers count as constant, and only variables that get no other value.',
        'The constant exists even where the loop runs zero times.',
        'Where it is handed to code that this file does not show, the fix is unsafe: that code could change or keep it.',
        'Constants built in `forward` outside a loop are not edited: they belong in a buffer.',
      ],
    },
    evidence: {
      verdict:
        'The real cure for the synchronisations of such a loop: one per loop instead of one per iteration',
      measurements: [
        {
          what: '128 scalar losses against a CPU constant moved in the loop, forward and backward: synchronisations',
          before: '128',
          after: '1',
          setup: 'NVIDIA H200, torch 2.11, constant created once on the device',
        },
        {
          what: 'the same: time',
          before: '16.7 ms',
          after: '14.5 ms',
          setup: 'NVIDIA H200, torch 2.11, constant created once on the device',
        },
      ],
    },
    origin: [
      {
        document: 'GPU memory audit report (Fourier LS-LoRA)',
        section: '3. CPU tensor recreation in regularization',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  prefilter: [
    ['for ', 'while '],
    ['tensor(', 'zeros(', 'ones(', 'full(', 'eye(', 'arange(', 'linspace('],
  ],
  cue: (_text, _path, { stretches }) => stretches.some(mayRepeatConstant),

  *detect(module) {
    for (const hit of MAKERS.flatMap((literal) => module.atWhere(literal, mayRepeatConstant))) {
      const constant = constantAt(module, hit);
      if (constant === undefined || isTestCode(module, constant.statement)) continue;
      const scope = module.scopeAt(constant.statement);
      if (scope.kind === 'class' || module.resolve(constant.name) !== scope) continue;
      if (module.writes(scope, constant.name.text).length !== 1) continue;
      const loop = loopToLeave(constant.statement, (each) => canLeave(module, constant, each));
      const moves = loop === undefined ? movesInLoops(module, constant, scope) : [];
      const [first] = moves;
      if (loop === undefined && first === undefined) continue;
      // What is changed or given away is no constant, but a start value.
      const use = usesOfName(module, scope, constant.name.text);
      if (use.kind === 'changed' || use.kind === 'kept') continue;
      yield { node: first ?? constant.name, constant, use, loop, moves, message: message(constant, loop) };
    }
  },

  fix({ constant, use, loop, moves }, edit, module) {
    const { statement, device } = constant;
    const name = constant.name.text;
    const proof = new Proof();
    if (use.kind === 'passed')
      proof.require('unknown', `that \`${shown(use.by)}\` neither changes nor keeps \`${name}\``);
    proof.forbid(
      changesModes(loop ?? statement),
      'the function switches what tensors are made of, or looks at its variables by other ways than their names',
    );
    if (loop === undefined) {
      for (const move of moves) {
        edit.insertStatementBefore(statementOf(move), [`${name} = ${move.text}`]);
        edit.replace(move, name);
      }
      return edit.done(`Keep \`${name}\` on the device that it was moved to`, proof);
    }
    if (device === undefined || isInvariant(module, device, loop)) edit.moveStatement(statement, loop);
    else {
      edit.insertStatementBefore(loop, [`${name} = ${withoutDevice(constant)}`]);
      edit.replaceStatement(statement, [`${name} = ${name}.to(${device.text})`]);
    }
    return edit.done(`Build \`${name}\` once, before the loop`, proof);
  },
};

const CONSTANT =
  /\b\w+\s*=\s*\\?\s*(?:\w+\.)?(?:as_tensor|tensor|zeros|ones|full|eye|arange|linspace)\([-+[(\s]*(?:[\d.]|True|False|math|\w+\s*=)/;

/** Whether a name is given a constant tensor where there is a loop, going by the code alone. */
function mayRepeatConstant(code: string): boolean {
  return /\b(?:for|while)\b/.test(code) && CONSTANT.test(code);
}

function message({ name, copied }: Constant, loop: PyNode | undefined): string {
  if (loop === undefined)
    return `\`${name.text}\` lies on the host and is copied to the device in every iteration, and the host waits for each copy`;
  return !copied
    ? `\`${name.text}\` is built anew in every iteration`
    : `\`${name.text}\` is built on the host and copied to the device in every iteration, and the host waits for each copy`;
}

/** Above this loop the assignment means the same, and no other use of the name comes before it. */
function canLeave(
  module: PyModule,
  { name, statement, maker, value, made, device, copied }: Constant,
  loop: PyNode,
): boolean {
  const scope = module.scopeAt(statement);
  const dtype = keywordValue(maker, 'dtype');
  if (dtype !== undefined && !isInvariant(module, dtype, loop)) return false;
  if (module.occurrences(scope, name.text).some((place) => place !== name && !loop.contains(place)))
    return false;
  if (module.occurrences(scope, name.text)[0] !== name) return false;
  if (device === undefined || isInvariant(module, device, loop)) return true;
  // It is moved last, or made there by a call whose other arguments can be written anew.
  return copied && !value.text.includes('\n') && (made !== value || value === maker);
}

function withoutDevice({ made, value, maker }: Constant): string {
  if (made !== value) return made.text;
  const kept = argumentsOf(maker).filter((argument) => argument.field('name')?.text !== 'device');
  return `${maker.field('function')?.text}(${kept.map(({ text }) => text).join(', ')})`;
}

/**
 * `name.to(device)` in loops that the constant stands above, when all uses of it are moves; none where one of them could
 * not be preceded by a statement, or where a function, a condition or a comprehension may skip it.
 */
function movesInLoops(
  module: PyModule,
  { name, statement, device, copied }: Constant,
  scope: Scope,
): readonly PyNode[] {
  if (device !== undefined || copied || scope.kind !== 'function') return [];
  const moves: PyNode[] = [];
  for (const place of module.occurrences(scope, name.text)) {
    if (place === name) continue;
    const call = place.parent?.parent;
    if (roleOf(place) !== 'read' || call?.type !== 'call' || methodName(call) !== 'to') return [];
    const [only, ...others] = argumentsOf(call);
    if (only === undefined || others.length > 0 || isDevice(module, only) !== 'yes') return [];
    const inLoop = enclosingLoops(call).some((loop) => !loop.contains(statement));
    if (module.scopeAt(place) !== scope) return [];
    if (!inLoop) continue;
    if (!runsFirst(call, only)) return [];
    if (moves.some((other) => statementOf(other) === statementOf(call))) return [];
    moves.push(call);
  }
  return moves;
}

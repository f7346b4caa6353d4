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
import type { PyModule, PyNode, Scope, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  freeName,
  isCertainDevice,
  isTestCode,
  Proof,
  qualifiedName,
  requireOriginal,
  shown,
  standalone,
  statementOf,
  wrappingGates,
} from '../src/toolkit/index.js';
import {
  mayBuildInForward,
  mayMakeConstant,
  mayRepeatConstant,
} from './hoist-constant-tensor/constant-cue.js';
import type { BufferPlace } from './hoist-constant-tensor/constant-place.js';
import {
  bufferPlace,
  canLeave,
  mayBeMissing,
  withoutDevice,
} from './hoist-constant-tensor/constant-place.js';
import type { ConstantUse } from './hoist-constant-tensor/constant-use.js';
import { constantUse, usesOfName } from './hoist-constant-tensor/constant-use.js';
import type { Constant } from './hoist-constant-tensor/loop-constant.js';
import {
  alwaysRuns,
  changesModes,
  constantAt,
  isInvariant,
  isLarge,
  keywordValue,
  loopToLeave,
  movesInLoops,
  switchingFunction,
} from './hoist-constant-tensor/loop-constant.js';

interface HoistSite extends Site {
  readonly constant: Constant;
  /** The variable that holds it, or will. */
  readonly name: string;
  /** What becomes of it, wherever it is read. */
  readonly use: ConstantUse;
  /** The loop to stand before; undefined where the constant stands outside already, and is moved inside. */
  readonly loop: PyNode | undefined;
  /** `identity.to(device)` in loops. */
  readonly moves: readonly PyNode[];
  /** Where `forward` builds it at every call, outside loops. */
  readonly buffer: BufferPlace | undefined;
}

/** Devices without memory, and those who put parameters there. */
const LEAVES_NOTHING = /["']meta["']|init_empty_weights|(?:cpu|disk)_offload|offload_folder/;

const MAKERS: readonly string[] = [
  'arange(',
  'as_tensor(',
  'eye(',
  'full(',
  'linspace(',
  'ones(',
  'tensor(',
  'zeros(',
];

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
      does: 'Moves the assignment above the loop when its device is the same for all iterations. Otherwise the tensor is built above the loop and rebound inside, `c = c.to(device)`, which does nothing once it is there. A constant that already stands above the loop and is moved inside is rebound in the same way. One inside an expression gets a name.',
      refuses: [
        'the loop switches the default dtype or device, or looks at its variables through `locals()`',
        'its statement shares its line with other code, or is all that the loop does',
        'the round may be left before a GPU is asked for, the loop goes over GPUs, or a large constant was freed with its statement: unsafe',
        'a device that changes in the loop may be `None`, going by what the code shows: unsafe',
      ],
      limits: [
        'A tensor that is changed in place, stored, returned, yielded, captured by a function or deleted is a start value, not a constant, and is passed over.',
        'Only contents that are written as numbers count as constant, and only variables that get no other value.',
        'The constant exists even where the loop runs zero times.',
        'Where it is handed to code that this file does not show, the fix is unsafe: that code could change or keep it.',
        'What `forward` builds outside a loop and copies goes into a buffer that is not saved: unsafe, since buffers are cast with their module, and lost with one that is built on `meta`. `__init__` must be in the class, and call that of its base.',
      ],
    },
    evidence: {
      verdict:
        'The real cure for the synchronisations of such a loop: one per loop instead of one per iteration. Time falls as far as the constant is the work: 18.6 ms to 2.47 ms for 100 rounds with a list of 1000 weights, within the noise for 4 numbers',
      measurements: [],
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

  skipsTests: true,
  prefilter: [
    ['for ', 'while ', 'def forward'],
    ['tensor(', 'zeros(', 'ones(', 'full(', 'eye(', 'arange(', 'linspace('],
  ],
  cue: (text, _path, glimpse) =>
    mayMakeConstant(text) &&
    (glimpse.repeating.some(mayRepeatConstant) ||
      glimpse.stretchesWith('def forward').some(mayBuildInForward)),

  *detect(module) {
    const named = new Set<Scope>();
    for (const hit of MAKERS.flatMap((literal) => module.atWhere(literal, mayBe))) {
      const constant = constantAt(module, hit);
      if (constant === undefined || isTestCode(module, constant.statement)) continue;
      const scope = module.scopeAt(constant.statement);
      if (scope.kind === 'class') continue;
      const site =
        constant.name === undefined ? inExpression(module, constant, scope) : ofName(module, constant, scope);
      // What is changed or given away is no constant, but a start value.
      if (site === undefined || site.use.kind === 'changed' || site.use.kind === 'kept') continue;
      // Two constants of one function cannot take the same new name in one go.
      if (constant.name === undefined && named.has(scope)) continue;
      if (constant.name === undefined) named.add(scope);
      yield site;
    }
  },

  fix({ constant, name, use, loop, moves, buffer }, edit, module) {
    const { statement, device, value } = constant;
    const proof = new Proof();
    if (use.kind === 'passed')
      proof.require(
        'unknown',
        ask('only-reads')`Does \`${shown(use.by)}\` only read \`${name}\`, without changing or keeping it?`,
      );
    proof.forbid(
      changesModes(module, loop ?? statement),
      'the function switches what tensors are made of, or looks at its variables by other ways than their names',
    );
    const switching = proof.holds ? switchingFunction(module, loop ?? statement) : undefined;
    if (switching !== undefined)
      proof.require(
        'unknown',
        ask('default-stays')`Does the loop never run ${switching}, which switches what tensors are made of?`,
      );
    const made = constant.maker.function;
    requireOriginal(proof, module, made && qualifiedName(module, made));
    if (buffer !== undefined) {
      proof.meet(...wrappingGates(module, buffer.classNode, name));
      proof.require(
        'unknown',
        ask(
          'keeps-precision',
        )`Does \`${buffer.classNode.name?.text}\` keep its precision and its device (its buffers go along, also to \`meta\`)?`,
      );
      const registered = `${buffer.owner}.register_buffer("${name}", ${withoutDevice(constant)}, persistent=False)`;
      edit.insertStatementAfter(buffer.behind, [registered]);
      edit.replace(value, `${buffer.attribute}.${device === undefined ? 'cuda()' : `to(${device.text})`}`);
      return edit.done(`Keep \`${name}\` in a buffer`, proof);
    }
    const invariant = device === undefined || (loop !== undefined && isInvariant(module, device, loop));
    if (loop !== undefined && invariant && mayBeMissing(module, constant, loop))
      proof.require(
        'unknown',
        ask('made-anyway')`May \`${shown(value)}\` be made also where the loop never gets to it?`,
      );
    if (constant.name === undefined && isLarge(constant.maker))
      proof.require(
        'unknown',
        ask('room-for-constant')`Is there room for \`${shown(value)}\` beside all that the loop makes?`,
      );
    const changing = loop === undefined ? moves.flatMap(argumentsOf) : device && !invariant ? [device] : [];
    const doubtful = changing.find((each) => !isCertainDevice(module, each));
    proof.require(
      doubtful === undefined ? 'yes' : 'unknown',
      ask(
        'is-device',
      )`Is \`${doubtful && shown(doubtful)}\` always a device (with \`None\` the tensor stays where the last iteration took it)?`,
    );
    proof.require(
      changing.length > 0 && module.mentions(LEAVES_NOTHING) ? 'unknown' : 'yes',
      ask('stays-real')`Does \`${name}\` stay away from \`meta\`, from where no number comes back?`,
    );
    if (loop === undefined) {
      for (const move of moves) {
        edit.insertStatementBefore(statementOf(move), [`${name} = ${standalone(move)}`]);
        edit.replace(move, name);
      }
      return edit.done(`Keep \`${name}\` on the device that it was moved to`, proof);
    }
    if (constant.name === undefined) {
      edit.insertStatementBefore(loop, [`${name} = ${standalone(value)}`]);
      edit.replace(value, name);
    } else if (device === undefined || invariant) edit.moveStatement(statement, loop);
    else {
      edit.insertStatementBefore(loop, [`${name} = ${withoutDevice(constant)}`]);
      edit.replaceStatement(statement, [`${name} = ${name}.to(${device.text})`]);
    }
    return edit.done(`Build \`${name}\` once, before the loop`, proof);
  },
};

function mayBe(code: string): boolean {
  return mayRepeatConstant(code) || mayBuildInForward(code);
}

/** `weight = torch.tensor(…)` in a loop, or above it and moved inside. */
function ofName(module: PyModule, constant: Constant, scope: Scope): HoistSite | undefined {
  const { name, statement } = constant;
  if (name === undefined || module.resolve(name) !== scope) return undefined;
  if (module.writes(scope, name.text).length !== 1) return undefined;
  const loop = loopToLeave(statement, (each) => canLeave(module, constant, each));
  const moves = loop === undefined ? movesInLoops(module, constant, scope) : [];
  const [first] = moves;
  const free = loop !== undefined && !constant.copied && !constant.fromHost;
  const buffer = loop === undefined && first === undefined ? bufferPlace(module, constant) : undefined;
  if (free || (loop === undefined && first === undefined && buffer === undefined)) return undefined;
  const use = usesOfName(module, scope, name.text);
  const round = buffer === undefined ? 'in every iteration' : 'at every call';
  const text = (loop ?? buffer) ? built(`\`${name.text}\``, constant, round) : lying(name.text);
  return { node: first ?? name, constant, name: name.text, use, loop, moves, buffer, message: text };
}

/** `loss(x, weight=torch.tensor(…).to(device))` in a loop: it needs a name to stand above it. */
function inExpression(module: PyModule, constant: Constant, scope: Scope): HoistSite | undefined {
  const { value, statement, maker, device, copied } = constant;
  if (!copied || scope.kind !== 'function' || !alwaysRuns(value)) return undefined;
  if (value.parent?.type === 'assignment') return undefined;
  const keyword = value.parent?.type === 'keyword_argument' ? value.parent.name?.text : undefined;
  const name = [keyword ?? 'constant', `${keyword ?? 'constant'}_tensor`].find((each) =>
    freeName(module, each, scope),
  );
  const given = [device, keywordValue(maker, 'dtype')].filter((each) => each !== undefined);
  const loop = loopToLeave(statement, (each) => given.every((part) => isInvariant(module, part, each)));
  if (name === undefined || loop === undefined) return undefined;
  const message = built('a constant', constant, 'in every iteration');
  return {
    node: maker.function ?? maker,
    constant,
    name,
    use: constantUse(module, value),
    loop,
    moves: [],
    buffer: undefined,
    message,
  };
}

function lying(name: string): string {
  return `\`${name}\` lies on the host and is copied to the device in every iteration, and the host waits for each copy`;
}

function built(what: string, { copied }: Constant, round: string): string {
  return copied
    ? `${what} is built on the host and copied to the device ${round}, and the host waits for each copy`
    : `${what} is built anew ${round}`;
}

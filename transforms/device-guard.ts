/*
 * scale = self.scale.to(x.device)
 *
 * scale = self.scale
 * if scale.device != x.device:
 *     scale = scale.to(x.device)
 *
 * In `forward` and what it calls, for a parameter or a buffer of the module, which is nearly always there already. Only the
 * local name is bound; nothing is written to `.data`, which would move the tensor behind the optimizer's back. A plain
 * tensor attribute is copied at every call, guard or not: it belongs in a buffer, so it is left to `register-tensor-buffer`.
 */
import type { Held, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  enclosingClass,
  enclosingFunction,
  importsPackage,
  isCallee,
  isTraced,
  linesOf,
  methodName,
  moduleKind,
  PARAMETER,
  Proof,
  receiverOf,
  runsInForward,
  selfName,
  settersElsewhere,
  shown,
  standalone,
  valueOf,
  withoutSubscripts,
} from '../src/toolkit/index.js';
import { tracedElsewhere } from './device-guard/traced-elsewhere.js';

interface GuardSite extends Site {
  readonly statement: PyNode;
  readonly target: PyNode;
  /** `self.scale` */
  readonly source: PyNode;
  readonly held: Held;
  /** The arguments of `.to()` as they are written. */
  readonly move: string;
  /** `x.device` */
  readonly device: PyNode;
}

export const deviceGuard: Transform<GuardSite> = {
  meta: {
    id: 'device-guard',
    summary: 'Ask for a move in forward only when the device differs',
    symptom: 'sync',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'documented',
    options: {},
    requires: { torch: '0.4' },
    docs: {
      why: 'A parameter or buffer that is moved with `.to(x.device)` in `forward` is nearly always there already; the call then only finds that out, at every step and in every layer. Where it is not there, each call copies it, and the host waits.',
      does: 'Takes the tensor as it is and moves it only if its device differs, into the local name. The parameter itself stays where it is: the documented `param.data = param.data.to(…)` is never written, since it moves the tensor away from under the optimizer and other users of it.',
      refuses: [
        'the tensor is a plain attribute, which stays behind when the module moves: `register-tensor-buffer` is the cure',
        'the file does not show that it is a tensor (it is put there from elsewhere): unsafe; where it is called, no finding',
        'the statement shares its line with other code, or a comment stands inside it',
        'the class is no `nn.Module` itself, as a mixin is not: then it advises to create the tensor on its device',
      ],
      limits: [
        'Where the parameter really lives on another device, it is still copied at every call. Move the module instead.',
        'A module that other code traces with torch.fx cannot compare devices.',
        'Only assignments are edited; `self.scale.to(x.device)` inside a larger expression is left as it is.',
      ],
    },
    evidence: {
      verdict:
        'Next to nothing: `.to()` is a no-op when the tensor is there (0.17 ms for 256 calls, no synchronisation). The popular claim of a transfer at every call holds only for tensors that are left on the CPU, and the guard does not help there. Use `register-tensor-buffer` or `factory-device` for those.',
      measurements: [],
    },
    origin: [
      {
        document: 'GPU memory audit report (Fourier LS-LoRA)',
        section: '2. Repeated CPU→GPU transfers in forward pass',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-as-documented',
  },

  prefilter: ['.to(', '.device', ['def forward', '__call__', 'training_step']],
  cue: (_text, _path, glimpse) => glimpse.stretchesWith('.to(').some(mayMoveHeld),

  *detect(module) {
    for (const hit of module.atWhere('.to(', mayMoveHeld)) {
      const call = hit.parent?.parent;
      const assignment = call?.parent;
      if (call?.type !== 'call' || assignment?.type !== 'assignment') continue;
      if (assignment.right !== call || methodName(call) !== 'to') continue;
      const [target, statement] = [assignment.left, assignment.parent];
      if (target?.type !== 'identifier' || statement?.type !== 'expression_statement') continue;
      const device = deviceOf(call);
      const source = receiverOf(call);
      const method = enclosingFunction(call);
      if (device === undefined || source === undefined || method === undefined) continue;
      const used = argumentsOf(call).flatMap((each) => names(each.value ?? each));
      if (used.includes(target.text) || module.resolve(target)?.node !== method) continue;
      const held = valueOf(module, source).held;
      if (held === 'unknown' || (held === 'likely' && isCalled(module, target))) continue;
      if (!runsInForward(module, method)) continue;
      const move = (call.arguments?.text ?? '').slice(1, -1);
      const message = `\`${shown(source)}\` is asked to move at every call, though it is nearly always there already`;
      yield { node: hit, statement, target, source, held, move, device, message };
    }
  },

  fix({ statement, target, source, held, move, device }, edit, module) {
    const classNode = enclosingClass(enclosingFunction(statement) ?? statement);
    const className = classNode?.name?.text;
    const name = target.text;
    const what = `\`${shown(source)}\``;
    if (classNode !== undefined && moduleKind(module, classNode).isModule === 'no')
      return edit.advise(
        `Create ${what} on the device where it is used, or move the module that holds it: \`.to()\` gives the tensor itself where it is there already, so that a guard would save next to nothing`,
      );
    const comment = [...statement.walk()].some(({ type }) => type === 'comment');
    const type = statement.named[0]?.field('type');
    const proof = new Proof()
      .forbid(comment || /[\r\n]/.test(move), 'its call goes over several lines')
      .forbid(
        held === 'plain',
        `${what} is a plain tensor, which stays behind when the module moves and is copied at every call: \`register-tensor-buffer\` makes it move along`,
      )
      .require(held === 'likely' ? 'unknown' : 'yes', ask('tensor')`Is ${what} a tensor?`)
      .require(classNode === undefined ? 'unknown' : moduleKind(module, classNode).isModule, {
        no: `\`${className}\` is no \`nn.Module\``,
        unknown: ask('module-class')`Is the class \`${className}\` an \`nn.Module\`?`,
      })
      .require(
        isTraced(module) ? 'unknown' : 'yes',
        ask(
          'traced',
        )`May \`${className}\` compare devices (this file uses TorchScript or torch.fx, which do not take that everywhere)?`,
      )
      .require(
        importsPackage(module, 'bitsandbytes') ? 'unknown' : 'yes',
        ask('move-keeps-type')`Does ${what} keep its type at its first move (bitsandbytes quantises at it)?`,
      )
      .require(
        statement.closest('try_statement') === undefined ? 'yes' : 'unknown',
        ask('unseen-failure')`Is \`${name}\` left unread when the move fails?`,
      );
    const tracing = proof.refuted === undefined ? tracedElsewhere(module) : undefined;
    proof.require(
      tracing === undefined ? 'yes' : 'unknown',
      ask('traced')`Does ${tracing} trace only other modules with torch.fx, which cannot compare devices?`,
    );
    const attribute = source.attribute?.text;
    if (classNode !== undefined && attribute !== undefined && proof.refuted === undefined) {
      const setters = settersElsewhere(module, classNode, attribute);
      proof.require(
        setters?.every(({ made }) => made === PARAMETER) === true ? 'yes' : 'unknown',
        ask('plain-elsewhere')`Is what other files put into ${what} a plain tensor, too?`,
      );
    }
    const typed = type === undefined ? name : `${name}: ${type.text}`;
    edit.replaceStatement(statement, [
      `${typed} = ${standalone(source)}`,
      `if ${name}.device != ${standalone(device)}:`,
      `\t${name} = ${name}.to(${move})`,
    ]);
    return edit.done(`Move \`${name}\` only if its device differs`, proof);
  },
};

/** The device of `.to(x.device)`, also beside `non_blocking`; undefined where the move asks for more or for another device. */
function deviceOf(call: PyNode): PyNode | undefined {
  const [first, ...others] = argumentsOf(call);
  const named = first?.type === 'keyword_argument' && first.name?.text === 'device';
  const device = named ? first.value : first;
  // It is evaluated only where the devices differ: nothing that runs code.
  const plain = others.every(
    (other) =>
      other.name?.text === 'non_blocking' && /^(?:true|false|identifier)$/.test(other.value?.type ?? ''),
  );
  if (!plain) return undefined;
  if (device?.type !== 'attribute' || device.attribute?.text !== 'device') return undefined;
  // Read twice now: nothing that runs code, nothing of the module itself.
  const object = device.object;
  return object?.type === 'identifier' && !isSelf(call, object) ? device : undefined;
}

/** The first parameter of the method around a call. */
function isSelf(call: PyNode, object: PyNode): boolean {
  const method = enclosingFunction(call);
  return method !== undefined && selfName(method) === object.text;
}

/** What is called is a module, and has no device. */
function isCalled(module: PyModule, name: PyNode): boolean {
  return module.occurrences(module.scopeAt(name), name.text).some((use) => isCallee(use));
}

function names(node: PyNode): readonly string[] {
  return [...node.walk()].flatMap(({ type, text }) => (type === 'identifier' ? [text] : []));
}

const MOVE =
  /\.to\(\s*(?:device\s*=\s*)?(?!self\b)\w+\s*\.\s*device\s*(?:,\s*(?:non_blocking\s*=\s*\w+\s*,?\s*)?)?\)\s*(?:;|$)/m;
/** `scale = (self.scale).to(`, where `scale[0]` reads `scale.at`. */
const HELD = /(?:^|[;:])\s*\w+(?:\s*:[^=;]*)?\s*=[\s\\(]*[A-Za-z_]\w*(?:[\s\\)]*\.\s*\w+)+[\s\\)]*\.to\(/;

/** Whether what an object holds is moved to where another is, by a whole statement, going by the code alone. */
function mayMoveHeld(code: string): boolean {
  if (!MOVE.test(code)) return false;
  return linesOf(code).some(({ text }) => MOVE.test(text) && HELD.test(withoutSubscripts(text)));
}

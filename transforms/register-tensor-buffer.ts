/*
 * self.table = torch.linspace(0, 1, steps)                                        # in __init__
 * x * self.table.to(x.device)                                                     # in forward
 *
 * self.register_buffer("table", torch.linspace(0, 1, steps), persistent=False)
 *
 * The class must be an nn.Module, the attribute a tensor that `__init__` creates after `super().__init__()`, get no other
 * value, and be moved where it is used: that shows that it is wanted on the module's device. A buffer moves, is cast, is
 * broadcast by DDP and counts among `buffers()`, so this is never more than unsafe.
 */
import type { AttributeUse, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  attributeUses,
  classAround,
  enclosingFunction,
  initialisesBefore,
  isPlain,
  methodName,
  moduleKind,
  ofTensor,
  ownsItsLines,
  Proof,
  plainAttributes,
  registrationOf,
  shown,
  valueOf,
  wrappingGates,
} from '../src/toolkit/index.js';
import { isMove, movedAttributes, movedNames } from './register-tensor-buffer/moved-attribute.js';

interface BufferSite extends Site {
  readonly name: string;
  readonly classNode: PyNode;
  readonly statement: PyNode;
  readonly value: PyNode;
  readonly reads: readonly AttributeUse[];
}

export const registerTensorBuffer: Transform<BufferSite> = {
  meta: {
    id: 'register-tensor-buffer',
    summary: 'Register a constant tensor of a module as a buffer, so that it moves with the module',
    symptom: 'sync',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {
      persistent: {
        type: 'boolean',
        default: false,
        summary: 'Save the buffer in the state dict; checkpoints made before then fail a strict load.',
      },
    },
    requires: { torch: '1.6' },
    docs: {
      why: 'A tensor that is a plain attribute stays on the CPU when its module moves to the GPU. `.to(x.device)` in `forward` then copies it at every call, and the host waits for each copy.',
      does: 'Writes `self.register_buffer(name, …, persistent=False)` in place of the assignment. The state dict stays as it is, and `.to(x.device)` in `forward` stays too, where it now finds the tensor in place.',
      refuses: [
        'the class is a transformers or diffusers model, which re-creates non-persistent buffers without their values',
        'the file wraps modules in `DistributedDataParallel`, `DataParallel` or FSDP, casts to half precision, or uses TorchScript',
        'the attribute gets another value somewhere, or is created before `super().__init__()`',
        'the class has complex numbers, which a cast of buffers breaks',
        'the tensor may require grad, or is turned into a numpy array',
      ],
      limits: [
        'Only attributes that are moved somewhere, with `.to(device)` or `.cuda()`, are looked at.',
        'A buffer is cast by `.half()`, broadcast by DDP and listed by `buffers()`, wherever that happens: always unsafe.',
        'Where it is read without a move, it is now on the device of the module.',
      ],
    },
    evidence: {
      verdict: 'A real saving where the module is on a GPU: the copy and the wait at every call are gone',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: 'Best practices 2',
        fidelity: 'same',
      },
    ],
    example: 'fix-position-table',
  },

  prefilter: ['def __init__', ['.to(', '.cuda('], ['nn.', 'Module', 'Model']],
  cue: (_text, _path, glimpse) => movedNames(glimpse).size > 0,

  *detect(module) {
    const seen = new Set<PyNode>();
    for (const { attribute, method, call } of movedAttributes(module)) {
      const around = classAround(attribute);
      const name = attribute.attribute?.text;
      if (around === undefined || name === undefined) continue;
      const { classNode } = around;
      if (
        moduleKind(module, classNode).isModule !== 'yes' ||
        registrationOf(module, classNode, name) !== 'none'
      )
        continue;
      const uses = attributeUses(module, classNode, name);
      const [first] = uses.filter(({ kind }) => kind !== 'read');
      const assignment = first?.node.parent;
      const [value, statement] = [assignment?.right, assignment?.parent];
      if (first === undefined || value === undefined || statement?.type !== 'expression_statement') continue;
      if (seen.has(statement) || assignment?.left !== first.node) continue;
      if (enclosingFunction(statement)?.name?.text !== '__init__') continue;
      if (valueOf(module, first.node).held !== 'plain' || isMoved(module, value) || !isMove(module, call))
        continue;
      seen.add(statement);
      const message = `\`self.${name}\` stays on the CPU when the module moves, and is copied to the device by every \`${shown(method)}(…)\``;
      const reads = uses.filter(({ kind }) => kind === 'read');
      yield { node: first.node, name, classNode, statement, value, reads, message };
    }
  },

  fix({ name, classNode, statement, value, reads }, edit, module, options) {
    const self = `\`self.${name}\``;
    const init = enclosingFunction(statement);
    const writes = attributeUses(module, classNode, name).filter(({ kind }) => kind !== 'read');
    const plain = plainAttributes(module, classNode, name);
    const array = reads.find(({ node }) => node.parent?.attribute?.text === 'numpy');
    const proof = new Proof()
      .forbid(!ownsItsLines(module, statement), 'its statement shares its line with other code')
      .forbid(writes.length > 1, `${self} is also given another value`)
      .forbid(
        statement.named[0]?.field('type') !== undefined,
        `${self} is created with a type annotation, which a call cannot carry`,
      )
      .forbid(
        init === undefined || !initialisesBefore(module, init, statement),
        `\`super().__init__()\` does not run before ${self} is created`,
      )
      .forbid(/requires_grad|Parameter/.test(value.text), `${self} may require grad`)
      .forbid(
        /polar|complex/.test(module.codeOf(classNode)),
        'the class has complex numbers, of which a cast of the module would lose a part',
      )
      .forbid(array !== undefined, `${self} is turned into a numpy array, which only works on the CPU`)
      .meet(plain);
    proof.meet(...wrappingGates(module, classNode, name));
    proof.require(
      isAlwaysMoved(module, reads),
      ask('follows-module')`Is ${self} wanted on the device of the module where it is read without a move?`,
    );
    proof.require(
      'unknown',
      ask('moves-along')`May ${self} move, and be cast, with its \`${classNode.name?.text}\` from now on?`,
    );
    const kept = options['persistent'] === true ? '' : ', persistent=False';
    const receiver = writes[0]?.node.object?.text ?? 'self';
    edit.replaceStatement(statement, [`${receiver}.register_buffer("${name}", ${value.text}${kept})`]);
    return edit.done(`Register \`${name}\` as a buffer`, proof);
  },
};

/** Made on a device of its own choice. */
function isMoved(module: PyModule, value: PyNode): boolean {
  return [...value.walk()].some(
    (node) =>
      (node.type === 'call' && ['to', 'cuda'].includes(methodName(node) ?? '') && isMove(module, node)) ||
      (node.type === 'keyword_argument' && node.name?.text === 'device' && node.value?.type !== 'none'),
  );
}

/** Every read asks for a device, or for nothing that depends on one. */
function isAlwaysMoved(module: PyModule, reads: readonly AttributeUse[]): 'yes' | 'unknown' {
  return reads.every(({ node }) => {
    let place = node;
    while (place.parent?.type === 'subscript' && place.parent.value === place) place = place.parent;
    const access = place.parent?.type === 'attribute' ? place.parent : undefined;
    const call = access?.parent;
    return (
      isPlain(ofTensor(access?.attribute?.text ?? '')) || (call?.type === 'call' && isMove(module, call))
    );
  })
    ? 'yes'
    : 'unknown';
}

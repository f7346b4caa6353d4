import { ancestryOf } from '../semantic/definitions.js';
import { qualifiedName } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import { argumentsOf, methodName, receiverOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { DISTRIBUTED_CLUES, HALF_DTYPES, PARALLEL_WRAPPERS, TORCH_JIT } from './catalog.js';
import { type Gate, gate } from './gate.js';
import { moduleKind } from './modules.js';
import { kindOf } from './tensor.js';

/** What happens to a module's buffers, and not to its plain attributes, where the module is wrapped, cast or loaded. */
export function wrappingGates(module: PyModule, classNode: PyNode, self: string): readonly Gate[] {
  const { isModule, isLightning, isPretrained } = moduleKind(module, classNode);
  const wrapper = PARALLEL_WRAPPERS.find((name) => module.at(name).some(({ text }) => text === name));
  const distributed = DISTRIBUTED_CLUES.some((clue) => module.at(clue).length > 0);
  const { imported } = ancestryOf(module, classNode);
  return [
    gate(
      !isPretrained,
      'the class loads pretrained weights, which re-creates a non-persistent buffer without its values',
    ),
    gate(
      wrapper === undefined,
      `the file uses \`${wrapper}\`, which would copy ${self} between processes as a buffer`,
    ),
    gate(!castsToHalf(module), `the file casts to half precision, and ${self} would be cast as a buffer`),
    gate(!usesTorchScript(module), 'the file uses TorchScript'),
    {
      answer: isModule,
      otherwise: `the base class \`${imported.at(-1)?.split('.').at(-1) ?? '?'}\` is an \`nn.Module\``,
    },
    {
      answer: isLightning || distributed ? 'unknown' : 'yes',
      otherwise: `the module is not wrapped in \`DistributedDataParallel\`, which would overwrite ${self} from rank 0`,
    },
  ];
}

function usesTorchScript(module: PyModule): boolean {
  return module.at('jit').some((hit) => {
    return [hit.parent, hit.parent?.parent].some((place) => {
      const path = place?.type === 'attribute' ? qualifiedName(module, place) : undefined;
      return path?.startsWith(TORCH_JIT) ?? false;
    });
  });
}

/** `model.half()`, `.bfloat16()`, `.to(torch.float16)`, on anything that is not provably a tensor. */
function castsToHalf(module: PyModule): boolean {
  const isCast = (call: PyNode | undefined): boolean => {
    const receiver = call && receiverOf(call);
    return receiver !== undefined && !['tensor', 'scalar-tensor'].includes(kindOf(module, receiver));
  };
  const named = ['.half', '.bfloat16'].some((literal) =>
    module.at(literal).some((hit) => {
      const call = hit.parent?.parent;
      if (call?.type !== 'call' || methodName(call) !== hit.text || argumentsOf(call).length > 0)
        return false;
      return isCast(call);
    }),
  );
  return (
    named ||
    module.at('.to(').some((hit) => {
      const call = hit.parent?.parent;
      if (call?.type !== 'call' || methodName(call) !== 'to') return false;
      const half = argumentsOf(call).some((argument) => {
        const value = argument.type === 'keyword_argument' ? argument.field('value') : argument;
        const path = value && qualifiedName(module, value);
        return path !== undefined && HALF_DTYPES.has(path);
      });
      return half && isCast(call);
    })
  );
}

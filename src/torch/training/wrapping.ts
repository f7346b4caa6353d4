import {
  BUFFER_WALKERS,
  DISTRIBUTED_CLUES,
  FX,
  HALF_DTYPES,
  NN_MODULE,
  NORM_BUFFERS,
  PARALLEL_WRAPPERS,
  PLAIN_BASES,
  TORCH_JIT,
  TRAINERS,
} from '../../library/names.js';
import { familyOf } from '../../semantic/attribute-uses.js';
import { methodCallsAt } from '../../semantic/called-name.js';
import { lineageOf } from '../../semantic/elsewhere.js';
import { type Gate, gate, placeOf } from '../../semantic/gate.js';
import { qualifiedName } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import { ask } from '../../semantic/question.js';
import { remembered } from '../../semantic/remembered.js';
import { argumentsOf, argumentValue, methodName, receiverOf } from '../../semantic/statements.js';
import { usesElsewhere } from '../../semantic/uses-elsewhere.js';
import type { PyNode } from '../../syntax/node.js';
import { valueOf } from '../../values/index.js';
import { attributeElsewhere, moduleKind } from '../module/modules.js';

/** What happens to a module's buffers, and not to its plain attributes, where the module is wrapped, cast or loaded. */
export function wrappingGates(module: PyModule, classNode: PyNode, name: string): readonly Gate[] {
  const self = `\`self.${name}\``;
  const className = classNode.name?.text;
  const { isModule, isLightning, isPretrained } = moduleKind(module, classNode);
  const wrapper = PARALLEL_WRAPPERS.find((each) => isNamed(module, each));
  const distributed =
    DISTRIBUTED_CLUES.some((clue) => module.at(clue).length > 0) ||
    TRAINERS.some((each) => isNamed(module, each));
  const walker = BUFFER_WALKERS.find((each) => isNamed(module, each));
  const { elsewhere, imported } = lineageOf(module, classNode);
  const made = new RegExp(`\\bself\\.${name}\\s*(?::[^=\\n]*)?=(?!=)|\\bregister_\\w+\\(\\s*["']${name}["']`);
  const holder = elsewhere.find((each) => made.test(each.module.codeOf(each.node)))?.node.name?.text;
  const family = familyOf(module, classNode);
  const lineages = family.map((each) => lineageOf(module, each));
  const unknown = lineages.some((each) => each.unknown);
  const others = lineages
    .flatMap((each) => each.imported)
    .filter((path) => path !== NN_MODULE && !PLAIN_BASES.has(path) && !path.endsWith('.LightningModule'));
  const isTouched = family.some((each) => attributeElsewhere(module, each, name) !== undefined);
  const norm = NORM_BUFFERS.has(name) ? imported.find((path) => /Norm(?:\dd)?$/.test(path)) : undefined;
  const here: readonly Gate[] = [
    gate(
      !isPretrained,
      'the class loads pretrained weights, which re-creates a non-persistent buffer without its values',
    ),
    gate(
      wrapper === undefined,
      `the file uses \`${wrapper}\`, which would copy ${self} between processes as a buffer`,
    ),
    gate(!castsToHalf(module), `the file casts to half precision, and ${self} would be cast as a buffer`),
    gate(norm === undefined, `${self} is already a buffer of the base class`),
    gate(holder === undefined, `${self} is set by its base \`${holder}\` of another file already`),
    {
      answer: others.length > 0 || unknown || isTouched ? 'unknown' : 'yes',
      otherwise: ask(
        'free-name',
      )`Is the name \`${name}\` free in all base classes of \`${className}\` in other files?`,
    },
    {
      answer: walker === undefined ? 'yes' : 'unknown',
      otherwise: ask('walked-as-buffer')`May \`${walker}\` meet ${self} among the buffers?`,
    },
    {
      answer: mayCast(module) ? 'unknown' : 'yes',
      otherwise: ask(
        'keeps-precision',
      )`Does \`${className}\` keep its precision (a cast would cast ${self} as a buffer)?`,
    },
    gate(!usesTorchScript(module), 'the file uses TorchScript'),
    {
      answer: isModule,
      otherwise: {
        no: `\`${className}\` is no \`nn.Module\``,
        unknown: ask(
          'module-class',
        )`Is the base class \`${imported.at(-1)?.split('.').at(-1) ?? '?'}\` an \`nn.Module\`?`,
      },
    },
    {
      answer: isLightning || distributed ? 'unknown' : 'yes',
      otherwise: ask(
        'one-process',
      )`Does \`${className}\` train without \`DistributedDataParallel\`, which would overwrite ${self} from rank 0?`,
    },
  ];
  if (here.some(({ answer }) => answer === 'no')) return here;
  const wrapping = module.memo(wrappingElsewhere, module);
  return [
    ...here,
    module.memo(castElsewhere, classNode),
    {
      answer: wrapping === undefined ? 'yes' : 'unknown',
      otherwise: ask(
        'other-models',
      )`Does \`${wrapping?.word}\` in ${wrapping?.where} get only models without a \`${className}\` in them?`,
    },
  ];
}

/** Where another file uses the class, it may cast what it makes. */
function castElsewhere(module: PyModule, classNode: PyNode): Gate {
  const name = classNode.name;
  const may = (text: string): boolean => /half|float16|float64|double|dtype/.test(text);
  const { uses, unread } =
    name === undefined
      ? { uses: [], unread: undefined }
      : usesElsewhere(module, name, { may, byName: false });
  const casting = uses.find(({ module: there }) => castsToHalf(there) || mayCast(there));
  if (casting !== undefined)
    return {
      answer: 'unknown',
      otherwise: ask(
        'keeps-precision',
      )`Does the \`${name?.text}\` that ${placeOf(casting.module, casting.node)} makes keep its precision there (that file has a cast)?`,
    };
  return {
    answer: unread === undefined ? 'yes' : 'unknown',
    otherwise: ask('keeps-precision')`Does \`${name?.text}\` keep its precision in ${unread}?`,
  };
}

/** A file of the project that wraps, casts or walks any module may do so to one that has this one as a part. */
function wrappingElsewhere(module: PyModule): { readonly word: string; readonly where: string } | undefined {
  for (const word of WRAPPING_WORDS) {
    const { modules, unread } = module.around.naming({ word, beside: [] }, (text) => WRAPS.test(text));
    const there = modules.find((each) => isNamed(each, word) && (!CASTS.has(word) || castsToHalf(each)));
    const where = there === undefined ? unread : `\`${there.path}\``;
    if (where !== undefined) return { word, where };
  }
  return undefined;
}

const CASTS: ReadonlySet<string> = new Set(['half', 'bfloat16', 'float16']);
const WRAPPING_WORDS: readonly string[] = [
  ...PARALLEL_WRAPPERS,
  ...TRAINERS,
  ...BUFFER_WALKERS,
  ...CASTS,
  'Accelerator',
  'deepspeed',
  'jit',
];
const WRAPS = new RegExp(`\\b(?:${WRAPPING_WORDS.join('|')})\\b`);

export function isNamed(module: PyModule, name: string): boolean {
  return module.at(name).some(({ text, type }) => type === 'identifier' && text === name);
}

/** `model.to(dtype=args.dtype)`, `model.double()`, `model.type(…)`, another default dtype. */
const mayCast = remembered((module: PyModule): boolean => {
  if (['set_default_dtype', 'set_default_tensor_type'].some((each) => isNamed(module, each))) return true;
  return methodCallsAt(module, '.to(', '.type(', '.double(').some((call) => {
    const receiver = receiverOf(call);
    if (receiver === undefined || valueOf(module, receiver).isTensor) return false;
    const chosen = argumentsOf(call).some(
      ({ text }) => /dtype|float64|double/.test(text) && !/torch\.float32/.test(text),
    );
    return methodName(call) !== 'to' || chosen;
  });
});

/** The file has code compiled from its source or traced with placeholders, where not all of Python is allowed. */
export function isTraced(module: PyModule): boolean {
  return usesTorchScript(module) || FX.some((each) => isNamed(module, each));
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
const castsToHalf = remembered((module: PyModule): boolean => {
  const casts = [
    ...methodCallsAt(module, '.half', '.bfloat16').filter((call) => argumentsOf(call).length === 0),
    ...methodCallsAt(module, '.to(').filter((call) =>
      argumentsOf(call).some((given) => HALF_DTYPES.has(qualifiedName(module, argumentValue(given)) ?? '')),
    ),
  ];
  return casts.some((call) => {
    const receiver = receiverOf(call);
    return receiver !== undefined && !['tensor', 'scalar-tensor'].includes(valueOf(module, receiver).kind);
  });
});

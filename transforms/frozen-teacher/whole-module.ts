import { row } from '../../src/library/library.js';
import { isModuleClass } from '../../src/library/paths.js';
import { isNamedAnywhere } from '../../src/semantic/anywhere.js';
import { definitionBehind } from '../../src/semantic/definitions.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { remembered } from '../../src/semantic/remembered.js';
import { argumentsOf, isCallee } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { mayHold } from '../../src/torch/grad/holds.js';
import { walkedFor } from '../../src/torch/grad/walked-parameters.js';
import { type Maker, madeBy } from '../../src/torch/module/made-by.js';

/** Methods of modules that give the parameters of all their parts. */
const WALKS = [
  ...['parameters', 'named_parameters', 'modules', 'named_modules'],
  ...['children', 'named_children'],
];
/** Other ways to them, which are not followed. */
const UNFOLLOWED = ['_modules', '_parameters', 'get_submodule', 'get_parameter', 'keep_vars'];

/** Whether an optimizer, or something unknown, may get the parameters of an object of this class, with those of its parts. */
export const mayBeTakenWhole = remembered((module: PyModule, classNode: PyNode): boolean => {
  const { name } = classNode;
  // What nobody here makes is there for others.
  if (name === undefined || !isMade(module, name)) return true;
  if (mayBeTakenUnseen(module)) return true;
  const words = [...WALKS, 'apply', 'getattr'];
  const files = words.map((word) => module.around.naming({ word, beside: [] }, () => true));
  if (files.some(({ unread }) => unread !== undefined)) return true;
  const owner = { owner: name.text, file: module.path };
  return [...new Set([module, ...files.flatMap(({ modules }) => modules)])].some((there) =>
    words.some((word) =>
      there.words(word).some((node) => {
        const network = networkWalked(there, node);
        return (
          network !== undefined && madeBy(there, network, LAYER) !== 'yes' && mayHold(there, network, owner)
        );
      }),
    ),
  );
});

/** A file of the project takes parts of modules, or their parameters, in a way that is not followed. */
export function mayBeTakenUnseen(module: PyModule): boolean {
  return UNFOLLOWED.some((word) => isNamedAnywhere(module, word));
}

/** What such a word takes the parameters of: `net.parameters()`, `net.apply(f)`, `getattr(net, name)`. */
function networkWalked(module: PyModule, word: PyNode): PyNode | undefined {
  const attribute = word.parent?.attribute === word ? word.parent : undefined;
  const call = word.parent?.type === 'call' ? word.parent : attribute?.parent;
  if (attribute === undefined) {
    const [network, name] = word.text === 'getattr' && call !== undefined ? argumentsOf(call) : [];
    const text = name && plainString(name);
    return text === undefined || WALKS.includes(text) || text === 'apply' ? network : undefined;
  }
  const network = attribute.object;
  // `Function.apply(x)` of a class.
  if (network === undefined || (word.text === 'apply' && isNamed(module, network))) return undefined;
  const isPlain =
    word.text !== 'apply' &&
    call !== undefined &&
    isCallee(attribute) &&
    /^(?:plain|frozen)$/.test(walkedFor(module, call));
  return isPlain ? undefined : network;
}

function isNamed(module: PyModule, value: PyNode): boolean {
  return qualifiedName(module, value) !== undefined || definitionBehind(module, value) !== undefined;
}

function isMade(module: PyModule, name: PyNode): boolean {
  const scope = module.resolve(name);
  const { uses } = usesElsewhere(module, name, { may: () => true, byName: false });
  const here = scope === undefined ? [] : module.reads(scope, name.text);
  return [...here, ...uses.map(({ node }) => node)].some(isCallee);
}

/** A layer of torch, which has no other modules in it. */
const LAYER: Maker = {
  gives: (path) => /^(?:layer|map)$/.test(row(path)?.is ?? ''),
  isClass: () => 'no',
  outlivesOthers: false,
};

/** What waits for the gradients of all parameters of a module, or trains all of them. */
const WRAPPERS = [
  ...['DistributedDataParallel', 'FullyShardedDataParallel', 'fully_shard', 'accelerate', 'deepspeed'],
  ...['horovod', 'apex', 'fairscale', 'lightning', 'pytorch_lightning', 'transformers', 'ignite', 'catalyst'],
  ...['fastai', 'skorch', 'composer', 'colossalai'],
];

/** Whether a file of the project, or whoever imports the class, may give a whole module of it to something that trains it. */
export function mayBeWrapped(module: PyModule, classNode: PyNode): boolean {
  const { name } = classNode;
  return name === undefined || !isMade(module, name) || module.memo(findWrapper, module);
}

function findWrapper(module: PyModule): boolean {
  return WRAPPERS.some((word) => isNamedAnywhere(module, word));
}

/** `nn.ModuleList([student, teacher])`, `nn.ModuleDict({"teacher": teacher})`: a literal in the parentheses of a module. */
export function isGivenToModule(module: PyModule, literal: PyNode): boolean {
  let at = literal;
  while (/^(?:list|pair|dictionary)$/.test(at.parent?.type ?? '')) at = at.parent ?? at;
  const callee = at.parent?.type === 'argument_list' ? at.parent.parent?.function : undefined;
  return callee !== undefined && isModuleClass(qualifiedName(module, callee) ?? '');
}

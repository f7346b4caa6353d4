import { givesModule } from '../../library/library.js';
import { isModelMaker, isModuleClass } from '../../library/paths.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import { BY_TEXT } from '../../semantic/by-text.js';
import { isRunByProgram } from '../../semantic/companions.js';
import { classAround, definitionBehind } from '../../semantic/definitions.js';
import { definedElsewhere, type Elsewhere, leadsInside } from '../../semantic/elsewhere.js';
import { isGivenParts, setsPart } from '../../semantic/given-away.js';
import { calledPath, qualifiedName } from '../../semantic/imports.js';
import { ingredientsOf } from '../../semantic/ingredients.js';
import type { PyModule } from '../../semantic/module.js';
import { isInstallable } from '../../semantic/program.js';
import { isTarget, methodName, ownerOf } from '../../semantic/statements.js';
import { waysReaching } from '../../semantic/variables.js';
import type { PyNode } from '../../syntax/node.js';
import { runsOnlyLayers } from '../../values/effects/forward-index.js';
import { findsByName } from '../../values/effects/found-by-name.js';
import { homesOf, mayLiveIn } from '../../values/effects/homes.js';
import { type Maker, madeBy } from '../module/made-by.js';
import { moduleKind } from '../module/modules.js';

const NETWORK: Maker = {
  gives: isModelMaker,
  isClass: (module, classNode) => moduleKind(module, classNode).isModule,
  outlivesOthers: false,
};

/** A class, and the file that it is in. */
export interface Owner {
  readonly owner: string;
  readonly file: string;
}

/** What a network computes in its forward, and still has behind it. Plain data: it outlives the scan. */
export interface KeptState extends Owner {
  /** `self.hidden` */
  readonly attribute: string;
  /** What others would read it by; undefined where its own file reads it with its graph. */
  readonly unread: string | undefined;
  /** It is put into what is there. */
  readonly isHeld: boolean;
  /** It has no graph where the project has no method of this name. */
  readonly unless?: string | undefined;
  /** Only where its object is in training mode. */
  readonly inTraining?: boolean;
}

export const UNREAD: KeptState = {
  owner: 'one of the many networks of the project',
  file: '',
  attribute: 'self',
  unread: undefined,
  isHeld: true,
};

/**
 * Whether a network may be an instance of a class of the project, or have one among its parts: not where what made it, and all
 * that this names, is known, and nothing there leads to the class.
 */
export function mayHold(module: PyModule, network: PyNode, { owner, file }: Owner): boolean {
  const made = module.memo(classesIn, network);
  if (made?.names.has(`${file} ${owner}`)) return true;
  if (made?.isClosed && !module.memo(swapsParts, module)) return false;
  if (
    made === undefined &&
    (!isRunByProgram(module) || isInstallable(module) || module.memo(findsByName, module))
  )
    return true;
  const homes = homesOf(module, owner);
  return homes === undefined || mayLiveIn(module, network, homes);
}

/** What puts a part into a network by a name that is computed, or that no attribute has. */
const SWAPPING = [
  ...['setattr', '__setattr__', '_modules', 'add_module', 'register_module', 'set_submodule'],
  ...['register_parametrization', '__class__'],
];

/** Whether some file may put other parts into networks than their classes make. */
function swapsParts(module: PyModule): boolean {
  return SWAPPING.some((word) => isAnywhere(module, word, swapsIn));
}

function swapsIn(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => {
    const receiver = node.parent?.attribute === node ? node.parent.object : undefined;
    if (word === '_modules') return receiver !== undefined;
    if (word === '__class__') return node.parent !== undefined && isTarget(node.parent);
    // Its own parts, which its class shows.
    if (receiver !== undefined && receiver.text === classAround(node)?.self) return false;
    if (receiver !== undefined && isNewContainer(alone, receiver)) return false;
    return node.parent?.type === 'call' || receiver !== undefined;
  });
}

/** `block = nn.Sequential()`, which gets its parts where it is made. */
function isNewContainer(alone: PyModule, receiver: PyNode): boolean {
  const ways = receiver.type === 'identifier' ? waysReaching(alone, receiver) : [];
  return (
    ways.length > 0 &&
    ways.every(
      (way) =>
        way.kind === 'value' &&
        way.value.type === 'call' &&
        isModuleClass(calledPath(alone, way.value) ?? ''),
    )
  );
}

/** Ways to parts that no name leads to. */
const COMPUTED = new RegExp(`${BY_TEXT.source}|\\.(?:build|create|from_config|from_name|get|instantiate)\\(`);

interface Made {
  /** The classes and functions of the project that a network is made with, and those in which that is written; none at the top of a file. */
  readonly names: ReadonlySet<string>;
  /** All of its classes run their own layers only, whatever they are given. */
  readonly isClosed: boolean;
}

/** Undefined where not all are known. */
function classesIn(module: PyModule, network: PyNode): Made | undefined {
  if (madeBy(module, network, NETWORK) !== 'yes' || isGivenParts(module, network)) return undefined;
  const made = ingredientsOf(module, network, undefined, takesNoParts);
  if (made === undefined || made.handed.length > 0) return undefined;
  const { definitions, strangers, places, variables } = made;
  if (definitions.some(({ module: home, node }) => COMPUTED.test(home.codeOf(node)))) return undefined;
  // `models.Net = Other`
  const names = [...definitions, ...variables].map(({ module: home, node }) => ({
    home,
    name: (node.name ?? node).text,
  }));
  if (names.some(({ home, name }) => isAnywhere(home, name, setsPart))) return undefined;
  const homes = new Set([module, ...definitions.map((each) => each.module)]);
  const isOfProject = (path: string) => [...homes].some((home) => leadsInside(home, path));
  if (strangers.some(isOfProject)) return undefined;
  return {
    names: new Set(places.map(({ module: home, node }) => `${home.path} ${ownerOf(node)?.name?.text ?? ''}`)),
    isClosed: definitions.every((each) => each.node.type === 'function_definition' || runsOnlyLayers(each)),
  };
}

/** `Net(args).to(device)`: a class that runs nothing of what it is given, and what moves a network. */
function takesNoParts(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  const made = path === undefined ? ownClass(module, callee) : definedElsewhere(module, path);
  if (made !== undefined) return made.node.type === 'class_definition' && runsOnlyLayers(made);
  return path === undefined && callee.type === 'attribute' && givesModule(methodName(call) ?? '');
}

function ownClass(module: PyModule, callee: PyNode): Elsewhere | undefined {
  const node = definitionBehind(module, callee);
  return node && { module, node };
}

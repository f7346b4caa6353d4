import { definedElsewhere, valueElsewhere } from '../../semantic/elsewhere.js';
import { ingredientsOf } from '../../semantic/ingredients.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';
import { isModelMaker } from '../catalog-modules.js';
import { type Maker, madeBy } from './made-by.js';
import { moduleKind } from './modules.js';

const NETWORK: Maker = {
  gives: isModelMaker,
  isClass: (module, classNode) => moduleKind(module, classNode).isModule,
  outlivesOthers: false,
};

/**
 * Whether a network may be an instance of a class of the project, or have one among its parts: not where what made it, and all
 * that this names, is known, and nothing there leads to the class.
 */
export function mayHold(module: PyModule, network: PyNode, owner: string): boolean {
  const made = module.memo(classesIn, network);
  return made === undefined || made.has(owner) || module.memo(isAttached, owner);
}

/** Ways to parts that no name leads to. */
const COMPUTED =
  /(?<![.\w])(?:eval|exec|globals|locals|vars|__import__)\(|\bimport_module\b|__dict__|\.(?:build|create|from_config|from_name|get|instantiate)\(/;

/** The names of the classes and functions of the project that a network is made with; undefined where not all are known. */
function classesIn(module: PyModule, network: PyNode): ReadonlySet<string> | undefined {
  if (madeBy(module, network, NETWORK) !== 'yes' || isGivenParts(module, network)) return undefined;
  const made = ingredientsOf(module, network);
  if (made === undefined || made.handed.length > 0) return undefined;
  const { definitions, strangers } = made;
  if (definitions.some(({ module: home, node }) => COMPUTED.test(home.codeOf(node)))) return undefined;
  const homes = new Set([module, ...definitions.map((each) => each.module)]);
  const isOfProject = (path: string) => [...homes].some((home) => leadsInside(home, path));
  if (strangers.some(isOfProject)) return undefined;
  return new Set(definitions.map(({ node }) => node.field('name')?.text ?? ''));
}

/** `net.head = other` */
function isGivenParts(module: PyModule, network: PyNode): boolean {
  const name = network.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.])${name}(?:\\.\\w+)+\\s*=(?!=)|\\bsetattr\\(\\s*${name}\\b`).test(module.code);
}

/** A name of a file of the project of which nothing more is known, such as the file itself: `models` of `getattr(models, name)`. */
function leadsInside(module: PyModule, path: string): boolean {
  if (definedElsewhere(module, path) ?? valueElsewhere(module, path)) return false;
  for (let at = path; ; at = at.slice(0, at.lastIndexOf('.'))) {
    if (module.around.text(at) !== undefined) return true;
    if (!at.includes('.')) return false;
  }
}

/** Whether some file makes an instance of the class a part of another object, from outside. */
function isAttached(module: PyModule, owner: string): boolean {
  const files = module.around.summaries({ word: owner, beside: [] }, attaches);
  return files === undefined || files.includes(true) || attaches(module.alone, owner);
}

function attaches({ code }: PyModule, owner: string): boolean {
  return new RegExp(
    `(?<![\\w.])(?!self\\.\\w+\\s*=)\\w+(?:\\.\\w+)+\\s*=(?!=)[^\\n]*\\b${owner}\\b|\\b(?:setattr|add_module|register_module)\\b[^\\n]*\\b${owner}\\b`,
  ).test(code);
}

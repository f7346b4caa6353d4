import { PLAIN_BASES } from '../../src/library/names.js';
import { isModuleClass } from '../../src/library/paths.js';
import { plainAttributes, valuesWritten } from '../../src/semantic/attribute-uses.js';
import { ancestryOf, classAround, methodNamed } from '../../src/semantic/definitions.js';
import { type Elsewhere, lineageOf } from '../../src/semantic/elsewhere.js';
import type { PyModule } from '../../src/semantic/module.js';
import { settersElsewhere } from '../../src/semantic/project-names.js';
import { argumentsOf, decoratorsOf, isTarget } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isBound } from './loading-names.js';
import { beginningsSet, isOptions } from './plain-option.js';

/** What an object is: an instance of a class of the project, such a class itself, or the options of a command line. */
export interface Owner extends Elsewhere {
  /** Of this class and of none that inherits from it. */
  readonly isExact: boolean;
  /** The class itself. */
  readonly isClass?: true;
}

/** What objects of a class hold by a name, as far as code assigns it; undefined where they may hold something else. */
export function valuesHeld(owner: Owner, name: string): readonly (Elsewhere | undefined)[] | undefined {
  const { module, node } = owner;
  if (node.type !== 'class_definition' || isSetOtherwise(owner, name)) return undefined;
  const { unknown, imported } = lineageOf(module, node);
  if (unknown || !imported.every((path) => isModuleClass(path) || PLAIN_BASES.has(path))) return undefined;
  const fields = owner.isExact ? fieldsOf(owner, name) : [];
  if (fields === undefined) return undefined;
  if (fields.length > 0) {
    const set = valuesSet(owner, name);
    return set && [...fields, ...set];
  }
  if (plainAttributes(module, node, name).answer !== 'yes') return undefined;
  const written = valuesWritten(module, node, name).map((each) => each && { module, node: each });
  const isOpen = settersElsewhere(module, node, name)?.length !== 0;
  const others = valuesSet(owner, name, isOpen ? undefined : isOfUnknown);
  return others && [...written, ...others];
}

/** By a name that is a text, or as a buffer. */
export function isSetOtherwise({ module, node }: Owner, name: string): boolean {
  const isAny = (word: string, look: (alone: PyModule, word: string) => boolean): boolean =>
    look(module.alone, word) || module.around.summaries({ word, beside: [] }, look)?.includes(true) !== false;
  const { elsewhere } = lineageOf(module, node);
  return (
    [name, node.name?.text ?? name].some((word) => setsNamed(module, word, name)) ||
    elsewhere.some((base) => mayBegin(beginningsSet(base.module.alone), name)) ||
    isAny(name, registers) ||
    ['setattr', '__setattr__', '__dict__', 'vars'].some((word) => isAny(word, setsAny))
  );
}

function setsNamed(module: PyModule, word: string, name: string): boolean {
  const others = module.around.summaries({ word, beside: [] }, beginningsWhereNamed);
  return [beginningsWhereNamed(module.alone, word), ...(others ?? [['']])].some((all) => mayBegin(all, name));
}

/** In a file whose code has the word: one that only speaks of it sets nothing of it. */
function beginningsWhereNamed(alone: PyModule, word: string): readonly string[] {
  return alone.words(word).length > 0 ? beginningsSet(alone) : [];
}

function mayBegin(beginnings: readonly string[], name: string): boolean {
  return beginnings.some((each) => name.startsWith(each));
}

function registers({ text }: PyModule, name: string): boolean {
  return new RegExp(`\\bregister_(?:buffer|parameter)\\(\\s*(?:["']${name}["']|[^"'\\s])`).test(text);
}

/** `setattr(object, key, value)`: whatever the object is, and whichever attribute. That of a class's own is looked for with the class. */
function setsAny(alone: PyModule, word: string): boolean {
  return alone.words(word).some((node) => {
    const isAttribute = node.parent?.type === 'attribute' && node.parent.attribute === node;
    const holder = isAttribute ? node.parent : node;
    const call =
      holder?.parent?.type === 'call' && holder.parent.function === holder ? holder.parent : undefined;
    if (node.text !== word || node.type !== 'identifier') return false;
    const [object, key] =
      word === '__dict__' ? [holder?.object] : call === undefined ? [] : argumentsOf(call);
    if (object === undefined || object.text === classAround(node)?.self) return false;
    // `super().__setattr__(key, value)`: its own, too.
    if (holder?.object?.function?.text === 'super' || isOptions(alone, object)) return false;
    // A file is no object of a class.
    if (/^sys\.modules\[/.test(object.text)) return false;
    if (key !== undefined && plainString(key) !== undefined) return false;
    return word === 'vars' || word === '__dict__' ? isPutInto(call ?? holder) : true;
  });
}

/** `vars(object)[key] = value`, `object.__dict__.update(…)`. */
function isPutInto(variables: PyNode | undefined): boolean {
  const { parent } = variables ?? {};
  if (parent?.type === 'subscript') return isTarget(parent, true);
  const isLookedAt =
    parent?.type === 'attribute' && /^(?:copy|get|items|keys|values)$/.test(parent.attribute?.text ?? '');
  return parent?.type === 'attribute' ? !isLookedAt : parent?.type === 'assignment';
}

/** `train.step = …`, in another file. */
export function isSetElsewhere(module: PyModule, name: string): boolean {
  return module.around.summaries({ word: name, beside: [] }, setsAttribute)?.includes(true) ?? true;
}

function setsAttribute({ code }: PyModule, name: string): boolean {
  return new RegExp(`\\b(?!self\\b)\\w+\\.${name}\\s*(?:[-+*/|&]?=(?!=)|,[^=\\n()]*=(?!=))`).test(code);
}

/** What the bodies of a class and of its bases assign to a name; undefined where they bind it otherwise, or others may. */
function fieldsOf(owner: Owner, name: string): readonly Elsewhere[] | undefined {
  const fields: Elsewhere[] = [];
  for (const { module, node } of linesOf(owner))
    for (const binding of module.scopeOf(node).bindings(name)) {
      const { parent } = binding;
      const value = parent?.type === 'assignment' && parent.left === binding ? parent.right : undefined;
      if (value === undefined) return undefined;
      fields.push({ module, node: value });
    }
  if (!isPlainLine(owner)) return undefined;
  const { imported } = lineageOf(owner.module, owner.node);
  return fields.length > 0 && !imported.every((path) => path === 'abc.ABC') ? undefined : fields;
}

/** A class and its bases, as far as they are of the project. */
function linesOf({ module, node }: Elsewhere): readonly Elsewhere[] {
  const here = ancestryOf(module, node).classes.map((each) => ({ module, node: each }));
  return [...here, ...lineageOf(module, node).elsewhere];
}

/** Whether neither a class nor a base of it has a way of its own to make objects, or to get at what they hold. */
export function isPlainLine(owner: Elsewhere): boolean {
  return linesOf(owner).every(
    ({ module, node }) =>
      !HOOKS.some((hook) => module.scopeOf(node).has(hook)) && isPlainMaking({ module, node }),
  );
}

const HOOKS = ['__getattr__', '__getattribute__', '__setattr__', '__slots__'];

/** What the project gives to attributes of a name, of whatever object; undefined where one gets it otherwise than by an assignment. */
export function valuesSet(
  owner: Owner,
  name: string,
  mayCount = (_there: PyModule, _attribute: PyNode) => true,
): readonly Elsewhere[] | undefined {
  const { module } = owner;
  const isNamed = new RegExp(`\\.${name}\\b`);
  const { modules, unread } = module.around.naming({ word: name, beside: [] }, (text) => isNamed.test(text));
  if (unread !== undefined) return undefined;
  const values: Elsewhere[] = [];
  for (const there of [module, ...modules])
    for (const node of there.words(name)) {
      const attribute = node.text === name && node.parent?.attribute === node ? node.parent : undefined;
      if (attribute === undefined || !isBound(attribute) || !mayCount(there, attribute)) continue;
      if (isOfOthers(owner, there, attribute)) continue;
      const { parent } = attribute;
      const value =
        parent?.type.endsWith('assignment') && parent.left === attribute ? parent.right : undefined;
      if (value === undefined) return undefined;
      values.push({ module: there, node: value });
    }
  return values;
}

/** `self.name` in a class of which not all bases show. */
function isOfUnknown(there: PyModule, attribute: PyNode): boolean {
  const around = classAround(attribute);
  return (
    around !== undefined &&
    around.self === attribute.object?.text &&
    lineageOf(there, around.classNode).unknown
  );
}

/** `self.name` in a class that an object, of which the class is known, is not of. */
function isOfOthers({ module, node, isExact }: Owner, there: PyModule, attribute: PyNode): boolean {
  const around = classAround(attribute);
  const isSelf = around !== undefined && around.self === attribute.object?.text;
  const other = isSelf ? around.classNode.name?.text : undefined;
  if (!isExact || other === undefined) return false;
  // `Other.method(object)`
  const isLent =
    lends(there.alone, other) ||
    there.around.summaries({ word: other, beside: [] }, lends)?.includes(true) !== false;
  if (isLent || node.type !== 'class_definition') return !isLent;
  const { elsewhere, unknown } = lineageOf(module, node);
  const own = [...ancestryOf(module, node).classes, ...elsewhere.map((each) => each.node)];
  return !unknown && !own.some(({ name }) => name?.text === other);
}

function lends({ code }: PyModule, name: string): boolean {
  return new RegExp(`\\b${name}\\s*\\.\\s*(?!__)\\w`).test(code);
}

/** Whether a call of a class gives an object of it. */
export function isPlainMaking({ module, node }: Elsewhere): boolean {
  const isDecorated = decoratorsOf(node).length > 0;
  const isOther = (node.superclasses?.named ?? []).some(({ type }) => type === 'keyword_argument');
  return !isDecorated && !isOther && methodNamed(module, node, '__new__') === undefined;
}

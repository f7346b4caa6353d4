import type { PyNode } from '../syntax/node.js';
import { classAround } from './definitions.js';
import { makerOf } from './elsewhere.js';
import { qualifiedName } from './imports.js';
import type { PyModule } from './module.js';
import { isWhole } from './word-places.js';

/** Something assigns to an attribute of this name, or to a part of it: `model.loss = …`, `model.loss.reduction = …`. */
export interface AttributeWrite {
  /** The class whose `self` it is, or that made the object, as far as its file shows. */
  readonly owner: string | undefined;
  /** What is called for the value that is assigned to the attribute itself. */
  readonly made: string | undefined;
}

/** Where other files of the project set an attribute of a name. */
export function attributeWritesElsewhere(
  module: PyModule,
  name: string,
): readonly AttributeWrite[] | undefined {
  return module.around.summaries({ word: name, beside: [] }, attributeWritesIn)?.flat();
}

function attributeWritesIn(alone: PyModule, name: string): readonly AttributeWrite[] {
  const byText = setsByText(alone, name) ? [{ owner: undefined, made: undefined }] : [];
  const mayBe = (offset: number): boolean => mayBeWrittenAt(alone.text, offset, name);
  const assigned = alone.atPlaces(name, mayBe).flatMap((node) => {
    const attribute = node.parent;
    const object =
      attribute?.type === 'attribute' && attribute.attribute === node ? attribute.object : undefined;
    if (attribute === undefined || object === undefined || !isWritten(attribute)) return [];
    const around = classAround(attribute);
    const isSelf = around !== undefined && object.text === around.self;
    const maker = isSelf ? around.classNode.name?.text : makerOf(alone, object)?.split('.').at(-1);
    return [{ owner: maker, made: madeFor(alone, attribute) }];
  });
  return [...assigned, ...byText];
}

/** Whether a name stands there behind a dot, and nothing behind it says that it is only read, such as `(`. */
function mayBeWrittenAt(text: string, offset: number, name: string): boolean {
  if (
    !isWhole(text, offset, name) ||
    !/\.[\s\\]*$/.test(text.slice(Math.max(0, offset - LONGEST_GAP), offset))
  )
    return false;
  READ_BEHIND.lastIndex = offset + name.length;
  return !READ_BEHIND.test(text);
}

/** Between a dot and a name. */
const LONGEST_GAP = 200;

const READ_BEHIND =
  /(?:\s*\.\s*\w+)*[ \t]*(?:\(|[!=]=|[-+/%@&|^](?![=/])|\*(?![=*])|\*\*(?!=)|\b(?:and|else|if|is|not|or)\b)/y;

/** `for name in ("student", "teacher"): setattr(trainer, name, net)`, `vars(trainer).update(teacher=net)`. */
export function setsByText({ code }: PyModule, name: string): boolean {
  return SETS_BY_TEXT.test(code) && new RegExp(`["']${name}["']|\\.update\\([^)]*\\b${name}\\s*=`).test(code);
}

function madeFor(alone: PyModule, target: PyNode): string | undefined {
  const assignment = target.parent?.type === 'assignment' ? target.parent : undefined;
  const value = assignment?.left === target ? assignment.right : undefined;
  const callee = value?.type === 'call' ? value.function : undefined;
  return callee && qualifiedName(alone, callee);
}

/** The target of an assignment, or an object whose attribute or item is one. */
function isWritten(target: PyNode): boolean {
  let at = target;
  for (let above = at.parent; above !== undefined; above = at.parent) {
    if (/^(?:augmented_)?assignment$/.test(above.type)) return above.left === at;
    if (above.type === 'delete_statement' || at.type === 'as_pattern_target') return true;
    if (/^for_/.test(above.type)) return above.left === at;
    const isPart = above.object === at || above.value === at || /pattern|parenthesized/.test(above.type);
    if (!isPart) return false;
    at = above;
  }
  return false;
}

/** Whether a file may set some attribute by a name that is computed: `setattr(self, key, net)`. */
export function setsSomeByText({ code }: PyModule): boolean {
  return SETS_BY_TEXT.test(code);
}

export const SETS_BY_TEXT =
  /\bsetattr\(|\b__setattr__\b|(?<![.\w])exec\(|(?:\b__dict__\b|\bvars\([^()]*\))(?:\s*\[[^\]\n]*\]\s*=(?!=)|\.(?:update|setdefault)\b)|=\s*(?:[\w.]+\.__dict__\b|vars\()/;

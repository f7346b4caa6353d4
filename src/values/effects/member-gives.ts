import { givesModule, isOfModule } from '../../library/library.js';
import { isAnywhere } from '../../semantic/anywhere.js';
import type { PyModule } from '../../semantic/module.js';
import { isMethodOfProject } from '../../semantic/project-names.js';
import { isCallee, isTarget } from '../../semantic/statements.js';
import type { PyNode } from '../../syntax/node.js';

/** What hands out a network with its parts, gives it to a hook, or leads to its class. */
const GIVES_PARTS =
  /^(?:modules|named_modules|children|named_children|_modules|__dict__|__class__|register_\w*hook)$/;

/** The network in a wrapper. */
const GIVES_WHOLE = /^(?:module|_orig_mod)$/;

/** What an attribute of an object, or the method that is called, may give of it; a method of the project that returns its `self` shows by that. */
export function memberGives(module: PyModule, member: PyNode): 'itself' | 'parts' | 'other' {
  const name = member.attribute?.text ?? '';
  if (GIVES_PARTS.test(name)) return 'parts';
  if (!isCallee(member)) return GIVES_WHOLE.test(name) ? 'itself' : 'other';
  const givesOther = isOfModule(name)
    ? !givesModule(name)
    : isMethodOfProject(module, name) || isAnywhere(module, name, isSetIn);
  return givesOther ? 'other' : 'itself';
}

/** `net.body = …`: a part, and no method. */
function isSetIn(alone: PyModule, name: string): boolean {
  return alone.words(name).some((word) => word.parent?.attribute === word && isTarget(word.parent));
}

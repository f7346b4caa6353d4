import { NEW_AMP, OLD_AMP } from '../../src/library/names.js';
import { type Gate, gate, placeOf } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { ask } from '../../src/semantic/question.js';
import { enclosingFunction } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isAtHand } from './at-hand.js';
import { type AmpUse, kindOfUse, OTHER_DTYPE, topOfPath } from './old-amp.js';

/** Of objects that are asked for their class. */
const CLASSES: ReadonlySet<string> = new Set(['autocast', 'GradScaler']);

/** That nobody tells the objects that these uses make by their old class, of which the new one is the base. */
export function askerGates(module: PyModule, uses: readonly AmpUse[]): readonly Gate[] {
  const abroad = uses.filter(
    ({ name, node, kind }) =>
      CLASSES.has(name) && kind === 'call' && node.parent !== undefined && !isAtHand(module, node.parent),
  );
  const names = [...new Set(abroad.map(({ name }) => name))];
  return names.flatMap((name) => [
    gate(askersIn(module, name).length === 0, 'this file asks for the old class elsewhere'),
    ...(name === 'GradScaler' ? module.memo(scalerAskers, module) : module.memo(autocastAskers, module)),
  ]);
}

function scalerAskers(module: PyModule): readonly Gate[] {
  return askersElsewhere(module, 'GradScaler', 'the scaler');
}

function autocastAskers(module: PyModule): readonly Gate[] {
  return askersElsewhere(module, 'autocast', 'the region');
}

/** Other files of the project that ask for the class. */
function askersElsewhere(module: PyModule, name: string, what: string): readonly Gate[] {
  const { modules, unread } = module.around.naming({ word: name, beside: ['cuda', 'amp'] }, (text) =>
    /isinstance|issubclass|type\(|__class__|\bcase\b|register/.test(text),
  );
  const asker = modules.flatMap((there) => {
    const [asked] = askersIn(there, name);
    return asked === undefined ? [] : [placeOf(there, asked)];
  })[0];
  const who = asker ?? unread;
  if (who === undefined) return [];
  const otherwise = ask(
    'class-unasked',
  )`Does ${who}, where the old class is asked for, get something other than ${what}?`;
  return [{ answer: 'unknown', otherwise }];
}

/** Where a file uses the old class other than by making one or naming it: to tell objects by it. */
function askersIn(module: PyModule, name: string): readonly PyNode[] {
  return module
    .at(name)
    .filter(({ text }) => text === name)
    .flatMap((node) => namedBy(module, node))
    .filter((node) => {
      // `case GradScaler():` names it as written.
      const pattern = node.closest('class_pattern', 'block')?.named[0];
      if (pattern?.type === 'dotted_name') return !pattern.text.startsWith(NEW_AMP);
      const top = topOfPath(node);
      const path = qualifiedName(module, top) ?? '';
      // The class is also in the module that defines it: `autocast_mode.autocast`.
      return path.startsWith(`${OLD_AMP}.`) && path.endsWith(`.${name}`) && isAsked(module, top);
    });
}

/** The node itself; of an import, the reads of what it binds. */
function namedBy(module: PyModule, node: PyNode): readonly PyNode[] {
  if (node.closest('import_from_statement', 'import_statement') === undefined) return [node];
  const bound = node.closest('aliased_import', 'import_from_statement')?.alias ?? node;
  const scope = roleOf(bound) === 'import' ? module.resolve(bound) : undefined;
  return scope === undefined ? [] : module.reads(scope, bound.text);
}

/** Not where it is chosen or inherited from, which makes objects; by another name, where that is asked for. */
function isAsked(module: PyModule, top: PyNode): boolean {
  if (kindOfUse(top) !== 'value') return false;
  const holder = top.parent;
  if (holder?.type === 'argument_list') return holder.parent?.type !== 'class_definition';
  if (holder?.type !== 'assignment') return holder?.type !== 'conditional_expression';
  const name = holder.left;
  const scope = name?.type === 'identifier' ? module.resolve(name) : undefined;
  if (name === undefined || scope === undefined) return true;
  return module.reads(scope, name.text).some((read) => isAsked(module, read));
}

/**
 * Whether another file sets the dtype that the new `autocast` has by default, or runs the function around a node in a region
 * of its own.
 */
export function isDtypeSetElsewhere(module: PyModule, node: PyNode): boolean {
  if (module.memo(settersElsewhere, module)) return true;
  const name = enclosingFunction(node)?.name;
  if (name === undefined) return false;
  const { uses, unread } = usesElsewhere(module, name, {
    may: (text) => OTHER_DTYPE.test(text),
    byName: false,
  });
  return uses.length > 0 || unread !== undefined;
}

function settersElsewhere({ around }: PyModule): boolean {
  return ['set_autocast_gpu_dtype', 'set_autocast_dtype'].some((word) => {
    const { modules, unread } = around.naming({ word, beside: [] }, () => true);
    return modules.length > 0 || unread !== undefined;
  });
}

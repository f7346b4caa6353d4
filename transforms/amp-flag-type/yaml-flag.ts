import { attributeUses } from '../../src/semantic/attribute-uses.js';
import { classBehind } from '../../src/semantic/definitions.js';
import { valuesGiven } from '../../src/semantic/function-uses.js';
import { hydraSetting } from '../../src/semantic/hydra.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { enclosingFunction } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';

/**
 * The YAML file of a Hydra program that says `true` or `false` for `cfg.train.amp`, a part of what a function is given, or for
 * a parameter that every caller gives such a part.
 */
export function yamlFlag(module: PyModule, subject: PyNode): string | undefined {
  const parameter = subject.type === 'identifier' ? onlyParameter(module, subject) : undefined;
  if (parameter === undefined) return flagAt(module, subject);
  const owner = enclosingFunction(parameter);
  const given = (owner && valuesGiven(module, owner, parameter)) ?? [];
  const [first, ...others] = given.map((each) => flagAt(each.module, each.node));
  return others.every((each) => each === first) ? first : undefined;
}

function flagAt(module: PyModule, subject: PyNode): string | undefined {
  const keys: string[] = [];
  let at: PyNode | undefined = subject;
  for (; at?.type === 'attribute' && !isGivenToInit(module, at); at = at.object)
    keys.unshift(at.attribute?.text ?? '');
  const isGiven =
    at?.type === 'attribute' || (at?.type === 'identifier' && onlyParameter(module, at) !== undefined);
  const setting = isGiven && keys.length > 0 ? hydraSetting(module, keys) : undefined;
  return typeof setting?.value === 'boolean' ? setting.path : undefined;
}

/** `self.cfg`, which is only ever what the constructor is given. */
function isGivenToInit(module: PyModule, attribute: PyNode): boolean {
  const owner = attribute.object?.type === 'identifier' && classBehind(module, attribute.object);
  if (!owner) return false;
  const writes = attributeUses(module, owner, attribute.attribute?.text ?? '').filter(
    ({ kind }) => kind !== 'read',
  );
  return (
    writes.length > 0 &&
    writes.every(({ node }) => {
      const value = node.parent?.left === node ? node.parent.right : undefined;
      return value?.type === 'identifier' && onlyParameter(module, value) !== undefined;
    })
  );
}

/** The parameter that a name is, which nothing in its function binds anew. */
function onlyParameter(module: PyModule, name: PyNode): PyNode | undefined {
  const scope = module.resolve(name);
  const writes = scope?.kind === 'function' ? module.writes(scope, name.text) : [];
  return writes.every((write) => roleOf(write) === 'parameter') ? writes[0] : undefined;
}

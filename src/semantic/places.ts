import type { PyNode } from '../syntax/node.js';
import { attributeUses, plainAttributes } from './attribute-uses.js';
import { classAround, classBehind } from './definitions.js';
import type { PyModule } from './module.js';
import { attributeUsesElsewhere, usesElsewhere } from './uses-elsewhere.js';

export interface Places {
  readonly writes: readonly PyNode[];
  readonly reads: readonly PyNode[];
}

/** All places of a variable, or of an attribute that each object of the class sets and reads by `self`; undefined where more may be. */
export function allPlacesOf(module: PyModule, holder: PyNode): Places | undefined {
  const look = { may: () => true, byName: true };
  if (holder.type === 'identifier') {
    const scope = module.resolve(holder);
    if (scope === undefined) return undefined;
    const { uses, unread } = usesElsewhere(module, holder, { ...look, byName: false });
    if (uses.length > 0 || unread !== undefined) return undefined;
    return { writes: module.writes(scope, holder.text), reads: module.reads(scope, holder.text) };
  }
  const owner = holder.type === 'attribute' ? classBehind(module, holder.object ?? holder) : undefined;
  const name = holder.attribute?.text ?? '';
  if (owner === undefined || plainAttributes(module, owner, name).answer !== 'yes') return undefined;
  const { uses, unread } = attributeUsesElsewhere(module, owner, name, look);
  if (uses.length > 0 || unread !== undefined) return undefined;
  const here = attributeUses(module, owner, name);
  const isOwn = ({ node, kind }: (typeof here)[number]): boolean =>
    node.object?.text === classAround(node)?.self && /^(?:read|write)$/.test(kind);
  if (!here.every(isOwn)) return undefined;
  return {
    writes: here.flatMap(({ node, kind }) => (kind === 'write' ? [node] : [])),
    reads: here.flatMap(({ node, kind }) => (kind === 'read' ? [node] : [])),
  };
}

import type { NodeType } from './grammar.js';

/** What both tree-sitter bindings offer of a cursor; reading a tree through one is several times faster than by nodes. */
export interface BackendCursor {
  readonly nodeType: string;
  readonly nodeTypeId: number;
  readonly nodeIsNamed: boolean;
  readonly startIndex: number;
  readonly endIndex: number;
  /** Zero or undefined where the node has no field. */
  readonly currentFieldId: number | undefined;
  readonly currentFieldName: string | null | undefined;
  /** Of the nodes below the one it was made for, in source order, the one where it stands. */
  readonly currentDescendantIndex: number;
  gotoDescendant(index: number): void;
  gotoFirstChild(): boolean;
  gotoNextSibling(): boolean;
  gotoParent(): boolean;
  delete?(): void;
}

export interface BackendNode {
  walk(): BackendCursor;
}

/** What nodes of a kind have in common. */
export interface Kind {
  readonly type: NodeType;
  readonly isNamed: boolean;
}

/** By number, which both backends give alike; a name would be a new text each time. */
const KINDS: Kind[] = [];

export function kindAt(cursor: BackendCursor): Kind {
  // Of 16 bits; that of an error has them all, and comes first here.
  const id = (cursor.nodeTypeId + 1) & 0xffff;
  let kind = KINDS[id];
  if (kind === undefined) {
    // Both parsers read the grammar that the types were generated from.
    kind = { type: cursor.nodeType as NodeType, isNamed: cursor.nodeIsNamed };
    KINDS[id] = kind;
  }
  return kind;
}

/** By number, for the same reason. */
const FIELDS: string[] = [];

export function fieldAt(cursor: BackendCursor): string | undefined {
  const id = cursor.currentFieldId;
  if (id === undefined || id === 0) return undefined;
  FIELDS[id] ??= cursor.currentFieldName ?? '';
  return FIELDS[id];
}

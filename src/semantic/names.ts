import type { PyNode } from '../syntax/node.js';

/** What an identifier does with its name at that place. `none`: it is not a variable (an attribute, a keyword, a module path). */
export type Role =
  | 'read'
  | 'write'
  | 'update'
  | 'delete'
  | 'declare'
  | 'loop'
  | 'parameter'
  | 'import'
  | 'def'
  | 'class'
  | 'global'
  | 'nonlocal'
  | 'none';

const BINDING: ReadonlySet<Role> = new Set<Role>([
  'write',
  'update',
  'delete',
  'declare',
  'loop',
  'parameter',
  'import',
  'def',
  'class',
]);

export function binds(role: Role): boolean {
  return BINDING.has(role);
}

const TARGET_PATTERNS: ReadonlySet<string> = new Set([
  'pattern_list',
  'tuple_pattern',
  'list_pattern',
  'list_splat_pattern',
  'dictionary_splat_pattern',
  'parenthesized_expression',
  'expression_list',
  'tuple',
  'list',
  'list_splat',
]);

export function roleOf(identifier: PyNode): Role {
  let child = identifier;
  let parent = identifier.parent;
  switch (parent?.type) {
    case 'attribute':
      return parent.attribute === identifier ? 'none' : 'read';
    case 'keyword_argument':
      return parent.name === identifier ? 'none' : 'read';
    case 'function_definition':
      return parent.name === identifier ? 'def' : 'read';
    case 'class_definition':
      return parent.name === identifier ? 'class' : 'read';
    case 'global_statement':
      return 'global';
    case 'nonlocal_statement':
      return 'nonlocal';
    case 'dotted_name':
      return dottedRole(identifier, parent);
    case 'aliased_import':
      return parent.alias === identifier ? 'import' : 'none';
    case 'named_expression':
      return parent.name === identifier ? 'write' : 'read';
    case 'parameters':
    case 'lambda_parameters':
      return 'parameter';
    case 'default_parameter':
    case 'typed_default_parameter':
      return parent.name === identifier ? 'parameter' : 'read';
    case 'typed_parameter':
      return parent.children[0] === identifier ? 'parameter' : 'read';
    case 'keyword_pattern':
      return parent.named[0] === identifier ? 'none' : 'write';
    case 'splat_pattern':
    case 'case_pattern':
      return 'write';
    case 'as_pattern':
      // `case C() as x` has the bare identifier; `with a as x` wraps it in as_pattern_target.
      return parent.alias === identifier || parent.parent?.type === 'case_pattern' ? 'write' : 'read';
  }
  while (parent !== undefined && TARGET_PATTERNS.has(parent.type)) {
    child = parent;
    parent = parent.parent;
  }
  switch (parent?.type) {
    case 'assignment':
      if (parent.left !== child) return 'read';
      return parent.right === undefined ? 'declare' : 'write';
    case 'augmented_assignment':
      return parent.left === child ? 'update' : 'read';
    case 'for_statement':
    case 'for_in_clause':
      return parent.left === child ? 'loop' : 'read';
    case 'as_pattern_target':
      return 'write';
    case 'delete_statement':
      return 'delete';
    case 'parameters':
    case 'lambda_parameters':
    case 'typed_parameter':
      return child.type.endsWith('_pattern') ? 'parameter' : 'read';
    default:
      return 'read';
  }
}

function dottedRole(identifier: PyNode, dotted: PyNode): Role {
  const owner = dotted.parent;
  switch (owner?.type) {
    case 'import_statement':
      return dotted.named[0] === identifier ? 'import' : 'none';
    case 'import_from_statement':
    case 'future_import_statement':
      return owner.module_name === dotted ? 'none' : 'import';
    case 'aliased_import':
    case 'relative_import':
      return 'none';
    case 'case_pattern':
    case 'keyword_pattern':
    case 'union_pattern':
      // A bare name in a pattern captures; a dotted one is a value.
      if (dotted.named.length === 1 && identifier.text !== '_') return 'write';
      return dotted.named[0] === identifier ? 'read' : 'none';
    default:
      return dotted.named[0] === identifier ? 'read' : 'none';
  }
}

/** The dotted path an import binds to this identifier: `import a.b` → `a`, `from a import b as c` → `a.b`. */
export function importedPath(identifier: PyNode): string | undefined {
  if (roleOf(identifier) !== 'import') return undefined;
  const statement = identifier.closest(
    'import_statement',
    'import_from_statement',
    'future_import_statement',
  );
  if (statement === undefined) return undefined;
  const aliased = identifier.closest('aliased_import');
  const imported = aliased?.name?.text ?? identifier.text;
  if (statement.type === 'import_statement') return imported;
  const from = statement.type === 'future_import_statement' ? '__future__' : statement.module_name?.text;
  return from === undefined ? undefined : `${from}${from.endsWith('.') ? '' : '.'}${imported}`;
}

export function namesIn(target: PyNode | undefined): readonly PyNode[] {
  return target === undefined ? [] : [...target.walk()].filter(({ type }) => type === 'identifier');
}

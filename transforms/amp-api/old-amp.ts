import { isHarmlessBuiltin, isOfModulesToo } from '../../src/library/library.js';
import { AMP_NAMES, OLD_AMP } from '../../src/library/names.js';
import { type Gate, gate, placeOf } from '../../src/semantic/gate.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { readerInFile } from '../../src/semantic/liveness.js';
import type { PyModule } from '../../src/semantic/module.js';
import { importedPath, roleOf } from '../../src/semantic/names.js';
import { isProgram } from '../../src/semantic/program.js';
import { ask, type Question } from '../../src/semantic/question.js';
import type { Scope } from '../../src/semantic/scope.js';
import { methodName, receiverOf } from '../../src/semantic/statements.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { valueOf } from '../../src/values/index.js';

/** A use of one of the names that moved. */
export interface AmpUse {
  /** `autocast`, `GradScaler`, … */
  readonly name: string;
  /** The expression that names it. */
  readonly node: PyNode;
  readonly kind: 'call' | 'decorator' | 'annotation' | 'value';
}

/** A use that spells the whole path: `torch.cuda.amp.autocast`, from a node inside it. */
export function dottedAmpUse(module: PyModule, inside: PyNode): AmpUse | undefined {
  const top = topOfPath(inside);
  const path = qualifiedName(module, top);
  const name = path?.startsWith(`${OLD_AMP}.`) ? path.slice(OLD_AMP.length + 1) : undefined;
  return name !== undefined && AMP_NAMES.has(name) ? { name, node: top, kind: kindOfUse(top) } : undefined;
}

/** An import that binds the old namespace or names of it, and all that the file does with them. */
export interface AmpImport {
  readonly statement: PyNode;
  /** What to write anew: the path that is imported from. */
  readonly path: PyNode;
  readonly bound: readonly PyNode[];
  /** Undefined where a use is none of the names that moved. */
  readonly uses: readonly AmpUse[] | undefined;
  /** The names are bound once, by this import alone. */
  readonly isOnlyBinding: boolean;
}

export function ampImport(module: PyModule, statement: PyNode): AmpImport | undefined {
  const path = statement.module_name ?? statement.named.find((each) => each.type === 'aliased_import')?.name;
  const bound = statement.named
    .filter((each) => each !== path || each.type === 'aliased_import')
    .flatMap((each) => [each.alias ?? each.named.at(-1) ?? each])
    .filter((each) => roleOf(each) === 'import');
  const paths = bound.map((each) => importedPath(each) ?? '');
  const isOurs = (each: string): boolean =>
    each === OLD_AMP || (each.startsWith(`${OLD_AMP}.`) && AMP_NAMES.has(each.slice(OLD_AMP.length + 1)));
  if (path === undefined || bound.length === 0 || !paths.every(isOurs)) return undefined;
  const uses: (AmpUse | undefined)[] = [];
  let isOnlyBinding = true;
  for (const [index, each] of bound.entries()) {
    const scope = module.resolve(each);
    if (scope === undefined) return undefined;
    isOnlyBinding &&= module.writes(scope, each.text).length === 1;
    uses.push(...usesOfName(module, scope, each.text, paths[index]));
  }
  const known = uses.flatMap((use) => use ?? []);
  return { statement, path, bound, uses: known.length === uses.length ? known : undefined, isOnlyBinding };
}

/** What the reads of a name are that stands for a path; undefined where one is none of the names that moved. */
function usesOfName(
  module: PyModule,
  scope: Scope,
  name: string,
  path: string | undefined,
): readonly (AmpUse | undefined)[] {
  const byName = module.memo(noUsesYet, scope.node);
  const key = `${name} ${path}`;
  const known = byName.get(key);
  if (known !== undefined) return known;
  const uses = module
    .reads(scope, name)
    .map((read) => (path === OLD_AMP ? dottedAmpUse(module, read) : bareUse(read, path)));
  byName.set(key, uses);
  return uses;
}

/** By name and path: a file may import the same again and again. */
function noUsesYet(): Map<string, readonly (AmpUse | undefined)[]> {
  return new Map();
}

function bareUse(read: PyNode, path = ''): AmpUse | undefined {
  if (topOfPath(read) !== read) return undefined;
  return { name: path.slice(OLD_AMP.length + 1), node: read, kind: kindOfUse(read) };
}

/** The whole of a dotted path, from a node inside it. */
export function topOfPath(inside: PyNode): PyNode {
  let top = inside;
  if (top.parent?.type === 'attribute' && top.parent.attribute === top) top = top.parent;
  while (top.parent?.type === 'attribute' && top.parent.object === top) top = top.parent;
  return top;
}

export function kindOfUse(node: PyNode): AmpUse['kind'] {
  const { parent } = node;
  if (parent?.type === 'call' && parent.function === node) return 'call';
  if (parent?.type === 'decorator') return 'decorator';
  return node.closest('type', 'block', 'module')?.type === 'type' ? 'annotation' : 'value';
}

/** What makes regions of other types. */
export const OTHER_DTYPE =
  /bfloat16|\bbf16\b|set_autocast|mixed_precision|ccelerat|ightning|\bFabric\b|deepspeed|transformers|rainer\(/;

/** `autocast("cuda", dtype=amp_dtype)`, `autocast("cuda", amp_dtype)`: a region whose dtype is not float16 as it is written. */
const OPEN_DTYPE =
  /\bautocast\b[^:]{0,200}?\bdtype\s*=\s*(?!(?:torch\.)?(?:float16|half)\b)|\bautocast\(\s*["'\w.]+\s*,\s*(?!\w+\s*=)|\bautocast\([^()]*\*/;

/**
 * Whether a region of another dtype may be around a node: not where a program trains by hand in float16 and the node is not
 * part of a module that others run.
 */
export function mayBeInOtherAutocast(module: PyModule, node: PyNode): boolean {
  if (module.mentions(OTHER_DTYPE) || module.mentions(OPEN_DTYPE)) return true;
  if (node.closest('class_definition') !== undefined || !isProgram(module)) return true;
  return !module.mentions(/\.backward\(/);
}

/**
 * Whether code that a switched-off region runs may open a region of its own, whose dtype is by default that of the region
 * around it, on or off. It does not where all that is called there is torch's own.
 */
export function mayOpenAutocast(module: PyModule, region: PyNode): boolean {
  const body = bodyOf(region);
  return body === undefined || [...body.walk()].some((node) => runsOtherCode(module, node));
}

function bodyOf(region: PyNode): PyNode | undefined {
  const holder = region.closest('with_item', 'decorator', 'block', 'module');
  if (holder?.type === 'with_item') return region.closest('with_statement')?.body;
  return holder?.type === 'decorator' ? holder.parent?.definition?.body : undefined;
}

function runsOtherCode(module: PyModule, node: PyNode): boolean {
  if (node.type === 'yield' || node.type === 'await' || node.type === 'with_statement') return true;
  const callee = node.type === 'call' ? node.function : undefined;
  if (callee === undefined) return false;
  const path = qualifiedName(module, callee);
  if (path !== undefined) return !/^torch\.(?:\w+\.)*[a-z]\w*$/.test(path) || path.includes('autocast');
  const [name, receiver] = [methodName(node), receiverOf(node)];
  if (name === undefined || receiver === undefined) return !isHarmlessBuiltin(callee.text);
  // Of tensors and modules alike, and without a forward.
  return !isOfModulesToo(name) && name !== 'detach' && name !== 'item' && !valueOf(module, receiver).isTensor;
}

const REPLACES =
  /\bamp(?:\.(?:autocast|GradScaler|custom_\w+))?\s*=(?!=)|\b(?:setattr|delattr|patch|patch\.object)\(\s*["']?(?:[\w.]*\.)?amp\b/;
const STANDS_IN = /\b(?:torch_npu|torch_musa|torch_mlu|habana_frameworks|intel_extension_for_pytorch)\b/;
const CHECKS_TYPES =
  /singledispatch|\.register\b|beartype|typeguard|typechecked|jaxtyping|pydantic|validate_call/;

/** What must hold in the file before one of the names may be written anew; asked only where the file gives a reason to ask. */
export function ampGates(module: PyModule, names: readonly string[]): readonly Gate[] {
  const asked = (isAsked: boolean, otherwise: Question): readonly Gate[] =>
    isAsked ? [{ answer: 'unknown', otherwise }] : [];
  return [
    gate(!module.mentions(REPLACES), 'this file puts something else in its place'),
    ...asked(
      names.includes('GradScaler') && module.mentions(CHECKS_TYPES) && isScalerAnnotated(module),
      ask(
        'types-unchecked',
      )`Do annotations with \`${'GradScaler'}\`, the old class, only inform readers here?`,
    ),
    ...asked(
      module.mentions(STANDS_IN),
      ask('replaces-new')`Does what stands in for CUDA here replace \`${'torch.amp'}\` as well?`,
    ),
    ...asked(
      module.mentions(/\btorch\.jit\b|\bfrom torch import[^\n]*\bjit\b/),
      ask('scripted')`Does \`${'torch.jit'}\`, which this file uses, take the new name?`,
    ),
  ];
}

/** A place in another file that uses the name which an import binds here. */
export function importedFromHere(module: PyModule, bound: readonly PyNode[]): string | undefined {
  for (const name of bound) {
    const { uses } = usesElsewhere(module, name, { may: () => true, byName: false });
    const use = uses.find(({ isCertain }) => isCertain);
    if (use !== undefined) return placeOf(use.module, use.node);
  }
  return undefined;
}

function isScalerAnnotated(module: PyModule): boolean {
  return module
    .at('GradScaler')
    .some((node) => node.text === 'GradScaler' && kindOfUse(topOfPath(node)) === 'annotation');
}

/** Whether a name that an import binds can be reached in other ways than by itself. */
export function reachGates(module: PyModule, bound: readonly PyNode[]): readonly Gate[] {
  return [
    gate(
      bound.every((name) => module.resolve(name)?.kind !== 'class'),
      'the name is an attribute of a class as well',
    ),
    {
      answer: module.mentions(/(?<![.\w])(?:globals|locals|vars|eval|exec)\(/) ? 'unknown' : 'yes',
      otherwise: ask('unreached-name')`Is \`${bound[0]?.text}\` out of reach of ${readerInFile(module)}?`,
    },
  ];
}

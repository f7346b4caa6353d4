import { definitionOf } from '../../src/semantic/flow.js';
import type { PyModule } from '../../src/semantic/module.js';
import { roleOf } from '../../src/semantic/names.js';
import { enclosingFunction, statementOf } from '../../src/semantic/statements.js';
import { readsOf, writesOf } from '../../src/semantic/variables.js';
import { ownsItsLines } from '../../src/syntax/layout.js';
import type { PyNode } from '../../src/syntax/node.js';
import { onlyNames } from './given-place.js';

/** What becomes of the code that gives a place once the load needs none. */
export interface Replaced {
  /** The statements that have only computed it. */
  readonly unneeded: readonly PyNode[];
  readonly left: readonly Left[];
}

/** A name that nobody reads any more. */
export interface Left {
  /** Where it is bound. */
  readonly name: PyNode;
  readonly kind: 'import' | 'parameter' | 'variable';
}

/** For a place that only names a device. */
export function replaced(module: PyModule, place: PyNode): Replaced {
  return new Leaving(module, place).all();
}

/** Follows a place to what nobody reads without it, and that to what it was made of. */
class Leaving {
  readonly #gone: Set<PyNode>;
  readonly #left = new Map<PyNode, Left>();

  constructor(
    private readonly module: PyModule,
    private readonly place: PyNode,
  ) {
    this.#gone = new Set([place]);
  }

  all(): Replaced {
    for (let known = 0; known < this.#gone.size; ) {
      known = this.#gone.size;
      for (const name of [...this.#gone].flatMap((part) => [...part.walk()])) this.#leave(name);
    }
    return { unneeded: [...this.#gone].slice(1), left: [...this.#left.values()] };
  }

  #leave(name: PyNode): void {
    const { module } = this;
    const writes = isOfFunction(module, name) ? writesOf(module, name) : [];
    const [first] = writes;
    if (first === undefined || this.#isGone(first)) return;
    const reads = readsOf(module, name).filter((read) => !this.#isGone(read) && !isForItself(read));
    if (!reads.every(isForPlace)) return;
    // What another load goes to stays, too.
    const makers = reads.length > 0 ? undefined : this.#makersOf(name, writes);
    for (const maker of makers ?? []) this.#gone.add(maker);
    const bound = writes.find((write) => roleOf(write) === 'parameter') ?? first;
    if (!this.#isGone(bound)) this.#left.set(bound, { name: bound, kind: kindOf(bound) });
  }

  #isGone(node: PyNode): boolean {
    return [...this.#gone].some((part) => part.contains(node));
  }

  /** The statements that give a variable its values, if all of these can go; a parameter itself stays. */
  #makersOf(name: PyNode, writes: readonly PyNode[]): readonly PyNode[] | undefined {
    const { module } = this;
    const around = enclosingFunction(this.place);
    if (module.resolve(name)?.node !== around || readsByText(module, around ?? module.root)) return undefined;
    const makers = writes
      .filter((write) => roleOf(write) !== 'parameter')
      .map((write) => this.#makerAt(write));
    return makers.includes(undefined) ? undefined : [...new Set(makers)].flatMap((maker) => maker ?? []);
  }

  /** The statement that only gives a variable a value, or the `if` around that does nothing else. */
  #makerAt(write: PyNode): PyNode | undefined {
    let at = statementOf(write);
    while (at.parent !== undefined && !at.parent.contains(this.place)) at = at.parent;
    const isMaker = at.parent?.contains(this.place) === true && givesOnly(this.module, at, write.text);
    // What somebody has written about it is not ours to take.
    const hasRemark = [...at.walk()].some(({ type }) => type === 'comment');
    return isMaker && !hasRemark && ownsItsLines(this.module, at) ? at : undefined;
  }
}

function kindOf(bound: PyNode): Left['kind'] {
  const role = roleOf(bound);
  return role === 'parameter' || role === 'import' ? role : 'variable';
}

/** `name = value`, with a value that only names something, or an `if` with nothing else in its branches. */
function givesOnly(module: PyModule, statement: PyNode, name: string): boolean {
  if (statement.type === 'if_statement')
    return partsOf(statement).every((part) =>
      isStatement(part) ? givesOnly(module, part, name) : onlyNames(module, part),
    );
  const [only] = statement.named;
  const { left, right } = only?.type === 'assignment' ? only : {};
  if (left?.text !== name || left.type !== 'identifier' || right === undefined) return false;
  const found = definitionOf(left);
  return found.kind === 'value' && found.value === right && onlyNames(module, right);
}

/** Names of variables as texts. */
function readsByText(module: PyModule, around: PyNode): boolean {
  return /(?<![.\w])(?:locals|vars|dir|eval|exec)\(/.test(module.codeOf(around));
}

/** In the place of a load. */
function isForPlace(read: PyNode): boolean {
  return [...read.ancestors()].some(
    (above) => above.type === 'keyword_argument' && above.name?.text === 'map_location',
  );
}

/** The conditions of an `if`, and the statements in its branches. */
function partsOf(branch: PyNode): readonly PyNode[] {
  return branch.named.flatMap((part) => {
    if (part.type === 'comment') return [];
    return /^(?:block|elif_clause|else_clause)$/.test(part.type) ? partsOf(part) : [part];
  });
}

function isStatement({ parent }: PyNode): boolean {
  return parent?.type === 'block';
}

/** `device = device or "cuda"`, and the condition of an `if` that does only this. */
function isForItself(read: PyNode): boolean {
  const statement = statementOf(read);
  const all = statement.type === 'if_statement' ? partsOf(statement).filter(isStatement) : [statement];
  return all.every(({ named: [only] }) => only?.type === 'assignment' && only.left?.text === read.text);
}

/** A parameter or a variable of the function around, and a name that is imported. */
function isOfFunction(module: PyModule, node: PyNode): boolean {
  if (node.type !== 'identifier' || roleOf(node) !== 'read' || /^(?:self|cls)$/.test(node.text)) return false;
  return (
    module.resolve(node)?.kind === 'function' ||
    writesOf(module, node).some((write) => roleOf(write) === 'import')
  );
}

import { Glimpse, placesOf, spanAt } from '../syntax/glimpse.js';
import type { PyNode } from '../syntax/node.js';
import type { SyntaxTree } from '../syntax/parser.js';
import { quietPlaces, withoutProse } from '../syntax/prose.js';
import { isBetween, within } from '../syntax/within.js';
import { Lines, type Span } from '../text/lines.js';
import { mayBind } from './may-bind.js';
import { binds, roleOf } from './names.js';
import { belongsInside, Scope, scopeKind } from './scope.js';
import { ALONE, type Surroundings } from './surroundings.js';
import type { Versions } from './versions.js';
import { declaredNames, isSetAt, isWhole, WordPlaces } from './word-places.js';

const NOT_CODE: ReadonlySet<string> = new Set([
  'comment',
  'string',
  'string_content',
  'string_start',
  'string_end',
  'escape_sequence',
  'concatenated_string',
]);

/** One parsed file and the facts about its names. Everything is made on first use and kept. */
export class PyModule {
  /** The file by itself. What is asked of that, and not of the project around it, is known to all that see the file. */
  readonly alone: PyModule;
  readonly lines: Lines;
  readonly #scopes = new Map<PyNode, Scope>();
  readonly #places: WordPlaces;
  readonly #hits = new Map<string, readonly PyNode[]>();
  readonly #facts = new Map<unknown, unknown>();
  readonly #reads: Chosen = new Map();
  readonly #writes: Chosen = new Map();

  constructor(
    readonly path: string,
    readonly text: string,
    private readonly tree: SyntaxTree,
    /** The project that the file is part of. */
    readonly around: Surroundings = ALONE,
    readonly glimpse = new Glimpse(text),
    alone?: PyModule,
    /** Where the cells of a notebook begin, if they are to be taken as run in any order; else it is a program like others. */
    readonly cells: readonly number[] = [],
  ) {
    this.alone = alone ?? this;
    this.lines = alone?.lines ?? new Lines(text);
    this.#places = alone === undefined ? new WordPlaces(text) : alone.#places;
  }

  /** The same file as another scan sees it. */
  seenWith(around: Surroundings): PyModule {
    return new PyModule(this.path, this.text, this.tree, around, this.glimpse, this.alone, this.cells);
  }

  /** Parsed when it is first asked for. */
  get root(): PyNode {
    return this.tree.root;
  }

  /** Of the packages that the file's project asks for. */
  get versions(): Versions {
    return this.around.versions;
  }

  /** The nodes where a literal occurs in code (not in strings or comments): the entry points of `detect`. */
  at(literal: string): readonly PyNode[] {
    return this.#hitsOf(literal, literal, () => true);
  }

  /** Those of them that are in a node; the others are not made. */
  atWithin(literal: string, around: PyNode): readonly PyNode[] {
    const known = this.alone.memo(noHitsYet, around);
    let found = known.get(literal);
    if (found === undefined) {
      // In a long file, many ask.
      const isPart = around !== this.root && this.text.length <= LONG_TEXT;
      found = isPart ? this.atPlaces(literal, () => true, around) : within(this.at(literal), around);
      known.set(literal, found);
    }
    return found;
  }

  /** The same as `at`, but not where the literal is part of a longer word. */
  words(literal: string): readonly PyNode[] {
    return this.#hitsOf(`word ${literal}`, literal, (offset) => isWhole(this.text, offset, literal));
  }

  /** Those of them with an `=` or a `:` behind them: what is set, and given by name, has one. */
  wordsSet(literal: string): readonly PyNode[] {
    return this.#hitsOf(`set ${literal}`, literal, (offset) => isSetAt(this.text, offset, literal));
  }

  #hitsOf(key: string, literal: string, isWanted: (offset: number) => boolean): readonly PyNode[] {
    if (this.alone !== this) return this.alone.#hitsOf(key, literal, isWanted);
    let found = this.#hits.get(key);
    if (found === undefined) {
      found = this.atPlaces(literal, isWanted);
      this.#hits.set(key, found);
    }
    return found;
  }

  /**
   * The same, but only in functions whose text may hold what is looked for (or outside of all, where the rest may): the
   * others are not even parsed. `may` is false only where it cannot be.
   */
  atWhere(literal: string, may: (stretch: string) => boolean): readonly PyNode[] {
    return this.atPlaces(literal, this.isWhere(may));
  }

  /** The same for the places of a whole word, of which a file may have many to ask for. */
  wordsWhere(word: string, may: (stretch: string) => boolean): readonly PyNode[] {
    const isThere = this.isWhere(may);
    return this.#wordsExcept(word, this.root, (offset) => !isThere(offset));
  }

  /** Whether a place is in a stretch that passes a test. */
  isWhere(may: (stretch: string) => boolean): (offset: number) => boolean {
    const answers = new Map<number, boolean>();
    const pieces = this.glimpse.outline?.pieces ?? [];
    return (offset) => {
      const index = spanAt(pieces, offset) ?? pieces.length;
      let answer = answers.get(index);
      if (answer === undefined) {
        answer = may(this.glimpse.stretch(index));
        answers.set(index, answer);
      }
      return answer;
    };
  }

  /** The same, but only at places that the text around them does not rule out. */
  atPlaces(literal: string, isWanted: (offset: number) => boolean, around?: PyNode): readonly PyNode[] {
    // The empty text is found everywhere, for ever.
    if (literal === '') return [];
    const lead = /^\W*/.exec(literal)?.[0].length ?? 0;
    const found: PyNode[] = [];
    const places = around === undefined ? this.glimpse.placesOf(literal) : placesOf(literal, around.text);
    for (const at of places) {
      const from = at + (around?.start ?? 0);
      if (this.#isQuiet(from) || !isWanted(from)) continue;
      const node = this.root.descendantAt(lead === literal.length ? from : from + lead);
      if (!NOT_CODE.has(node.type) && found.at(-1) !== node) found.push(node);
    }
    return found;
  }

  /** Whether a place is known to be in a comment or a string, without a look at the tree. */
  #isQuiet(offset: number): boolean {
    return isBetween(this.glimpse.outline?.quiet ?? [], offset);
  }

  /** Whether the code matches a pattern: looked up once for all findings. */
  mentions(pattern: RegExp): boolean {
    const known = this.alone.memo(nothingMentioned, this.alone);
    const answer = known.get(String(pattern)) ?? pattern.test(this.code);
    known.set(String(pattern), answer);
    return answer;
  }

  /** The text with blanks for comments, docstrings and strings of several words: nothing is concluded from what people say to one another. */
  get code(): string {
    return this.alone.memo(codeIn, this.alone);
  }

  /** The code of a node in the same sense. */
  codeOf({ start, end }: Span): string {
    return this.code.slice(start, end);
  }

  /** A fact about a node, a name or the file that is computed once: `make` must be a module-level function. */
  memo<K extends PyNode | PyModule | string, V>(make: (module: PyModule, key: K) => V, key: K): V {
    let byKey = this.#facts.get(make) as Map<K, V> | undefined;
    if (byKey === undefined) {
      byKey = new Map<K, V>();
      this.#facts.set(make, byKey);
    }
    if (byKey.has(key)) return byKey.get(key) as V;
    const value = make(this, key);
    byKey.set(key, value);
    return value;
  }

  get scope(): Scope {
    return this.scopeOf(this.root);
  }

  /** The scope that a module, class, function, lambda or comprehension node opens. */
  scopeOf(node: PyNode): Scope {
    if (this.alone !== this) return this.alone.scopeOf(node);
    let scope = this.#scopes.get(node);
    if (scope === undefined) {
      const kind = scopeKind(node);
      if (kind === undefined) throw new TypeError(`a ${node.type} opens no scope`);
      const parent = node.parent === undefined ? undefined : this.scopeAt(node);
      scope = new Scope(kind, node, parent, (name) => this.#wordsThatMayBind(name, node));
      this.#scopes.set(node, scope);
    }
    return scope;
  }

  /** The scope in which a node's own names are looked up. Decorators, defaults and bases belong outside their definition. */
  scopeAt(node: PyNode): Scope {
    let child = node;
    for (let above = node.parent; above !== undefined; above = above.parent) {
      if (scopeKind(above) !== undefined && belongsInside(above, child, node)) return this.scopeOf(above);
      child = above;
    }
    return this.scopeOf(this.root);
  }

  /** The scope that holds the variable an identifier names; undefined for builtins and names from star imports. */
  resolve(identifier: PyNode): Scope | undefined {
    return this.alone.memo(scopeOfVariable, identifier);
  }

  /** Where `name` would be found when used in `from`. */
  lookup(name: string, from: Scope): Scope | undefined {
    const isDeclared = this.alone.memo(declaredNames, this.alone).has(name);
    for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.parent) {
      if (isDeclared && scope.declaresGlobal(name)) return this.scope;
      if (isDeclared && scope.declaresNonlocal(name)) continue;
      if (scope.kind === 'class' && scope !== from) continue;
      if (scope.has(name)) return scope;
    }
    return undefined;
  }

  /** Every use of a variable in the file: reads, writes, closures, `global` writes. In source order. */
  occurrences(scope: Scope, name: string): readonly PyNode[] {
    if (this.alone !== this) return this.alone.occurrences(scope, name);
    const key = `${name}@${scope.node.start}:${scope.kind}`;
    const known = this.#facts.get(key) as readonly PyNode[] | undefined;
    if (known !== undefined) return known;
    const found = this.#wordsExcept(name, scope.node, () => false).filter((node) => {
      if (node.type !== 'identifier') return false;
      const role = roleOf(node);
      return role !== 'none' && role !== 'global' && role !== 'nonlocal' && this.resolve(node) === scope;
    });
    this.#facts.set(key, found);
    return found;
  }

  /** The nodes at a word of code in a node, in source order, without a look into functions that stand in the node: what they bind is not the node's. */
  ownWords(word: string, within: PyNode): readonly PyNode[] {
    return this.#wordsExcept(word, within, (offset) => this.#isInsideFunctionOf(within, offset));
  }

  #wordsThatMayBind(name: string, within: PyNode): readonly PyNode[] {
    return this.#wordsExcept(
      name,
      within,
      (offset) => !mayBind(this.text, offset, name.length) || this.#isInsideFunctionOf(within, offset),
    );
  }

  #wordsExcept(word: string, within: PyNode, isLeftOut: (offset: number) => boolean): readonly PyNode[] {
    const found: PyNode[] = [];
    for (const offset of this.#places.of(word, within)) {
      if (this.#isQuiet(offset) || isLeftOut(offset)) continue;
      const node = this.root.descendantAt(offset, offset + word.length);
      if (node.text === word) found.push(node);
    }
    return found;
  }

  /** The identifiers in a node that are one of some names, in source order; `mayEnd`: whether one that ends there is wanted. */
  *identifiersIn(
    node: PyNode,
    names: ReadonlySet<string>,
    mayEnd: (end: number) => boolean = () => true,
  ): Generator<PyNode> {
    for (const [at, word] of this.#places.ofAll(names, node)) {
      if (this.#isQuiet(at) || !mayEnd(at + word.length)) continue;
      const found = this.root.descendantAt(at, at + word.length);
      if (found.type === 'identifier' && found.text === word) yield found;
    }
  }

  /** Whether a place is in the body of a function that stands inside a node: what is bound there is not the node's. */
  #isInsideFunctionOf(node: PyNode, offset: number): boolean {
    const pieces = this.glimpse.outline?.pieces ?? [];
    const piece = pieces[spanAt(pieces, offset) ?? -1];
    if (piece === undefined || offset < piece.bodyStart || offset >= piece.bodyEnd) return false;
    return node === this.root || piece.start > node.start;
  }

  reads(scope: Scope, name: string): readonly PyNode[] {
    if (this.alone !== this) return this.alone.reads(scope, name);
    return chosen(this.#reads, this.occurrences(scope, name), (node) => READS.has(roleOf(node)));
  }

  writes(scope: Scope, name: string): readonly PyNode[] {
    if (this.alone !== this) return this.alone.writes(scope, name);
    // From elsewhere a variable is written only by way of a declaration.
    if (!this.alone.memo(declaredNames, this.alone).has(name)) return scope.bindings(name);
    return chosen(this.#writes, this.occurrences(scope, name), (node) => binds(roleOf(node)));
  }
}

function scopeOfVariable(module: PyModule, identifier: PyNode): Scope | undefined {
  let scope = module.scopeAt(identifier);
  const { parent } = identifier;
  // A walrus inside a comprehension binds outside it.
  if (parent?.type === 'named_expression' && parent.name === identifier) {
    while (scope.kind === 'comprehension' && scope.parent !== undefined) scope = scope.parent;
  }
  return module.lookup(identifier.text, scope);
}

const READS: ReadonlySet<string> = new Set(['read', 'update', 'delete']);

/** By all the places of a variable, some of them. */
type Chosen = Map<readonly PyNode[], readonly PyNode[]>;

function chosen(known: Chosen, all: readonly PyNode[], test: (node: PyNode) => boolean): readonly PyNode[] {
  let found = known.get(all);
  if (found === undefined) {
    found = all.filter(test);
    known.set(all, found);
  }
  return found;
}

/** Characters from which on a file is not searched for each part that is asked about. */
const LONG_TEXT = 128 * 1024;

/** By pattern. */
function nothingMentioned(): Map<string, boolean> {
  return new Map();
}

function codeIn({ text, glimpse, root }: PyModule): string {
  return withoutProse(text, glimpse.outline?.quiet ?? quietPlaces(root));
}

function noHitsYet(): Map<string, readonly PyNode[]> {
  return new Map();
}

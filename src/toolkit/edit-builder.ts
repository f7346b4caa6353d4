import { byPosition, type Edit, type FileEdits } from '../edit/edit.js';
import { extendableImport, isNameTaken, nameFor } from '../semantic/imports.js';
import type { PyModule } from '../semantic/module.js';
import type { NamedFile } from '../semantic/surroundings.js';
import {
  argumentAtStart,
  entryAfter,
  importedAfter,
  keywordAfter,
  keywordsAtEnd,
  withoutArgument,
} from '../syntax/arguments.js';
import * as blocks from '../syntax/blocks.js';
import { type Extraction, extractLoopBody } from '../syntax/extract.js';
import * as layout from '../syntax/layout.js';
import { withoutLongLines } from '../syntax/long-lines.js';
import type { PyNode } from '../syntax/node.js';
import { addEntries, setEntry, type YamlEntry, type YamlScalar, type YamlSection } from '../syntax/yaml.js';
import type { Advice, Fix, Import, Numerics, Refusal, Safety, TransformMeta } from './contract.js';
import type { Proof } from './proof.js';

/** Thrown by a verb that cannot be carried out at this place; the engine turns it into a refusal. */
export class Unfixable extends Error {
  override readonly name = 'Unfixable';
}

/** Expressions that a method call can follow without parentheses. */
const PRIMARY: ReadonlySet<string> = new Set([
  'attribute',
  'call',
  'identifier',
  'parenthesized_expression',
  'subscript',
]);

/**
 * The closed set of verbs in which a transform says its change. Each verb owns its comma, indentation, newline, comment,
 * semicolon and one-line-suite rules. In a line given to a verb, each leading tab is one indentation step.
 */
export class EditBuilder {
  static readonly #results = new WeakSet<object>();

  /** Whether this is what `done`, `refuse` or `advise` gave. */
  static gave(result: object): result is Fix | Refusal | Advice {
    return EditBuilder.#results.has(result);
  }

  static #given<T extends object>(result: T): T {
    EditBuilder.#results.add(result);
    return result;
  }

  readonly #edits: Edit[] = [];
  /** Lists that items were added to. */
  readonly #grown: PyNode[] = [];
  readonly #near: number[] = [];
  readonly #covers: PyNode[] = [];
  readonly #imports: Import[] = [];
  readonly #beside = new Map<string, FileEdits>();

  constructor(
    private readonly module: PyModule,
    private readonly meta: TransformMeta,
  ) {}

  /** Replaces an expression or a name by other text on its own place. */
  replace(node: PyNode, text: string): void {
    this.#edits.push({ start: node.start, end: node.end, text });
  }

  /** Adds text right after an expression, e.g. `.detach()`. */
  append(node: PyNode, text: string): void {
    this.#edits.push({ start: node.end, end: node.end, text });
  }

  /** Adds a method call such as `.detach()` behind an expression, which gets parentheses where it needs them. */
  appendCall(node: PyNode, call: string): void {
    if (PRIMARY.has(node.type)) this.append(node, call);
    else this.replace(node, `(${node.text})${call}`);
  }

  insertStatementBefore(statement: PyNode, lines: readonly string[]): void {
    this.#requireOwnLines(statement);
    this.#edits.push(layout.insertBefore(this.module, statement, lines));
  }

  insertStatementAfter(statement: PyNode, lines: readonly string[]): void {
    this.#requireOwnLines(statement);
    this.#edits.push(layout.insertAfter(this.module, statement, lines));
  }

  /** The statement's lines give way to these; a comment behind it stays with the last one. */
  replaceStatement(statement: PyNode, lines: readonly string[]): void {
    this.#requireOwnLines(statement);
    this.#edits.push(layout.replaceStatement(this.module, statement, lines));
  }

  /** The statement's lines, with the comment behind it, stand above another statement instead. */
  moveStatement(statement: PyNode, above: PyNode): void {
    this.insertStatementBefore(above, [layout.textAbove(this.module, statement, above)]);
    this.removeStatement(statement);
  }

  /** Takes the statement's lines away, with the comment behind it. */
  removeStatement(statement: PyNode): void {
    this.#requireOwnLines(statement);
    if (layout.isOnlyStatement(statement))
      throw new Unfixable('removing the statement would leave an empty block');
    this.#edits.push(layout.removeStatement(this.module, statement));
  }

  /** A text as a string of Python, in the quotes that the file mostly has. */
  quoted(text: string): string {
    const quote = this.module.memo(quoteOf, this.module);
    return `${quote}${text}${quote}`;
  }

  /** Adds `name=value` right after an existing keyword argument, in that argument's own style. */
  addKeywordAfter(keyword: PyNode, name: string, value: string): void {
    if (keyword.parent?.closest('string') !== undefined) throw new Unfixable('it stands in an f-string');
    this.#grow(keyword.parent, keywordAfter(this.module, keyword, name, value));
  }

  /** Adds `name=value` as the last argument of a call, in the style of the one before it. */
  appendKeyword(call: PyNode, name: string, value: string): void {
    this.appendKeywords(call, [[name, value]]);
  }

  appendKeywords(call: PyNode, added: readonly (readonly [name: string, value: string])[]): void {
    if (call.closest('string') !== undefined) throw new Unfixable('it stands in an f-string');
    const edits = keywordsAtEnd(this.module, call, added);
    if (edits === undefined) throw new Unfixable('its only argument is a bare generator');
    this.#grow(call.arguments, edits);
  }

  /** Adds a positional argument in front of all others. */
  prependArgument(call: PyNode, text: string): void {
    const edits = argumentAtStart(this.module, call, text);
    if (edits === undefined) throw new Unfixable('its only argument is a bare generator');
    this.#grow(call.arguments, edits);
  }

  /** Of an expression only one part of it is left: `x.to(d)` becomes `x`. A comment between them must not be lost. */
  keepOnly(whole: PyNode, part: PyNode): void {
    const lost = [...whole.walk()].some((node) => node.type === 'comment' && !part.contains(node));
    if (lost) throw new Unfixable('a comment stands in the way');
    if (part.start > whole.start) this.#edits.push({ start: whole.start, end: part.start, text: '' });
    if (part.end < whole.end) this.#edits.push({ start: part.end, end: whole.end, text: '' });
  }

  /** Takes an argument out of its call, with its comma. */
  removeArgument(argument: PyNode): void {
    this.#edits.push(...withoutArgument(this.module, argument));
  }

  /** Puts neighbouring statements of one block, from `first` to `last`, below a header such as `with x` or `if y`. */
  nestUnder(header: string, first: PyNode, last = first): void {
    this.#nest(first, last, () => blocks.nestUnder(this.module, first, last, header));
  }

  /**
   * As `nestUnder`; but a block with that very header, a few statements above or below, takes them in, with those between
   * where `mayJoin` lets all of them. Of several such fixes so near to one another, each joins the one before.
   */
  joinUnder(header: string, first: PyNode, last: PyNode, mayJoin: (between: PyNode) => boolean): void {
    this.#nest(first, last, () => blocks.joinUnder(this.module, first, last, header, mayJoin));
    this.#near.push(...blocks.joinable(last).map(({ start }) => start));
  }

  #nest(first: PyNode, last: PyNode, nest: () => readonly Edit[] | undefined): void {
    if (!layout.startsItsLine(this.module, first) || !layout.endsItsLine(this.module, last))
      throw new Unfixable('the statement shares its line with other code');
    const edits = first.parent === last.parent ? nest() : undefined;
    if (edits === undefined) throw new Unfixable('its lines do not share one indentation');
    this.#edits.push(...edits);
  }

  /** The body of a method's loop becomes a method of its own, below it. */
  extractLoopBody(parts: Extraction): void {
    const edits = extractLoopBody(this.module, parts);
    if (edits === undefined) throw new Unfixable('the lines of its loop cannot be moved as they stand');
    this.#edits.push(...edits);
  }

  /** The statement of the module above which a new function would stand; names that it uses must be known there. */
  placeForFunction(at: PyNode): PyNode {
    const place = blocks.definitionPlace(this.module, at);
    if (place === undefined || !layout.startsItsLine(this.module, place))
      throw new Unfixable('no function can be defined above it');
    return place;
  }

  /** A function of the module, decorators first, written once per file: one of that name and signature serves as it is. */
  defineFunction(name: string, lines: readonly string[], at: PyNode): void {
    const place = this.placeForFunction(at);
    const bound = this.module.scope.bindings(name);
    const signature = lines.find((line) => line.startsWith('def '))?.replace(/^def \w+|:$/g, '');
    const known = bound.length === 1 ? bound[0]?.parent : undefined;
    if (known?.type === 'function_definition' && known.parameters?.text === signature) return;
    if (this.module.at(name).some((node) => node.type === 'identifier' && node.text === name))
      throw new Unfixable(`the name \`${name}\` is taken`);
    this.#edits.push(blocks.defineAbove(this.module, place, lines));
  }

  /** Adds a decorator directly above `def`, below every other one. */
  addDecorator(functionNode: PyNode, expression: string): void {
    if (!layout.startsItsLine(this.module, functionNode))
      throw new Unfixable('its `def` does not start its line');
    this.#edits.push(layout.decorate(this.module, functionNode, expression));
    this.#covers.push(functionNode);
  }

  /** Adds `"name": value` right after an existing entry of a dict, in that entry's own style. */
  addEntryAfter(pair: PyNode, name: string, value: string): void {
    this.#grow(pair.parent, entryAfter(this.module, pair, name, value));
  }

  #grow(list: PyNode | undefined, edits: readonly Edit[]): void {
    this.#edits.push(...edits);
    if (list !== undefined) this.#grown.push(list);
  }

  /** Like `name`, for a member of a package: an import that the file has of it gets one more name, unless a short one is there. */
  importedName(path: string, at: PyNode): string {
    const known = nameFor(this.module, path, at);
    if (known !== undefined && /^\w+(?:\.\w+)?$/.test(known)) return known;
    const [, packageName = path, member = path] = /^(.*)\.(\w+)$/.exec(path) ?? [];
    const last = extendableImport(this.module, packageName, at);
    if (last === undefined || isNameTaken(this.module, member, at)) return known ?? this.name(path, at);
    this.#edits.push(...importedAfter(this.module, last, member));
    return member;
  }

  /** The text by which a dotted name can be written at `at`; asks for `import <package>` when the file has none. */
  name(path: string, at: PyNode): string {
    const known = nameFor(this.module, path, at);
    if (known !== undefined) return known;
    const [top = path] = path.split('.');
    if (isNameTaken(this.module, top, at)) {
      throw new Unfixable(`\`${top}\` is not certain to be the imported package at this place`);
    }
    if (!this.#imports.some((wanted) => wanted.module === top)) this.#imports.push({ module: top });
    return path;
  }

  /** Gives a key of a YAML file another value on its own place, written the way the old one is. */
  setInYaml(file: NamedFile, entry: YamlEntry, value: YamlScalar): void {
    this.#editBeside(file, [setEntry(file.text, entry, value)]);
  }

  /** Adds keys to a section of a YAML file, behind an entry that has a line of its own. */
  addToYaml(file: NamedFile, { room }: YamlSection, added: Readonly<Record<string, YamlScalar>>): void {
    if (room === undefined) throw new Unfixable(`${file.path} has no place for another key`);
    this.#editBeside(file, [addEntries(room, added)]);
  }

  /** A change that `scriptSetting` found for a shell script. */
  changeScript(file: NamedFile, change: Edit): void {
    this.#editBeside(file, [change]);
  }

  #editBeside({ path, text }: NamedFile, edits: readonly Edit[]): void {
    const known = this.#beside.get(path)?.edits ?? [];
    this.#beside.set(path, { path, text, edits: [...known, ...edits] });
  }

  /** The whole fix, as safe as its proof. A gate that is disproved makes it a refusal. */
  done(
    title: string,
    proof: Proof,
    stricter: { safety?: 'advice'; numerics?: Numerics } = {},
  ): Fix | Refusal {
    const refuted = proof.refuted;
    if (refuted !== undefined) return this.refuse(refuted);
    return EditBuilder.#given<Fix>({
      kind: 'fix',
      title,
      edits: together(merged(withoutLongLines(this.module, this.#grown, this.#edits))),
      near: this.#near,
      covers: this.#covers.map(({ start, end }) => ({ start, end })),
      imports: this.#imports,
      beside: [...this.#beside.values()],
      questions: proof.questions,
      premises: proof.premises,
      reasons: proof.reasons,
      answered: proof.answered,
      safety: strictest(
        this.meta.safety,
        stricter.safety ?? 'safe',
        proof.questions.length > 0 ? 'unsafe' : 'safe',
      ),
      numerics: stricter.numerics ?? this.meta.numerics,
    });
  }

  /** `reason` completes "left alone because …". */
  refuse(reason: string): Refusal {
    return EditBuilder.#given<Refusal>({ kind: 'refusal', reason });
  }

  /** A word without a diff: `next` is a verb phrase that says what to do instead. It counts as a finding, unlike a refusal. */
  advise(next: string): Advice {
    return EditBuilder.#given<Advice>({ kind: 'advice', next });
  }

  #requireOwnLines(statement: PyNode): void {
    if (!layout.ownsItsLines(this.module, statement)) {
      throw new Unfixable('the statement shares its line with other code');
    }
  }
}

/** Insertions at one place become one, in the order in which they were said. */
function merged(edits: readonly Edit[]): readonly Edit[] {
  const found: Edit[] = [];
  for (const edit of edits) {
    const same = found.findIndex(
      ({ start, end }) => start === end && edit.start === start && edit.end === end,
    );
    const known = found[same];
    if (known === undefined) found.push(edit);
    else found[same] = { ...known, text: known.text + edit.text };
  }
  return found;
}

/** The edits, if they can all be made: two that overlap have no defined result. */
function together(edits: readonly Edit[]): readonly Edit[] {
  const sorted = [...edits].sort(byPosition);
  for (const [index, edit] of sorted.entries()) {
    const next = sorted[index + 1];
    if (next !== undefined && next.start < edit.end)
      throw new Unfixable('two of its changes would fall on the same code');
  }
  return edits;
}

const SAFETIES: readonly Safety[] = ['safe', 'unsafe', 'advice'];

function strictest(...safeties: readonly Safety[]): Safety {
  return SAFETIES[Math.max(...safeties.map((safety) => SAFETIES.indexOf(safety)))] ?? 'advice';
}

/** The quotes around most strings of a file, going by its code. */
function quoteOf({ root }: PyModule): string {
  let single = 0;
  for (const { type, text } of root.walk())
    if (type === 'string' && !/^\w*(?:'''|""")/.test(text)) single += /^\w*'/.test(text) ? 1 : -1;
  return single > 0 ? "'" : '"';
}

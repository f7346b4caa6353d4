import type { Answer } from '../semantic/answer.js';
import { spotOf } from '../semantic/gate.js';
import { type Given, givenIn } from '../semantic/given.js';
import type { PyModule } from '../semantic/module.js';
import { spreadsNone } from '../semantic/spread.js';
import { argumentsOf, keywordArgument } from '../semantic/statements.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { DTYPE_WORDS, type Found, type Said, type Untold } from './reading.js';
import { isTrue, type Plain, shown, type Told, valueOf } from './value.js';

const LONGEST = 60;
const MAX_HOPS = 3;

/** A script that is read: what its nodes say, and where. */
export class Script {
  constructor(
    readonly module: PyModule,
    /** Files that import it, and call its functions. */
    private readonly callers: readonly PyModule[] = [],
  ) {}

  /** Branches inside questions of branches are followed this far. */
  private hops = 0;

  value(node: PyNode): Told | undefined {
    return valueOf(this.module, node, this.callers) ?? this.ofBranch(node);
  }

  /** A variable that several branches set: by the one that runs. */
  private ofBranch(node: PyNode): Told | undefined {
    if (node.type !== 'identifier' || this.hops >= MAX_HOPS) return undefined;
    const ways = waysReaching(this.module, node);
    const values = ways.flatMap((way) => (way.kind === 'value' ? way.value : []));
    if (values.length !== ways.length || values.length < 2) return undefined;
    this.hops++;
    const asked = values.map((value) => ({ value, ...this.runs(value) }));
    this.hops--;
    const [only, ...others] = asked.filter(({ answer }) => answer !== 'no');
    if (only === undefined || only.answer !== 'yes' || others.length > 0) return undefined;
    const told = valueOf(this.module, only.value, this.callers);
    const by = told?.by ?? asked.find((each) => each.by !== undefined)?.by;
    return told && { ...told, ...(by !== undefined && { by }) };
  }

  found<T>(value: T, node: PyNode, by?: string): Found<T> {
    const words = shownCode(node);
    return { value, place: this.placeOf(node), words: by === undefined ? words : `${words}; ${by}` };
  }

  placeOf(node: PyNode): string {
    return spotOf(this.module, node);
  }

  /** A default that nobody has written down. */
  byDefault<T>(value: T, node: PyNode, words: string): Found<T> {
    return { value, place: this.placeOf(node), words };
  }

  untold<T>(node: PyNode, likely?: T, why = 'cannot be told without running it'): Untold<T> {
    return {
      place: this.placeOf(node),
      why: `\`${shownCode(node)}\` ${why}`,
      ...(likely !== undefined && { likely }),
    };
  }

  /** What an entry says by its value; undefined where that is `None`, which says nothing. */
  said<T>(entry: PyNode, node: PyNode, as: (value: Plain) => T | undefined, likely?: T): Said<T> | undefined {
    const told = this.value(node);
    if (told === undefined) return this.untold(entry, likely);
    if (told.value === null) return undefined;
    const value = as(told.value);
    if (value === undefined) return this.untold(entry, likely, 'says nothing that memfix understands');
    const isWritten = typeof told.value !== 'string' || node.type !== 'identifier';
    return this.found(value, entry, isWritten ? told.by : (told.by ?? `it is ${shown(told.value)}`));
  }

  /** What a call is given by a name: as a keyword, out of a dict that is spread into it, or in one that cannot be seen. */
  given(call: PyNode, name: string): Given | PyNode | undefined {
    const own = givenIn(this.module, name).find(({ calls }) => calls.includes(call));
    if (own !== undefined) return own;
    const spread = argumentsOf(call).find(({ type }) => type === 'dictionary_splat');
    return spread !== undefined && spreadsNone(this.module, call, [name]) === 'no' ? spread : undefined;
  }

  setting<T>(
    call: PyNode,
    name: string,
    as: (value: Plain) => T | undefined,
    likely?: T,
  ): Said<T> | undefined {
    const given = this.given(call, name);
    if (given === undefined) return undefined;
    if ('calls' in given) return this.said(given.entry, given.value, as, likely);
    return this.untold(given, likely, `may hold \`${name}\``);
  }

  /** The same for a keyword that may stand at a place instead. */
  argument<T>(
    call: PyNode,
    name: string,
    at: number,
    as: (value: Plain) => T | undefined,
    likely?: T,
  ): Said<T> | undefined {
    const placed = argumentsOf(call)[at];
    const isPlaced = placed !== undefined && !/^keyword_argument$|_splat$/.test(placed.type);
    const isNamed = keywordArgument(call, name) !== undefined;
    return isPlaced && !isNamed
      ? this.said(placed, placed, as, likely)
      : this.setting(call, name, as, likely);
  }

  /** Whether a node is reached by the questions around it, as far as they can be answered. */
  runs(node: PyNode): { readonly answer: Answer; readonly question?: PyNode; readonly by?: string } {
    let doubt: PyNode | undefined;
    let child = node;
    for (const ancestor of node.ancestors()) {
      for (const [question, wanted] of questionsAt(ancestor, child)) {
        if (question.text.includes('__name__')) continue;
        const told = this.value(question);
        if (told === undefined) doubt ??= question;
        else if (isTrue(told.value) !== wanted)
          return { answer: 'no', question, ...(told.by !== undefined && { by: told.by }) };
      }
      child = ancestor;
    }
    return doubt === undefined ? { answer: 'yes' } : { answer: 'unknown', question: doubt };
  }

  /** Those of some calls that run: where one certainly does, those; else those that may. */
  running(calls: readonly PyNode[]): readonly PyNode[] {
    const asked = calls.map((call) => ({ call, answer: this.runs(call).answer }));
    const sure = asked.filter(({ answer }) => answer === 'yes');
    return (sure.length > 0 ? sure : asked.filter(({ answer }) => answer !== 'no')).map(({ call }) => call);
  }

  /** What a call would say, in doubt where a question around it cannot be answered; undefined where it does not run. */
  ifRun<T>(call: PyNode, said: Said<T>): Said<T> | undefined {
    const { answer, question } = this.runs(call);
    if (answer === 'no') return undefined;
    if (answer === 'yes' || question === undefined) return said;
    const likely = 'value' in said ? said.value : said.likely;
    return {
      place: said.place,
      why: `it is behind \`${shownCode(question)}\`, which cannot be told without running it`,
      ...(likely !== undefined && { likely }),
    };
  }
}

export function shownCode(node: PyNode): string {
  const words = node.text.replaceAll(/\s+/g, ' ');
  return words.length > LONGEST ? `${words.slice(0, LONGEST - 1)}…` : words;
}

/** The questions of a statement or expression that decide about a part of it, and the answer that the part needs. */
function* questionsAt(node: PyNode, part: PyNode): Generator<readonly [PyNode, boolean]> {
  if (node.type === 'conditional_expression') {
    const [given, question, other] = node.named;
    if (question !== undefined && (part === given || part === other)) yield [question, part === given];
    return;
  }
  const { condition } = node;
  if (condition === undefined || (node.type !== 'if_statement' && node.type !== 'elif_clause')) return;
  if (part === node.consequence) yield [condition, true];
  if (node.type !== 'if_statement' || part === node.consequence || part === condition) return;
  yield [condition, false];
  for (const clause of node.childrenOfType('elif_clause')) {
    if (clause === part) return;
    if (clause.condition !== undefined) yield [clause.condition, false];
  }
}

export function asText(value: Plain): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asNumber(value: Plain): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

export function asFlag(value: Plain): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function asTexts(value: Plain): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : Array.isArray(value) ? value : undefined;
}

/** `torch.bfloat16`, or what it is called in a text. */
export function asWeights(value: Plain): 'fp32' | 'bf16' | 'fp16' | undefined {
  if (value === 'fp32' || value === 'bf16' || value === 'fp16') return value;
  return typeof value === 'string' ? DTYPE_WORDS.get(value.replace(/^torch\./, '')) : undefined;
}

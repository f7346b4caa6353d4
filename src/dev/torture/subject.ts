import { readdirSync } from 'node:fs';
import type { Engine } from '../../engine/engine.js';
import type { PyNode } from '../../syntax/node.js';
import type { PythonParser } from '../../syntax/parser.js';
import type { FixtureCase } from '../../testing/fixtures.js';
import { decode } from '../../text/decode.js';
import { casesOf, fixturesFolder } from '../fixtures.js';

/** A word, sign, string or comment, and how many brackets are open around it. */
export interface Token {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly text: string;
  readonly depth: number;
}

/** A fixture, read for being changed. */
export interface Subject {
  readonly name: string;
  readonly text: string;
  readonly fixture: FixtureCase;
  readonly tokens: readonly Token[];
  /** Simple statements that are children of a block or of the module. */
  readonly simple: readonly PyNode[];
  /** All statements of blocks and of the module. */
  readonly statements: readonly PyNode[];
  readonly calls: readonly PyNode[];
  readonly expressions: readonly PyNode[];
  readonly assignments: readonly PyNode[];
  readonly functions: readonly PyNode[];
  /** Engines made for it, by parser. */
  readonly engines: Map<PythonParser, Engine>;
}

export function allFixtures(): readonly FixtureCase[] {
  const folders = readdirSync(fixturesFolder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const named = folders.map(({ name }) => name).filter((name) => !/^_(?:repos|demo|notebooks)$/.test(name));
  return named.sort().flatMap(casesOf);
}

const EXPRESSION =
  /^(?:call|attribute|identifier|subscript|binary_operator|integer|float|string|true|false|none|list|tuple|lambda|list_comprehension|boolean_operator|comparison_operator|conditional_expression|unary_operator|not_operator|parenthesized_expression)$/;

/** Where an expression can be exchanged for another: a value, not a target, a parameter or a name of an import. */
const HOLDERS =
  /^(?:argument_list|keyword_argument|assignment|augmented_assignment|return_statement|expression_statement|binary_operator|call|attribute|subscript|list|tuple|if_statement|while_statement|for_statement|with_item|comparison_operator|boolean_operator|pair|dictionary|conditional_expression|interpolation|not_operator|await|unary_operator|parenthesized_expression)$/;

export function subjectOf(fixture: FixtureCase, name: string, parser: PythonParser): Subject | undefined {
  const decoded = decode(fixture.input);
  if (!decoded.ok) return undefined;
  const { text } = decoded.source;
  // The tree is kept for the nodes, which are read when they are needed.
  const { root } = parser.parse(text);
  const tokens: Token[] = [];
  const found = {
    simple: [] as PyNode[],
    statements: [] as PyNode[],
    calls: [] as PyNode[],
    expressions: [] as PyNode[],
    assignments: [] as PyNode[],
    functions: [] as PyNode[],
  };
  let depth = 0;
  for (const node of root.walk((inner) => inner.type !== 'string')) {
    const above = node.parent?.type ?? '';
    if ((above === 'block' || above === 'module') && node.isNamed && node.type !== 'comment') {
      found.statements.push(node);
      if (!/_definition$|^(?:if|for|while|with|try|match)_statement$/.test(node.type))
        found.simple.push(node);
    }
    if (node.type === 'call') found.calls.push(node);
    if (node.type === 'assignment') found.assignments.push(node);
    if (node.type === 'function_definition') found.functions.push(node);
    if (EXPRESSION.test(node.type) && HOLDERS.test(above) && isValue(node)) found.expressions.push(node);
    if (node.children.length > 0 && node.type !== 'string') continue;
    if (node.start === node.end) continue;
    if (/^[)\]}]$/.test(node.type)) depth--;
    tokens.push({ start: node.start, end: node.end, type: node.type, text: node.text, depth });
    if (/^[([{]$/.test(node.type)) depth++;
  }
  return { name, text, fixture, tokens, ...found, engines: new Map() };
}

function isValue(node: PyNode): boolean {
  const { parent } = node;
  if (parent === undefined) return false;
  if (/assignment$/.test(parent.type)) return parent.right === node;
  if (parent.type === 'keyword_argument') return parent.value === node;
  if (parent.type === 'attribute') return parent.object === node;
  if (parent.type === 'for_statement') return parent.right === node;
  return true;
}

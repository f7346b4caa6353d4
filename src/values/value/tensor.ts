import { row } from '../../library/library.js';
import { TENSOR_TYPES } from '../../library/names.js';
import type { Answer } from '../../semantic/answer.js';
import { attributeValuesInProject } from '../../semantic/attributes.js';
import { calledDefinition } from '../../semantic/definitions.js';
import { namedElsewhere } from '../../semantic/elsewhere.js';
import type { Definition } from '../../semantic/flow.js';
import { definitionsOf } from '../../semantic/flow.js';
import { qualifiedName } from '../../semantic/imports.js';
import { elementsOf } from '../../semantic/literals.js';
import type { PyModule } from '../../semantic/module.js';
import { remembered } from '../../semantic/remembered.js';
import { alwaysReturns } from '../../semantic/returns.js';
import {
  argumentsOf,
  calleeOf,
  decoratorsOf,
  isAsync,
  methodName,
  ownNodes,
  unparenthesized,
} from '../../semantic/statements.js';
import { onlyValue } from '../../semantic/variables.js';
import type { FieldName } from '../../syntax/grammar.js';
import type { PyNode } from '../../syntax/node.js';
import { calledBy } from './called.js';
import { callFact, instanceFact } from './tensor-calls.js';
import {
  arithmetic,
  either,
  INTEGER,
  isTensor,
  NUMBER,
  scalarity,
  type TensorFact,
  type TensorKind,
  UNKNOWN,
} from './tensor-fact.js';

export type { TensorKind } from './tensor-fact.js';

/** What the file proves about a value: a 0-dim tensor, a tensor, a Python number, or nothing. */
export function kindOf(module: PyModule, expression: PyNode): TensorKind {
  return facts(module).of(expression).kind;
}

/** Whether a tensor or number holds floating-point values. */
export function isFloating(module: PyModule, expression: PyNode): Answer {
  return facts(module).of(expression).floating;
}

/** Whether an expression is a 0-dim tensor; `unknown` where only an unknown factor could give it a shape. */
export function isScalarTensor(module: PyModule, expression: PyNode): Answer {
  return scalarity(facts(module).of(expression));
}

const facts = remembered((module: PyModule): TensorFacts => new TensorFacts(module));

/** Definitions, returns and attributes are followed this far. */
const MAX_DEPTH = 60;

class TensorFacts {
  readonly #known = new Map<PyNode, TensorFact>();
  readonly #open = new Set<PyNode>();

  constructor(private readonly module: PyModule) {}

  readonly of = (expression: PyNode): TensorFact => {
    const node = unparenthesized(expression);
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    // A value that depends on itself is not taken apart.
    if (this.#open.has(node) || this.#open.size >= MAX_DEPTH) return UNKNOWN;
    this.#open.add(node);
    const fact = this.#compute(node);
    this.#open.delete(node);
    this.#known.set(node, fact);
    return fact;
  };

  #compute(node: PyNode): TensorFact {
    switch (node.type) {
      case 'integer':
      case 'true':
      case 'false':
      case 'not_operator':
        return INTEGER;
      case 'float':
        return { kind: 'number', floating: 'yes' };
      case 'unary_operator':
      case 'named_expression':
        return this.#field(node, node.type === 'unary_operator' ? 'argument' : 'value');
      case 'binary_operator':
        return arithmetic(this.#field(node, 'left'), this.#field(node, 'right'), node.operator?.text);
      case 'comparison_operator':
        return this.#comparison(node);
      case 'boolean_operator':
        return either([this.#field(node, 'left'), this.#field(node, 'right')]);
      case 'conditional_expression': {
        const [value, , other] = node.named;
        return value === undefined || other === undefined
          ? UNKNOWN
          : either([this.of(value), this.of(other)]);
      }
      case 'call':
        return this.#call(node);
      case 'identifier':
        return this.#variable(node);
      case 'attribute':
        return this.#attribute(node);
      case 'subscript':
        return this.#subscript(node);
      default:
        return UNKNOWN;
    }
  }

  #field(node: PyNode, name: FieldName): TensorFact {
    const child = node.field(name);
    return child === undefined ? UNKNOWN : this.of(child);
  }

  #comparison(node: PyNode): TensorFact {
    if (node.children.some((child) => /^(?:is|in|not)\b/.test(child.type))) return INTEGER;
    const [first = UNKNOWN, ...rest] = node.named.map(this.of);
    return { ...rest.reduce((a, b) => arithmetic(a, b), first), floating: 'no' };
  }

  #call(call: PyNode): TensorFact {
    const known = callFact(this.module, call, this.of);
    if (known !== undefined) return known;
    const called = calledBy(this.module, call);
    return either([
      ...(called?.functions.map(({ module, node }) => facts(module).returned(node)) ?? []),
      ...(called?.makers.map((made) => instanceFact(this.module, made) ?? UNKNOWN) ?? []),
    ]);
  }

  /** What every `return` gives; nothing is said about generators, coroutines, or functions that may end without one. */
  returned(definition: PyNode, index?: number): TensorFact {
    if (
      isAsync(definition) ||
      !decoratorsOf(definition).every((decorator) => isTransparent(this.module, decorator))
    )
      return UNKNOWN;
    const body = definition.body;
    if (body === undefined || !alwaysReturns(body)) return UNKNOWN;
    const values: TensorFact[] = [];
    for (const node of ownNodes(definition)) {
      if (node.type === 'yield') return UNKNOWN;
      if (node.type !== 'return_statement') continue;
      const [value] = node.named;
      const part = index === undefined ? value : value && elementsOf(value)?.[index];
      if (part === undefined) return UNKNOWN;
      values.push(this.of(part));
    }
    return either(values);
  }

  #variable(identifier: PyNode): TensorFact {
    const definitions = definitionsOf(this.module, identifier);
    if (definitions === undefined || definitions.length === 0) return UNKNOWN;
    const start = either(
      definitions.filter(({ kind }) => kind !== 'update').map((found) => this.#defined(found)),
    );
    return definitions.reduce(
      (fact, found) =>
        found.kind === 'update'
          ? either([fact, arithmetic(fact, this.of(found.value), found.operator.slice(0, -1))])
          : fact,
      start,
    );
  }

  #defined(definition: Definition): TensorFact {
    switch (definition.kind) {
      case 'value':
        return this.of(definition.value);
      case 'parameter':
        return this.#annotated(definition.node);
      case 'loop':
        return this.#element(definition.node, definition.iterable);
      case 'part': {
        const targets = definition.node.parent;
        return targets?.parent?.type === 'assignment'
          ? this.#part(definition.value, targets.named.indexOf(definition.node))
          : UNKNOWN;
      }
      default:
        return UNKNOWN;
    }
  }

  /** One of the values of the tuple that a function gives, also by a variable: nobody changes a tuple. */
  #part(value: PyNode, index: number): TensorFact {
    const call = value.type === 'identifier' ? onlyValue(this.module, value) : value;
    if (call?.type !== 'call') return UNKNOWN;
    const made = calledDefinition(this.module, call);
    const found = made === undefined ? namedElsewhere(this.module, call.function ?? call) : undefined;
    const node = made ?? found?.node;
    if (node?.type !== 'function_definition') return UNKNOWN;
    return facts(found?.module ?? this.module).returned(node, index);
  }

  #annotated(parameter: PyNode): TensorFact {
    const written = parameter.parent?.field('type')?.named[0];
    if (written === undefined) return UNKNOWN;
    if (written.text === 'float' || written.text === 'int') return NUMBER;
    const path = qualifiedName(this.module, written);
    return path !== undefined && TENSOR_TYPES.has(path) ? OPEN_TENSOR : UNKNOWN;
  }

  /** What a loop hands out: parameters of a module, counters. */
  #element(target: PyNode, iterable: PyNode): TensorFact {
    if (iterable.type !== 'call') return UNKNOWN;
    const callee = iterable.function;
    const [inner] = argumentsOf(iterable);
    const alone = target.parent?.type === 'for_statement' || target.parent?.type === 'for_in_clause';
    const place = alone ? -1 : (target.parent?.named.indexOf(target) ?? -1);
    switch (callee?.type === 'identifier' ? callee.text : methodName(iterable)) {
      case 'range':
        return alone ? INTEGER : UNKNOWN;
      case 'enumerate':
        if (place === 0) return INTEGER;
        return place === 1 && inner?.type === 'call' && methodName(inner) === 'parameters'
          ? PARAMETERS
          : UNKNOWN;
      case 'parameters':
        return alone ? PARAMETERS : UNKNOWN;
      case 'named_parameters':
        return place === 1 ? PARAMETERS : UNKNOWN;
      default:
        return UNKNOWN;
    }
  }

  #attribute(node: PyNode): TensorFact {
    const name = node.attribute?.text;
    const object = node.object;
    if (object === undefined) return UNKNOWN;
    if (name === 'data' || name === 'T') {
      const base = this.of(object);
      return isTensor(base) ? base : UNKNOWN;
    }
    if (qualifiedName(this.module, node) !== undefined) return UNKNOWN;
    const values = attributeValuesInProject(this.module, node);
    return values === undefined ? UNKNOWN : either(values.map(this.of));
  }

  #subscript(node: PyNode): TensorFact {
    const value = node.value;
    if (value === undefined) return UNKNOWN;
    if (value.type === 'attribute' && value.attribute?.text === 'shape') return INTEGER;
    const base = this.of(value);
    if (!isTensor(base)) {
      const [, index, ...others] = node.named;
      return index?.type === 'integer' && others.length === 0
        ? this.#part(value, Number(index.text))
        : UNKNOWN;
    }
    const { kind, floating } = base;
    // Of one number there are no elements: `x[None]` adds a dimension.
    return kind === 'scalar-tensor' ? { kind: 'tensor', floating } : { kind: 'tensor', floating, open: true };
  }
}

const OPEN_TENSOR: TensorFact = { kind: 'tensor', floating: 'unknown', open: true };
const PARAMETERS: TensorFact = { kind: 'tensor', floating: 'yes' };

function isTransparent(module: PyModule, decorator: PyNode): boolean {
  const callee = calleeOf(decorator);
  const path = qualifiedName(module, callee);
  return (
    callee.text === 'staticmethod' ||
    callee.text === 'classmethod' ||
    (path !== undefined && row(path)?.gradMode !== undefined)
  );
}

/*
 * return (x @ lora_A @ lora_B) * self.scaling
 *
 * output = torch.matmul(x, lora_A)
 * output = torch.matmul(output, lora_B)
 * output = output * self.scaling
 * return output
 *
 * Exactly as documented, and of no effect: both forms compute the same tensors in the same order and free them at the same
 * time. The statement must be a plain `return` or assignment, and the factors must be those of an adapter.
 */
import {
  ask,
  freeName,
  lowRank,
  MATMUL,
  matrixProduct,
  ownsItsLines,
  Proof,
  type PyModule,
  type PyNode,
  type Site,
  shown,
  statementOf,
  type Transform,
  unparenthesized,
  valueOf,
} from '../src/toolkit/index.js';

const CHAIN = /@[^@\n]*@/;
/** Names for the intermediate result, the document's own first. */
const NAMES: readonly string[] = ['output', 'lora_output', 'adapted'];

interface Chain {
  readonly input: PyNode;
  readonly first: PyNode;
  readonly second: PyNode;
  /** The scale, and whether it stands in front. */
  readonly scale?: { readonly node: PyNode; readonly leads: boolean };
}

interface SplitSite extends Site {
  readonly statement: PyNode;
  readonly chain: Chain;
  /** What the statement gives the result to; undefined for `return`. */
  readonly target: string | undefined;
}

export const splitLoraMatmul: Transform<SplitSite> = {
  meta: {
    id: 'split-lora-matmul',
    summary: "Split an adapter's two matrix products into statements, as documented",
    symptom: 'peak',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'documented',
    options: {},
    requires: {},
    docs: {
      why: 'The document says that splitting `(x @ A @ B) * s` avoids large intermediates. It does not: Python evaluates the expression from left to right and gives each intermediate back as the statements do, and autograd keeps the same tensors.',
      does: 'Writes one `torch.matmul` per statement into a new name, then the scale, then the original `return` or assignment.',
      refuses: [
        'the statement shares its line with other code',
        'every name for the intermediate result is taken',
        'the scale is more than a name, an attribute or a number',
      ],
      limits: ['Nothing is gained, in memory or time.', 'A product that spans lines is not looked at.'],
    },
    evidence: {
      verdict:
        'No effect: the same peak and the same time. What costs is `x @ (A @ B)`; use `matmul-association` for that',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '4. LoRA Adapter Optimization',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  prefilter: [['lora', 'LoRA', 'Lora', 'LORA', 'rank', 'Rank', 'RANK', 'Parameter']],
  cue: (text, _path, glimpse) => CHAIN.test(text) && glimpse.stretches.some((code) => CHAIN.test(code)),

  *detect(module) {
    const seen = new Set<PyNode>();
    for (const hit of module.atWhere('@', (text) => CHAIN.test(text))) {
      if (hit.parent?.type !== 'binary_operator') continue;
      const statement = statementOf(hit);
      if (seen.has(statement) || /[\r\n]/.test(statement.text)) continue;
      seen.add(statement);
      const given = resultOf(statement);
      const chain = given && chainOf(module, given.value);
      if (given === undefined || chain === undefined) continue;
      if (lowRank(module, chain.first, chain.second) === undefined) continue;
      yield {
        node: chain.first,
        statement,
        chain,
        target: given.target,
        message: 'both products of the adapter stand in one expression; a document splits them',
      };
    }
  },

  fix({ statement, chain, target }, edit, module) {
    const { input, first, second, scale } = chain;
    const scope = module.scopeAt(statement);
    const name = NAMES.find((each) => each !== target && freeName(module, each, scope));
    if (name === undefined) return edit.refuse('every name for the intermediate result is taken');
    const proof = new Proof()
      .forbid(!ownsItsLines(module, statement), 'the statement shares its line with other code')
      .forbid(scope.kind !== 'function', 'the new name would stay behind: this is not in a function')
      .forbid(scale !== undefined && !isPlain(scale.node), 'the scale is computed in the same expression')
      .require(
        areTensors(module, [input, first, second]),
        ask('tensors')`Are \`${shown(input)}\`, \`${shown(first)}\` and \`${shown(second)}\` tensors?`,
      );
    const matmul = edit.name(MATMUL, statement);
    const lines = [
      `${name} = ${matmul}(${input.text}, ${first.text})`,
      `${name} = ${matmul}(${name}, ${second.text})`,
    ];
    if (scale !== undefined) {
      const factor = scale.node.text;
      lines.push(`${name} = ${scale.leads ? `${factor} * ${name}` : `${name} * ${factor}`}`);
    }
    lines.push(target === undefined ? `return ${name}` : `${target} = ${name}`);
    edit.replaceStatement(statement, lines);
    return edit.done('Write one matrix product per statement', proof);
  },
};

/** The value of `return value` or `name = value`. */
function resultOf(statement: PyNode): { value: PyNode; target: string | undefined } | undefined {
  if (statement.type === 'return_statement') {
    const value = statement.named[0];
    return value && { value, target: undefined };
  }
  const assignment = statement.type === 'expression_statement' ? statement.named[0] : undefined;
  const left = assignment?.left;
  const value = assignment?.right;
  if (assignment?.type !== 'assignment' || assignment.field('type') !== undefined) return undefined;
  return left?.type === 'identifier' && value !== undefined ? { value, target: left.text } : undefined;
}

/** `x @ A @ B`, or that times a scale on either side. */
function chainOf(module: PyModule, expression: PyNode): Chain | undefined {
  const node = unparenthesized(expression);
  if (node.type === 'binary_operator' && node.operator?.text === '*') {
    const left = node.left;
    const right = node.right;
    const behind = left && chainOf(module, left);
    if (behind?.scale === undefined && behind !== undefined && right !== undefined)
      return { ...behind, scale: { node: right, leads: false } };
    const ahead = right && chainOf(module, right);
    const leads = ahead !== undefined && ahead.scale === undefined && left !== undefined;
    return leads ? { ...ahead, scale: { node: left, leads: true } } : undefined;
  }
  const outer = matrixProduct(module, node);
  const inner = outer && matrixProduct(module, outer.left);
  if (outer === undefined || inner === undefined) return undefined;
  if (outer.callee !== undefined || inner.callee !== undefined) return undefined;
  return { input: inner.left, first: inner.right, second: outer.right };
}

/** Read twice, it gives the same: its place among the products does not matter. */
function isPlain(node: PyNode): boolean {
  return /^(?:identifier|attribute|integer|float)$/.test(node.type);
}

function areTensors(module: PyModule, operands: readonly PyNode[]): 'yes' | 'unknown' {
  const isTensor = (node: PyNode) => /tensor/.test(valueOf(module, node).kind);
  return operands.every(isTensor) ? 'yes' : 'unknown';
}

/*
 * return x @ (self.lora_A @ self.lora_B)
 *
 * return (x @ self.lora_A) @ self.lora_B
 *
 * The factors must be those of a low-rank matrix, by the shapes that `__init__` gives them or by their names, and what stands
 * in front must be an activation: with square factors, or in linear attention (`q @ (k.T @ v)`), the order is chosen well.
 */
import {
  ask,
  behindBracket,
  isTestCode,
  type LowRank,
  lowRank,
  type MatrixProduct,
  matrixProduct,
  Proof,
  type PyNode,
  type Site,
  shown,
  standalone,
  type Transform,
  textBetween,
  unparenthesized,
} from '../src/toolkit/index.js';
import { isWeight } from './matmul-association/weight.js';

/** How far a cue looks into brackets: longer ones are parsed. */
const NEARBY = 500;
const CALLS = /,(?:[\s(]|#[^\n]*\n)*(?:\w+\.)*(?:matmul|mm)\s*\(/;

interface ProductSite extends Site {
  readonly product: PyNode;
  readonly outer: MatrixProduct;
  readonly inner: MatrixProduct;
  readonly factors: LowRank;
}

export const matmulAssociation: Transform<ProductSite> = {
  meta: {
    id: 'matmul-association',
    summary: 'Send the input through the low-rank factors instead of multiplying them out first',
    symptom: 'peak',
    moments: ['forward', 'backward', 'evaluation'],
    safety: 'unsafe',
    numerics: 'rounding',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: '`x @ (A @ B)` builds the full matrix that the low rank was meant to avoid, keeps it for the backward pass, and builds its gradient there. `(x @ A) @ B` goes through the small dimension: the same result up to rounding, for a fraction of the work.',
      does: 'Moves the parentheses: `x @ (A @ B)` becomes `(x @ A) @ B`, and `torch.matmul(x, torch.matmul(A, B))` becomes `torch.matmul(torch.matmul(x, A), B)`.',
      refuses: [
        'the shapes that `__init__` gives the factors show that the new order would cost more',
        'nested calls span lines, or a comment stands before the first factor',
      ],
      limits: [
        'Results differ in the last bits, so every finding is unsafe.',
        'Factors are known by their shapes in `__init__` (`nn.Parameter(torch.zeros(d, rank))`) or by names such as `lora_A`; others are not looked at.',
        'Products of weights alone, such as a merge, and `F.linear(x, B @ A)` are left alone.',
      ],
    },
    evidence: {
      verdict:
        'Multiplying the factors out first takes fifteen times as long, and memory for the full matrix and its gradient',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '4. LoRA Adapter Optimization',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [['lora', 'LoRA', 'Lora', 'LORA', 'rank', 'Rank', 'RANK', 'Parameter']],
  cue: (text, _path, glimpse) =>
    (opensBehind(text, '@') ||
      ((opensBehind(text, 'matmul') || opensBehind(text, 'mm')) && CALLS.test(text))) &&
    glimpse.stretchesWith('@', 'matmul', 'mm').some(hasNested),

  *detect(module) {
    const seen = new Set<PyNode>();
    const hits = ['@', 'matmul', 'mm('].flatMap((name) => module.atWhere(name, hasNested));
    for (const hit of hits) {
      const node = hit.text === '@' ? hit.parent : hit.closest('call');
      if (node === undefined || seen.has(node)) continue;
      seen.add(node);
      const outer = matrixProduct(module, node);
      const inner = outer && matrixProduct(module, unparenthesized(outer.right));
      if (outer === undefined || inner === undefined || isMixed(outer, inner)) continue;
      if (isWeight(module, outer.left)) continue;
      const factors = lowRank(module, inner.left, inner.right);
      if (factors === undefined || isTestCode(module, node)) continue;
      yield {
        node: inner.left,
        product: node,
        outer,
        inner,
        factors,
        message: `\`${short(inner.left)}\` and \`${short(inner.right)}\` are multiplied out to the full matrix, which is kept for the backward pass, before the input meets them`,
      };
    }
  },

  fix({ product, outer, inner, factors }, edit) {
    const isNested = outer.callee !== undefined;
    const opening = outer.right.children[1];
    const proof = new Proof()
      .require(factors.low, {
        no: 'its factors are not of low rank: the other order costs more',
        unknown: ask('low-rank')`Is the rank of \`${shown(product)}\` small against its other sizes?`,
      })
      .require(factors.matrices, {
        no: 'its factors are not both matrices',
        unknown: ask('matrices')`Are both factors of \`${shown(product)}\` matrices?`,
      })
      .require('unknown', ask('rounding')`May \`${shown(product)}\` be rounded otherwise?`)
      .forbid(isNested && /[\r\n]/.test(outer.right.text), 'its nested calls span lines')
      .forbid(product.text.includes('\f'), 'a form feed stands between its factors')
      .forbid(opening?.type === 'comment', 'a comment stands before the first factor');
    if (isNested) {
      edit.replace(outer.left, `${outer.callee}(${outer.left.text}, ${inner.left.text})`);
      edit.replace(outer.right, standalone(inner.right));
    } else edit.replace(product, reordered(outer, inner));
    return edit.done('Multiply the input by one factor after the other', proof);
  },
};

/** Whether a bracket opens behind a word somewhere: a search for the word alone is fast. */
function opensBehind(text: string, word: string): boolean {
  const opening = /[\s\\]*\(/y;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    opening.lastIndex = at + word.length;
    if (opening.test(text)) return true;
  }
  return false;
}

/** In code without strings and comments: a product in the brackets of another. */
function hasNested(code: string): boolean {
  const isInside = (opening: RegExp, inner: RegExp): boolean =>
    [...code.matchAll(opening)].some(({ index, 0: { length } }) => {
      const near = code.slice(index + length - 1, index + length + NEARBY);
      const end = behindBracket(near, 0);
      return end > NEARBY || inner.test(near.slice(0, end));
    });
  return isInside(/@[\s\\]*\(/g, /@/) || isInside(/(?:matmul|mm)\s*\(/g, CALLS);
}

/** The operator outside and a function inside, or the other way round, or two pairs of parentheses. */
function isMixed(outer: MatrixProduct, inner: MatrixProduct): boolean {
  if (outer.callee !== undefined || inner.callee !== undefined) return outer.callee !== inner.callee;
  return outer.right.named[0]?.type !== 'binary_operator';
}

/** `x @ (A @ B)` with the parentheses moved; those that hold several lines together stay around all of them. */
function reordered(outer: MatrixProduct, inner: MatrixProduct): string {
  const first = `(${outer.left.text}${textBetween(outer.left, outer.right)}${inner.left.text})`;
  const rest = textBetween(inner.left, inner.right) + inner.right.text;
  const closing = outer.right.children.at(-1);
  const tail = closing === undefined ? '' : textBetween(inner.right, closing);
  const isHeld = /[\r\n]/.test(rest) || tail.trim() !== '';
  return isHeld ? `(${first}${rest}${tail})` : `${first}${rest}`;
}

function short(node: PyNode): string {
  const text = node.text.replace(/\s+/g, ' ');
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

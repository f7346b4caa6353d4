/*
 * with torch.no_grad():                            with torch.no_grad():
 *     for x in loader:                                 for x in loader:
 *         preds.append(model(x))                           preds.append(model(x).cpu())
 * return torch.cat(preds).cpu().numpy()            return torch.cat(preds).cpu().numpy()
 *
 * Only in code that evaluates, and only for a list that is joined by torch and then moved to the CPU with nothing computed
 * before: then every number is the same, and the elements are tensors, because `torch.cat` takes nothing else. Lists that
 * are gathered between processes, compared on the GPU, returned or given to a metric are left alone, as are the lists of
 * levels inside one forward, which look alike.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  enclosingLoops,
  isEvaluation,
  isTestCode,
  networksOf,
  Proof,
  reachingDefinitions,
  recordsNoGraph,
  unparenthesized,
} from '../src/toolkit/index.js';
import type { JoinedOutputs } from './eval-outputs-to-cpu/joined-outputs.js';
import { joinedOutputs, mayJoinOutputs } from './eval-outputs-to-cpu/joined-outputs.js';

interface OutputsSite extends Site {
  readonly values: readonly PyNode[];
  readonly name: string;
}

export const evalOutputsToCpu: Transform<OutputsSite> = {
  meta: {
    id: 'eval-outputs-to-cpu',
    summary: 'Move collected outputs of an evaluation to the CPU batch by batch',
    symptom: 'peak',
    moments: ['evaluation', 'forward'],
    movesTo: 'host',
    lasts: 'call',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'An evaluation that collects the outputs of all batches and joins them at the end holds the outputs of the whole data set on the GPU, twice while they are joined. With logits of a large vocabulary that is soon more than the model.',
      does: 'Adds `.cpu()` to what is appended (`.detach().cpu()` where gradients are on), so that the list grows in host memory. The later `.cpu()` then finds the data there.',
      refuses: [
        'the joined tensor is used for anything but its shape before it is moved to the CPU: no finding',
        'the list itself is returned, gathered or given to other code: no finding',
        'the code does not evaluate, by `.eval()` or `no_grad`: no finding',
        'the outputs are moved already, or no network computes them: no finding',
      ],
      limits: [
        'Each batch waits for its outputs (a synchronisation), and the host needs the memory instead. For classes, `argmax` before keeping saves more.',
        'On a machine without a GPU nothing changes.',
      ],
    },
    evidence: {
      verdict:
        'Real: the GPU then holds one batch at a time, 61 % less at six batches. The copies are not free: with one GiB of logits a batch the evaluation took twenty times as long',
      measurements: [],
    },
    origin: [],
    example: 'fix-logits-of-all-batches',
  },

  skipsTests: true,
  prefilter: [
    'torch',
    '.append(',
    ['cat(', 'stack('],
    ['.eval(', 'no_grad', 'inference_mode', 'grad_enabled'],
    ['.cpu(', '"cpu"', "'cpu'", '.tolist(', '.item(', '.numpy('],
  ],
  cue: (_text, _path, glimpse) => mayJoinOutputs(glimpse),

  *detect(module) {
    for (const outputs of joinedOutputs(module)) {
      const [first] = outputs.appends;
      if (first === undefined || isTestCode(module, first.target)) continue;
      const values = valuesOnDevice(module, outputs);
      if (values.length === 0) continue;
      const message = `\`${outputs.name}\` holds the outputs of all batches on the GPU until they are joined and moved`;
      yield { node: first.target, message, values, name: outputs.name };
    }
  },

  fix({ values, name }, edit, module) {
    for (const value of values)
      edit.appendCall(value, recordsNoGraph(module, value) ? '.cpu()' : '.detach().cpu()');
    const proof = new Proof().require(
      'unknown',
      ask('host-room')`Does the host have room for \`${name}\`, and may what follows compute on the CPU?`,
    );
    return edit.done(`Keep \`${name}\` in host memory`, proof);
  },
};

function valuesOnDevice(module: PyModule, { appends }: JoinedOutputs): readonly PyNode[] {
  return appends.flatMap(({ target, value }) =>
    isEvaluation(module, target) &&
    !isMoved(module, value) &&
    isOnDevice(module, value) &&
    !isLoopOverNetworks(module, value)
      ? [value]
      : [],
  );
}

/** `for encoder in encoders: …append(encoder(x))` has few rounds, and no batches. */
function isLoopOverNetworks(module: PyModule, value: PyNode): boolean {
  const networks = valuesBehind(module, value).flatMap((node) => [...networksOf(module, node)]);
  return enclosingLoops(value).some((loop) =>
    [...(loop.left?.walk() ?? [])].some(({ type, text }) => type === 'identifier' && networks.includes(text)),
  );
}

const MOVED = /\.(?:cpu|numpy|tolist|item)\(\)(?:\.\w+\([^()]*\))*$|\.to\(["']cpu["']\)$/;

function isMoved(module: PyModule, value: PyNode): boolean {
  return valuesBehind(module, value).some(({ text }) => MOVED.test(text));
}

/** A network computes it, or it was moved to a device on purpose. */
function isOnDevice(module: PyModule, value: PyNode): boolean {
  return valuesBehind(module, value).some(
    (node) =>
      /\.(?:to|cuda)\(/.test(node.text) ||
      [...node.walk()].some((inner) => inner.type === 'call' && networksOf(module, inner).size > 0),
  );
}

/** The value and, for a variable, what it was given. */
function valuesBehind(module: PyModule, value: PyNode): readonly PyNode[] {
  const node = unparenthesized(value);
  const definitions = node.type === 'identifier' ? (reachingDefinitions(module, node) ?? []) : [];
  return [node, ...definitions.flatMap((found) => ('value' in found ? [found.value] : []))];
}

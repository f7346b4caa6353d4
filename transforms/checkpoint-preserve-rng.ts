/*
 * x = checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)
 *
 * x = checkpoint(block, x, use_reentrant=False)
 *
 * The document asks for the opposite, to save memory. It saves none, and where the block draws random numbers (dropout) the
 * recomputed block draws others, so the gradients are wrong. So the keyword is written only where this file proves that
 * nothing in the block is random, and offered for removal where it stands and nothing proves that.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  ask,
  CHECKPOINT,
  CHECKPOINT_SEQUENTIAL,
  calledPath,
  callsNamed,
  hasSplat,
  isTestCode,
  keywordArgument,
  PARTIAL,
  Proof,
  qualifiedName,
  shown,
} from '../src/toolkit/index.js';
import { isFreeOfRandomness } from './checkpoint-preserve-rng/randomness.js';

const KEEP = 'preserve_rng_state';
const NAMES: readonly string[] = ['checkpoint', 'checkpoint_sequential', 'checkpoint_wrapper'];

interface RngSite extends Site {
  readonly call: PyNode;
  /** What is recomputed, where the call says it. */
  readonly block: PyNode | undefined;
  /** The keyword that lets the recomputation draw other numbers, to be taken away. */
  readonly given: PyNode | undefined;
}

/** The ways to get at `torch.utils.checkpoint`, and at the wrapper, whose package is `_checkpoint`. */
const OF_TORCH =
  /\butils[\s\\]*\.[\s\\]*checkpoint\b|\btorch[\s\\]*\.[\s\\]*utils[\s\\]+import\b|\butils[\s\\]+as\b|=[\s\\]*[\w.]*\butils\b(?![\s\\]*[.(=\w])|\b_checkpoint\b/;

export const checkpointPreserveRng: Transform<RngSite> = {
  meta: {
    id: 'checkpoint-preserve-rng',
    summary: 'Recompute with the same random numbers; drop them only where there are none',
    symptom: 'peak',
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'documented',
    options: {},
    requires: {},
    docs: {
      why: '`preserve_rng_state=False` tells torch not to restore the state of the random generators before it recomputes a checkpointed block. With dropout inside, the backward pass then sees other masks than the forward pass did, and the gradients are wrong without any error. What it saves is one small copy of that state per call.',
      does: 'Where `preserve_rng_state=False` stands and the file does not prove the block free of randomness, it offers to remove the keyword. Where the file does prove it, the keyword is added to `checkpoint(…)` as the document recommends.',
      refuses: [
        'the keyword is never added where the block, or anything it calls, is not known to this file or may draw random numbers: dropout, `torch.rand` and its relatives, modules from elsewhere, hooks, adapters of peft',
        'the arguments are spread with `**`, so the keyword may be given twice',
      ],
      limits: [
        'The wrapper function around the block that the document adds changes nothing, and is not written.',
        'Code elsewhere can put dropout into a block that has none here; that is why the fix is never safe.',
        'Use `checkpoint-use-reentrant` to make checkpointing itself future-proof, and `enable-gradient-checkpointing` to save memory.',
      ],
    },
    evidence: {
      verdict:
        'No effect on memory or time; with dropout inside, gradients are wrong (relative error about 1). Do not use it to save memory',
      measurements: [],
    },
    origin: [{ document: 'Memory leak solutions (LLM-QAT GPT-2)', section: '1', fidelity: 'same' }],
    example: 'fix-dropout-inside',
  },

  skipsTests: true,
  prefilter: ['checkpoint', 'torch'],
  cue: (text) =>
    /\bcheckpoint(?:_sequential|_wrapper)?\b(?:\s*\(|\s+as\b|\s*,)/.test(text) && OF_TORCH.test(text),

  *detect(module) {
    for (const { call, node, path, block } of checkpointed(module)) {
      if (isTestCode(module, call)) continue;
      const given = keywordArgument(call, KEEP);
      const isOff = given?.value?.type === 'false';
      const isFree = (): boolean => block !== undefined && isFreeOfRandomness(module, block);
      if (given === undefined && path === CHECKPOINT) {
        const message = 'torch keeps the state of the random generators for the recomputation';
        yield { node, call, block, given: undefined, message, measuredAs: 'training step without dropout' };
      } else if (given !== undefined && isOff && !isFree()) {
        const what = block === undefined ? 'the block' : `\`${shown(block)}\``;
        const message = `${what} is recomputed with other random numbers: with dropout inside its gradients are wrong, and no memory is saved`;
        const measuredAs = 'training step with dropout';
        yield { node: given.name ?? node, call, block, given, message, measuredAs };
      }
    }
  },

  fix({ call, block, given }, edit, module) {
    const what = `\`${shown(block ?? call)}\``;
    if (given !== undefined) {
      edit.removeArgument(given);
      const anew = ask(
        'gradients-change',
      )`May the gradients of ${what} change (it is recomputed with the random numbers of its forward pass, as dropout needs)?`;
      return edit.done('Recompute with the same random numbers', new Proof().require('unknown', anew));
    }
    const proof = new Proof()
      .require(
        'unknown',
        ask('no-random-numbers')`Is all that ${what} runs free of random numbers, in other files, too?`,
      )
      .forbid(hasSplat(call), 'its arguments are spread, so the keyword may already be among them')
      .forbid(
        block === undefined || !isFreeOfRandomness(module, block),
        `this file does not prove that ${what} draws no random numbers, and with dropout its gradients would be wrong`,
      );
    edit.appendKeyword(call, KEEP, 'False');
    return edit.done('Do not keep the random state, as documented', proof, { numerics: 'bit-identical' });
  },
};

interface Checkpointed {
  readonly call: PyNode;
  readonly node: PyNode;
  readonly path: string;
  readonly block: PyNode | undefined;
}

/** Calls of torch's checkpointing, and `partial(checkpoint, …)` of it. */
function* checkpointed(module: PyModule): Generator<Checkpointed> {
  for (const { call, name } of NAMES.flatMap((each) => callsNamed(module, each))) {
    const path = calledPath(module, call);
    if (path === undefined || !isCheckpointing(path)) continue;
    const [first] = argumentsOf(call);
    const block = first?.type === 'keyword_argument' || first?.type === 'list_splat' ? undefined : first;
    yield { call, node: name, path, block: path === CHECKPOINT ? block : undefined };
  }
  for (const { call, name } of callsNamed(module, 'partial')) {
    const callee = call.function;
    const [first] = argumentsOf(call);
    const path = first && qualifiedName(module, first);
    if (path === undefined || !isCheckpointing(path)) continue;
    if (callee !== undefined && qualifiedName(module, callee) === PARTIAL)
      yield { call, node: name, path: PARTIAL, block: undefined };
  }
}

function isCheckpointing(path: string): boolean {
  return path === CHECKPOINT || path === CHECKPOINT_SEQUENTIAL || isCheckpointWrapper(path);
}

/** Wraps a layer so that it is checkpointed whenever it runs. */
function isCheckpointWrapper(path: string): boolean {
  return /^torch\.distributed\.algorithms\._checkpoint\.(?:\w+\.)*(?:checkpoint_wrapper|CheckpointWrapper)$/.test(
    path,
  );
}

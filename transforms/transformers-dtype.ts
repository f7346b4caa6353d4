/*
 * model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
 *
 * model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16)
 *
 * transformers takes `dtype` from 4.56 on and warns about the old name. Only calls whose receiver the imports resolve to a
 * model class (or the pipeline function) of transformers are touched: diffusers, peft, vllm and functions of the project
 * have a `torch_dtype` of their own.
 */
import type { Given, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  givenIn,
  isGivenBeside,
  isPipeline,
  keywordValue,
  modelLoad,
  Proof,
  requireArrival,
  requireVersion,
  spreadsMore,
} from '../src/toolkit/index.js';

const OLD = 'torch_dtype';
const NEW = 'dtype';

interface DtypeSite extends Site {
  readonly given: Given;
}

export const transformersDtype: Transform<DtypeSite> = {
  meta: {
    id: 'transformers-dtype',
    summary: 'Write `dtype` instead of `torch_dtype` when loading transformers models',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: { transformers: '4.56' },
    docs: {
      why: '`torch_dtype` is the old name of the argument: transformers 4.56 and 4.57 warn about it at every load, 5.x only in `from_config`, and one day it will be gone. Until then nothing is lost but a line in the log.',
      does: 'Renames the keyword in `from_pretrained`, `from_config` and `pipeline` of transformers, also in a dict of the file that is spread into such a call.',
      refuses: [
        'the project pins a transformers older than 4.56, which does not know `dtype`',
        '`dtype` is given as well',
        'the dict is changed or read by its key, or is also spread into a call of another library',
      ],
      limits: [
        'Before 4.56 `dtype` is handed to the model, which stops with a TypeError: without a pin in the project the fix is unsafe.',
        'diffusers takes `dtype` only in its newest releases: its classes are left alone.',
        '`torch_dtype` inside `model_kwargs={…}` of a pipeline is left alone.',
      ],
    },
    evidence: {
      verdict:
        'No effect on memory or speed: it removes a warning where there is one; transformers 5.17 takes the old name in `from_pretrained` without a word. Both names give the same model there',
      measurements: [],
    },
    origin: [
      {
        document: 'What real code needs beyond the documents',
        section: 'transformers-dtype',
        fidelity: 'same',
      },
    ],
    example: 'fix-loaders-and-pipeline',
  },

  prefilter: [OLD, 'transformers'],
  cue: (text) => /\btorch_dtype["']?\s*[=:]/.test(text),

  *detect(module) {
    for (const given of givenIn(module, OLD)) {
      if (!given.calls.some((call) => takesDtype(module, call))) continue;
      yield {
        node: given.name,
        given,
        message: '`torch_dtype` is the old name: transformers 4.56 and later warn about it at every load',
      };
    }
  },

  fix({ given }, edit, module) {
    const proof = new Proof();
    requireVersion(proof, module, 'transformers', '4.56', '`dtype` is a TypeError');
    requireArrival(proof, given)
      .forbid(isGivenBeside(given, NEW), '`dtype` is given as well')
      .forbid((given.dict?.reads.length ?? 0) > 0, 'the dict is read by the old name as well')
      .forbid(
        !given.calls.every((call) => takesDtype(module, call)),
        'the dict is also spread into a call that does not load a transformers model',
      );
    for (const call of given.calls) {
      proof
        .require(
          spreadsMore(given) ? 'unknown' : 'yes',
          ask('spread-without')`Is \`${'dtype'}\` missing from what is spread into the call?`,
        )
        .require(
          keywordValue(call, 'trust_remote_code')?.type === 'true' ? 'unknown' : 'yes',
          ask('remote-takes')`Does the code that comes with the model take \`${'dtype'}\`?`,
        );
    }
    edit.replace(given.name, given.name.text.replace(OLD, NEW));
    return edit.done('Write `dtype`', proof);
  },
};

function takesDtype(module: PyModule, call: PyNode): boolean {
  return modelLoad(module, call) !== undefined || isPipeline(module, call);
}

/*
 * length = 1536 in the configuration:
 *
 * MAX_SEQ_LENGTH = 2048                SFTConfig(out, max_length=2048)          tokenizer(text, truncation=True, max_length=2048)
 *
 * MAX_SEQ_LENGTH = 1536                SFTConfig(out, max_length=1536)          tokenizer(text, truncation=True, max_length=1536)
 *
 * Nothing happens without a configured length, and shorter ones stay. `max_length` is edited only where it cuts training
 * data: in trl's arguments, unsloth's loader, and a tokenizer call that says `truncation`; `generate(max_length=…)` and the
 * size of a position table are something else. Always unsafe: what is cut off is not learned.
 */
import {
  ask,
  isTestCode,
  onlyHere,
  Proof,
  requireArrival,
  type Site,
  shown,
  showsTraining,
  type Transform,
} from '../src/toolkit/index.js';
import type { LengthPlace } from './max-sequence-length/sequence-length.js';
import { idleUse, lengthsAbove, shapesModel } from './max-sequence-length/sequence-length.js';

interface LengthSite extends Site {
  readonly place: LengthPlace;
}

export const maxSequenceLength: Transform<LengthSite> = {
  meta: {
    id: 'max-sequence-length',
    summary: 'Cut training examples to a configured number of tokens',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {
      length: {
        type: 'integer',
        default: 0,
        summary: 'the most tokens of an example; nothing happens while it is 0',
        needed: { example: 2048 },
      },
    },
    requires: {},
    docs: {
      why: 'Activations grow with the number of tokens in a batch, and the logits with tokens times vocabulary. Where only a few examples are long, shortening those lowers the peak and touches nothing else.',
      does: 'With `length` configured: lowers a higher number in a constant of the module (`MAX_SEQ_LENGTH`, `MAX_LENGTH`, …), in `max_seq_length` or `max_length` of trl’s arguments and trainers, of unsloth’s loader, and of a tokenizer call with `truncation`, also in a dict or variable of the file, and in the default of a command line option (`--max-length`).',
      refuses: [
        'the number also shapes the model: it is read in a module class, or in a call of torch, a config or `generate`',
        'the default of a command line option comes before the constant, so that lowering it changes nothing',
        'the dict is changed before it is used',
      ],
      limits: [
        'Longer examples are cut, in trl and most tokenizers at the end, which may be the answer that should be learned. Count the tokens of your data first.',
        'With packing, a shorter length means more, shorter blocks.',
        'Lengths in YAML files and shell scripts are not seen.',
      ],
    },
    evidence: {
      verdict:
        'Real and proportional at best: a quarter fewer tokens gave 21 % less memory. The documents’ "saves 25 %" leaves out what does not depend on the length',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization guide (baseline 7B training)', section: '1', fidelity: 'same' },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [['max_seq_length', 'max_length', 'MAX_SEQ', 'MAX_LEN', '--max']],

  *detect(module, options) {
    const limit = Number(options['length']);
    if (limit < 1) return;
    for (const place of lengthsAbove(module, limit)) {
      if (isTestCode(module, place.name)) continue;
      yield {
        node: place.name,
        place,
        message: `examples of up to ${place.tokens} tokens set the peak: activations grow with every token of a batch`,
      };
    }
  },

  fix({ place }, edit, module, options) {
    const limit = `${Number(options['length'])}`;
    const { given, written } = place;
    const idle = idleUse(module, place);
    const instead =
      idle === undefined
        ? ''
        : `\`${idle.option.flag}\` is ${idle.option.value.text} when nobody gives it, so that ${idle.place} never takes this number`;
    const proof = new Proof()
      .forbid(shapesModel(module, place), 'the number also shapes the model or what it generates')
      .forbid(idle?.isOnly === true, `${instead}: change that default`)
      .require(
        idle === undefined ? 'yes' : 'unknown',
        ask('taken-there')`Does another place take it (${instead})?`,
      )
      .require(
        given !== undefined && given.calls.length > 0 ? 'yes' : 'unknown',
        ask('cuts-data')`Does \`${shown(written.node)}\` cut training data, which this file does not show?`,
      )
      .meet(...(given === undefined ? [] : [onlyHere(module, written)]))
      .require(
        given === undefined || showsTraining(module) ? 'yes' : 'unknown',
        ask(
          'training-data',
        )`Are the data that \`${shown(written.node)}\` cuts for training (this file does not train)?`,
      )
      .require('unknown', ask('may-be-cut')`May what examples have beyond \`${limit}\` tokens be missing?`);
    if (given !== undefined) requireArrival(proof, given);
    edit.replace(written.node, limit);
    return edit.done(`Cut examples at ${limit} tokens`, proof);
  },
};

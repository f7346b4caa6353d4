/*
 * limit = 2 in the configuration:
 *
 * TrainingArguments(out, save_steps=500, save_total_limit=10)          TrainingArguments(out, save_steps=500)
 *
 * TrainingArguments(out, save_steps=500, save_total_limit=2)           … save_steps=500, save_total_limit=2)
 *
 * Nothing happens without a configured limit, and a limit that is lower already stays. The call must be resolved to
 * transformers or trl; a dict that holds the key counts where such a call is given
 * it, or takes the setting out of it by name (`save_total_limit=CONFIG.get("save_total_limit", 5)`).
 * Always unsafe: the trainer deletes the older checkpoints, and what is deleted is gone.
 */
import {
  argumentsCalls,
  argumentsTakers,
  ask,
  type Given,
  givenAcross,
  isTestCode,
  keywordArgument,
  onlyHere,
  Proof,
  type PyModule,
  plainString,
  requireArrival,
  requireTrainer,
  type Site,
  siblingOf,
  spreadsMore,
  type Transform,
  type Written,
  wholeNumber,
  writtenBehind,
} from '../src/toolkit/index.js';

const LIMIT = 'save_total_limit';
const SAVING = ['save_steps', 'save_strategy'];

interface LimitSite extends Site {
  readonly given: Given;
  /** The value to replace; undefined where the setting is to be added behind `given`. */
  readonly written: Written | undefined;
}

export const saveTotalLimit: Transform<LimitSite> = {
  meta: {
    id: 'save-total-limit',
    summary: 'Keep at most a configured number of checkpoints on disk',
    symptom: 'host-memory',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {
      limit: {
        type: 'integer',
        default: 0,
        summary: 'checkpoints to keep; nothing happens while it is 0',
        needed: { example: 3 },
      },
    },
    requires: {},
    docs: {
      why: 'Without `save_total_limit` a trainer keeps every checkpoint: weights and, at twice to four times their size, the state of the optimizer. A run of a 7B model with a checkpoint every 500 steps fills a disk in a night, and a full disk ends it.',
      does: 'With `limit` configured: lowers a `save_total_limit` that is higher or `None`, and adds the keyword behind `save_steps` or `save_strategy` where a call or dict has none. Also through a variable or a dict of the file.',
      refuses: [
        'the arguments are spread, so that the keyword may be given twice',
        'the dict is changed before it is used',
      ],
      limits: [
        'Disk only: neither GPU memory nor host memory changes, whatever the document says about it under memory that grows.',
        'Older checkpoints are deleted while the run goes on. With `load_best_model_at_end` the best one is kept beside the last.',
        'Calls that never mention saving are left alone.',
      ],
    },
    evidence: {
      verdict: 'Nil on GPU and host memory: it frees disk',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization guide (baseline 7B training)',
        section: 'Troubleshooting, issue 3',
        fidelity: 'same',
      },
    ],
    example: 'fix-lowered',
  },

  skipsTests: true,
  prefilter: [[LIMIT, ...SAVING]],

  *detect(module, options) {
    const limit = Number(options['limit']);
    if (limit < 1) return;
    for (const given of givenAcross(module, LIMIT)) {
      if (!isSaver(module, given)) continue;
      const written = writtenBehind(module, given.value);
      const kept = wholeNumber(written.node);
      if (written.node.type !== 'none' && (kept === undefined || kept <= limit)) continue;
      yield {
        node: given.name,
        given,
        written,
        message: `${kept ?? 'all'} checkpoints stay on disk, each with the state of its optimizer`,
      };
    }
    for (const given of SAVING.flatMap((name) => givenAcross(module, name))) {
      if (!isSaver(module, given) || isCovered(given)) continue;
      // Those who take settings by their names do not take one more.
      if (given.calls.length === 0 && given.takers.length > 0) continue;
      const message = 'every checkpoint stays on disk, each with the state of its optimizer';
      yield { node: given.name, given, written: undefined, message };
    }
  },

  fix({ given, written }, edit, module, options) {
    const limit = `${Number(options['limit'])}`;
    const proof = new Proof()
      .forbid(
        written === undefined && spreadsMore(given),
        'its arguments are spread, so the keyword may already be among them',
      )
      .meet(...(written === undefined ? [] : [onlyHere(module, written)]))
      .require('unknown', ask('may-be-deleted')`May all checkpoints but the last \`${limit}\` be deleted?`);
    requireArrival(requireTrainer(proof, module, given, 'this setting'), given);
    if (written !== undefined) edit.replace(written.node, limit);
    else if (given.entry.type === 'pair') edit.addEntryAfter(given.entry, LIMIT, limit);
    else edit.addKeywordAfter(given.entry, LIMIT, limit);
    return edit.done(`Keep ${limit} checkpoint${limit === '1' ? '' : 's'}`, proof);
  },
};

/** Trainer arguments of the libraries, or a dict whose readers are out of sight: the keys are theirs alone. */
function isSaver(module: PyModule, given: Given): boolean {
  if (isTestCode(module, given.name)) return false;
  const { calls, dict } = given;
  if (calls.length === 0 && argumentsTakers(module, given).length > 0) return true;
  if (calls.length === 0) {
    const isSetting = ['integer', 'none', 'string', 'identifier'].includes(given.value.type);
    return dict !== undefined && isSetting && siblingOf(given, 'output_dir') !== undefined;
  }
  return argumentsCalls(module, given).length === calls.length;
}

/** A limit is given already, nothing is saved, or the other of the two settings speaks for both. */
function isCovered(given: Given): boolean {
  if (siblingOf(given, LIMIT) !== undefined) return true;
  if (given.calls.some((call) => keywordArgument(call, LIMIT) !== undefined)) return true;
  const strategy = siblingOf(given, 'save_strategy');
  if (strategy !== undefined && plainString(strategy.value) === 'no') return true;
  return given.name.text.includes('save_strategy') && siblingOf(given, 'save_steps') !== undefined;
}

/*
 * model = AutoModelForCausalLM.from_pretrained(name, load_in_8bit=True)
 *
 * model = AutoModelForCausalLM.from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_8bit=True))
 *
 * The short form is deprecated in transformers 4 and a TypeError in 5. transformers 4 itself collects every keyword that
 * BitsAndBytesConfig knows, so all of them move along. A switch that is a name or an attribute keeps its meaning by
 * `… if switch else None`. Classes of unsloth, peft and trl have a `load_in_4bit` of their own and are left alone.
 */
import type { Given, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  BITS_AND_BYTES_CONFIG,
  copyOf,
  givenIn,
  isGivenBeside,
  mayLoadAnyModel,
  modelLoad,
  Proof,
  requireArrival,
  requireVersion,
  row,
  spreadsMore,
  startsItsLine,
} from '../src/toolkit/index.js';

const SWITCHES = ['load_in_8bit', 'load_in_4bit'];
const CONFIG = 'quantization_config';
const LOADER = 'from_pretrained';

interface QuantizationSite extends Site {
  readonly given: Given;
}

export const quantizationConfig: Transform<QuantizationSite> = {
  meta: {
    id: 'quantization-config',
    summary: 'Say `quantization_config=BitsAndBytesConfig(…)` instead of `load_in_8bit` or `load_in_4bit`',
    symptom: 'future-break',
    safety: 'safe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {},
    requires: { transformers: '4.30' },
    docs: {
      why: '`from_pretrained(…, load_in_8bit=True)` is deprecated in transformers 4 and removed in 5.0, where the keyword reaches the model and stops the script with a TypeError.',
      does: 'Moves the switch, and every other keyword of `BitsAndBytesConfig` in the call, into `quantization_config=BitsAndBytesConfig(…)`, and imports that class from transformers. A switch that is `False` is taken out. Also in a dict of the file that is spread into the call.',
      refuses: [
        '`quantization_config` is given as well',
        'the switch is worked out in the call, so that writing it twice might not give the same answer',
        'both switches are `False` and share a line',
        'the dict is changed, read by its key, or spread into another call as well',
      ],
      limits: [
        'transformers below 4.30 has no `BitsAndBytesConfig` for 4 bits: where the project allows one, the fix is unsafe.',
        'Only model classes of transformers: `FastLanguageModel` of unsloth, `AutoPeftModel…` and trl’s value heads keep their keywords.',
        '`load_in_8bit` inside `model_kwargs={…}` of a pipeline is left alone.',
      ],
    },
    evidence: {
      verdict:
        'No effect on memory or speed: the weights are quantized the same way. The old keywords are a TypeError on transformers 5.17',
      measurements: [],
      gpu: { notMeasured: 'the old keywords no longer run on the transformers that is measured with' },
    },
    origin: [
      {
        document: 'What real code needs beyond the documents',
        section: 'quantization-config',
        fidelity: 'same',
      },
    ],
    example: 'fix-eight-bits',
  },

  prefilter: [SWITCHES, 'transformers'],
  cue: (text, _path, glimpse) =>
    /\bload_in_[48]bit["']?\s*[=:]/.test(text) && text.includes(LOADER) && mayLoadAnyModel(glimpse),

  *detect(module) {
    const seen = new Set<PyNode | undefined>();
    for (const given of SWITCHES.flatMap((name) => givenIn(module, name, mayLoad))) {
      if (seen.has(given.entry.parent) || !given.calls.some((call) => loads(module, call))) continue;
      seen.add(given.entry.parent);
      yield {
        node: given.name,
        given,
        message: `\`${nameOf(given.entry)}\` is gone from transformers 5.0 on: there the call stops with a TypeError`,
      };
    }
  },

  fix({ given }, edit, module) {
    const entries = keywordsIn(given);
    const switches = entries.filter((entry) => SWITCHES.includes(nameOf(entry)));
    const on = switches.filter((entry) => valueIn(entry).type !== 'false');
    // The last of them takes the place of all, so that those before it go away with their commas.
    const kept = on.length === 0 ? undefined : entries.at(-1);
    const removed = kept === undefined ? switches : entries.slice(0, -1);
    const proof = new Proof();
    requireVersion(proof, module, 'transformers', '4.30', '`BitsAndBytesConfig` does not know 4 bits');
    requireArrival(proof, given)
      .forbid(isGivenBeside(given, CONFIG), `\`${CONFIG}\` is given as well`)
      .forbid(
        on.some((entry) => !['true', 'identifier', 'attribute'].includes(valueIn(entry).type)),
        'the switch is worked out in the call: writing it twice might not give the same answer',
      )
      .forbid(
        kept === undefined && removed.length > 1 && !removed.every((entry) => startsItsLine(module, entry)),
        'both switches share a line',
      )
      .forbid(
        given.dict?.variable !== undefined && removed.length > 0,
        'several of its keywords stand in a dict that may be read elsewhere',
      )
      .forbid((given.dict?.reads.length ?? 0) > 0, 'the dict is read by the old name as well')
      .forbid(
        !given.calls.every((call) => loads(module, call)),
        'the dict is also spread into a call that does not load a transformers model',
      )
      .require(
        spreadsMore(given) ? 'unknown' : 'yes',
        ask('spread-without')`Is \`${CONFIG}\` missing from what is spread into the call?`,
      );
    proof.require(
      kept === undefined || module.mentions(/^(?:from|import)\s+transformers\b/m) ? 'yes' : 'unknown',
      ask(
        'importable',
      )`May ${'transformers'} be imported above everything else, which this file does only in places?`,
    );
    if (proof.refuted === undefined && kept !== undefined) {
      const name = edit.importedName(BITS_AND_BYTES_CONFIG, kept);
      const parts = entries.filter((entry) => valueIn(entry).type !== 'false' || !switches.includes(entry));
      const made = `${name}(${parts.map((entry) => `${nameOf(entry)}=${valueIn(entry).text}`).join(', ')})`;
      const isFixed = on.some((entry) => valueIn(entry).type === 'true');
      const tests = on.map((entry) => copyOf(valueIn(entry))).join(' or ');
      const key = kept.children[0];
      if (key !== undefined) edit.replace(key, key.text.replace(nameOf(kept), CONFIG));
      edit.replace(valueIn(kept), isFixed ? made : `${made} if ${tests} else None`);
    }
    if (proof.refuted === undefined) for (const entry of removed) edit.removeArgument(entry);
    return edit.done(kept === undefined ? 'Take the switch out' : 'Say it by a BitsAndBytesConfig', proof);
  },
};

/** Going by the last word of what is called. */
function mayLoad(called: string | undefined): boolean {
  return called === undefined || called === LOADER;
}

function loads(module: PyModule, call: PyNode): boolean {
  return modelLoad(module, call)?.method === LOADER;
}

function keywordsIn({ entry }: Given): readonly PyNode[] {
  return (entry.parent?.named ?? []).filter((each) =>
    row(BITS_AND_BYTES_CONFIG)?.accepts?.includes(nameOf(each)),
  );
}

function nameOf(entry: PyNode): string {
  return (entry.name ?? entry.key)?.text.replace(/^["']|["']$/g, '') ?? '';
}

function valueIn(entry: PyNode): PyNode {
  return entry.value ?? entry;
}

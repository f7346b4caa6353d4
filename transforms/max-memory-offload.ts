/*
 * gpu = "18GB", cpu = "40GB" in the configuration:
 *
 * AutoModelForCausalLM.from_pretrained(name, device_map="auto", max_memory={0: "20GB", "cpu": "30GB"})
 *
 * AutoModelForCausalLM.from_pretrained(name, device_map="auto", max_memory={0: "18GB", "cpu": "40GB"})
 *
 * Nothing happens without a configured value. Only an existing dict literal is edited, on the spot or in a variable: the
 * limit of each GPU is lowered, never raised, that of the host is set. No limit is invented where there is none.
 * Always unsafe: layers that no longer fit run from the host, slowly, and trainers refuse models that are spread that way.
 */
import {
  ask,
  type Given,
  givenIn,
  isTestCode,
  onlyHere,
  Proof,
  type PyModule,
  type PyNode,
  plainString,
  requireArrival,
  type Site,
  type Transform,
  type Written,
  writtenBehind,
} from '../src/toolkit/index.js';
import { placesModel } from './max-memory-offload/placed.js';

const MAX_MEMORY = 'max_memory';

interface LimitSite extends Site {
  readonly given: Given;
  readonly written: Written;
  /** The values to replace, and by what. */
  readonly changes: readonly (readonly [value: PyNode, text: string])[];
}

export const maxMemoryOffload: Transform<LimitSite> = {
  meta: {
    id: 'max-memory-offload',
    summary: 'Lower the memory that a loaded model may take on each GPU, to a configured value',
    symptom: 'peak',
    moments: ['loading', 'moving', 'forward', 'backward', 'evaluation'],
    movesTo: 'host',
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {
      gpu: {
        type: 'string',
        default: '',
        summary: 'the most per GPU, such as "18GB"; unset: nothing happens to GPUs',
        needed: { example: '18GB' },
      },
      cpu: {
        type: 'string',
        default: '',
        summary: 'the most on the host, such as "40GB"; unset: nothing happens to it',
        needed: { example: '40GB' },
      },
    },
    requires: {},
    docs: {
      why: '`max_memory` says how much of each device the weights may take when `device_map` spreads a model. What does not fit there stays on the host and is copied to the GPU at every forward pass.',
      does: 'With `gpu` or `cpu` configured: lowers the values of whole-number keys and sets that of `"cpu"` in a `max_memory={…}` literal of `from_pretrained` or accelerate, also where a variable holds the dict.',
      refuses: [
        'the dict is built by a comprehension, spread or changed later',
        'a limit is not a plain number with a unit, so that it cannot be compared',
      ],
      limits: [
        'Offloaded layers are slow: every forward pass copies them. Accelerate refuses to train a model with layers on the host.',
        'It limits weights, not activations: what training needs on top has to fit into the rest.',
        'Host memory grows by what leaves the GPU.',
      ],
    },
    evidence: {
      verdict:
        'Moves weights from the GPU to the host at the price of a copy per forward pass: 24 % less at the peak for five times the time in one measurement',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization guide (baseline 7B training)',
        section: 'Additional options, 2',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [MAX_MEMORY],

  *detect(module, options) {
    if (bytesOf(`${options['gpu']}`) === undefined && bytesOf(`${options['cpu']}`) === undefined) return;
    for (const given of givenIn(module, MAX_MEMORY)) {
      if (isTestCode(module, given.name) || !given.calls.some((call) => placesModel(module, call))) continue;
      const written = writtenBehind(module, given.value);
      if (written.node.type !== 'dictionary') continue;
      const changes = changesTo(written.node, `${options['gpu']}`, `${options['cpu']}`);
      if (changes.length === 0) continue;
      const message = 'its limits for the weights are not those of the configuration';
      yield { node: given.name, given, written, changes, message };
    }
  },

  fix({ given, written, changes }, edit, module) {
    const proof = new Proof()
      .forbid(isChanged(module, written), 'the dict is changed before it is used')
      .forbid(
        written.node.named.some(({ type }) => type !== 'pair'),
        'the dict takes in another one',
      )
      .meet(onlyHere(module, written))
      .require(
        'unknown',
        ask(
          'partly-from-host',
        )`May the model with \`${'max_memory'}\` run partly from the host (that is slow, and trainers refuse it)?`,
      );
    requireArrival(proof, given);
    for (const [value, text] of changes) edit.replace(value, text);
    return edit.done('Lower the limit', proof);
  },
};

const UNITS: Readonly<Record<string, number>> = {
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
};

function bytesOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT][iI]?[bB])\s*$/.exec(text) ?? [];
  const size = UNITS[unit.toUpperCase()];
  return digits === undefined || size === undefined ? undefined : Number(digits) * size;
}

function changesTo(dict: PyNode, gpu: string, cpu: string): readonly (readonly [PyNode, string])[] {
  return dict.named.flatMap((pair): readonly (readonly [PyNode, string])[] => {
    const key = pair.type === 'pair' ? pair.key : undefined;
    const value = pair.value;
    const given = value && plainString(value);
    const now = given === undefined ? undefined : bytesOf(given);
    if (key === undefined || value === undefined || given === undefined || now === undefined) return [];
    const wanted = key.type === 'integer' ? gpu : plainString(key) === 'cpu' ? cpu : '';
    const size = bytesOf(wanted);
    if (size === undefined || (key.type === 'integer' ? size >= now : size === now)) return [];
    return [[value, value.text.replace(given, wanted)]];
  });
}

/** Another use of the variable than reading it: `limits[0] = …`, `limits.update(…)`. */
function isChanged(module: PyModule, { variable }: Written): boolean {
  const scope = variable && module.resolve(variable);
  if (variable === undefined || scope === undefined) return false;
  return module.reads(scope, variable.text).some(({ parent }) => {
    if (parent?.type === 'attribute') return true;
    return parent?.type === 'subscript' && parent.parent?.type.endsWith('assignment') === true;
  });
}

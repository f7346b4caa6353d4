/*
 * model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.float16)
 * args = TrainingArguments(out, fp16=True)
 *
 * model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
 * args = TrainingArguments(out, bf16=True)
 *
 * All places of the file change together or none does: weights of one type under a trainer of the other either stop or
 * train badly. Anything else in the file that is made for float16 (`.half()`, autocast, a GradScaler) keeps it as it is.
 * Results change, so this is always unsafe; it needs a GPU that computes in bfloat16 (Ampere or newer).
 */
import type { EditBuilder, PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  BFLOAT16,
  filesOf,
  type Glimpse,
  hasWhole,
  isTestCode,
  mayLoadAnyModel,
  Proof,
  requireArrival,
  SETTINGS_OF_A_MODULE,
  showsTraining,
  siblingOf,
} from '../src/toolkit/index.js';
import type { HalfPlace } from './bf16-dtype/half-precision.js';
import { halfPlaces, halfSpread, strayHalf } from './bf16-dtype/half-precision.js';

interface HalfSite extends Site {
  readonly places: readonly HalfPlace[];
}

export const bf16Dtype: Transform<HalfSite> = {
  meta: {
    id: 'bf16-dtype',
    summary: 'Train in bfloat16 instead of float16: the same memory, no overflow',
    symptom: 'peak',
    moments: [],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'float16 ends at 65504: activations and gradients overflow, the loss has to be scaled, and steps with an overflow are skipped. bfloat16 takes the same two bytes, has the range of float32 and needs no scaling; it pays with three bits of precision.',
      does: 'Writes bfloat16 for float16 wherever the file asks transformers for it: `torch_dtype` or `dtype` of a loaded model, `bnb_4bit_compute_dtype`, and `fp16=True` of trainer arguments, which becomes `bf16=True`. A variable that holds the type is changed where it is assigned. One fix for the whole file.',
      refuses: [
        'something else in the file is made for float16: `.half()`, `torch.float16` in other places, `args.fp16`, a GradScaler, whose scaling bfloat16 does not need and which some versions cannot unscale',
        'the file chooses the type by what the GPU can do',
        'the model is quantized by GPTQ or AWQ, whose kernels want float16',
        'the arguments also set the backend or the level of float16',
      ],
      limits: [
        'Memory stays the same: both take two bytes. The saving is that of leaving float32, if that is where you are.',
        'Before Ampere (V100, T4) bfloat16 is emulated, slow, or an error.',
        'A checkpoint that was trained in float16 loses precision when it is loaded as bfloat16.',
        'Only transformers, peft and trl code of one file, or of one dict and the calls in other files that spread it. YAML files are the business of `yaml-memory-config`.',
      ],
    },
    evidence: {
      verdict:
        'Nil on memory against float16, which takes the same two bytes; what it changes is range and precision. Against float32 the saving is real: 34 % less at the peak, in a fifth of the time',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization changes summary (Phi4 fine-tuning)',
        section: '1, 2',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [['float16', 'half', 'fp16']],
  cue: (text, _path, glimpse) =>
    (text.includes('transformers') || SETTINGS_OF_A_MODULE.test(text)) &&
    /\b(?:torch_dtype|dtype|bnb_4bit_compute_dtype)["']?\s*[=:]|\bfp16["']?\s*[=:]\s*True/.test(text) &&
    ['float16', 'fp16', '.half', 'import half'].some((word) => hasWhole(text, word)) &&
    (BY_ANY_CALL.test(text) || mayLoadTyped(glimpse)),

  *detect(module) {
    const places = halfPlaces(module);
    const [first] = places;
    if (first === undefined || isTestCode(module, first.given.name)) return;
    yield {
      node: first.given.name,
      places,
      message: `float16 ends at 65504, so that training scales the loss and skips steps; bfloat16 takes the same memory (${count(places)})`,
    };
  },

  fix({ places }, edit, module) {
    const spread = halfSpread(module);
    const files = new Set(places.flatMap(({ given }) => filesOf(module, given)));
    const proof = new Proof();
    for (const each of files) requireNoOther(proof, each, each === module ? places : undefined);
    proof
      .forbid(
        spread !== undefined,
        `\`${spread?.parent?.text}\` of another file asks for a type too, and would no longer match`,
      )
      .require(
        'unknown',
        ask('bf16-gpu')`Does the GPU compute in \`${'bfloat16'}\`, as Ampere and newer ones do?`,
      )
      .require(
        [...files].some(showsTraining) ? 'yes' : 'unknown',
        ask(
          'is-trained',
        )`Is the model of \`${module.path}\` trained (for inference alone nothing is gained)?`,
      );
    for (const { given } of places) {
      requireArrival(proof, given).forbid(
        ['fp16_backend', 'fp16_opt_level', 'half_precision_backend', 'fp16_full_eval'].some(
          (name) => siblingOf(given, name) !== undefined,
        ),
        'its arguments also say how float16 is to be done',
      );
    }
    if (proof.refuted !== undefined) return edit.refuse(proof.refuted);
    const done = new Set();
    for (const { given, node, isSwitch, other } of places) {
      if (done.has(node)) continue;
      done.add(node);
      if (!isSwitch) edit.replace(node, inBfloat16(node, edit));
      else if (other === undefined) edit.replace(given.name, given.name.text.replace('fp16', 'bf16'));
      else {
        edit.replace(node, 'False');
        edit.replace(other, 'True');
      }
    }
    return edit.done('Compute in bfloat16', proof);
  },
};

/** Nothing but these places is made for float16; in another file, nothing at all. */
function requireNoOther(proof: Proof, file: PyModule, places: readonly HalfPlace[] | undefined): void {
  const stray = strayHalf(file, places ?? []);
  const where = places === undefined ? ` in \`${file.path}\`` : '';
  proof
    .forbid(
      /is_bf16_supported|is_torch_bf16|get_device_capability/.test(file.text),
      `${places === undefined ? `\`${file.path}\`` : 'this file'} chooses the type by what the GPU can do`,
    )
    .forbid(/gptq|\bawq|AwqConfig/i.test(file.text), 'kernels of GPTQ and AWQ want float16')
    .forbid(
      stray !== undefined,
      `\`${excerpt(stray)}\`${where} is made for float16 too, and would no longer match`,
    );
}

/** In a dict, or in a call of a class that the file may know by another name. */
const BY_ANY_CALL =
  /["'](?:torch_dtype|dtype|bnb_4bit_compute_dtype|fp16)["']\s*:|\bdict\(|BitsAndBytesConfig|\bfp16\s*=\s*True/;

/** Whether a function may load a model, and say its type. */
function mayLoadTyped(glimpse: Glimpse): boolean {
  const hasPipeline = (): boolean =>
    glimpse.stretchesWith('pipeline').some((code) => /\bpipeline\b/.test(code));
  return mayLoadAnyModel(glimpse, (code) => /dtype\s*=(?!=)/.test(code)) || hasPipeline();
}

function inBfloat16(node: PyNode, edit: EditBuilder): string {
  if (node.type === 'string') return node.text.replace('float16', 'bfloat16');
  const object = node.object;
  return object === undefined ? edit.name(BFLOAT16, node) : `${object.text}.bfloat16`;
}

/** Enough of the code around a name to find it by. */
function excerpt(name: PyNode | undefined): string {
  const { parent } = name ?? {};
  const around = parent?.parent?.type === 'call' && parent.type === 'attribute' ? parent.parent : parent;
  const text = (around?.text ?? '').replace(/\s+/g, ' ');
  return text.length > 0 && text.length <= 40 ? text : (name?.text ?? '');
}

function count(places: readonly HalfPlace[]): string {
  return places.length === 1 ? 'one place in this file' : `${places.length} places in this file`;
}

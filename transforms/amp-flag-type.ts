/*
 * parser.add_argument("--mixed_precision", action="store_true")
 * …
 * use_bf16 = args.mixed_precision == "bf16"      # never true
 *
 * Advice without a diff: whether the flag or the comparison is wrong is not in the code. Said only where every declaration
 * of the setting in the file makes it a boolean, or the YAML file that Hydra composes it from.
 */
import type { PyNode, Site, Transform } from '../src/toolkit/index.js';
import { isTestCode, roleOf } from '../src/toolkit/index.js';
import { comparisonsWith, type FlagDeclaration, flagDeclarations } from './amp-flag-type/flag-types.js';
import { yamlFlag } from './amp-flag-type/yaml-flag.js';

const DTYPES: readonly string[] = [
  'bf16',
  'fp16',
  'fp32',
  'bfloat16',
  'float16',
  'float32',
  'half',
  'no',
  'fp8',
];
const WORDS =
  /[!=]=[(\s\\]*["'](?:bf16|fp16|b?float16)["']|["'](?:bf16|fp16|b?float16)["'][)\s\\]*[!=]=|\bin[\s\\]*[([{][^)\]}]*["'](?:bf16|fp16|b?float16)["']/;
/** Things that hold the settings of a run; `accelerator.mixed_precision` is a string whatever the file declares. */
const HOLDER =
  /(?:^|[._])(?:args?|opts?|options|cfg|conf|config|configuration|hparams|hps?|params|flags|settings|self)$/i;

export const ampFlagType: Transform<Site> = {
  meta: {
    id: 'amp-flag-type',
    summary: 'Report a boolean setting that is compared with the name of a dtype',
    symptom: 'peak',
    moments: ['forward', 'backward'],
    safety: 'advice',
    numerics: 'changes-training',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'A setting that the file declares as a boolean (`action="store_true"`, `mixed_precision: bool`) never equals `"bf16"` or `"fp16"`. Mixed precision is then off, whatever the setting says: the run takes the memory and the time of float32, and nothing complains.',
      does: 'Reports the comparison.',
      refuses: [],
      limits: [
        'Only settings whose every declaration in the same file is a boolean: a field of a class, an argument of a parser, an entry of a dict, an assignment.',
      ],
    },
    evidence: {
      verdict:
        'Mixed precision that is silently off costs a third more memory and five times the time in one measurement',
      measurements: [],
    },
    origin: [],
    example: 'report-parsed-flag',
  },

  skipsTests: true,
  prefilter: [['fp16"', "fp16'", 'bf16"', "bf16'", 'loat16"', "loat16'"]],
  cue: (text) => WORDS.test(text),

  *detect(module) {
    for (const { node, subject, operator, words } of comparisonsWith(module, DTYPES)) {
      if (!words.some((word) => word.endsWith('16')) || isTestCode(module, node)) continue;
      const declared = isSetting(subject) ? flagDeclarations(module, subject) : [];
      const file = declared.every(isUntyped) ? yamlFlag(module, subject) : undefined;
      if (file === undefined && (declared.length === 0 || !declared.every(({ isBoolean }) => isBoolean)))
        continue;
      const never = operator.includes('!') || operator.includes('not') ? 'always' : 'never';
      yield {
        node: subject,
        message: `${file === undefined ? 'this file' : `\`${file}\``} declares \`${subject.text}\` as a boolean, so the comparison with ${words.map((word) => `"${word}"`).join(', ')} is ${never} true: mixed precision does not follow the setting`,
      };
    }
  },

  fix(_site, edit) {
    return edit.advise('Make the setting a string with the names of dtypes, or test it as the boolean it is');
  },
};

/** `def train(amp):`, of which its callers tell more. */
function isUntyped({ node }: FlagDeclaration): boolean {
  return roleOf(node) === 'parameter' && node.parent?.field('type') === undefined;
}

function isSetting(subject: PyNode): boolean {
  if (subject.type === 'identifier') return true;
  const holder = subject.type === 'subscript' ? subject.value : subject.object;
  return holder !== undefined && HOLDER.test(holder.text);
}

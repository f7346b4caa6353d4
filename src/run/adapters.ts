import { LINEARS, type Linear } from '../budget/shape.js';
import { isPeftModelMaker } from '../library/paths.js';
import { callsNamed } from '../semantic/called-name.js';
import { calledPath } from '../semantic/imports.js';
import type { PyNode } from '../syntax/node.js';
import { linearsNamed, type Reading, type Said } from './reading.js';
import { asNumber, asTexts, type Script, shownCode } from './script.js';
import { unslothAdapters } from './unsloth.js';

const DEFAULT_RANK = 8;
const UNSLOTH_RANK = 16;

/** The adapters of peft that a script puts into its model. */
export function readAdapters(script: Script): Reading {
  const [call] = script.running(callsNamed(script.module, 'LoraConfig').map(({ call: each }) => each));
  const [fast] = unslothAdapters(script);
  if (call !== undefined) return ofLora(script, call, DEFAULT_RANK, 'peft');
  if (fast === undefined) return otherAdapters(script);
  const targets = script.byDefault(
    LINEARS,
    fast.function ?? fast,
    'every linear layer: the default of unsloth',
  );
  return { targets, ...ofLora(script, fast, UNSLOTH_RANK, 'unsloth') };
}

function ofLora(script: Script, call: PyNode, usual: number, library: string): Reading {
  const rank =
    script.setting(call, 'r', asNumber, usual) ??
    script.byDefault(usual, call.function ?? call, `without \`r\`: the default of ${library}`);
  const inDoubt = script.ifRun(call, rank);
  const targets = script.setting(call, 'target_modules', named);
  const given = script.given(call, 'modules_to_save');
  const isNone = given !== undefined && 'calls' in given && script.value(given.value)?.value === null;
  const whole = isNone ? undefined : given;
  const dropout = script.setting(call, 'lora_dropout', asNumber);
  return {
    ...(inDoubt !== undefined && { rank: inDoubt }),
    ...(targets !== undefined && { targets: likely(targets) }),
    ...(whole !== undefined && {
      open: [
        `\`${shownCode('calls' in whole ? whole.entry : whole)}\` in ${script.placeOf('calls' in whole ? whole.entry : whole)}: modules that are trained as a whole are not counted.`,
      ],
    }),
    ...(dropout !== undefined && { adapterDropout: dropout }),
  };
}

/** `get_peft_model(model, LilyConfig(…))`: of adapters that are no LoRA, what they hold is not known. */
function otherAdapters(script: Script): Reading {
  const { module } = script;
  const [call] = callsNamed(module, 'get_peft_model')
    .map(({ call: each }) => each)
    .filter((each) => isPeftModelMaker(calledPath(module, each) ?? ''));
  if (call === undefined) return {};
  const remark = `\`${shownCode(call)}\` in ${script.placeOf(call)} puts in adapters that memfix does not see, and freezes the model: all parameters are counted as trained; say how many are with \`--trainable\`, or the rank with \`--lora-rank\`.`;
  return { remarks: [remark] };
}

function named(value: Parameters<typeof asTexts>[0]): readonly Linear[] | undefined {
  const names = asTexts(value);
  return names && linearsNamed(names);
}

/** Whoever works out which layers there are mostly wants all of them. */
function likely(said: Said<readonly Linear[]>): Said<readonly Linear[]> {
  return 'value' in said ? said : { ...said, likely: LINEARS };
}

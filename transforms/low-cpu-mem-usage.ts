/*
 * transformers before 4.51:
 * model = AutoModel.from_pretrained(name)          model = AutoModel.from_pretrained(name, low_cpu_mem_usage=True)
 *
 * transformers 4.51 and later:
 * model = AutoModel.from_pretrained(name, low_cpu_mem_usage=True)          model = AutoModel.from_pretrained(name)
 *
 * Until 4.50 the keyword builds the model without memory of its own, so that the host holds the weights once and not twice.
 * Since 4.51 every load does, and the keyword is dropped unread. So the version that the project pins decides which way the
 * edit goes; without a pin the keyword is offered as unsafe. `device_map` and quantization have switched it on all along,
 * and DeepSpeed ZeRO-3 refuses it. diffusers and peft read the keyword to this day: their classes are left alone.
 */
import {
  type Answer,
  any,
  argumentsOf,
  ask,
  hasSplat,
  importsPackage,
  isAtLeast,
  isInstalled,
  isTestCode,
  keywordArgument,
  keywordValue,
  mayLoadAnyModel,
  mayLoadModel,
  modelLoad,
  not,
  Proof,
  type PyModule,
  type PyNode,
  type Site,
  shown,
  type Transform,
  usesDeepSpeed,
} from '../src/toolkit/index.js';

const KEYWORD = 'low_cpu_mem_usage';
/** With one of these, transformers 4 switches it on by itself. */
const IMPLIED = ['device_map', 'quantization_config', 'load_in_8bit', 'load_in_4bit'];

interface LoadSite extends Site {
  readonly call: PyNode;
  /** The keyword to take out; undefined where it is to be added. */
  readonly idle: PyNode | undefined;
}

export const lowCpuMemUsage: Transform<LoadSite> = {
  meta: {
    id: 'low-cpu-mem-usage',
    summary:
      'Load a model without a second copy on the host, where the pinned transformers still needs to be told',
    symptom: 'host-memory',
    moments: ['loading'],
    safety: 'safe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'Before transformers 4.51, `from_pretrained` first builds the model with random weights and then loads the checkpoint beside it: the host holds the weights twice for a moment. `low_cpu_mem_usage=True` builds it on the meta device. From 4.51 on this is what always happens, and the keyword is thrown away unread.',
      does: 'Where the project pins transformers below 4.51, or does not say: adds `low_cpu_mem_usage=True` to `from_pretrained` of a transformers model. Where it pins 4.51 or newer: takes the idle keyword out.',
      refuses: [
        'the project pins 4.51 or newer, where the keyword does nothing',
        'the arguments are spread with `*` or `**`, so that the keyword may be given twice',
        'the code uses DeepSpeed: ZeRO-3 stops with an error when the keyword is given',
      ],
      limits: [
        'Host memory only, and only while loading. GPU memory is the same.',
        'The random numbers that building the model drew are no longer drawn: a head that the checkpoint lacks starts from other values, so that adding it is always unsafe.',
        'It needs accelerate to be installed.',
        'With `device_map` or quantization it is on anyway; those calls are passed over.',
      ],
    },
    evidence: {
      verdict:
        'Nil from transformers 4.51 on, where the keyword is accepted with any value and ignored; real until 4.50, which was not measured here',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory optimization changes summary (Phi4 fine-tuning)',
        section: '1',
        fidelity: 'inspired',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: ['from_pretrained', 'transformers'],
  cue: (_text, _path, glimpse) => mayLoadAnyModel(glimpse, (code) => code.includes('from_pretrained')),

  *detect(module) {
    const isIdle = isAtLeast(module, 'transformers', '4.51') === 'yes';
    for (const node of module.atWhere('from_pretrained', (code) => mayLoadModel(module.glimpse, code))) {
      const call = node.parent?.parent;
      if (node.text !== 'from_pretrained' || call?.type !== 'call' || call.function !== node.parent) continue;
      if (modelLoad(module, call) === undefined) continue;
      const given = keywordArgument(call, KEYWORD);
      if (given !== undefined && isIdle) {
        const message = '`low_cpu_mem_usage` does nothing: transformers drops it unread since 4.51';
        yield { node: given.name ?? given, call, idle: given, message };
      }
      if (given !== undefined || isTestCode(module, call)) continue;
      if (IMPLIED.some((name) => keywordArgument(call, name) !== undefined)) continue;
      yield {
        node,
        call,
        idle: undefined,
        message: 'the host holds the weights twice while they load, before transformers 4.51',
      };
    }
  },

  fix({ call, idle }, edit, module) {
    if (idle !== undefined) {
      const isRemote = keywordValue(call, 'trust_remote_code')?.type === 'true';
      const proof = new Proof().require(
        isRemote ? 'unknown' : 'yes',
        ask('remote-without')`Does the code that comes with the model work without \`${KEYWORD}\`?`,
      );
      edit.removeArgument(idle);
      return edit.done('Take the idle keyword out', proof, { numerics: 'bit-identical' });
    }
    const isNew = isAtLeast(module, 'transformers', '4.51');
    const proof = new Proof()
      .require(not(isNew), {
        no: 'the project asks for a transformers that always loads this way and ignores the keyword',
        unknown: ask('version')`Is ${'transformers older than 4.51'} (later ones ignore the keyword)?`,
      })
      .forbid(hasSplat(call), 'its arguments are spread, so the keyword may already be among them')
      .forbid(argumentsOf(call).length === 0, 'it names no checkpoint')
      .forbid(
        ['from_tf', 'from_flax'].some((name) => keywordArgument(call, name) !== undefined),
        'weights of another framework are read into a model that has to exist',
      )
      .require(not(usesDeepSpeed(module)), {
        no: 'this file uses DeepSpeed, and ZeRO-3 refuses the keyword',
        unknown: ask(
          'without-deepspeed',
        )`Does this run without ${'DeepSpeed'}, of which this file speaks (ZeRO-3 refuses the keyword)?`,
      })
      .require(hasAccelerate(module), {
        no: 'accelerate is not installed, which the keyword needs',
        unknown: ask('installed')`Is ${'accelerate'} installed, which the keyword needs?`,
      })
      .require(
        'unknown',
        ask(
          'other-random-numbers',
        )`May the random numbers that follow \`${shown(call)}\` be others (building the model draws fewer)?`,
      );
    if (proof.refuted === undefined) edit.appendKeyword(call, KEYWORD, 'True');
    return edit.done('Load without a second copy on the host', proof);
  },
};

/** A trainer of transformers needs it as well, and so do peft and trl. */
function hasAccelerate(module: PyModule): Answer {
  const brings = ['accelerate', 'peft', 'trl'];
  if (module.at('Trainer').length > 0 || brings.some((name) => importsPackage(module, name))) return 'yes';
  return any(brings.map((name) => isInstalled(module, name)));
}

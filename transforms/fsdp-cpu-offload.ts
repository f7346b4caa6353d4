/*
 * optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
 *
 * from torch.distributed.fsdp import CPUOffload, FullyShardedDataParallel
 * model = FullyShardedDataParallel(model, cpu_offload=CPUOffload(offload_params=True), use_orig_params=True)
 * optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
 *
 * As documented, with what the document leaves out: a process group must be there, the optimizer comes after the wrap, and a
 * loop that accumulates gradients outside `no_sync()` is refused, since all but the last would be lost. A wrap that exists
 * gets the keyword alone. Never safe: steps take several times as long, and the names of the state change.
 */
import {
  accumulatingLoops,
  argumentsOf,
  ask,
  CPU_OFFLOAD_NAME,
  CURRENT_DEVICE,
  enclosingLoops,
  FSDP_NAME,
  hasSplat,
  isInExpressionScope,
  isTestCode,
  keywordArgument,
  ownsItsLines,
  Proof,
  type PyNode,
  positionalArguments,
  type Site,
  shown,
  statementOf,
  type Transform,
} from '../src/toolkit/index.js';
import { isOptimizerAbove, optimizersOver, shardings } from './fsdp-cpu-offload/optimizers-over.js';

interface WrapSite extends Site {
  /** The call that wraps already, if there is one. */
  readonly wrap: PyNode | undefined;
  /** The statement above or in which the wrap stands. */
  readonly statement: PyNode;
  readonly model: string;
}

const LOCAL_IMPORT = `from ${FSDP_NAME.replace(/\.\w+$/, '')} import`;
const OTHER_WRAPPERS =
  /\b(?:DistributedDataParallel|DataParallel|DDP|fully_shard|deepspeed|Accelerator|Fabric|LightningModule|init_rpc|init_device_mesh|parallelize_module|PipelineStage|tp_plan)\b/;
/** A wrap, or all parameters of one module as an argument of something that is no method. */
const WRAPPED =
  /(?:FullyShardedDataParallel|FSDP)\(|(?:,|(?<!\.[a-z_]\w{0,40})\()[\s\\]*(?:self\.)?\w+[\s\\]*\.parameters\(/;

export const fsdpCpuOffload: Transform<WrapSite> = {
  meta: {
    id: 'fsdp-cpu-offload',
    summary: 'Wrap the model in FSDP with parameters offloaded to the CPU, as documented',
    symptom: 'peak',
    movesTo: 'host',
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'documented',
    options: {},
    requires: { torch: '2.0' },
    docs: {
      why: 'With `CPUOffload(offload_params=True)`, `FullyShardedDataParallel` keeps parameters, gradients and the state of the optimizer in host memory, steps on the CPU, and brings the parameters to the GPU for each forward and backward pass.',
      does: 'Inserts the documented wrap right above the statement that makes the optimizer, with `use_orig_params=True` and the current device, or adds `cpu_offload=` to a wrap that exists.',
      refuses: [
        'the file initialises no process group: the wrap raises without one',
        'a loop of the file accumulates gradients outside `no_sync()`: with offload, all but the last would be lost',
        'the optimizer is made before the wrap, and would hold the parameters that the wrap replaces',
        'another wrapper or launcher (DDP, FSDP2, DeepSpeed, accelerate, Lightning) has the model',
        'an optimizer of the file is fused or keeps its state in 8 bits: neither takes parameters that are offloaded',
        'the arguments of the wrap are spread or go beyond three by position',
        'the statement shares its line with other code',
      ],
      limits: [
        'Where nothing wrapped the model before, each process trained a copy by itself; wrapped, the gradients are the mean over all processes. Only `cpu_offload=` on a wrap that exists is the same up to rounding.',
        'Each step takes several times as long. The CPU needs room for parameters, gradients and state of every process.',
        'One wrap around the whole model gathers all parameters at once; with `auto_wrap_policy` per layer the peak is lower.',
        '`state_dict()` of the wrapped model has to be taken under `FSDP.state_dict_type`; saving and loading code of the project is not changed.',
        "The document's `try … except Exception` around the wrap, which goes on without it, is left out: a run that needs the memory should not start without.",
      ],
    },
    evidence: {
      verdict:
        'A fifth less memory for five times the time, and gradient accumulation is silently lost. Use `enable-gradient-checkpointing`, `fused-optimizer` or `adamw-8bit` first; where offload is needed, FSDP2 with `CPUOffloadPolicy`, which accumulates',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization implementation report', section: 'Subtask 1.4', fidelity: 'same' },
    ],
    example: 'fix-script',
  },

  skipsTests: true,
  prefilter: ['torch', ['.parameters(', 'FullyShardedDataParallel(', 'FSDP(']],
  cue: (text, _path, { stretches }) =>
    /\boptim\b|FullyShardedDataParallel/.test(text) && stretches.some((code) => WRAPPED.test(code)),

  *detect(module) {
    const wraps = shardings(module);
    const message =
      'parameters, gradients and optimizer state stay on the GPU between steps; the document keeps them in host memory';
    for (const wrap of wraps) {
      if (keywordArgument(wrap, 'cpu_offload') !== undefined || isTestCode(module, wrap)) continue;
      const callee = wrap.function;
      const model = argumentsOf(wrap)[0]?.text ?? '';
      yield {
        node: callee?.attribute ?? callee ?? wrap,
        wrap,
        statement: statementOf(wrap),
        model,
        message,
      };
    }
    if (wraps.length > 0) return;
    for (const { call, model } of optimizersOver(module)) {
      if (isTestCode(module, call)) continue;
      yield { node: model, wrap: undefined, statement: statementOf(call), model: model.text, message };
    }
  },

  fix({ node, wrap, statement, model }, edit, module) {
    const other = OTHER_WRAPPERS.exec(module.code)?.[0];
    const proof = new Proof()
      .forbid(
        module.at('init_process_group').length === 0,
        'this file initialises no process group, and the wrap raises without one',
      )
      .forbid(other !== undefined, `\`${other}\` of this file has the model`)
      .forbid(
        module.mentions(/\bfused\s*=\s*True\b/),
        'its optimizer uses the fused kernel, which before torch 2.4 takes no parameters that are offloaded',
      )
      .forbid(
        module.mentions(/\bbitsandbytes\b|\bbnb\b|8bit/i),
        'this file has an 8-bit optimizer, which needs its parameters on the GPU',
      )
      .forbid(
        accumulatingLoops(module).length > 0 && !module.mentions(/\bno_sync\b/),
        'this file accumulates gradients outside `no_sync()`: with offload all but the last would be lost',
      )
      .forbid(!ownsItsLines(module, statement), 'its statement shares its line with other code')
      .require(
        'unknown',
        ask(
          'saves-sharded',
        )`Does the code that saves and loads \`${wrap === undefined ? model : shown(argumentsOf(wrap)[0] ?? wrap)}\` handle a sharded model?`,
      );
    if (wrap !== undefined) {
      proof
        .forbid(
          hasSplat(wrap) || positionalArguments(wrap).length > 3,
          'its arguments may already say where parameters go',
        )
        .forbid(isInExpressionScope(wrap), 'it stands in a lambda or a comprehension')
        .forbid(isOptimizerAbove(module, wrap), 'an optimizer is made before the wrap');
      if (proof.refuted !== undefined) return edit.done('', proof);
      const offload = edit.importedName(CPU_OFFLOAD_NAME, wrap);
      edit.appendKeyword(wrap, 'cpu_offload', `${offload}(offload_params=True)`);
    } else {
      const isOwn = node.type !== 'identifier' || module.resolve(node) === module.scopeAt(node);
      proof
        .forbid(!isOwn, `\`${model}\` belongs to the code around this function`)
        .forbid(enclosingLoops(node).length > 0, 'it would be wrapped once per iteration')
        .forbid(
          optimizersOver(module).filter((each) => each.model.text === model).length > 1,
          `several optimizers are made over \`${model}\``,
        );
      if (proof.refuted !== undefined) return edit.done('', proof);
      proof.require('unknown', ask('held-once')`Is \`${model}\` held by nothing else before it is wrapped?`);
      edit.insertStatementBefore(statement, [
        `${LOCAL_IMPORT} CPUOffload, FullyShardedDataParallel`,
        `${model} = FullyShardedDataParallel(`,
        `\t${model},`,
        '\tcpu_offload=CPUOffload(offload_params=True),',
        '\tuse_orig_params=True,',
        `\tdevice_id=${edit.name(CURRENT_DEVICE, statement)}(),`,
        ')',
      ]);
    }
    return edit.done('Offload the parameters to the CPU', proof, {
      numerics: wrap === undefined ? 'changes-training' : 'rounding',
    });
  },
};

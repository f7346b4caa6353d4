/*
 * import torch
 *
 * import os
 * import torch
 * os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
 *
 * In programs that work on a GPU, once, right behind the imports and so before the first allocation on the GPU, after which the
 * variable is silently ignored; a setting that comes too late is moved there. `setdefault`, so that the environment wins.
 * The old name is kept: the new one is unknown before torch 2.8 and ignored by 2.9.
 */
import type { Options, PyModule, Site, Transform } from '../src/toolkit/index.js';
import {
  ask,
  ENVIRONMENT,
  freeName,
  importsPackage,
  isProgram,
  isTestCode,
  isTestFile,
  lastOfImports,
  nameFor,
  ownsItsLines,
  Proof,
  requireVersion,
} from '../src/toolkit/index.js';
import type { AllocatorSetting } from './allocator-config/allocator.js';
import {
  ALLOCATOR_VARIABLE,
  allocatorSettings,
  sharesGpuMemory,
  speaksOfAllocator,
  startingScript,
  worksOnGpu,
} from './allocator-config/allocator.js';

interface AllocatorSite extends Site {
  readonly late: AllocatorSetting | undefined;
}

export const allocatorConfig: Transform<AllocatorSite> = {
  meta: {
    id: 'allocator-config',
    summary: 'Let the segments of the CUDA allocator grow, from the start of the program',
    symptom: 'fragmentation',
    notOn: ['MPS', 'HIP'],
    safety: 'unsafe',
    numerics: 'bit-identical',
    group: 'opt-in',
    options: {
      value: {
        type: 'string',
        default: 'expandable_segments:True',
        summary: 'what the allocator variable is set to',
      },
      tokenizers: {
        type: 'boolean',
        default: false,
        summary: 'also set `TOKENIZERS_PARALLELISM=false` in programs that use transformers or tokenizers',
      },
    },
    requires: { torch: '2.1' },
    docs: {
      why: 'The CUDA allocator cuts its memory into segments of fixed size. Freed pieces of different sizes cannot be joined across segments, so a run whose shapes vary can fail with memory that is reserved and unused. With `expandable_segments:True` a segment grows instead. The variable is read at the first allocation on the GPU; set later it is silently ignored.',
      does: 'Inserts `os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", …)` behind the imports of a program that works on a GPU, or moves a setting there that stands below the first use of the GPU. Where a shell script starts the program, the variable is exported there instead; a value that the script sets without `export` gets it.',
      refuses: [
        'the file shares GPU memory between processes or brings an allocator of its own (`torch.multiprocessing`, vLLM, RMM, cudaMallocAsync): growing segments cannot be shared',
        'a shell script that starts the program sets the variable already, or does so in a way that is not understood',
        'a late setting stands in a block, or computes its value',
        '`os` is not certain to be the module at the top of the file, or the first statement shares its line',
      ],
      limits: [
        'Only fragmentation: memory that is really in use does not shrink, and the peak stays the same.',
        'An unknown option of the variable stops the program; `expandable_segments` needs torch 2.1 or newer.',
        'Where an imported module uses the GPU while it is imported, the setting comes too late; set it in the environment instead.',
        '`OMP_NUM_THREADS`, which the document sets as well, is read while torch is loaded: set it in the environment.',
        '`max_split_size_mb` together with `expandable_segments` does nothing.',
        'Shell scripts are found by their name: that of the program, `run.sh`, `train.sh`, `launch.sh` or `start.sh` beside it, above it or in `scripts/`.',
      ],
    },
    evidence: {
      verdict:
        '23 % less reserved at the same peak, over batches of many lengths. Set after the first allocation on the GPU, the variable is silently ignored',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization guide (7B LoRA baseline)', section: '3', fidelity: 'inspired' },
      { document: 'Memory optimization guide (7B LoRA baseline)', section: '5', fidelity: 'inspired' },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: [
    'torch',
    ['ALLOC_CONF', '__name__', 'parse_args('],
    ['ALLOC_CONF', 'cuda', 'Accelerator(', 'Trainer(', 'device_map'],
  ],
  cue: (text, path) => speaksOfAllocator(text) || (worksOnGpu(text) && isProgram({ path, text, code: text })),

  *detect(module) {
    for (const late of allocatorSettings(module)) {
      if (late.tooLate === undefined || isTestCode(module, late.statement)) continue;
      yield {
        node: late.name,
        late,
        message: 'the allocator variable is set after the first use of the GPU, and is ignored',
      };
    }
    if (speaksOfAllocator(module.code) || !isProgram(module) || !worksOnGpu(module.code)) return;
    const torch = module.at('import torch').find(({ parent }) => parent?.type.startsWith('import'));
    if (torch === undefined || isTestFile(module.path, module.text)) return;
    yield {
      node: torch.parent ?? torch,
      late: undefined,
      message:
        'the CUDA allocator cuts segments of fixed size: memory of other sizes stays reserved and unusable when shapes vary',
    };
  },

  fix({ late }, edit, module, options) {
    const place = lastOfImports(module);
    if (place === undefined) return edit.refuse('its imports do not stand at the top');
    const sharing = sharesGpuMemory(module);
    const hasOs = nameFor(module, ENVIRONMENT, place.next ?? place);
    const proof = new Proof().forbid(
      !ownsItsLines(module, place),
      'its last import shares its line with other code',
    );
    if (late !== undefined) {
      const { statement, name } = late;
      proof
        .forbid(statement.parent !== module.root, 'it stands in a block, and may not always run')
        .forbid(!/^[^=(]*[=(][^()]*\)?$/.test(statement.text), 'its value is computed')
        .forbid(hasOs === undefined, '`os` is not certain to be imported above')
        .require(
          'unknown',
          ask('set-earlier')`May \`${name.text}\` be set before all that runs between there and here?`,
        );
      if (proof.refuted !== undefined) return edit.done('', proof);
      edit.removeStatement(statement);
      edit.insertStatementAfter(place, ['', statement.text]);
      return edit.done('Set the allocator variable before the first use of the GPU', proof);
    }
    const script = startingScript(module, String(options['value']));
    proof
      .forbid(script?.setting.kind === 'set', `\`${script?.file.path}\`, which starts it, sets the variable`)
      .forbid(
        script?.setting.kind === 'unclear',
        `\`${script?.file.path}\`, which starts it, is not understood`,
      )
      .forbid(
        sharing !== undefined,
        `\`${sharing}\` of this file shares GPU memory, which growing segments cannot be`,
      )
      .forbid(
        hasOs === undefined && !freeName(module, 'os', module.scope),
        '`os` is not certain to be imported above',
      );
    requireVersion(proof, module, 'torch', '2.1', '`expandable_segments` stops the program').require(
      'unknown',
      ask(
        'one-setting',
      )`May \`${'PYTORCH_CUDA_ALLOC_CONF'}\` be set for all that this program runs, subprocesses included?`,
    );
    if (script !== undefined && 'edit' in script.setting) {
      edit.changeScript(script.file, script.setting.edit);
      return edit.done(`Export the allocator variable in ${script.file.path}`, proof);
    }
    const environment = hasOs ?? ENVIRONMENT;
    edit.insertStatementAfter(place, [
      ...(hasOs === undefined ? ['import os'] : []),
      '',
      ...settings(module, options).map(([name, value]) => `${environment}.setdefault("${name}", "${value}")`),
    ]);
    return edit.done('Let the segments of the CUDA allocator grow', proof);
  },
};

function settings(module: PyModule, options: Options): readonly (readonly [string, string])[] {
  const tokenizes = importsPackage(module, 'transformers') || importsPackage(module, 'tokenizers');
  return [
    [ALLOCATOR_VARIABLE, String(options['value'])],
    ...(options['tokenizers'] === true && tokenizes ? [['TOKENIZERS_PARALLELISM', 'false'] as const] : []),
  ];
}

/*
 * model = FSDP(model, cpu_offload=CPUOffload(offload_params=True))
 * for i, batch in enumerate(loader):
 *     loss = model(batch) / 4
 *     loss.backward()               # keeps the gradient of this micro-batch only
 *     if (i + 1) % 4 == 0:
 *         optimizer.step()
 *
 * Advice without a diff: which micro-batches belong under `no_sync()` is the loop's own arithmetic. FSDP2 with
 * `CPUOffloadPolicy` accumulates as it should (measured), and so do accelerate's `accumulate` and code that uses `no_sync`.
 */
import type { PyModule, Site, Transform } from '../src/toolkit/index.js';
import { accumulatingLoops, isTestCode, placeOf } from '../src/toolkit/index.js';
import { accumulatingElsewhere, cpuOffloads } from './fsdp-offload-accumulation/offloads.js';

/** `model.no_sync()`, and accelerate, which enters it. */
const SYNCS_ITSELF = /\bno_sync\b|\.accumulate\(/;

function elsewhere(module: PyModule) {
  return accumulatingElsewhere(module, (text) => !SYNCS_ITSELF.test(text));
}

export const fsdpOffloadAccumulation: Transform<Site> = {
  meta: {
    id: 'fsdp-offload-accumulation',
    summary: 'Report gradient accumulation that FSDP with CPU offload throws away',
    symptom: 'future-break',
    safety: 'advice',
    numerics: 'changes-training',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'With `CPUOffload(offload_params=True)`, `FullyShardedDataParallel` copies the reduced gradient to the CPU after each backward pass and puts it in the place of the one before. Between two optimizer steps only the last micro-batch counts: a run that should average 8 of them trains on one, with the loss divided by 8.',
      does: 'Reports the `backward()` of a loop that steps only now and then, or of a loop inside the one that steps, in a file that makes `CPUOffload(offload_params=True)`, or in a function that such a file imports from its project.',
      refuses: [],
      limits: [
        'The wrap and the loop must stand in one file.',
        "Silent where the file uses `no_sync()`, accelerate's `accumulate()`, or FSDP2 (`fully_shard` with `CPUOffloadPolicy`), which accumulates as it should.",
      ],
    },
    evidence: {
      verdict: 'Real: all gradients but the last are lost, without a warning',
      measurements: [],
    },
    origin: [
      { document: 'Memory optimization implementation report', section: 'Subtask 1.4', fidelity: 'inspired' },
    ],
    example: 'report-modulo',
  },

  skipsTests: true,
  prefilter: ['CPUOffload('],
  cue: (text) => !SYNCS_ITSELF.test(text),

  *detect(module) {
    const [offload] = cpuOffloads(module);
    if (offload === undefined || module.mentions(SYNCS_ITSELF)) return;
    const said = `with \`${offload.text.replace(/\s+/g, ' ')}\` each backward pass replaces the gradient of the one before: of the micro-batches between two steps`;
    const loops = accumulatingLoops(module);
    for (const { backward } of loops) {
      if (isTestCode(module, backward)) continue;
      yield {
        node: backward.function?.attribute ?? backward,
        message: `${said} only the last one counts`,
      };
    }
    const other = loops.length > 0 || isTestCode(module, offload) ? undefined : elsewhere(module);
    if (other === undefined) return;
    const place = placeOf(other.module, other.node);
    yield { node: offload, message: `${said}, which ${place} makes, only the last one counts` };
  },

  fix(_site, edit) {
    return edit.advise(
      'Run all but the last micro-batch of a step under `model.no_sync()`, or shard with FSDP2 and `CPUOffloadPolicy`, which accumulates',
    );
  },
};

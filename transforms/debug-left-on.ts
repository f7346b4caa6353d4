/*
 * torch.autograd.set_detect_anomaly(True)
 * torch.cuda.memory._record_memory_history()
 *
 * Advice without a diff: whether the debugging is over is not in the code. Silent where a flag decides, where the file
 * switches it off again or writes a snapshot, and in tests and functions that say they debug or profile.
 */
import type { PyModule, PyNode, Site, Transform } from '../src/toolkit/index.js';
import {
  argumentsOf,
  DETECT_ANOMALY,
  isTestCode,
  qualifiedName,
  RECORD_HISTORY,
} from '../src/toolkit/index.js';

interface DebugSite extends Site {
  readonly next: string;
}

const DEBUGS = /debug|profil|anomal|snapshot|trace|inspect|diagnos|memory|leak|bench|(?:^|_)nans?(?:_|$)/i;
/** The first or last word of a file's name: one between (`train_anomaly_detector`) is what the program is about. */
const DEBUGGING_FILE = /^(?:debug|profil|bench|diagnos)|(?:^|_)(?:debug|profil|bench|diagnos)[a-z]*$/i;
const CONDITIONS: readonly string[] = [
  'if_statement',
  'elif_clause',
  'else_clause',
  'conditional_expression',
  'except_clause',
  'boolean_operator',
  'match_statement',
];

export const debugLeftOn: Transform<DebugSite> = {
  meta: {
    id: 'debug-left-on',
    summary: 'Report anomaly detection and allocation recording that nothing switches off',
    symptom: 'host-memory',
    safety: 'advice',
    numerics: 'bit-identical',
    group: 'default',
    options: {},
    requires: {},
    docs: {
      why: 'Anomaly detection keeps a Python traceback for every operation and looks for NaN in every gradient, which waits for the GPU each time. Recording the history of the allocator keeps a record with a stack for every allocation in host memory, without a limit.',
      does: 'Reports `torch.autograd.set_detect_anomaly(True)`, `with torch.autograd.detect_anomaly():` and `torch.cuda.memory._record_memory_history()` that run unconditionally.',
      refuses: [],
      limits: [
        'Silent where a condition decides, where an argument other than a literal does, where the file switches it off again or takes a snapshot, in tests, and in functions and files that say they debug or profile.',
      ],
    },
    evidence: {
      verdict:
        'Anomaly detection makes a step a third slower, in a smaller model three times as slow, and leaves the peak as it is; recording costs host memory and no time',
      measurements: [
        {
          what: 'training step with `set_detect_anomaly(True)` → without; peak 2641 MiB both times',
          before: '168.4 ms',
          after: '55.7 ms',
          setup: 'NVIDIA H200, torch 2.11, transformer encoder 12 layers × 768, batch 8 × 512, fp32',
        },
      ],
    },
    origin: [],
    example: 'report-module-level',
  },

  skipsTests: true,
  prefilter: ['torch', ['detect_anomaly', '_record_memory_history']],
  cue: (_text, path) => !isDebuggingFile(path),

  *detect(module) {
    for (const node of module.at('detect_anomaly')) {
      const call = callNamed(node);
      if (call === undefined || !DETECT_ANOMALY.has(pathOf(module, call)) || isMeant(module, call)) continue;
      const [mode] = argumentsOf(call).map((each) => each.value ?? each);
      const isContext = !node.text.startsWith('set_');
      if (
        !isContext &&
        (mode?.type !== 'true' || module.mentions(/detect_anomaly\(\s*(?:mode\s*=\s*)?False/))
      )
        continue;
      if (isContext && call.closest('with_item', 'block')?.type !== 'with_item') continue;
      yield {
        node,
        message:
          'anomaly detection keeps a traceback for every operation and checks every gradient for NaN, which makes a step several times slower',
        measuredAs: 'training step with `set_detect_anomaly',
        next: 'Take it out, or let a debug flag decide',
      };
    }
    for (const node of module.at('_record_memory_history')) {
      const call = callNamed(node);
      if (call === undefined || pathOf(module, call) !== RECORD_HISTORY || isMeant(module, call)) continue;
      const [enabled] = argumentsOf(call).map((each) => each.value ?? each);
      if (enabled !== undefined && /^(?:False|None)$/.test(enabled.text)) continue;
      if (
        /_snapshot\b|max_entries|_record_memory_history\(\s*(?:enabled\s*=\s*)?(?:False|None)/.test(
          module.text,
        )
      )
        continue;
      yield {
        node,
        message:
          'every allocation is recorded with its stack in host memory, without a limit, and no snapshot is ever taken',
        measuredAs: 'training step with `_record_memory_history',
        next: 'Take it out, or give it `max_entries` and take a snapshot',
      };
    }
  },

  fix({ next }, edit) {
    return edit.advise(next);
  },
};

function callNamed(node: PyNode): PyNode | undefined {
  const call = node.closest('call');
  const callee = call?.function;
  const name = callee?.attribute ?? callee;
  return name === node ? call : undefined;
}

function pathOf(module: PyModule, call: PyNode): string {
  const callee = call.function;
  return (callee && qualifiedName(module, callee)) ?? '';
}

/** Under a condition, in a test, or in something whose name says that it debugs. */
function isMeant(module: PyModule, call: PyNode): boolean {
  if (isTestCode(module, call) || isDebuggingFile(module.path)) return true;
  for (const ancestor of call.ancestors()) {
    if (ancestor.type === 'if_statement' && !isMainGuard(ancestor)) return true;
    if (ancestor.type !== 'if_statement' && CONDITIONS.includes(ancestor.type)) return true;
    const isDefinition = ancestor.type === 'function_definition' || ancestor.type === 'class_definition';
    if (isDefinition && DEBUGS.test(ancestor.name?.text ?? '')) return true;
  }
  return false;
}

function isMainGuard(statement: PyNode): boolean {
  return /^__name__\s*==/.test(statement.condition?.text ?? '');
}

function isDebuggingFile(path: string): boolean {
  return DEBUGGING_FILE.test(path.replace(/^.*[\\/]|\.py$/g, ''));
}

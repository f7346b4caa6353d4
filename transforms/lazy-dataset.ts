/**
 *   def __init__(self, split):                        def __init__(self, split, preprocess_all=False):
 *       self.dataset = load_dataset(…, split=split)       self.dataset = load_dataset(…, split=split)
 *       self.examples = self.preprocess()                 self.preprocess_all = preprocess_all
 *                                                         self.examples = self.preprocess() if preprocess_all else None
 *   def preprocess(self):
 *       out = []                                      def preprocess(self): … out.append(self._process_example(example)) …
 *       for example in self.dataset:
 *           …                                         def _process_example(self, example):
 *           out.append(item)                              …
 *       return out                                        return item
 *
 * The strict shape only: a torch Dataset, one loop over `self.dataset`, in a method or at the end of `__init__`, that appends
 * one item per entry and touches nothing else, and a `__getitem__` that looks the item up. `preprocess_all=True` gives the old behaviour back. Always unsafe.
 */
import {
  ask,
  isTestCode,
  Proof,
  type PyNode,
  type Site,
  startsItsLine,
  type Transform,
} from '../src/toolkit/index.js';
import { type EagerDataset, eagerDataset, isIndexable } from './lazy-dataset/eager-dataset.js';

const SWITCH = 'preprocess_all';
const PROCESS = '_process_example';

interface DatasetSite extends Site {
  /** The dataset, or why it is not of the strict shape. */
  readonly dataset: EagerDataset | string;
}

export const lazyDataset: Transform<DatasetSite> = {
  meta: {
    id: 'lazy-dataset',
    summary: 'Process the items of a dataset when they are asked for, not all at once',
    symptom: 'host-memory',
    moments: ['data'],
    safety: 'unsafe',
    numerics: 'changes-training',
    group: 'opt-in',
    options: {},
    requires: {},
    docs: {
      why: 'A dataset that processes everything in `__init__` holds every tokenised item in host memory, once per process that makes it, before the first step runs.',
      does: 'Moves the body of the loop into a method for one entry, lets `__getitem__` call it, and adds `preprocess_all=False` to `__init__`; with `True` the items are processed at once, as before. Lengths are taken of the source.',
      refuses: [
        'the loop skips entries (`continue`, a filter), counts them, draws random numbers, or changes the entry or `self`',
        'the items are used elsewhere: sorted, shuffled, iterated over, read from outside the class, or by a subclass',
        'the source cannot be asked for an entry by its number: streamed, a generator, a file, a `DatasetDict` without `split=`',
        '`__getitem__` does more than look up the item',
        '`__init__` itself fills the list, but not in its last statement, or from what no attribute can keep',
      ],
      limits: [
        'Host memory only: the GPU never held these items.',
        'Always unsafe: each epoch processes every item again, in the workers of the loader; an item that its reader changes is now made anew, and a slice as index gives something else.',
        'Arguments by position stay valid: the new one comes last and has a default.',
      ],
    },
    evidence: {
      verdict:
        'Host memory, not GPU memory: 4.2 MiB instead of 369 MiB for 50,000 texts. Every epoch pays for the processing again',
      measurements: [],
    },
    origin: [
      {
        document: 'Memory leak solutions (LLM-QAT GPT-2)',
        section: '5. Dataset On-Demand Processing',
        fidelity: 'same',
      },
    ],
    example: 'fix-as-documented',
  },

  skipsTests: true,
  prefilter: ['__getitem__', 'Dataset', '.append('],
  cue: mayBeEager,

  *detect(module) {
    for (const node of module.at('__getitem__')) {
      const getItem = node.parent;
      if (getItem?.type !== 'function_definition' || isTestCode(module, getItem)) continue;
      const dataset = eagerDataset(module, getItem);
      if (dataset === undefined) continue;
      yield {
        node,
        dataset,
        message: 'every item is processed and kept in host memory before the first one is asked for',
      };
    }
  },

  fix({ dataset }, edit, module) {
    if (typeof dataset === 'string') return edit.refuse(dataset);
    const { classNode, fill, index, init, item, items, loop, lookup, result, self, source, stranger } =
      dataset;
    const last = lastParameter(init);
    const proof = new Proof()
      .require(isIndexable(module, dataset), {
        no: `\`${source}\` cannot be asked for an entry by its number`,
        unknown: ask('indexable')`Can \`${source}\` be asked for an entry by its number, in the same order?`,
      })
      .require(
        stranger === undefined ? 'yes' : 'unknown',
        ask(
          'runs-in-workers',
        )`Does \`${stranger}\` work without a GPU and give the same each time (the workers of a loader will call it)?`,
      )
      .require(
        'unknown',
        ask(
          'processed-anew',
        )`May \`${classNode.name?.text}\` process an item anew each time it is asked for?`,
      )
      .forbid(isTaken(classNode.text, SWITCH) || isTaken(classNode.text, PROCESS), 'the new names are taken')
      .forbid(last === undefined, 'its `__init__` takes no parameter')
      .forbid(!startsItsLine(module, fill), 'the statement shares its line with other code');
    const filled = fill.named[0]?.right;
    if (last === undefined || filled === undefined || proof.refuted !== undefined)
      return edit.refuse(proof.refuted ?? 'its `__init__` takes no parameter');
    edit.addKeywordAfter(last, SWITCH, 'False');
    const kept = [...dataset.unkept, SWITCH].map((name) => `${self}.${name} = ${name}`);
    edit.insertStatementBefore(fill, kept);
    for (const { node, attribute } of dataset.given) edit.replace(node, attribute);
    for (const length of dataset.lengths) edit.replace(length, source);
    edit.replaceStatement(lookup, [
      `if ${items} is not None:`,
      `\treturn ${items}[${index.text}]`,
      `return ${self}.${PROCESS}(${source}[${index.text}])`,
    ]);
    const processed = `${self}.${PROCESS}(${item.text})`;
    const definition = `def ${PROCESS}(${self}, ${item.text}):`;
    if (result === undefined) {
      edit.replace(filled, 'None');
      const instead = `${items} = [${processed} for ${item.text} in ${loop.right?.text}]`;
      edit.extractLoopBody({ ...dataset, header: `if ${SWITCH}`, instead, definition });
    } else {
      edit.append(filled, ` if ${SWITCH} else None`);
      const instead = `${result.named[0]?.text}.append(${processed})`;
      edit.extractLoopBody({ ...dataset, instead, definition });
    }
    return edit.done('Process items when they are asked for', proof);
  },
};

/** `self.items = self.method()` with that method, or `self.items = []`, and a lookup in the text. */
function mayBeEager(text: string): boolean {
  for (const [, items] of text.matchAll(/\.(\w+)(?::[^=\n]*)?\s*=\s*(?:\[\s*\]|list\(\))/g))
    if (text.includes(`.${items}[`) && text.includes(`.${items}.append(`)) return true;
  for (const [, items, method] of text.matchAll(/\.(\w+)\s*=\s*\w+\.(\w+)\(\s*\)/g))
    if (text.includes(`def ${method}(`) && text.includes(`.${items}[`)) return true;
  return false;
}

/** Behind which a new one goes: `**kwargs` stays last. */
function lastParameter(init: PyNode): PyNode | undefined {
  return init.parameters?.named.findLast(({ text }) => !text.startsWith('**'));
}

function isTaken(text: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text);
}

import type { Fix, Refusal, Safety, Site, Transform } from '../../src/toolkit/contract.js';
import type { EditBuilder, PyNode } from '../../src/toolkit/index.js';
import { ask, Proof } from '../../src/toolkit/index.js';

interface Toy {
  readonly id: string;
  readonly word: string;
  readonly safety: Safety;
  /** Whether there is a question: in every call, or where it has these words. */
  readonly asks?: boolean | string;
  change(name: PyNode, edit: EditBuilder): void;
}

/** A transform that knows one function name: small enough for a session's tests, real enough for the engine. */
function toy({ id, word, safety, asks = false, change }: Toy): Transform {
  return {
    meta: {
      id,
      summary: `Replace ${word}`,
      symptom: 'leak',
      safety,
      numerics: 'bit-identical',
      group: 'default',
      options: {},
      requires: {},
      docs: {
        why: `Calls of ${word} hold every tensor they ever saw.`,
        does: 'Calls something else.',
        refuses: [],
        limits: [],
      },
      evidence: { verdict: 'Halves the peak of a toy: 8 MiB to 4 MiB.', measurements: [] },
      origin: [],
      example: 'fix-plain',
    },
    prefilter: [word],
    *detect(module): Iterable<Site> {
      for (const node of module.at(word)) {
        if (node.text !== word) continue;
        const call = node.parent;
        yield { node: call ?? node, message: `\`${word}\` holds its tensor until the epoch ends` };
      }
    },
    fix(site, edit): Fix | Refusal {
      const [name] = site.node.children;
      if (name === undefined) return edit.refuse('it is not a call');
      change(name, edit);
      const proof = new Proof();
      if (typeof asks === 'string' ? site.node.text.includes(asks) : asks)
        proof.require('unknown', ask('caller-done')`Is the caller done with \`${word}\`?`);
      return edit.done(`Call something else than ${word}`, proof);
    },
  };
}

/** A decorator for a function, and a change of each of its parts, of which either leaves nothing for the other to do. */
const [GATHER, PART] = [
  toy({
    id: 'toy-gather',
    word: 'gather',
    safety: 'safe',
    asks: true,
    change: (name, edit) => {
      const node = name.closest('function_definition');
      if (node !== undefined) edit.addDecorator(node, 'kept');
    },
  }),
  toy({ id: 'toy-part', word: 'part', safety: 'safe', change: (name, edit) => edit.replace(name, 'whole') }),
];
const COVERING: readonly Transform[] = [
  {
    ...GATHER,
    detect: (module, options) => (/@kept|whole/.test(module.text) ? [] : GATHER.detect(module, options)),
  },
  {
    ...PART,
    detect: (module, options) => (module.text.includes('@kept') ? [] : PART.detect(module, options)),
  },
];

const TALL = Array.from({ length: 60 }, (_, index) => `step_${index}()`);

export const TOYS: readonly Transform[] = [
  ...COVERING,
  toy({
    id: 'toy-hold',
    word: 'hold',
    safety: 'safe',
    change: (name, edit) => edit.replace(name, 'release'),
  }),
  toy({
    id: 'toy-risk',
    word: 'risk',
    safety: 'safe',
    asks: true,
    change: (name, edit) => edit.replace(name, 'calm'),
  }),
  toy({ id: 'toy-hint', word: 'hint', safety: 'advice', change: (name, edit) => edit.replace(name, 'told') }),
  toy({ id: 'toy-one', word: 'twin', safety: 'safe', change: (name, edit) => edit.replace(name, 'one') }),
  toy({
    id: 'toy-two',
    word: 'twin',
    safety: 'safe',
    asks: true,
    change: (name, edit) => edit.replace(name, 'two'),
  }),
  toy({
    id: 'toy-either',
    word: 'either',
    safety: 'safe',
    asks: 'maybe',
    change: (name, edit) => edit.replace(name, 'neither'),
  }),
  // The same change, once proven and once not.
  toy({ id: 'toy-left', word: 'pair', safety: 'safe', change: (name, edit) => edit.replace(name, 'single') }),
  toy({
    id: 'toy-right',
    word: 'pair',
    safety: 'safe',
    asks: true,
    change: (name, edit) => edit.replace(name, 'single'),
  }),
  toy({
    id: 'toy-tall',
    word: 'tall',
    safety: 'safe',
    change: (name, edit) => {
      const statement = name.closest('expression_statement');
      if (statement !== undefined) edit.insertStatementAfter(statement, TALL);
      edit.replace(name, 'short');
    },
  }),
];

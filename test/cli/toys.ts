import type { Transform } from '../../src/toolkit/contract.js';
import { ask, Proof } from '../../src/toolkit/index.js';
import { toy } from '../support/toy.js';

/** `hold` is fixed, `risk` needs leave, `hint` only a word, `fine` is left alone, `rare` and `told` run when asked. */
export const TOYS: readonly Transform[] = [
  toy('drop-hold', 'hold', (edit, node) => void edit.replace(node, 'release')),
  toy(
    'calm-risk',
    'risk',
    (edit, node) => {
      edit.replace(node, 'calm');
      const proof = new Proof();
      proof.require('unknown', ask('read-here')`Is \`${'risk'}\` read only here?`);
      return edit.done('Calm it', proof);
    },
    { symptom: 'peak' },
  ),
  toy('hear-hint', 'hint', (edit, node) => void edit.replace(node, 'heard'), {
    safety: 'advice',
    symptom: 'sync',
  }),
  toy('spare-fine', 'fine', (edit) => edit.refuse('the caller needs it')),
  toy('rare-word', 'rare', (edit, node) => void edit.replace(node, 'common'), {
    group: 'opt-in',
    symptom: 'peak',
    options: { depth: { type: 'integer', default: 3, summary: 'How deep' } },
  }),
  toy('told-tale', 'told', (edit, node) => void edit.replace(node, 'untold'), { group: 'documented' }),
];

/** A transform that fails: our bug, on paper. */
export const BROKEN: Transform = {
  ...toy('broken-toy', 'boom', () => undefined),
  detect() {
    throw new TypeError('toys break');
  },
};

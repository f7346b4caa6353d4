import type { Group, Numerics, Safety, Symptom } from '../toolkit/contract.js';
import { EFFECTS, type Effect } from '../toolkit/effect.js';
import { EFFECT_WORDS } from './effects.js';

const GROUPS: Readonly<Record<Group, string>> = {
  default: 'on unless you say otherwise',
  'opt-in': 'real effects that change training, checkpoints or needs: name them with `--select`',
  documented: 'as documents recommend them, without the effect that they claim: name them with `--select`',
};

export const GROUP_MEANINGS = Object.entries(GROUPS) as readonly (readonly [Group, string])[];

const SYMPTOMS: Readonly<Record<Symptom, string>> = {
  leak: 'memory grows with every step, because something keeps what each of them made',
  peak: 'a moment of the run needs more memory than it has to, which is where it runs out',
  sync: 'the program waits for the GPU, or the GPU for it',
  fragmentation: 'memory that PyTorch has reserved is in pieces that nothing fits into',
  'host-memory': 'memory of the machine, not of the GPU, is held or copied for nothing',
  'future-break': 'it works today, and is deprecated or changes with a later version',
};

const SAFETIES: Readonly<Record<Safety, string>> = {
  safe: 'every precondition of the fix is proven by the code; `apply` takes it',
  unsafe:
    'the fix is right if the questions below it are answered with yes; `apply -i` asks them, `--unsafe-fixes` takes it unasked',
  advice: 'there is no fix that could be applied: something for a person to decide',
};

const NUMERICS: Readonly<Record<Numerics, string>> = {
  'bit-identical': 'every number of the run stays the same, to the last bit',
  rounding: 'numbers may differ in their last digits, as between two machines',
  'changes-training': 'the run computes something else: losses and results may differ',
};

const EFFECT_MEANINGS: Readonly<Record<Effect, string>> = {
  'frees-memory': 'less memory was measured with the fix than without it',
  'saves-time': 'the same work was measured to take less time',
  'future-proof': 'it keeps up with new versions, and changes nothing today',
  tidy: 'no gain was measured: the code is clearer',
};

/** What the words beside a finding mean, the names of groups and symptoms included. */
export function meaningOf(word: string): string | undefined {
  const known: Readonly<Record<string, string>> = { ...GROUPS, ...SYMPTOMS, ...SAFETIES, ...NUMERICS };
  const name = word.toLowerCase();
  const effect = EFFECTS.find((each) => each === name || EFFECT_WORDS[each] === name);
  return effect === undefined
    ? Object.hasOwn(known, name)
      ? known[name]
      : undefined
    : EFFECT_MEANINGS[effect];
}

/** Whether `memfix list` and `--select` take it. */
export function isSelectable(word: string): boolean {
  return Object.hasOwn(GROUPS, word.toLowerCase()) || Object.hasOwn(SYMPTOMS, word.toLowerCase());
}

import type { Edit } from '../../edit/edit.js';
import { DAMAGE, LAYOUT, type Mutator } from './mutators.js';
import type { Random } from './random.js';
import { BYTES, EXPRESSIONS, STATEMENTS } from './rewrites.js';
import type { Subject } from './subject.js';

/** A text and the changes that are made to it: each is one group of edits. */
export interface Mutant {
  readonly subject: Subject;
  readonly changes: readonly (readonly Edit[])[];
  /** Text of another subject below it. */
  readonly below: string;
  /** What is done to all of it in the end. */
  readonly finish: readonly ((text: string) => string)[];
}

export function mutantOf(subjects: readonly Subject[], random: Random): Mutant {
  const subject = random.pick(subjects);
  if (subject === undefined) throw new Error('there are no fixtures to mutate');
  const changes: (readonly Edit[])[] = [];
  const wanted = 1 + (random.chance(0.6) ? random.below(4) : 0) + (random.chance(0.1) ? random.below(20) : 0);
  for (let tries = 0; changes.length < wanted && tries < 40; tries++) {
    const edits = random.pick(kindOf(random))?.(subject, random);
    if (edits !== undefined && edits.length > 0 && fits(changes.flat(), edits)) changes.push(edits);
  }
  const below = random.chance(0.08) ? `\n\n${random.pick(subjects)?.text ?? ''}` : '';
  const finish = random.chance(0.2) ? [random.pick(BYTES)] : [];
  // What is random in the last step must come out the same each time.
  const fixed = random.below(2 ** 31);
  return {
    subject,
    changes,
    below,
    finish: finish.flatMap((each) =>
      each === undefined ? [] : [(text: string) => each(text, random.like(fixed))],
    ),
  };
}

function kindOf(random: Random): readonly Mutator[] {
  const at = random.next();
  if (at < 0.45) return LAYOUT;
  if (at < 0.7) return EXPRESSIONS;
  if (at < 0.92) return STATEMENTS;
  return DAMAGE;
}

function fits(taken: readonly Edit[], edits: readonly Edit[]): boolean {
  return edits.every((edit) =>
    taken.every(
      (other) =>
        edit.end < other.start ||
        other.end < edit.start ||
        (edit.start === edit.end && other.start === other.end),
    ),
  );
}

export function textOf({ subject, changes, below, finish }: Mutant): string {
  let text = subject.text;
  const edits = changes.flat().map((edit, order) => ({ ...edit, order }));
  for (const edit of edits.sort((a, b) => b.start - a.start || b.end - a.end || b.order - a.order))
    text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  return finish.reduce((all, change) => change(all), text + below);
}

/** The mutant without what it does not need in order to be `wrong`. */
export async function shrunk(mutant: Mutant, isWrong: (text: string) => Promise<boolean>): Promise<Mutant> {
  let best = mutant;
  for (const smaller of [
    { ...best, below: '' },
    { ...best, below: '', finish: [] },
    { ...best, finish: [] },
  ])
    if (await isWrong(textOf(smaller))) {
      best = smaller;
      if (best.finish.length === 0) break;
    }
  for (let at = best.changes.length - 1; at >= 0; at--) {
    const smaller = { ...best, changes: best.changes.filter((_, index) => index !== at) };
    if (await isWrong(textOf(smaller))) best = smaller;
  }
  return best;
}

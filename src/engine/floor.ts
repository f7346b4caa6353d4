import type { PyModule } from '../semantic/module.js';
import { ask, type Question } from '../semantic/question.js';
import { standingOf } from '../semantic/standing.js';
import { compareVersions, type Premise } from '../semantic/versions.js';
import type { TransformMeta } from '../toolkit/contract.js';

/** What the versions that a transform needs come to in one file. */
export interface Floor {
  /** Why the fix has no place in a project that pins a package below what it needs. */
  readonly refusal?: string;
  /** What it needs and the project does not show. */
  readonly doubts: readonly Question[];
  /** What makes the others certain. */
  readonly premises: readonly Premise[];
}

export function floorIn({ requires }: TransformMeta, module: PyModule): Floor {
  const doubts: Question[] = [];
  const premises: Premise[] = [];
  for (const [name, floor] of Object.entries(requires)) {
    const {
      answer,
      pin,
      premise,
      doubt = 'nothing in the project says so',
    } = standingOf(module, name, floor);
    if (pin !== undefined) {
      const refusal = `the fix needs ${name} ${floor} or newer, and ${pin.source} says \`${name} ${pin.text}\``;
      return { refusal, doubts: [], premises: [] };
    }
    if (premise !== undefined) premises.push(premise);
    if (answer === 'unknown') doubts.push(ask('version')`Is ${`${name} ${floor} or newer`} (${doubt})?`);
  }
  return { doubts, premises };
}

/** Of what one sentence says, the newest version that the fix counts on: `>=2.4` says 1.12 as well. */
export function highest(premises: readonly Premise[]): readonly Premise[] {
  return premises.filter((each, index) =>
    premises.every((other, at) => {
      if (other.package !== each.package || other.because !== each.because) return true;
      const order = compareVersions(other.atLeast, each.atLeast);
      return order < 0 || (order === 0 && at >= index);
    }),
  );
}

import type { PyModule } from '../semantic/module.js';
import type { Versions } from '../semantic/versions.js';
import type { TransformMeta } from '../toolkit/contract.js';
import { isWrittenForOldTorch } from '../torch/idioms.js';

/** Why a transform has no place in a project that pins a package below what the fix needs. */
export function belowFloor({ requires }: TransformMeta, versions: () => Versions): string | undefined {
  for (const [name, floor] of Object.entries(requires)) {
    const pin = versions().pinBelow(name, floor);
    if (pin !== undefined)
      return `the fix needs ${name} ${floor} or newer, and ${pin.source} says \`${name} ${pin.text}\``;
  }
  return undefined;
}

/** What the fix needs and the project does not show: one revision of a package, or code of old, may stand for an older one. */
export function floorDoubts({ requires }: TransformMeta, module: PyModule): readonly string[] {
  return Object.entries(requires).flatMap(([name, floor]) => {
    const reason = doubtAbout(name, floor, module);
    return reason === undefined ? [] : [`that ${name} is ${floor} or newer: ${reason}`];
  });
}

function doubtAbout(name: string, floor: string, module: PyModule): string | undefined {
  const frozen = module.versions.pinsOf(name).find(({ isFrozen }) => isFrozen === true);
  if (frozen !== undefined) return `${frozen.source} takes one revision of it`;
  const isOld = name === 'torch' && isWrittenForOldTorch(module);
  return isOld && module.versions.isAtLeast(name, floor) !== 'yes'
    ? 'this file is written for 0.3'
    : undefined;
}

import type { Versions } from '../semantic/versions.js';
import type { TransformMeta } from '../toolkit/contract.js';

/** Why a transform has no place in a project that pins a package below what the fix needs. */
export function belowFloor({ requires }: TransformMeta, versions: () => Versions): string | undefined {
  for (const [name, floor] of Object.entries(requires)) {
    const pin = versions().pinBelow(name, floor);
    if (pin !== undefined)
      return `the fix needs ${name} ${floor} or newer, and ${pin.source} says \`${name} ${pin.text}\``;
  }
  return undefined;
}

/** What the fix needs and the project does not show: it takes a package from one revision, which may be an older one. */
export function floorDoubts({ requires }: TransformMeta, versions: () => Versions): readonly string[] {
  return Object.entries(requires).flatMap(([name, floor]) => {
    const frozen = versions()
      .pinsOf(name)
      .find(({ isFrozen }) => isFrozen === true);
    return frozen === undefined
      ? []
      : [`that ${name} is ${floor} or newer: ${frozen.source} takes one revision of it`];
  });
}

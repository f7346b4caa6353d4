import { arrives, type Given } from '../semantic/given.js';
import type { PyModule } from '../semantic/module.js';
import type { Proof } from './proof.js';

/**
 * Asks for a version of a package. `because` completes "before that, …": what an older one makes of the change.
 * A project that pins an older one is refused; one that does not say makes the finding unsafe.
 */
export function requireVersion(
  proof: Proof,
  module: PyModule,
  name: string,
  version: string,
  because: string,
): Proof {
  const pin = module.versions.pinBelow(name, version);
  return proof.require(module.versions.isAtLeast(name, version), {
    no: `${pin?.source ?? 'the project'} asks for ${name} ${pin?.text ?? `below ${version}`}, where ${because}`,
    unknown: `that ${name} is ${version} or newer: before that, ${because}`,
  });
}

/** Asks that a setting reaches its call as it is written. */
export function requireArrival(proof: Proof, given: Given): Proof {
  return proof.require(arrives(given), {
    no: 'the dict is changed before it is spread into the call',
    unknown: 'that nobody else reads or changes the dict it stands in',
  });
}

import type { Options, Transform } from '../toolkit/contract.js';

/** `isNamed`: it runs because it was asked for by its name. */
export function defaultsOf(transform: Transform | undefined, isNamed = false): Options {
  const specs = Object.entries(transform?.meta.options ?? {});
  return Object.fromEntries(
    specs.map(([name, spec]) => [name, isNamed ? (spec.whenNamed ?? spec.default) : spec.default]),
  );
}

import type { Definition } from '../../semantic/flow.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';

/**
 * What grad mode means to a value. `plain`: it carries no graph either way. `given`: an argument of the function, which keeps
 * what it had. `derived`: computed from such, so that it has a graph only where an argument had one. `outside`: somebody
 * else's, untouched. `unknown`: made from that, or by code elsewhere. `network`: the network or a part of it. `graph`:
 * computed with it.
 */
export type Trace = 'plain' | 'given' | 'derived' | 'outside' | 'unknown' | 'network' | 'graph';

const ORDER: readonly Trace[] = ['plain', 'given', 'derived', 'outside', 'unknown', 'network', 'graph'];

/** Leaving the function with it may leave with a graph. */
export function mayCarryGraph(trace: Trace): boolean {
  return trace === 'unknown' || trace === 'graph';
}

export function worst(traces: readonly Trace[]): Trace {
  if (traces.includes('network') && traces.includes('unknown')) return 'graph';
  // One of them keeps what it had, and the other may have lost it.
  if (traces.includes('outside') && traces.includes('derived')) return 'unknown';
  return ORDER[Math.max(0, ...traces.map((trace) => ORDER.indexOf(trace)))] ?? 'graph';
}

/** The traces of some things, as far as they decide what the worst is. */
export function upToWorst<T>(things: readonly T[], traceOf: (thing: T) => Trace): readonly Trace[] {
  const traces: Trace[] = [];
  for (const thing of things) {
    const trace = traceOf(thing);
    traces.push(trace);
    if (trace === 'graph') break;
  }
  return traces;
}

/** What an operation on these records. */
export function operation(traces: readonly Trace[]): Trace {
  const most = worst(traces);
  if (most === 'network') return 'graph';
  if (most === 'given') return 'derived';
  return most === 'outside' ? 'unknown' : most;
}

/** What is read from a file: leaves, which are what they are with gradients and without. */
export function loaded(traces: readonly Trace[]): Trace {
  return mayCarryGraph(operation(traces)) ? 'outside' : worst(traces);
}

/** What else is known of an expression or a binding; undefined where it is followed. */
export interface Premises {
  readonly expression: (module: PyModule, node: PyNode) => Trace | undefined;
  readonly definition: (module: PyModule, definition: Definition) => Trace | undefined;
  /** What these are `plain` by is no name. */
  readonly isTensor?: (module: PyModule, node: PyNode) => boolean;
}

/** By parameter, or one for all of them where a call does not tell which gets what. */
export type Given = Trace | ReadonlyMap<string, Trace>;

/**
 * What a parameter is given, where that is known. That it is `isPlain` by its annotation or default says more than what holds of all
 * of them, and less than what a call gives.
 */
export function givenAs(given: Given, name: string, isPlain = false): Trace | undefined {
  const ofAll = typeof given === 'string' ? given : undefined;
  const own = typeof given === 'string' ? undefined : given.get(name);
  return own ?? (isPlain ? 'plain' : ofAll);
}

/** A name says less than `plain`, which may only be a guess at what the argument is. */
export function withoutPlain(given: Given, isCertain: (name: string) => boolean): Given {
  if (typeof given === 'string') return given === 'plain' ? new Map() : given;
  return new Map([...given].filter(([name, trace]) => trace !== 'plain' || isCertain(name)));
}

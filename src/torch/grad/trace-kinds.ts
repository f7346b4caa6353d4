/**
 * What grad mode means to a value. `plain`: it carries no graph either way. `outside`: it came in untouched and keeps what
 * it had. `unknown`: made from such, or by code elsewhere. `network`: the network or a part of it. `graph`: computed with it.
 */
export type Trace = 'plain' | 'outside' | 'unknown' | 'network' | 'graph';

const ORDER: readonly Trace[] = ['plain', 'outside', 'unknown', 'network', 'graph'];

/** Leaving the function with it may leave with a graph. */
export function mayCarryGraph(trace: Trace): boolean {
  return trace === 'unknown' || trace === 'graph';
}

export function worst(traces: readonly Trace[]): Trace {
  if (traces.includes('network') && traces.includes('unknown')) return 'graph';
  return ORDER[Math.max(0, ...traces.map((trace) => ORDER.indexOf(trace)))] ?? 'graph';
}

/** What an operation on these records. */
export function operation(traces: readonly Trace[]): Trace {
  const most = worst(traces);
  if (most === 'network') return 'graph';
  return most === 'outside' ? 'unknown' : most;
}

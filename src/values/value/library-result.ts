import { canonical } from '../../library/library.js';
import { DATA_LOADER, LOAD } from '../../library/names.js';
import type { PyModule } from '../../semantic/module.js';
import type { PyNode } from '../../syntax/node.js';
import { instancesAmong, objectsAmong } from './arrays.js';
import { resultOf } from './plain.js';
import { loaded, operation, type Trace, worst } from './trace-kinds.js';

/** What a function of a known package hands back, by the traces of what it is given; undefined where that is not known. */
export function resultOfLibrary(
  module: PyModule,
  path: string,
  given: readonly PyNode[],
  traces: (nodes: readonly PyNode[]) => readonly Trace[],
): Trace | undefined {
  // Its batches have a graph where what it was given had one.
  if (canonical(path) === DATA_LOADER) return traces(given).includes('graph') ? 'graph' : 'given';
  switch (resultOf(path)) {
    case 'plain':
      return worst(traces(instancesAmong(module, path, given)));
    case 'passed':
      return worst(traces(given));
    case 'objects':
      return worst(traces(objectsAmong(module, given)));
    case 'computed':
      return (path === LOAD ? loaded : operation)(traces(given));
    default:
      return undefined;
  }
}

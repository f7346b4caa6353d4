/** Ends threads that parse and read trees without a break, at random moments. One argument: how many. */
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { loadParser } from '../../src/syntax/parser.js';
import { watchSections } from '../../src/syntax/section.js';
import { Gate } from '../../src/workspace/gate.js';

const TEXT = 'def f(a, b):\n    return [g(x)(y), {a: b}]\n'.repeat(2000);

async function endThreads(count: number): Promise<void> {
  for (let done = 0; done < count; done++) {
    const gate = new Gate();
    const worker = new Worker(new URL(import.meta.url), { workerData: gate.state });
    await new Promise((begun) => worker.once('message', begun));
    await delay(Math.random() * 20);
    await gate.close();
    await worker.terminate();
  }
}

async function parseForEver(state: Int32Array<SharedArrayBuffer>): Promise<void> {
  watchSections(new Gate(state));
  const parser = await loadParser();
  parentPort?.postMessage('begun');
  for (;;) {
    const tree = parser.parse(TEXT);
    for (const node of tree.root.walk()) node.children;
    tree.dispose();
  }
}

if (isMainThread) await endThreads(Number(process.argv[2]));
else await parseForEver(workerData);

import { Worker } from 'node:worker_threads';
import { codeOf, Failure } from '../failure.js';
import { prepareForMany } from '../tuning.js';
import { Decisions } from './decisions.js';
import { lookInto, type PlanMeans } from './plan.js';
import type { PlanAnswer, PlanOrder } from './planning-child.js';

/** Ends the process when the one that started it is gone: an endless look at a file hears of nothing else. */
const WATCH = `const { workerData: parent } = require('node:worker_threads');
setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 1000);`;

/** Signals of a terminal reach the whole group; what they mean is for the parent to say. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Plans what it is asked to over its channel until that is closed. */
export function servePlans(parent: number, means: PlanMeans): void {
  for (const name of SIGNALS) process.on(name, () => undefined);
  new Worker(WATCH, { eval: true, workerData: parent, execArgv: [] }).unref();
  prepareForMany();
  process.on('disconnect', () => process.exit());
  process.on('message', async (order: PlanOrder) => {
    process.send?.(await answerTo(order, means));
  });
  process.send?.('ready');
}

async function answerTo({ tree, choice, decided }: PlanOrder, means: PlanMeans): Promise<PlanAnswer> {
  try {
    return { kind: 'planned', findings: await lookInto(tree, choice, new Decisions(decided), means) };
  } catch (error) {
    if (error instanceof Failure)
      return { kind: 'failure', title: error.title, detail: error.detail, next: error.next };
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const path = error instanceof Error && 'path' in error ? String(error.path) : undefined;
    return { kind: 'error', message, stack, code: codeOf(error), path };
  }
}

import { parentPort, workerData } from 'node:worker_threads';
import { watchSections } from '../syntax/section.js';
import { type Catalogue, withPlugins } from './catalogue.js';
import { now } from './clock.js';
import type { Orders, Report } from './crew.js';
import { Desk } from './desk.js';
import { type Examined, Examiner } from './examine.js';
import { Gate } from './gate.js';
import { ParserOnDemand } from './parser-choice.js';
import { Pile } from './pile.js';
import { Project } from './project.js';
import { Tools } from './tools.js';

/** Answers that say something leave at once, the others together. */
const TOGETHER = 64;

/** Milliseconds between turns of the event loop: only there does the native parser let go of trees that nobody holds. */
const BREATH = 40;

/** A thread of a run: does the jobs that nobody else has taken, reports, and ends. */
export async function serve(own: Catalogue): Promise<void> {
  const orders = workerData as Orders;
  const catalogue = await withThePlugins(own, orders);
  watchSections(new Gate(orders.gate));
  const desk = new Desk(orders.desk);
  const project = new Project(orders.request, catalogue, () => !orders.isAtDesk && desk.hasRoom);
  const tools = new Tools(project, new ParserOnDemand(orders.parser));
  const examiner = new Examiner(
    tools,
    orders.takesFixes ? await project.policy() : undefined,
    orders.remembers,
    orders.isThorough,
  );
  let report: (readonly [number, Examined])[] = [];
  const send = () => {
    if (report.length > 0) parentPort?.postMessage(report satisfies Report);
    report = [];
  };
  let breathed = now();
  let told = 0;
  for (const index of take(orders, desk, send)) {
    const job = orders.jobs[index];
    if (job === undefined) break;
    Atomics.store(orders.owners, index, orders.name);
    Atomics.store(orders.at, 0, index + 1);
    const examined = await examiner.examine(job);
    if (examined.sight.kind === 'left') {
      Atomics.store(orders.owners, index, 0);
      Atomics.store(orders.at, 0, 0);
      desk.leave(index);
      continue;
    }
    const { refused } = project.ground;
    report.push([index, refused.length === told ? examined : { ...examined, refused }]);
    told = refused.length;
    if (examined.sight.kind !== 'nothing' || report.length >= TOGETHER) send();
    Atomics.store(orders.at, 0, 0);
    if (now() - breathed < BREATH) continue;
    await new Promise((resume) => setImmediate(resume));
    breathed = now();
  }
  send();
}

async function withThePlugins(own: Catalogue, { plugins = [], isWhole }: Orders): Promise<Catalogue> {
  if (plugins.length === 0) return own;
  const { loadPlugins } = await import('./plugins/load.js');
  return withPlugins(own, await loadPlugins(plugins), isWhole === true);
}

function* take(
  { first, pile, jobs, isAtDesk }: Orders,
  desk: Desk,
  beforeWaiting: () => void,
): Generator<number> {
  const untaken = new Pile(jobs.length, pile);
  yield* first;
  for (;;) {
    const left = isAtDesk ? desk.take() : undefined;
    const index = left ?? untaken.first();
    if (index === undefined) break;
    yield index;
  }
  if (!isAtDesk) return;
  for (;;) {
    beforeWaiting();
    const index = desk.next();
    if (index === undefined) return;
    yield index;
  }
}

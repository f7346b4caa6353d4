import { printable } from '../cells.js';
import { plural } from '../prose.js';
import { table } from '../table.js';
import type { RepositoryRecord, StageName } from './record.js';

/** What a queue says about a run while workers are at it. */
export interface Live {
  /** What is being done to which repository, by its id. */
  readonly doing: ReadonlyMap<string, { readonly stage: StageName; readonly worker: string }>;
  readonly queues: ReadonlyMap<StageName, QueueCounts>;
  readonly workers: readonly {
    readonly name: string;
    readonly version: string;
    readonly stages: readonly StageName[];
  }[];
}

export interface QueueCounts {
  readonly waiting: number;
  readonly active: number;
  /** Waiting until it is tried again. */
  readonly delayed: number;
  readonly failed: number;
}

/** Who is at what, how much waits for which stage, and who is there to do it. */
export function renderLive(records: readonly RepositoryRecord[], { doing, queues, workers }: Live): string {
  const busy = records.flatMap(({ id, name }) => {
    const now = doing.get(id);
    return now === undefined ? [] : [`${printable(name)}: ${now.stage} … (${printable(now.worker)})`];
  });
  const rows = [...queues].map(([stage, { waiting, active, delayed, failed }]) => [
    { text: stage },
    ...[waiting, active, delayed, failed].map((count) => ({ text: String(count), align: 'right' as const })),
  ]);
  const head = ['queue', 'waiting', 'active', 'retry', 'failed'].map((text, index) =>
    index === 0 ? { text } : { text, align: 'right' as const },
  );
  const there = workers.map(({ name, version }) => `${printable(name)} (memfix ${version})`);
  const lines = [
    ...(busy.length === 0 ? [] : ['', ...busy]),
    '',
    ...table([head, ...rows]),
    '',
    workers.length === 0 ? 'No worker is there.' : `${plural(workers.length, 'worker')}: ${there.join(', ')}`,
  ];
  return `${lines.join('\n')}\n`;
}

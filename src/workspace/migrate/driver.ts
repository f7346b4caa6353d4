import { join } from 'node:path';
import type { Goal, RepositoryRecord, StageName } from '../../report/migrate/record.js';
import { statusOf } from '../../report/migrate/record.js';
import { Failure } from '../failure.js';
import { endMarked } from '../prove/child.js';
import type { Campaign } from './campaign.js';
import { type Course, goOn } from './course.js';
import type { CampaignFolder, Keep } from './folder.js';
import { Git, MARK } from './git.js';
import { tryHold } from './hold.js';
import { Lane } from './lane.js';
import { Mirror } from './mirror.js';
import type { Eyes } from './plan.js';
import type { Repository } from './source.js';
import type { Stage } from './stages.js';

export interface Undertaking {
  readonly campaign: Campaign;
  readonly folder: CampaignFolder;
  readonly goal: Goal;
  readonly keep: Keep;
  readonly eyes: Eyes;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}

export interface Watcher {
  entered(repository: Repository, stage: StageName): void;
  ended(record: RepositoryRecord): void;
  /** Not worked on, and why; its state is as it was. */
  passed(repository: Repository, why: Failure): void;
}

/** Takes repositories to a goal on this machine: so many at the network, so many at work, never all at once. */
export async function driveHere(
  repositories: readonly Repository[],
  undertaking: Undertaking,
  watcher: Watcher,
): Promise<void> {
  const { limits } = undertaking.campaign;
  const lanes = { network: new Lane(limits.network), work: new Lane(limits.work) };
  const queue = repositories.values();
  const hand = async (): Promise<void> => {
    for (const repository of queue) {
      undertaking.eyes.signal.throwIfAborted();
      const through: Course['through'] = (stage: Stage, work) =>
        lanes[stage.lane].run(() => {
          watcher.entered(repository, stage.name);
          return work();
        });
      await take(repository, undertaking, watcher, through);
    }
  };
  const hands = Array.from({ length: limits.network + limits.work }, hand);
  const ends = await Promise.allSettled(hands);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function take(
  repository: Repository,
  undertaking: Undertaking,
  watcher: Watcher,
  through: Course['through'],
): Promise<void> {
  const { campaign, folder, goal, eyes, env, keep } = undertaking;
  const { id, url } = repository;
  const file = join(campaign.mirrors, `${id}.lock`);
  const mark = `${file}#`;
  const git = new Git(env, eyes.signal, mark);
  const mirror = new Mirror(join(campaign.mirrors, id), url, git, campaign.limits.networkTimeout);
  const held = tryHold(file);
  if (held instanceof Failure) return watcher.passed(repository, held);
  try {
    if (held.isInherited) {
      endMarked(`${MARK}=${mark}`);
      mirror.unlock();
    }
    // Read now: another run may have been at it since the work was dealt out.
    const start = folder.record(repository);
    const journal = (each: RepositoryRecord) => folder.save(each);
    const record = await goOn({ ...undertaking, mirror, mark }, start, { goal, through, journal });
    if (keep === 'none' || (keep === 'failed' && statusOf(record) !== 'failed'))
      mirror.removeTree(folder.tree(id));
    if (keep === 'none') mirror.remove();
    watcher.ended(record);
  } finally {
    held.release();
  }
}

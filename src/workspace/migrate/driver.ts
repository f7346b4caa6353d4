import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Goal, RepositoryRecord, StageName } from '../../report/migrate/record.js';
import { hasFailed, isFinished } from '../../report/migrate/record.js';
import { Failure } from '../failure.js';
import { endMarked } from '../prove/child.js';
import { prepareForMany } from '../tuning.js';
import type { Campaign } from './campaign.js';
import { type Course, goOn } from './course.js';
import type { CampaignFolder, Keep, Run } from './folder.js';
import type { Forges } from './forge/forges.js';
import { gitEnvironment } from './forge/token.js';
import { Git, MARK, restGit } from './git.js';
import { type Hold, tryHold } from './hold.js';
import { Lane } from './lane.js';
import { BASE_TREE, Mirror } from './mirror.js';
import type { Eyes } from './planner.js';
import { Setback } from './setback.js';
import type { Repository } from './source.js';
import type { Stage } from './stages.js';

export interface Undertaking {
  readonly campaign: Campaign;
  readonly folder: CampaignFolder;
  readonly goal: Goal;
  readonly keep: Keep;
  readonly eyes: Eyes;
  readonly forges: Forges;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** Takes repositories from other runs that hold them. */
  readonly takeover: boolean;
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
  prepareForMany();
  const { campaign, eyes, goal } = undertaking;
  const { network, work: atWork } = campaign.limits;
  const lanes = { network: new Lane(network), work: new Lane(atWork), forge: new Lane(1) };
  const queue = repositories.values();
  const afterwards: Promise<readonly PromiseSettledResult<void>[]>[] = [];
  const step = async (repository: Repository, isWelcome: (stage: Stage) => boolean): Promise<void> => {
    eyes.signal.throwIfAborted();
    const through: Course['through'] = (stage, work) => {
      const enter = () => {
        watcher.entered(repository, stage.name);
        return work();
      };
      return stage.lane === 'forge' ? enter() : lanes[stage.lane].run(enter);
    };
    const end = await take(repository, undertaking, { through, isWelcome });
    if (end instanceof Failure) watcher.passed(repository, end);
    else if (isFinished(end, goal)) watcher.ended(end);
    // One at a time, and perhaps in an hour: no hand waits for that.
    else afterwards.push(Promise.allSettled([lanes.forge.run(() => step(repository, () => true))]));
  };
  const hand = async (): Promise<void> => {
    for (const repository of queue) await step(repository, ({ lane }) => lane !== 'forge');
  };
  const hands = await Promise.allSettled(Array.from({ length: network + atWork }, hand));
  const ends = [...hands, ...(await Promise.all(afterwards)).flat()];
  await restGit(gitEnvironment(campaign.hosts, undertaking.env));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Milliseconds that a run has to leave a repository that was taken from it. */
const SETTLE = 2000;

/** What it takes to hold a repository. */
interface Means extends Pick<Undertaking, 'campaign' | 'env'> {
  readonly eyes: Pick<Eyes, 'signal'>;
}

/** A repository that this process holds. */
interface Held {
  readonly hold: Hold;
  readonly mirror: Mirror;
  /** What its child processes carry. */
  readonly mark: string;
}

/** Works on a repository that nobody else holds; answers with why not where that failed. */
async function holding<T>(
  { id, url }: Repository,
  { campaign, env, eyes, takeover }: Means & Pick<Undertaking, 'takeover'>,
  work: (held: Held) => Promise<T>,
): Promise<T | Failure> {
  const file = join(campaign.mirrors, `${id}.lock`);
  const mark = `${file}#`;
  const git = new Git(gitEnvironment(campaign.hosts, env), eyes.signal, mark);
  const manner = { clone: campaign.clone, timeout: campaign.limits.networkTimeout };
  const mirror = new Mirror(join(campaign.mirrors, id), url, git, manner);
  const hold = await tryHold(file, { takeover });
  if (hold instanceof Failure) return hold;
  try {
    if (hold.isInherited) {
      endMarked(`${MARK}=${mark}`);
      // One that lives tidies up after the processes that were just ended, and then finds that it is not its turn.
      if (takeover) await pause(SETTLE);
      mirror.unlock();
    }
    return await work({ hold, mirror, mark });
  } catch (error) {
    if (error instanceof Setback) return error;
    throw error;
  } finally {
    hold.release();
  }
}

/** Answers with where it came to, or with why it was not worked on. */
function take(
  repository: Repository,
  undertaking: Undertaking,
  course: Required<Pick<Course, 'through' | 'isWelcome'>>,
): Promise<RepositoryRecord | Failure> {
  const { folder, goal, keep } = undertaking;
  return holding(repository, undertaking, async ({ hold, mirror, mark }) => {
    // Read now: another run may have been at it since the work was dealt out.
    const start = folder.record(repository);
    const record = await goOn({ ...undertaking, mirror, mark }, start, {
      goal,
      isWelcome: course.isWelcome,
      through: (stage, work) =>
        course.through(stage, () => {
          checkHeld(hold);
          return work();
        }),
      journal: (each) => {
        checkHeld(hold);
        return folder.journal(each);
      },
    });
    checkHeld(hold);
    clear(record, mirror, folder, keep);
    return record;
  });
}

function clear(record: RepositoryRecord, mirror: Mirror, folder: CampaignFolder, keep: Keep): void {
  if (keep === 'none' || (keep === 'failed' && !hasFailed(record))) mirror.removeTree(folder.tree(record.id));
  if (keep === 'none') mirror.remove();
}

/**
 * Removes what a run that was killed has left of repositories that it had finished: they are not dealt out again. One that
 * another run holds is left to that run.
 */
export async function clearAfter(
  { goal, keep, ids }: Pick<Run, 'goal' | 'keep' | 'ids'>,
  folder: CampaignFolder,
  means: Means,
): Promise<void> {
  const { campaign } = means;
  const done = new Set(ids);
  for (const repository of campaign.repositories) {
    const { id } = repository;
    if (!done.has(id) || keep === 'all') continue;
    const left = [folder.tree(id), `${folder.tree(id)}${BASE_TREE}`];
    if (keep === 'none') left.push(join(campaign.mirrors, id));
    if (!left.some((each) => existsSync(each))) continue;
    await holding(repository, { ...means, takeover: false }, async ({ mirror }) => {
      const record = folder.record(repository);
      if (isFinished(record, goal)) clear(record, mirror, folder, keep);
    });
  }
}

/** Whoever was suspended, or silent for long, and goes on, may do nothing to what another has taken over. */
function checkHeld(held: Hold): void {
  if (held.isOurs()) return;
  throw new Setback(
    'Another run has taken this repository over',
    'this one was thought dead, or was told to leave it; what it did last counts for nothing',
    'Let the other run go on; `memfix migrate status` shows how far it is.',
  );
}

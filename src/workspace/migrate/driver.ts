import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Goal, RepositoryRecord, StageName } from '../../report/migrate/record.js';
import { hasFailed, isFinished } from '../../report/migrate/record.js';
import { Failure } from '../failure.js';
import { endMarked } from '../prove/child.js';
import { prepareForMany } from '../tuning.js';
import type { Campaign } from './campaign.js';
import { type Course, goOn } from './course.js';
import type { CampaignFolder, Keep } from './folder.js';
import type { Forges } from './forge/forges.js';
import { gitEnvironment } from './forge/token.js';
import { Git, MARK, restGit } from './git.js';
import { type Hold, tryHold } from './hold.js';
import { Lane } from './lane.js';
import { Mirror } from './mirror.js';
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

/** Answers with where it came to, or with why it was not worked on. */
async function take(
  repository: Repository,
  undertaking: Undertaking,
  course: Required<Pick<Course, 'through' | 'isWelcome'>>,
): Promise<RepositoryRecord | Failure> {
  const { campaign, folder, goal, eyes, env, keep, takeover } = undertaking;
  const { id, url } = repository;
  const file = join(campaign.mirrors, `${id}.lock`);
  const mark = `${file}#`;
  const git = new Git(gitEnvironment(campaign.hosts, env), eyes.signal, mark);
  const manner = { clone: campaign.clone, timeout: campaign.limits.networkTimeout };
  const mirror = new Mirror(join(campaign.mirrors, id), url, git, manner);
  const held = await tryHold(file, { takeover });
  if (held instanceof Failure) return held;
  try {
    if (held.isInherited) {
      endMarked(`${MARK}=${mark}`);
      // One that lives tidies up after the processes that were just ended, and then finds that it is not its turn.
      if (takeover) await pause(SETTLE);
      mirror.unlock();
    }
    // Read now: another run may have been at it since the work was dealt out.
    const start = folder.record(repository);
    const record = await goOn({ ...undertaking, mirror, mark }, start, {
      goal,
      isWelcome: course.isWelcome,
      through: (stage, work) =>
        course.through(stage, () => {
          checkHeld(held);
          return work();
        }),
      journal: (each) => {
        checkHeld(held);
        return folder.journal(each);
      },
    });
    checkHeld(held);
    if (keep === 'none' || (keep === 'failed' && !hasFailed(record))) mirror.removeTree(folder.tree(id));
    if (keep === 'none') mirror.remove();
    return record;
  } catch (error) {
    if (error instanceof Setback) return error;
    throw error;
  } finally {
    held.release();
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

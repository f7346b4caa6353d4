import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_MESSAGES, messageFrom } from '../../report/migrate/message.js';
import {
  type Base,
  before,
  type Planned,
  type RepositoryRecord,
  type StageName,
} from '../../report/migrate/record.js';
import { Failure } from '../failure.js';
import { type Campaign, planKey } from './campaign.js';
import { baseBranchOf } from './choose.js';
import { enclosureFor } from './enclosure.js';
import type { CampaignFolder } from './folder.js';
import type { Forges } from './forge/forges.js';
import { propose } from './forge/propose.js';
import { withoutTokens } from './forge/token.js';
import { sha256 } from './hash.js';
import type { CommitPlan, Mirror } from './mirror.js';
import type { Eyes } from './planner.js';
import { Outdated } from './setback.js';
import { verified } from './verify.js';

/** All that a stage works with. Nothing in it is about who runs the stages, or where. */
export interface Desk {
  readonly campaign: Campaign;
  readonly folder: CampaignFolder;
  readonly mirror: Mirror;
  readonly eyes: Eyes;
  readonly forges: Forges;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names the processes that work for this repository. */
  readonly mark: string;
  /** Tells this memfix from others. */
  readonly version: string;
}

/** One step on a repository: done again after a crash, it comes to the same. */
export interface Stage {
  readonly name: StageName;
  /** What it mostly waits for. */
  readonly lane: 'network' | 'work' | 'forge';
  /** After a crash, what it left is found in the mirror in no time: its record can be kept with that of the next stage. */
  readonly isFoundAgain?: true;
  /** Whether what it leaves is there, so that the next stage can go on from it. */
  isDone(desk: Desk, record: RepositoryRecord): boolean | Promise<boolean>;
  run(desk: Desk, record: RepositoryRecord): Promise<RepositoryRecord>;
}

const clone: Stage = {
  name: 'clone',
  lane: 'network',
  isFoundAgain: true,
  async isDone(desk, record) {
    const { base } = record;
    if (base === undefined || base === null) return false;
    return lockOf(desk, record)?.commit === base.commit && (await desk.mirror.has(base.commit));
  },
  async run(desk, record) {
    const { campaign, folder, mirror } = desk;
    const locked = lockOf(desk, record);
    const branch = baseBranchOf(campaign.baseBranches, record);
    const base = await mirror.bring(locked, folder.tree(record.id), branch);
    if (base !== null && locked === undefined) folder.lock(record.url, base);
    return base !== null && record.base?.commit === base.commit
      ? { ...record, base }
      : { ...before('clone', record), base };
  },
};

/** The commit that a repository is held to; none where the campaign now wants one of another branch. */
function lockOf({ campaign, folder }: Desk, record: RepositoryRecord): Base | undefined {
  const locked = folder.locked(record.url);
  const branch = baseBranchOf(campaign.baseBranches, record);
  return branch === undefined || branch === locked?.branch ? locked : undefined;
}

const plan: Stage = {
  name: 'plan',
  lane: 'work',
  isDone({ campaign, folder, version }, { id, base, planned }) {
    const { digest } = folder.decisions(id);
    if (planned?.key !== planKey(campaign, baseOf(base).commit, digest, version)) return false;
    return planned.steps.every((step) => folder.hasPatch(step));
  },
  async run({ campaign, folder, mirror, eyes, version }, record) {
    const { commit } = baseOf(record.base);
    const tree = folder.tree(record.id);
    await mirror.checkOutSources(commit, tree);
    const decisions = folder.decisions(record.id);
    const key = planKey(campaign, commit, decisions.digest, version);
    const { patch, steps, offers, ...found } = await eyes.planner
      .plan(tree, campaign, decisions)
      .catch(forTheRepository);
    folder.saveOffers(record.id, { version: 1, plan: key, offers });
    const whole = `${record.id}.patch`;
    const sha = folder.savePatch(whole, patch);
    const saved = steps.map((step, index) => {
      if (steps.length === 1) return { patch: whole, sha256: sha, fixes: step.fixes };
      const number = String(index + 1).padStart(2, '0');
      const name = `${record.id}/${number}-${step.fixes.map(({ transform }) => transform).join('-')}.patch`;
      return { patch: name, sha256: folder.savePatch(name, step.patch), fixes: step.fixes };
    });
    // To the second, as git keeps it. The same plan keeps its date, so that it becomes the same commits.
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const at = record.planned?.key === key ? record.planned.at : now;
    return { ...before('plan', record), planned: { key, at, ...found, steps: saved } };
  },
};

/** What is wrong with the settings that a commit has can only be corrected by another commit. */
function forTheRepository(error: unknown): never {
  if (!(error instanceof Failure) || error.constructor !== Failure) throw error;
  throw new Outdated(error.title, error.detail, `${error.next} That is for the repository to do.`);
}

/** Makes the commits, on no branch yet. */
const apply: Stage = {
  name: 'apply',
  lane: 'work',
  isFoundAgain: true,
  async isDone({ campaign, mirror }, { applied }) {
    const last = applied?.commits.at(-1);
    return last !== undefined && applied?.key === messageKey(campaign) && (await mirror.has(last));
  },
  async run({ campaign, folder, mirror, eyes }, record) {
    const { steps, at } = plannedOf(record);
    const summaryOf = (id: string) => eyes.catalogue.metas.find((meta) => meta.id === id)?.summary ?? id;
    const template = campaign.message ?? DEFAULT_MESSAGES[campaign.commits];
    const plans = steps.map((step): CommitPlan => {
      const message = messageFrom(template, { repository: record.name, fixes: step.fixes, summaryOf });
      return { patch: folder.patchFile(step), message };
    });
    const commits = await mirror.commit(baseOf(record.base).commit, plans, at, folder.tree(record.id));
    const applied = { key: messageKey(campaign), commits };
    // Made again where the mirror was gone, they are the same, and what was found out about them stands.
    return isDeepStrictEqual(applied, record.applied) ? record : { ...before('apply', record), applied };
  },
};

const verify: Stage = {
  name: 'verify',
  lane: 'work',
  isDone({ campaign }, { applied, verified: known }) {
    if (campaign.verify === undefined) return true;
    return known?.command === campaign.verify && known.commit === applied?.commits.at(-1);
  },
  async run({ campaign, folder, mirror, env, mark, eyes }, record) {
    const trying = {
      words: campaign.verify ?? 'true',
      base: baseOf(record.base).commit,
      commit: record.applied?.commits.at(-1) ?? '',
      offers: folder.offers(record.id, plannedOf(record).key) ?? [],
      tree: folder.tree(record.id),
      log: folder.verifyLog(record.id),
      timeout: campaign.limits.verifyTimeout,
      enclosure: await enclosureFor(campaign, withoutTokens(env)),
      ...{ mirror, mark, signal: eyes.signal },
    };
    return { ...before('verify', record), verified: await verified(trying) };
  },
};

/** Puts the branch on the commits. */
const commit: Stage = {
  name: 'commit',
  lane: 'work',
  async isDone({ campaign, mirror }, { applied, committed }) {
    const last = committed?.commits.at(-1);
    if (last === undefined || last !== applied?.commits.at(-1) || committed?.branch !== campaign.branch)
      return false;
    return await mirror.has(last);
  },
  async run({ campaign: { branch }, mirror }, record) {
    const { commits = [] } = record.applied ?? {};
    mirror.setBranch(branch, commits.at(-1) ?? '');
    return { ...before('commit', record), committed: { branch, commits } };
  },
};

const push: Stage = {
  name: 'push',
  lane: 'network',
  isDone: (_, { pushed }) => pushed !== undefined,
  async run(desk, record) {
    const { mirror } = desk;
    if (!(await plan.isDone(desk, record))) throw reviewedMeanwhile();
    const { branch = '', commits = [] } = record.committed ?? {};
    const ours = commits.at(-1) ?? '';
    const settled = (there: string): RepositoryRecord => {
      const end = { branch, commit: there };
      return { ...before('push', record), ...(there === ours ? { pushed: end } : { taken: end }) };
    };
    const rejection = await mirror.push(branch, ours);
    if (rejection === undefined) return settled(ours);
    // Someone, or a run of ours that was killed, may have been there before.
    const there = await mirror.remoteBranch(branch);
    if (there !== undefined) return settled(there);
    throw rejection;
  },
};

export const ALL_STAGES: readonly Stage[] = [clone, plan, apply, verify, commit, push, propose];

/** What is pushed cannot be taken back, so it is looked once more. */
function reviewedMeanwhile(): Failure {
  return new Failure(
    'Reviewed while it was worked on',
    'what is to change was decided upon again after the commit was made; nothing was pushed',
    'The next run does as was decided.',
  );
}

function messageKey({ message, commits }: Campaign): string {
  return sha256(message ?? DEFAULT_MESSAGES[commits]);
}

function baseOf(base: Base | null | undefined): Base {
  if (base === undefined || base === null) throw new Error('there is no commit to work on');
  return base;
}

function plannedOf({ planned }: RepositoryRecord): Planned {
  if (planned === undefined) throw new Error('there is no plan');
  return planned;
}

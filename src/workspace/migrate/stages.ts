import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DEFAULT_MESSAGES, messageFrom } from '../../report/migrate/message.js';
import {
  type Base,
  before,
  type Planned,
  type RepositoryRecord,
  type StageName,
} from '../../report/migrate/record.js';
import { endingWords } from '../../report/prove/record.js';
import { Failure } from '../failure.js';
import { runToEnd } from '../prove/child.js';
import { readOutput } from '../prove/output.js';
import { type Campaign, planKey } from './campaign.js';
import type { CampaignFolder } from './folder.js';
import { MARK } from './git.js';
import { sha256 } from './hash.js';
import type { CommitPlan, Mirror } from './mirror.js';
import { type Eyes, lookInto } from './plan.js';

/** All that a stage works with. Nothing in it is about who runs the stages, or where. */
export interface Desk {
  readonly campaign: Campaign;
  readonly folder: CampaignFolder;
  readonly mirror: Mirror;
  readonly eyes: Eyes;
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
  readonly lane: 'network' | 'work';
  /** Whether what it leaves is there, so that the next stage can go on from it. */
  isDone(desk: Desk, record: RepositoryRecord): boolean | Promise<boolean>;
  run(desk: Desk, record: RepositoryRecord): Promise<RepositoryRecord>;
}

const clone: Stage = {
  name: 'clone',
  lane: 'network',
  async isDone({ folder, mirror }, { base, url }) {
    if (base === undefined || base === null) return false;
    return folder.locked(url)?.commit === base.commit && (await mirror.has(base.commit));
  },
  async run({ folder, mirror }, record) {
    const locked = folder.locked(record.url);
    const base = locked ?? (await mirror.head());
    if (base === null) return { ...before('clone', record), base };
    if (locked === undefined) folder.lock(record.url, base);
    if (!(await mirror.has(base.commit))) await mirror.fetch(base);
    return record.base?.commit === base.commit ? { ...record, base } : { ...before('clone', record), base };
  },
};

const plan: Stage = {
  name: 'plan',
  lane: 'work',
  isDone({ campaign, folder, version }, { id, base, planned }) {
    const { digest } = folder.decisions(id);
    if (planned?.key !== planKey(campaign, baseOf(base).commit, digest, version)) return false;
    return planned.steps.every((step) => folder.patch(step) !== undefined);
  },
  async run({ campaign, folder, mirror, eyes, version }, record) {
    const { commit } = baseOf(record.base);
    const tree = folder.tree(record.id);
    await mirror.checkOut(commit, tree);
    const decisions = folder.decisions(record.id);
    const key = planKey(campaign, commit, decisions.digest, version);
    const { patch, steps, offers, ...found } = await lookInto(tree, campaign, decisions, eyes);
    folder.saveOffers(record.id, { version: 1, plan: key, offers });
    const whole = `${record.id}.patch`;
    const sha = folder.savePatch(whole, patch);
    const saved = steps.map((step, index) => {
      if (steps.length === 1) return { patch: whole, sha256: sha, fixes: step.fixes };
      const number = String(index + 1).padStart(2, '0');
      const name = `${record.id}/${number}-${step.fixes.map(({ transform }) => transform).join('-')}.patch`;
      return { patch: name, sha256: folder.savePatch(name, step.patch), fixes: step.fixes };
    });
    // To the second, as git keeps it.
    const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    return { ...before('plan', record), planned: { key, at, ...found, steps: saved } };
  },
};

const apply: Stage = {
  name: 'apply',
  lane: 'work',
  async isDone({ mirror }, { applied }) {
    const tree = applied?.trees.at(-1);
    return tree !== undefined && (await mirror.has(tree));
  },
  async run({ folder, mirror }, record) {
    const { steps } = plannedOf(record);
    const patches = steps.map((step) => {
      const patch = folder.patch(step);
      if (patch === undefined) throw new Error(`${step.patch} is gone`);
      return patch;
    });
    const trees = await mirror.treesAfter(baseOf(record.base).commit, patches);
    // Made again where the mirror was gone, they are the same, and what was found out about them stands.
    const isSame = isDeepStrictEqual(trees, record.applied?.trees);
    return isSame ? record : { ...before('apply', record), applied: { trees } };
  },
};

const verify: Stage = {
  name: 'verify',
  lane: 'work',
  isDone({ campaign }, { applied, verified }) {
    if (campaign.verify === undefined) return true;
    return verified?.command === campaign.verify && verified.tree === applied?.trees.at(-1);
  },
  async run(desk, record) {
    const { campaign, folder, mirror, env, mark, eyes } = desk;
    const command = campaign.verify ?? 'true';
    const tree = record.applied?.trees.at(-1) ?? '';
    const cwd = folder.tree(record.id);
    await mirror.checkOut(baseOf(record.base).commit, cwd);
    await mirror.fill(cwd, tree);
    const log = folder.verifyLog(record.id);
    mkdirSync(dirname(log), { recursive: true });
    const { ending, seconds } = await runToEnd({
      command: ['sh', '-c', command],
      cwd,
      env: { ...env, [MARK]: mark },
      mark: MARK,
      log,
      timeout: campaign.limits.verifyTimeout,
      signal: eyes.signal,
    });
    if (ending.kind === 'exited' && ending.code === 0)
      return { ...before('verify', record), verified: { tree, command, seconds } };
    const { tail } = readOutput(log);
    throw new Failure(
      'The verify command fails with the fixes',
      `\`${command}\`: exit ${endingWords(ending)}${tail === '' ? '' : `\n${tail}`}`,
      `See ${log}. It may fail without the fixes, too: try it on a clean checkout.`,
    );
  },
};

const commit: Stage = {
  name: 'commit',
  lane: 'work',
  async isDone({ campaign, mirror }, { committed }) {
    const last = committed?.commits.at(-1);
    return last !== undefined && committed?.key === commitKey(campaign) && (await mirror.has(last));
  },
  async run({ campaign, mirror, eyes }, record) {
    const { steps, at } = plannedOf(record);
    const summaryOf = (id: string) => eyes.catalogue.metas.find((meta) => meta.id === id)?.summary ?? id;
    const template = campaign.message ?? DEFAULT_MESSAGES[campaign.commits];
    const plans = (record.applied?.trees ?? []).map((tree, index): CommitPlan => {
      const fixes = steps[index]?.fixes ?? [];
      return { tree, message: messageFrom(template, { repository: record.name, fixes, summaryOf }) };
    });
    const commits = await mirror.commit(baseOf(record.base).commit, plans, at);
    await mirror.setBranch(campaign.branch, commits.at(-1) ?? '');
    const { branch } = campaign;
    return { ...before('commit', record), committed: { key: commitKey(campaign), branch, commits } };
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

export const ALL_STAGES: readonly Stage[] = [clone, plan, apply, verify, commit, push];

/** What is pushed cannot be taken back, so it is looked once more. */
function reviewedMeanwhile(): Failure {
  return new Failure(
    'Reviewed while it was worked on',
    'what is to change was decided upon again after the commit was made; nothing was pushed',
    'Run `memfix migrate run --push --failed` to do as was decided.',
  );
}

function commitKey({ branch, message, commits }: Campaign): string {
  return sha256(JSON.stringify([branch, message ?? DEFAULT_MESSAGES[commits]]));
}

function baseOf(base: Base | null | undefined): Base {
  if (base === undefined || base === null) throw new Error('there is no commit to work on');
  return base;
}

function plannedOf({ planned }: RepositoryRecord): Planned {
  if (planned === undefined) throw new Error('there is no plan');
  return planned;
}

import { DEFAULT_BODY, DEFAULT_TITLE, proposalText } from '../../../report/migrate/proposal.js';
import { before, type PullRequest, type RepositoryRecord } from '../../../report/migrate/record.js';
import { Failure } from '../../failure.js';
import { redacted } from '../../secrets.js';
import type { Desk, Stage } from '../stages.js';
import type { Forge, Proposal } from './forge.js';
import type { Project } from './host.js';

/** Opens a pull request for the branch that was pushed, where there is none; asked again, it finds what it opened. */
export const propose: Stage = {
  name: 'pr',
  lane: 'forge',
  isDone: (_, { proposed }) => proposed !== undefined,
  async run(desk, record) {
    const { branch = '', commit = '' } = record.pushed ?? {};
    const project = desk.forges.projectOf(record.url);
    const forge = await desk.forges.at(project.host);
    const find = () => forge.find(project, branch, commit);
    const found = await find();
    const proposal = proposalFor(desk, record, forge.limits);
    const made = found ?? (await opened(desk, record, find, () => forge.open(project, proposal)));
    if (made.state === 'open') await dress(forge, project, made, proposal);
    return { ...before('pr', record), proposed: { ...made, isFound: found !== undefined } };
  },
};

/** One may be there although opening it failed: the answer was lost, or someone else was there first. */
async function opened(
  { forges }: Desk,
  { id }: RepositoryRecord,
  find: () => Promise<PullRequest | undefined>,
  open: () => Promise<PullRequest>,
): Promise<PullRequest> {
  await forges.turn(id);
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const there = await find();
    if (there === undefined) throw error;
    return there;
  }
}

async function dress(
  forge: Forge,
  project: Project,
  { number, url }: PullRequest,
  proposal: Proposal,
): Promise<void> {
  try {
    await forge.dress(project, number, proposal);
  } catch (error) {
    if (!(error instanceof Failure) || error.constructor !== Failure) throw error;
    throw new Failure(
      'The pull request lacks its labels or reviewers',
      `${url} is open, but ${error.detail}`,
      'Correct `[pull-request]` in campaign.toml.',
    );
  }
}

/** What is said to the people of a repository. */
function proposalFor(
  { campaign, eyes, version }: Desk,
  record: RepositoryRecord,
  limits: Forge['limits'],
): Proposal {
  const { title = DEFAULT_TITLE, body = DEFAULT_BODY, draft, labels, reviewers } = campaign.pullRequest;
  const facts = { record, metas: eyes.catalogue.metas, version, choice: campaign };
  return {
    branch: record.pushed?.branch ?? '',
    commit: record.pushed?.commit ?? '',
    into: record.base?.branch ?? null,
    title: redacted(proposalText(title, facts, limits.title))
      .replaceAll(/\s+/g, ' ')
      .trim(),
    body: redacted(proposalText(body, facts, limits.body)),
    isDraft: draft,
    labels,
    reviewers,
  };
}

import { type Goal, isFinished, reaches } from '../../report/migrate/record.js';
import { Failure } from '../../workspace/failure.js';
import { type Campaign, MOST_PRS_PER_HOUR } from '../../workspace/migrate/campaign.js';
import { type Choice, chosen, dealt, matching } from '../../workspace/migrate/choose.js';
import { CampaignFolder, KEEP_CHOICES, type Run } from '../../workspace/migrate/folder.js';
import type { Arguments } from '../arguments.js';

/** Deals out the work. */
export function dealtRun(
  args: Arguments,
  campaign: Campaign,
  action: 'plan' | 'run' | 'pr',
  more: Pick<Run, 'queued' | 'queue'> = {},
): Run {
  const folder = new CampaignFolder(campaign.folder);
  const choice = choiceIn(args);
  const goal = goalOf(args, action);
  const keep = args.oneOf('keep', KEEP_CHOICES, 'failed');
  const records = chosen(campaign.repositories, choice)
    .map((repository) => folder.record(repository))
    .filter(({ pushed }) => action !== 'pr' || pushed !== undefined);
  const ids = dealt(records, choice, goal).map(({ id }) => id);
  return { goal, keep, ids, ...paceIn(args), ...more };
}

/** Writes down that work was dealt out: from then on, `resume` knows what is left. */
export function begin(args: Arguments, campaign: Campaign, run: Run): Run {
  const folder = new CampaignFolder(campaign.folder);
  for (const repository of campaign.repositories.filter(({ id }) => run.ids.includes(id))) {
    const record = folder.record(repository);
    if (args.flag('update')) folder.forget(record);
    // A failure of a stage that this run does not come to stands.
    else if (record.failure !== undefined && reaches(run.goal, record.failure.stage)) folder.retry(record);
  }
  folder.saveRun(shardName(choiceIn(args)), run);
  return run;
}

function goalOf(args: Arguments, action: 'plan' | 'run' | 'pr'): Goal {
  if (action !== 'run') return action;
  if (args.flag('pr') && !args.flag('push'))
    throw args.misuse('`--pr` opens pull requests for branches that are pushed: say `--push --pr`.');
  return args.flag('pr') ? 'pr' : args.flag('push') ? 'push' : 'commit';
}

function paceIn(args: Arguments): Pick<Run, 'prsPerHour'> {
  const text = args.text('prs-per-hour');
  if (text === undefined) return {};
  if (/^[1-9]\d*$/.test(text) && Number(text) <= MOST_PRS_PER_HOUR) return { prsPerHour: Number(text) };
  throw args.misuse(
    `\`--prs-per-hour\` cannot be \`${text}\`: it is a whole number from 1 to ${MOST_PRS_PER_HOUR}.`,
  );
}

/** What did not come to its end in the last run; what failed did. */
export function resumed(args: Arguments, campaign: Campaign): Run {
  const folder = new CampaignFolder(campaign.folder);
  const run = folder.lastRun(shardName(choiceIn(args)));
  if (run === undefined) {
    throw new Failure(
      'Nothing to resume',
      `no run of ${args.text('shard') === undefined ? 'this campaign' : 'that shard'} was begun`,
      'Begin with `memfix migrate plan` or `memfix migrate run`; a run with `--shard` is resumed with the same one.',
    );
  }
  const left = campaign.repositories.filter(
    (repository) => run.ids.includes(repository.id) && !isFinished(folder.record(repository), run.goal),
  );
  const keep = args.oneOf('keep', KEEP_CHOICES, run.keep);
  return { ...run, keep, ids: left.map(({ id }) => id), ...paceIn(args) };
}

/** What workers may be at must not be done here as well. */
export function checkNotQueued(args: Arguments, campaign: Campaign): void {
  if (args.flag('takeover')) return;
  const folder = new CampaignFolder(campaign.folder);
  const choice = choiceIn(args);
  const shard = shardName(choice);
  // The forges may not have been asked yet.
  const wanted = new Set(matching(campaign.repositories, choice).map(({ id }) => id));
  for (const [name, run] of folder.lastRuns()) {
    if (run.queued === undefined || run.isStopped === true) continue;
    const isMeant = ({ id }: { readonly id: string }) =>
      run.ids.includes(id) && (name === shard || wanted.has(id));
    const left = campaign.repositories.filter(isMeant).map((each) => folder.record(each));
    if (left.every((record) => isFinished(record, run.goal))) continue;
    const word = `--queue ${run.queue ?? '…'}`;
    throw new Failure(
      'Workers are at this campaign',
      'its last run was put on a queue, and has not come to an end',
      `Go on with \`memfix migrate resume ${word}\` or end it with \`stop ${word}\`; if that Redis is gone for good, \`--takeover\` goes on here.`,
    );
  }
}

export function notQueued(): Failure {
  return new Failure(
    'Not a run of a queue',
    'the last run of this campaign is not on a queue',
    'Leave `--queue` out, or begin with `memfix migrate run --queue …`.',
  );
}

export function choiceIn(args: Arguments): Choice {
  const shard = args.text('shard');
  const limit = args.text('limit');
  const [, index, of] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(shard ?? '') ?? [];
  if (shard !== undefined && !(Number(index) <= Number(of)))
    throw args.misuse(`\`--shard\` cannot be \`${shard}\`: it is a part of a number, such as 2/8.`);
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit))
    throw args.misuse(`\`--limit\` cannot be \`${limit}\`: it is a whole number from 1.`);
  return {
    repos: args.list('repos') ?? [],
    failed: args.flag('failed'),
    update: args.flag('update'),
    ...(shard !== undefined && { shard: { index: Number(index), of: Number(of) } }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

export function shardName({ shard }: Choice): string {
  return shard === undefined ? 'all' : `${shard.index}-of-${shard.of}`;
}

import { resolve } from 'node:path';
import { campaignCsv, campaignJson } from '../../report/migrate/data.js';
import { type Goal, isFinished, type RepositoryRecord, statusOf } from '../../report/migrate/record.js';
import { renderStatus, totals } from '../../report/migrate/render.js';
import { plural } from '../../report/prose.js';
import { Failure } from '../../workspace/failure.js';
import { type Campaign, MOST_PRS_PER_HOUR, readCampaign } from '../../workspace/migrate/campaign.js';
import { type Choice, chosen, dealt } from '../../workspace/migrate/choose.js';
import { driveHere } from '../../workspace/migrate/driver.js';
import { CampaignFolder, KEEP_CHOICES, type Run } from '../../workspace/migrate/folder.js';
import { Git } from '../../workspace/migrate/git.js';
import type { Request } from '../../workspace/project.js';
import { didYouMean } from '../../workspace/resemblance.js';
import { Vocabulary } from '../../workspace/selection.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { threadsFor } from '../looking.js';
import { MigrateProgress } from '../migrate-progress.js';
import type { OptionName } from '../options.js';
import { ownVersion } from '../package.js';
import { forgesOf, withSources } from './migrate-forges.js';
import { init } from './migrate-init.js';
import { followAll } from './migrate-pr.js';

const ANYWHERE: readonly OptionName[] = ['quiet', 'verbose', 'color'];
const WHICH: readonly OptionName[] = ['repos', 'shard'];

/** What can be done with a campaign, and the options that mean something there. */
const ACTIONS = {
  init: ['branch', 'verify', 'select', 'extend-select', 'ignore', 'unsafe-fixes'],
  plan: [...WHICH, 'limit', 'failed', 'update', 'keep'],
  run: [...WHICH, 'limit', 'failed', 'push', 'pr', 'prs-per-hour', 'keep'],
  resume: ['shard', 'keep', 'prs-per-hour'],
  pr: [...WHICH, 'limit', 'failed', 'prs-per-hour'],
  status: [...WHICH, 'update', 'output'],
  report: [...WHICH, 'csv', 'output'],
} as const satisfies Readonly<Record<string, readonly OptionName[]>>;

type Action = keyof typeof ACTIONS;

export async function migrate(context: Context): Promise<number> {
  const { args, io } = context;
  const [word, place = '.', ...sources] = args.operands;
  const action = actionNamed(args, word);
  checkOptions(args, action);
  const folder = resolve(io.cwd, place);
  if (action === 'init') return init(context, folder, sources);
  if (sources.length > 0) throw args.misuse('Repositories are given to `init`, or stand in campaign.toml.');
  const planned = readCampaign(folder);
  checkCampaign(context, planned);
  if (action === 'status' || action === 'report') return show(context, planned, action);
  const campaign = await withSources(context, planned, args.flag('update'));
  if (action === 'pr') await followAll(context, campaign, chosen(campaign.repositories, choiceIn(args)));
  const run = action === 'resume' ? resumed(args, campaign) : begun(args, campaign, action);
  if (run.goal !== 'plan' && action !== 'pr') await checkIdentity(context);
  return work(context, campaign, run);
}

function actionNamed(args: Arguments, word: string | undefined): Action {
  const known = Object.keys(ACTIONS) as Action[];
  const found = known.find((name) => name === word);
  if (found !== undefined) return found;
  if (word === undefined) throw args.misuse(`\`memfix migrate\` wants to know what: ${known.join(', ')}.`);
  throw args.misuse(`\`${word}\` is none of ${known.join(', ')}.${didYouMean(word, known)}`);
}

function checkOptions(args: Arguments, action: Action): void {
  const allowed: readonly OptionName[] = [...ACTIONS[action], ...ANYWHERE];
  const odd = args.given.find((name) => !allowed.includes(name));
  if (odd !== undefined) throw args.misuse(`\`--${odd}\` means nothing to \`memfix migrate ${action}\`.`);
}

function checkCampaign(context: Context, campaign: Campaign): void {
  const vocabulary = new Vocabulary(context.catalogue.metas);
  const { select = [], extendSelect, ignore, stripped } = campaign;
  vocabulary.check([...select, ...extendSelect, ...ignore], 'campaign.toml');
  if (stripped === 0) return;
  context.warn(
    new Failure(
      'URLs with credentials',
      `the user name or password in ${plural(stripped, 'URL')} is left out: it would end up on disk`,
      'Leave it out yourself; git asks its credential helpers.',
    ),
  );
}

async function show(context: Context, campaign: Campaign, action: 'status' | 'report'): Promise<number> {
  const files = new CampaignFolder(campaign.folder);
  const which = chosen(campaign.repositories, choiceIn(context.args));
  for (const { word } of campaign.unasked)
    context.say(`${word} has not been asked yet; \`memfix migrate plan\` does that.`);
  if (context.args.flag('update')) await followAll(context, campaign, which);
  const records = which.map((repository) => files.record(repository));
  if (action === 'status') {
    context.out(renderStatus(records, context.view));
    context.say(totals(records));
  } else if (context.args.flag('csv')) context.out(campaignCsv(records));
  else context.out(`${JSON.stringify(campaignJson(records), undefined, 2)}\n`);
  return EXIT.clean;
}

/** Deals out the work, and writes down that it was: from then on, `resume` knows what is left. */
function begun(args: Arguments, campaign: Campaign, action: 'plan' | 'run' | 'pr'): Run {
  const folder = new CampaignFolder(campaign.folder);
  const choice = choiceIn(args);
  const goal = goalOf(args, action);
  const keep = args.oneOf('keep', KEEP_CHOICES, 'failed');
  const records = chosen(campaign.repositories, choice)
    .map((repository) => folder.record(repository))
    .filter(({ pushed }) => action !== 'pr' || pushed !== undefined);
  const work = dealt(records, choice, goal);
  for (const record of work) {
    if (args.flag('update')) folder.forget(record);
    else folder.clearFailure(record);
  }
  const run = { goal, keep, ids: work.map(({ id }) => id), ...paceIn(args) };
  folder.saveRun(shardName(choice), run);
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
function resumed(args: Arguments, campaign: Campaign): Run {
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

async function work(context: Context, campaign: Campaign, run: Run): Promise<number> {
  const { io, catalogue } = context;
  const { goal, keep, ids } = run;
  const folder = new CampaignFolder(campaign.folder);
  const wanted = new Set(ids);
  const which = campaign.repositories.filter(({ id }) => wanted.has(id));
  const progress = new MigrateProgress(context, which.length);
  const eyes = {
    catalogue,
    parser: io.env['MEMFIX_PARSER'],
    signal: io.signal,
    threads: (request: Request) => threadsFor(io, request, true),
  };
  const forges = forgesOf(context, campaign, (text) => progress.tell(text), run.prsPerHour);
  if (goal === 'pr') await forges.check(which.map(({ url }) => url));
  const undertaking = { campaign, folder, goal, keep, eyes, forges, env: io.env, version: ownVersion() };
  try {
    await driveHere(which, undertaking, progress);
  } finally {
    progress.clear();
    if (io.signal.aborted) context.say('Stopped; `memfix migrate resume` goes on.');
  }
  const records = campaign.repositories.map((repository) => folder.record(repository));
  context.say(totals(records));
  const worked = records.filter(({ id }) => wanted.has(id));
  sayWhatNext(context, worked, goal);
  const hasFailed = worked.some((record) => statusOf(record) === 'failed');
  return hasFailed || progress.hasPassed ? EXIT.findings : EXIT.clean;
}

/** Once, rather than as the same failure of every repository. */
async function checkIdentity({ io }: Context): Promise<void> {
  const { status, stderr } = await new Git(io.env, io.signal, '').ask(['var', 'GIT_COMMITTER_IDENT']);
  if (status === 0) return;
  throw new Failure(
    'Git does not know who commits',
    stderr.split('\n').findLast((line) => line.startsWith('fatal')) ?? stderr,
    'Run `git config --global user.name …` and `git config --global user.email …`.',
  );
}

function sayWhatNext(context: Context, records: readonly RepositoryRecord[], goal: Goal): void {
  const bugs = records.flatMap(({ name, planned }) => (planned?.bugs ?? []).map((bug) => `${name}: ${bug}`));
  context.confess([], bugs);
  const has = (status: string) => records.some((record) => statusOf(record) === status);
  if (has('failed'))
    context.say('`memfix migrate status` tells why; `memfix migrate run --failed` tries again.');
  if (goal === 'plan' && has('planned'))
    context.say('The patches are in patches/; `memfix migrate run` commits them.');
  if (goal === 'commit' && has('committed'))
    context.say('Nothing was pushed; `memfix migrate run --push` does that.');
  if (goal === 'push' && has('pushed'))
    context.say('`memfix migrate pr` opens pull requests for the branches, and follows them.');
}

function choiceIn(args: Arguments): Choice {
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
    ...(shard !== undefined && { shard: { index: Number(index), of: Number(of) } }),
    ...(limit !== undefined && { limit: Number(limit) }),
  };
}

function shardName({ shard }: Choice): string {
  return shard === undefined ? 'all' : `${shard.index}-of-${shard.of}`;
}

import { resolve } from 'node:path';
import { campaignCsv, campaignJson } from '../../report/migrate/data.js';
import { type Goal, hasFailed, type RepositoryRecord, statusOf } from '../../report/migrate/record.js';
import { renderStatus, totals } from '../../report/migrate/render.js';
import { retryWords } from '../../report/migrate/retry.js';
import { plural } from '../../report/prose.js';
import { didYouMean } from '../../text/resemblance.js';
import { Failure } from '../../workspace/failure.js';
import { type Campaign, readCampaign } from '../../workspace/migrate/campaign.js';
import { chosen } from '../../workspace/migrate/choose.js';
import { clearAfter, driveHere } from '../../workspace/migrate/driver.js';
import { enclosureFor } from '../../workspace/migrate/enclosure.js';
import { CampaignFolder, type Run } from '../../workspace/migrate/folder.js';
import { countedIn } from '../../workspace/migrate/page.js';
import { keepPrivate } from '../../workspace/migrate/private.js';
import { quoted } from '../../workspace/migrate/shell.js';
import { learnSecrets, redactedValue } from '../../workspace/secrets.js';
import { Vocabulary } from '../../workspace/selection.js';
import type { Arguments } from '../arguments.js';
import { campaignHtml, leavePage, PAGE_FILE } from '../campaign-page.js';
import { type Context, EXIT } from '../context.js';
import { Interrupted } from '../io.js';
import { MigrateProgress } from '../migrate-progress.js';
import type { OptionName } from '../options.js';
import { ownVersion } from '../package.js';
import { plannerFor } from '../planning.js';
import { exportCampaign } from './migrate-export.js';
import { forgesOf, withSources } from './migrate-forges.js';
import { identityOf } from './migrate-identity.js';
import { init } from './migrate-init.js';
import { checkForges, followAll } from './migrate-pr.js';
import { begin, checkNotQueued, choiceIn, dealtRun, resumed, shardName } from './migrate-runs.js';

const ANYWHERE: readonly OptionName[] = ['quiet', 'verbose', 'color'];
const WHICH: readonly OptionName[] = ['repos', 'shard'];

/** What can be done with a campaign, and the options that mean something there. */
const ACTIONS = {
  init: ['branch', 'verify', 'select', 'extend-select', 'ignore', 'unsafe-fixes'],
  plan: [...WHICH, 'limit', 'failed', 'update', 'keep', 'queue', 'takeover'],
  run: [...WHICH, 'limit', 'failed', 'push', 'pr', 'prs-per-hour', 'keep', 'queue', 'takeover'],
  resume: ['shard', 'keep', 'prs-per-hour', 'queue', 'takeover'],
  stop: ['shard', 'queue'],
  pr: [...WHICH, 'limit', 'failed', 'prs-per-hour', 'queue', 'takeover'],
  status: [...WHICH, 'update', 'output', 'queue'],
  report: [...WHICH, 'csv', 'html', 'output'],
  export: [...WHICH, 'sourcegraph', 'multi-gitter', 'output'],
} as const satisfies Readonly<Record<string, readonly OptionName[]>>;

type Action = keyof typeof ACTIONS;

export async function migrate(context: Context): Promise<number> {
  const { args, io } = context;
  learnSecrets(io.env);
  const [word, place = '.', ...sources] = args.operands;
  const action = actionNamed(args, word);
  checkOptions(args, action);
  const folder = resolve(io.cwd, place);
  if (action === 'init') return init(context, folder, sources);
  if (sources.length > 0) throw args.misuse('Repositories are given to `init`, or stand in campaign.toml.');
  const planned = readCampaign(folder);
  checkCampaign(context, planned);
  const queue = args.text('queue');
  if (queue !== undefined && action !== 'report' && action !== 'export') {
    const { byQueue } = await import('./migrate-queue.js');
    return byQueue(context, planned, action, queue, work);
  }
  if (action === 'status' || action === 'report') return show(context, planned, action);
  if (action === 'export') return exportCampaign(context, planned);
  if (action === 'stop')
    throw args.misuse('`memfix migrate stop` needs `--queue`; Ctrl-C stops what runs here.');
  checkNotQueued(args, planned);
  const campaign = await withSources(context, planned, args.flag('update'));
  const isKnown = action !== 'pr' || (await followAll(context, campaign));
  const run = action === 'resume' ? resumed(args, campaign) : dealtRun(args, campaign, action);
  if (run.goal !== 'plan' && action !== 'pr') await identityOf(context);
  if (run.goal !== 'plan' && action !== 'pr') await sayHowVerified(context, campaign, run);
  if (run.goal === 'pr') await checkForges(context, campaign, run);
  await clearLastRun(context, campaign, action === 'resume' ? { keep: run.keep } : {});
  const code = await work(context, campaign, action === 'resume' ? run : begin(args, campaign, run), HERE);
  return isKnown ? code : EXIT.findings;
}

/** Where the last run was killed, what it was about to remove is still there. `resume` may keep more or less of it. */
async function clearLastRun(
  { args, io }: Context,
  campaign: Campaign,
  instead: Partial<Pick<Run, 'keep'>>,
): Promise<void> {
  const folder = new CampaignFolder(campaign.folder);
  const last = folder.lastRun(shardName(choiceIn(args)));
  if (last !== undefined)
    await clearAfter({ ...last, ...instead }, folder, { campaign, env: io.env, eyes: io });
}

/** Before anything is done: a sandbox that does not work here is found out only once. */
async function sayHowVerified(context: Context, campaign: Campaign, { ids }: Run): Promise<void> {
  if (campaign.verify === undefined || ids.length === 0) return;
  const { words } = await enclosureFor(campaign, context.io.env);
  context.say(`The verify command runs ${words}.`);
}

/** Who does the stages of a run. */
export interface Driver {
  readonly drive: typeof driveHere;
  /** What is said when it is stopped. */
  readonly stopWords: string;
}

const HERE: Driver = {
  drive: driveHere,
  stopWords: 'Stopped; `memfix migrate resume` goes on.',
};

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
  const vocabulary = new Vocabulary(context.catalogue);
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
  for (const { word } of campaign.unasked)
    context.say(`${word} has not been asked yet; \`memfix migrate plan\` does that.`);
  const isKnown = !context.args.flag('update') || (await followAll(context, campaign));
  if (context.args.flag('html')) {
    if (context.args.flag('csv')) throw context.args.misuse('`--csv` and `--html` cannot be combined.');
    context.out(campaignHtml(context, campaign, chosen(campaign.repositories, choiceIn(context.args))));
    return EXIT.clean;
  }
  const records = recordsOf(context, campaign);
  const folder = new CampaignFolder(campaign.folder);
  const counted = records.map((record) => countedIn(folder, record));
  if (action === 'status') {
    context.out(renderStatus(counted, context.view));
    context.say(totals(records));
  } else if (context.args.flag('csv')) context.out(campaignCsv(counted));
  else context.out(`${JSON.stringify(campaignJson(counted), undefined, 2)}\n`);
  return isKnown ? EXIT.clean : EXIT.findings;
}

function recordsOf({ args }: Context, { folder, repositories }: Campaign): readonly RepositoryRecord[] {
  const files = new CampaignFolder(folder);
  return chosen(repositories, choiceIn(args)).map((repository) => redactedValue(files.record(repository)));
}

async function work(context: Context, campaign: Campaign, run: Run, driver: Driver): Promise<number> {
  const { io, catalogue, args } = context;
  const { goal, keep, ids } = run;
  keepPrivate(campaign.folder, campaign.mirrors);
  const folder = new CampaignFolder(campaign.folder);
  const wanted = new Set(ids);
  const which = campaign.repositories.filter(({ id }) => wanted.has(id));
  const progress = new MigrateProgress(context, which.length);
  const planner = plannerFor(io, catalogue, io.signal);
  const eyes = { catalogue, planner, signal: io.signal };
  const forges = forgesOf(context, campaign, (text) => progress.tell(text), run.prsPerHour);
  const takeover = args.flag('takeover');
  const version = ownVersion();
  const undertaking = { campaign, folder, goal, keep, eyes, forges, env: io.env, version, takeover };
  try {
    await driver.drive(which, undertaking, progress);
  } catch (error) {
    if (io.signal.aborted) throw new Interrupted(driver.stopWords);
    throw error instanceof Failure ? withResume(context, error) : error;
  } finally {
    await planner.close();
    progress.clear();
  }
  const records = campaign.repositories.map((repository) => folder.record(repository));
  leavePage(context, campaign);
  context.say(totals(records));
  const worked = records.filter(({ id }) => wanted.has(id));
  sayWhatNext(context, worked, goal);
  const untried = context.args.flag('failed') ? untriedIn(context, campaign, wanted) : [];
  sayUntried(context, untried, goal);
  const isClean = ![...worked, ...untried].some(hasFailed) && !progress.hasPassed;
  return isClean ? EXIT.clean : EXIT.findings;
}

/** What ends a run leaves every repository as it was, for the next one to go on with. */
function withResume(context: Context, { title, detail, next }: Failure): Failure {
  if (next.includes('resume')) return new Failure(title, detail, next);
  return new Failure(title, detail, `${next} Then ${command(context, 'resume')} goes on.`);
}

/** Failures that a run with `--failed` was asked about and did not come to. */
function untriedIn(
  context: Context,
  campaign: Campaign,
  tried: ReadonlySet<string>,
): readonly RepositoryRecord[] {
  return recordsOf(context, campaign).filter((record) => hasFailed(record) && !tried.has(record.id));
}

function sayUntried(context: Context, untried: readonly RepositoryRecord[], goal: Goal): void {
  if (untried.length === 0) return;
  context.say(
    `${plural(untried.length, 'repository', 'repositories')} failed in a stage that this run does not come to; ${retryCommands(context, untried, goal)} tries again.`,
  );
}

/** The commands that try these failures again. */
function retryCommands(context: Context, failed: readonly RepositoryRecord[], goal: Goal): string {
  const words = failed.flatMap(({ failure }) => (failure ? [retryWords(goal, failure.stage)] : []));
  return [...new Set(words)].map((each) => command(context, each)).join(' or ');
}

/** A command about the same campaign, as it has to be typed here. */
function command({ args }: Context, words: string, program = 'memfix migrate'): string {
  const [action = '', ...options] = words.split(' ');
  const [, place] = args.operands;
  return `\`${[program, action, ...(place === undefined ? [] : [quoted(place)]), ...options].join(' ')}\``;
}

function sayWhatNext(context: Context, records: readonly RepositoryRecord[], goal: Goal): void {
  const bugs = records.flatMap(({ name, planned }) => (planned?.bugs ?? []).map((bug) => `${name}: ${bug}`));
  context.confess([], bugs);
  const has = (status: string) => records.some((record) => statusOf(record) === status);
  const failed = records.filter(hasFailed);
  if (failed.length > 0)
    context.say(
      `${command(context, 'status')} says why, and what to do about it; ${retryCommands(context, failed, goal)} tries again.`,
    );
  if (goal === 'plan' && has('planned'))
    context.say(
      `Look at ${PAGE_FILE}, or choose with ${command(context, 'review', 'memfix')}; the patches are in patches/, and ${command(context, 'run')} commits them.`,
    );
  if (goal === 'commit' && has('committed'))
    context.say(`Nothing was pushed; ${command(context, 'run --push')} does that.`);
  if (goal === 'push' && has('pushed'))
    context.say(`${command(context, 'pr')} opens pull requests for the branches, and follows them.`);
}

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { verifyProblem } from '../../report/migrate/verify-words.js';
import { plural } from '../../report/prose.js';
import { Failure } from '../../workspace/failure.js';
import { branchProblem } from '../../workspace/migrate/branch-name.js';
import { CAMPAIGN_FILE, DEFAULT_BRANCH } from '../../workspace/migrate/campaign.js';
import { nameOf } from '../../workspace/migrate/forge/host.js';
import { DEFAULT_FILTER, isSource, keep } from '../../workspace/migrate/forge/listing.js';
import { ignoreIn } from '../../workspace/migrate/private.js';
import { isUrl, readSources, withoutCredentials } from '../../workspace/migrate/source.js';
import { isInside } from '../../workspace/places.js';
import { scrubbed } from '../../workspace/secrets.js';
import { Vocabulary } from '../../workspace/selection.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { listingsFrom } from './migrate-forges.js';

/** Begins a campaign: writes the file that says what it is. */
export async function init(context: Context, folder: string, sources: readonly string[]): Promise<number> {
  const { args, io } = context;
  if (args.operands.length < 2) throw args.misuse('`memfix migrate init` needs a folder for the campaign.');
  if (sources.length === 0)
    throw args.misuse('`memfix migrate init` needs repositories, or files that list them.');
  const path = join(folder, CAMPAIGN_FILE);
  if (existsSync(path)) {
    throw new Failure('There is a campaign', `${path} exists`, 'Edit it, or name another folder.');
  }
  const vocabulary = new Vocabulary(context.catalogue);
  for (const name of ['select', 'extend-select', 'ignore'] as const)
    vocabulary.check(args.list(name) ?? [], `\`--${name}\``);
  const branch = args.text('branch') ?? DEFAULT_BRANCH;
  const problem = branchProblem(branch);
  if (problem !== undefined) throw args.misuse(`\`--branch\` ${problem}.`);
  const doubt = verifyProblem(args.text('verify') ?? '');
  if (doubt !== undefined) throw args.misuse(`\`--verify\` ${doubt}.`);
  const words = sources.map((word) => placed(word, io.cwd, folder));
  const { sources: forges } = readSources(words, folder, () => undefined);
  const hosts = new Map(forges.map(({ host }) => [nameOf(host), host]));
  const listings = await listingsFrom(context, forges, DEFAULT_FILTER, hosts);
  const { repositories } = readSources(words, folder, ({ word }) =>
    listings.find(({ source }) => source === word),
  );
  mkdirSync(folder, { recursive: true });
  for (const listing of listings) keep(folder, listing);
  writeFileSync(path, campaignText(words, branch, args), { flag: 'wx' });
  ignoreIn(folder);
  context.say(
    `${path}: ${plural(repositories.length, 'repository', 'repositories')}. Look at it, then \`memfix migrate plan\`.`,
  );
  return EXIT.clean;
}

/** A path as the campaign's folder sees it. */
function placed(word: string, cwd: string, folder: string): string {
  if (isSource(word)) return scrubbed(word);
  if (isUrl(word)) return withoutCredentials(word);
  const path = resolve(cwd, word);
  return isInside(path, folder) ? relative(folder, path) || '.' : path;
}

function campaignText(words: readonly string[], branch: string, args: Arguments): string {
  const list = (name: string, items: readonly string[] | undefined) =>
    items === undefined ? [] : [`${name} = [${items.map(quoted).join(', ')}]`];
  const verify = args.text('verify');
  const unsafe = args.choice('unsafe-fixes');
  return [
    '# URLs, paths, folders of checkouts, sources such as github:org/NAME, or files with one of these on each line.',
    'repositories = [',
    ...words.map((word) => `  ${quoted(word)},`),
    ']',
    '',
    '# Without `select`, the default. The config of a repository may leave out some of it, and add nothing.',
    ...list('select', args.list('select')),
    ...list('extend-select', args.list('extend-select')),
    ...list('ignore', args.list('ignore')),
    ...(unsafe === undefined ? [] : [`unsafe-fixes = ${unsafe}`]),
    '',
    `branch = ${quoted(branch)}`,
    '# One commit for each "repository", or for each "transform" in it.',
    'commits = "repository"',
    '# message = "Fix GPU memory waste\\n\\n{fixes}\\n"',
    '',
    '# What must succeed before anything is committed: a shell command, which runs in the fixed tree; "compileall",',
    '# which compiles the files that change; or "prove: COMMAND", whose runs decide about each fix.',
    verify === undefined ? '# verify = "compileall"' : `verify = ${quoted(verify)}`,
    '# verify-sandbox = "auto"     # or "bwrap", "unshare", "none"; without network unless:',
    '# verify-network = true',
    '# verify-env = []             # variables of yours that it needs',
    '',
    '[limits]',
    'network = 4             # repositories at their remotes at a time',
    'work = 2                # repositories worked on at a time',
    'network-timeout = "10m"',
    'verify-timeout = "10m"',
    'plan-timeout = "10m"    # to look through one repository',
    'plan-memory = "2GB"     # the heap of a process that does so',
    '',
    '# [sources]              # what github:… and gitlab:… leave out, unless it is true here',
    '# archived = false',
    '# forks = false',
    '# protocol = "https"     # or "ssh": how git reaches what they find',
    '',
    '# [forges]               # servers of your own, for URLs of repositories there',
    '# "git.example.org" = "gitlab"',
    '',
    '# [pull-request]',
    '# title = "Fix GPU memory waste: {count} in {files}"',
    '# draft = true',
    '# labels = []',
    '# reviewers = []         # names; on GitHub also org/team',
    '# per-hour = 20',
    '',
  ].join('\n');
}

/** JSON's strings are TOML's, but for DEL. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('\x7f', '\\u007f');
}

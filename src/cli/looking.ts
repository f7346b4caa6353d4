import { existsSync } from 'node:fs';
import type { Engine } from '../engine/engine.js';
import type { Skipped, SourceFile } from '../engine/outcome.js';
import { printable } from '../report/cells.js';
import { plural } from '../report/prose.js';
import type { Relied } from '../semantic/surroundings.js';
import { changedUnder } from '../workspace/asked-files.js';
import type { Cache } from '../workspace/cache.js';
import type { Lead } from '../workspace/cache-file.js';
import type { CrewSetting, Errand } from '../workspace/crew.js';
import type { Candidate, Discovery } from '../workspace/discover.js';
import { Examiner } from '../workspace/examine.js';
import { Failure } from '../workspace/failure.js';
import { ParserOnDemand } from '../workspace/parser-choice.js';
import { isInside, isVendored, realPath } from '../workspace/places.js';
import { Project, type Request } from '../workspace/project.js';
import { interpret } from '../workspace/read.js';
import { Tools } from '../workspace/tools.js';
import { prepareFor } from '../workspace/tuning.js';
import { unchanged } from '../workspace/unchanged.js';
import { type Visit, visit, withRefused } from '../workspace/visit.js';
import { type Context, Progress } from './context.js';
import { type Io, readAll } from './io.js';
import { loggedIn } from './oom.js';
import { cacheOf, keep } from './remembering.js';
import { unreadConfigs } from './unread-configs.js';

/** Files up to which starting fast beats running fast, and up to which all are read to name those that cannot be. */
const SMALL_RUN = 200;
/** Milliseconds that one file may take. */
const LIMIT = 30_000;

/** What is looked at and with what, the same for `check`, `apply` and `diff`; found out as far as it is asked for. */
export class Look {
  #discovery: Discovery | undefined;
  #targets: ReadonlyMap<string, Candidate> | undefined;
  #tools: Tools | undefined;

  constructor(
    private readonly context: Context,
    readonly project: Project,
    readonly cache: Cache | undefined,
    /** Threads that do what asks about the whole project. */
    readonly others: CrewSetting['others'],
  ) {}

  get discovery(): Discovery {
    this.#discovery ??= this.project.discover();
    return this.#discovery;
  }

  /** The candidates by the names they are reported under. */
  get targets(): ReadonlyMap<string, Candidate> {
    this.#targets ??= new Map(this.discovery.candidates.map((candidate) => [candidate.path, candidate]));
    return this.#targets;
  }

  get tools(): Tools {
    this.#tools ??= toolsFor(this.context, this.project, this.discovery.candidates.length);
    return this.#tools;
  }

  /** What an earlier run knew about all that is asked for. */
  get lead(): Lead | undefined {
    const { whole } = this.project;
    return whole === undefined ? undefined : this.cache?.lead(whole);
  }
}

export interface StandardInput {
  readonly project: Project;
  readonly engine: Engine;
  readonly bytes: Buffer;
  readonly read: { readonly kind: 'file'; readonly file: SourceFile } | Skipped;
}

export async function prepare(context: Context): Promise<Look> {
  const others = { areThere: false };
  const logged = context.args.text('oom') === undefined ? undefined : await loggedIn(context);
  const staged = await stagedFor(context);
  const request = {
    ...context.args.request(context.io.cwd, context.io.env),
    ...(logged && { logged }),
    ...(staged && { staged }),
  };
  const project = new Project(request, context.catalogue, () => others.areThere);
  // A cache knows files by what is on disk.
  const cache = staged === undefined ? await cacheOf(context, project) : undefined;
  project.ground.memory = cache;
  const look = new Look(context, project, cache, others);
  // Paths that are not there are to be heard of first.
  if (look.lead === undefined) look.discovery;
  if (context.isVerbose) context.say(`parser: ${(await look.tools.parser.load()).backend}`);
  sayWhatRuns(context, project);
  if (staged !== undefined) sayStaged(context, look, staged);
  return look;
}

/** `check --staged` is about what would be committed; what writes, or is a patch for the work tree, is about that. */
async function stagedFor({ args, io }: Context): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  if (args.command !== 'check' || !args.flag('staged')) return undefined;
  const { stagedBytes } = await import('../workspace/git-index.js');
  const found = stagedBytes(io.cwd);
  return found.size === 0 ? undefined : found;
}

export async function prepareStdin(context: Context): Promise<StandardInput> {
  const { args, io } = context;
  if (args.operands.length > 1)
    throw args.misuse('`-` stands alone: it cannot be combined with other paths.');
  const filter = (['changed', 'staged', 'since'] as const).find(
    (name) => args.flag(name) || args.text(name) !== undefined,
  );
  if (filter !== undefined)
    throw args.misuse(`\`--${filter}\` chooses among files; \`-\` reads standard input.`);
  const project = new Project(args.request(io.cwd, io.env), context.catalogue);
  const tools = toolsFor(context, project, 1);
  const engine = await tools.engine();
  if (context.isVerbose) context.say(`parser: ${tools.parser.backend}`);
  const bytes = await readAll(io.stdin, io.signal);
  prepareFor(bytes.length);
  const path = args.text('stdin-filename') ?? (isNotebookText(bytes) ? 'stdin.ipynb' : 'stdin.py');
  const read = interpret({ path, explicit: true }, bytes);
  return { project, engine, bytes, read };
}

/** JSON that says of which version of the notebook format it is: Python has no such text. */
function isNotebookText(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return /^(?:\xef\xbb\xbf)?\s*\{/.test(text.toString('latin1', 0, 100)) && text.includes('"nbformat"');
}

function sayStaged(
  context: Context,
  { project, discovery }: Look,
  staged: ReadonlyMap<string, Uint8Array>,
): void {
  const other = discovery.candidates.filter(({ target }) => staged.has(target));
  const names = other.map(({ path }) => printable(path));
  if (names.length > 0) context.say(`Read as staged, without changes that are not: ${names.join(', ')}.`);
  const gone = [...staged.keys()].filter(
    (file) => !existsSync(file) && isInside(file, realPath(project.folder)),
  );
  if (gone.length === 0) return;
  const changed = changedUnder(context.io.cwd, { kind: 'staged' });
  for (const file of gone.filter((each) => changed.has(each)))
    project.ground.refuses(file, 'it is staged, and no longer in the work tree');
}

/** Reads what could matter, shows how far it got, and remembers it for the next run. */
export async function lookThrough(
  context: Context,
  look: Look,
  purpose: 'places' | 'report' | 'fix',
): Promise<Visit> {
  const { project, cache, lead } = look;
  const decide = purpose === 'fix' ? await project.policy() : undefined;
  const again = lead && decide === undefined ? unchanged(lead.folder, lead, purpose !== 'places') : undefined;
  if (again !== undefined) {
    nameForeign(context, again);
    return withRefused(again, project.ground);
  }
  const { tools } = look;
  const isThorough = context.args.flag('strict') || look.discovery.candidates.length <= SMALL_RUN;
  const examiner = new Examiner(tools, decide, cache !== undefined, isThorough);
  const { plugins, isWhole } = context.catalogue;
  const threads = threadsFor(context.io, project.request, look.others, {
    takesFixes: decide !== undefined,
    remembers: cache !== undefined,
    isThorough,
    ...(plugins && { plugins: plugins.map(({ name, file }) => ({ name, file })), isWhole: isWhole === true }),
  });
  const means = {
    isTextWanted: purpose !== 'places' || project.newLines !== undefined,
    examiner,
    targets: look.targets,
    stampOf: (target: string) => project.ground.stamp(target),
    refusals: project.ground,
    isUndisturbed: () => project.whole !== undefined && project.ground.isUndisturbed(project.whole),
    isAsBefore: (relied: Relied, known: (path: string) => string | undefined) =>
      project.neighbourhood.answersAsBefore(relied, known),
    ...(decide && { decide }),
    ...(cache && { cache }),
    ...(threads && { threads }),
  };
  const progress = new Progress(context);
  try {
    const { signal } = context.io;
    const show = (done: number, total: number) => progress.show(done, total);
    // The first file may take a while.
    show(0, look.discovery.candidates.length);
    const seen = await visit(look.discovery, means, { signal, progress: show });
    nameForeign(context, seen);
    if (cache !== undefined) await keep(context, look, { ...means, cache });
    return onNewLines(project, seen);
  } finally {
    progress.clear();
  }
}

/** Without what was found on old lines, where only new ones are asked for. */
function onNewLines({ newLines }: Project, seen: Visit): Visit {
  if (newLines === undefined) return seen;
  const scans = seen.scans.map((scan) => newLines.among(scan));
  const outcomes = seen.outcomes.map((outcome, index) => {
    const keys = new Set(scans[index]?.findings.map(({ key }) => key));
    const { remaining } = outcome;
    const findings = remaining.findings.filter(({ key }) => keys.has(key));
    return { ...outcome, remaining: { ...remaining, findings } };
  });
  return { ...seen, scans, outcomes };
}

function nameForeign(context: Context, { foreign }: Visit): void {
  if (context.isVerbose)
    for (const path of foreign)
      context.say(
        `${printable(path)}: passed over: ${isVendored(path) ? 'others' : 'by its own words a tool'} wrote it`,
      );
  else if (foreign.length > 0)
    context.say(`Passed over, as generated or vendored: ${plural(foreign.length, 'file')} (-v names them).`);
}

/** The program itself, started again in threads. */
export function threadsFor(
  { self, env }: Pick<Io, 'self' | 'env'>,
  request: Request,
  others: CrewSetting['others'],
  what: Omit<Errand, 'request' | 'parser'>,
): CrewSetting | undefined {
  if (self?.entry === undefined) return undefined;
  const parser = env['MEMFIX_PARSER'];
  const limit = limitIn(env['MEMFIX_FILE_LIMIT']);
  return { entry: self.entry, errand: { request, ...what, parser }, limit, others };
}

function limitIn(seconds: string | undefined): number {
  if (seconds === undefined || seconds === '') return LIMIT;
  const limit = Number(seconds) * 1000;
  if (limit > 0 && limit < 2 ** 31) return limit;
  throw new Failure(
    'Not a number of seconds',
    `MEMFIX_FILE_LIMIT is \`${seconds}\``,
    'Set it to how many seconds one file may take, or unset it.',
  );
}

function toolsFor(context: Context, project: Project, files: number): Tools {
  return new Tools(project, new ParserOnDemand(context.io.env['MEMFIX_PARSER'], files <= SMALL_RUN));
}

function sayWhatRuns(context: Context, project: Project): void {
  const { config, request, folder } = project;
  if (config.path === undefined && !request.isolated)
    for (const name of unreadConfigs(folder))
      context.say(
        `${printable(name)} is not read: a config is memfix.toml, or \`[tool.memfix]\` in pyproject.toml${name.includes('ignore') ? '; files are passed over by its `exclude`' : ''}.`,
      );
  for (const { id, table } of project.idle)
    context.say(`\`${id}\` does nothing before its option is set: ${table} (\`memfix explain ${id}\`).`);
  if (context.isVerbose) {
    const nested = project.nestedConfigs.map(({ path = '' }) => path);
    const others = nested.length === 0 ? '' : `; nearer to some files: ${nested.join(', ')}`;
    context.say(`config: ${project.config.path ?? 'none'}${others}`);
    context.say(`transforms: ${[...project.selected].join(', ') || 'none'}`);
  } else if (project.selected.size === 0)
    context.say('No transform is selected, so there is nothing to look for.');
}

import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { STAGES, type StageName } from '../../report/migrate/record.js';
import { outcomeLine } from '../../report/migrate/render.js';
import { didYouMean } from '../../text/resemblance.js';
import { parseSeconds } from '../../workspace/duration.js';
import { Failure } from '../../workspace/failure.js';
import { MARK } from '../../workspace/migrate/git.js';
import { hold } from '../../workspace/migrate/hold.js';
import { addressIn } from '../../workspace/migrate/queue/address.js';
import { Link } from '../../workspace/migrate/queue/link.js';
import { Bench, type Workshop } from '../../workspace/migrate/queue/serve.js';
import { Stations } from '../../workspace/migrate/queue/stations.js';
import { type Presence, Store } from '../../workspace/migrate/queue/store.js';
import { ALL_STAGES } from '../../workspace/migrate/stages.js';
import { endMarked } from '../../workspace/prove/child.js';
import { learnSecrets } from '../../workspace/secrets.js';
import { prepareForMany } from '../../workspace/tuning.js';
import type { Arguments } from '../arguments.js';
import { type Context, EXIT } from '../context.js';
import { ownVersion } from '../package.js';
import { plannerFor } from '../planning.js';

/** Milliseconds. */
const HEARTBEAT = 10_000;
const WIDTHS = { network: 4, work: 2 } as const;

/** Works for campaigns on a queue until it is told to stop. */
export async function worker(context: Context): Promise<number> {
  const { args, io } = context;
  learnSecrets(io.env);
  if (args.operands.length > 0) throw args.misuse('`memfix worker` takes no paths.');
  const word = args.text('queue') ?? '';
  if (word === '') throw args.misuse('`memfix worker` needs `--queue`: the Redis that the work comes from.');
  const address = addressIn(word, io.env);
  const setting = { lease: leaseIn(args), stages: stagesIn(args), version: ownVersion() };
  const place = await placeOf(context);
  try {
    const link = await Link.open(address, {
      next: 'See that it runs and can be reached from here, then start the worker again.',
      say: (sentence) => context.say(sentence),
    });
    try {
      await serve(context, link, place.folder, setting);
    } finally {
      link.close();
    }
  } finally {
    place.leave();
  }
  return EXIT.clean;
}

interface Setting {
  readonly lease: number;
  readonly stages: readonly StageName[];
  readonly version: string;
}

async function serve(context: Context, link: Link, folder: string, setting: Setting): Promise<void> {
  const { io } = context;
  const { lease, stages, version } = setting;
  const { env, shown } = link.address;
  const name = `${hostname()}-${process.pid}-${randomUUID().slice(0, 4)}`;
  const presence: Presence = { name, version, stages };
  const store = new Store(link.redis);
  const versions = new Versions(context, store, version, shown);
  await versions.check();
  const stations = await Stations.open(link.redis, version);
  const shop = workshop(context, { name, folder, version, stages: new Set(stages), env });
  const bench = new Bench(shop, store, stations);
  const complain = (error: unknown) => {
    if (context.isVerbose && link.isUp) context.say(`The queue: ${String(error)}`);
  };
  await store.present(presence);
  const beat = async () => {
    if (!link.isUp) return;
    await store.present(presence);
    await versions.listen();
  };
  const beating = setInterval(() => void beat().catch(complain), HEARTBEAT);
  const served = ALL_STAGES.filter((stage) => stages.includes(stage.name)).map((stage) =>
    stations.serve(stage.name, {
      width: stage.lane === 'forge' ? 1 : shop.widths[stage.lane],
      lease,
      name,
      process: (errand, delivery) => bench.work(stage.name, errand, delivery),
      complain,
    }),
  );
  prepareForMany();
  context.say(`Worker ${name} waits for work at ${shown}.`);
  await until(io.signal);
  context.say('Stopping when what is in hand is done; a second signal stops at once.');
  clearInterval(beating);
  // Without Redis, nobody can be told what was done: others will do it again.
  await Promise.all(served.map((each) => each.close(!link.isUp)));
  await shop.eyes.planner.close();
  if (link.isUp) await store.absent(presence);
}

function workshop(
  context: Context,
  own: Pick<Workshop, 'name' | 'folder' | 'version' | 'stages' | 'env'>,
): Workshop {
  const { io, catalogue, args } = context;
  // A stage in hand is finished, whatever the signal.
  const { signal } = new AbortController();
  return {
    ...own,
    widths: { network: widthIn(args, 'network'), work: widthIn(args, 'work') },
    eyes: { catalogue, planner: plannerFor(io, catalogue, signal), signal },
    isStopping: () => io.signal.aborted,
    entered: ({ name }, stage) => {
      if (context.isVerbose) context.say(`${name}: ${stage} …`);
    },
    waits: (why, seconds) => {
      if (context.isVerbose) context.say(`Waiting ${Math.ceil(seconds)} s for ${why} …`);
    },
    ended: (record) => context.say(outcomeLine(record, { paint: context.errorPaint })),
  };
}

/** A folder for mirrors and trees, of one worker. What a dead one left there goes, and its processes are ended. */
async function placeOf({ args, io }: Context): Promise<{ readonly folder: string; leave(): void }> {
  const given = args.text('dir');
  const remove = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (given === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'memfix-worker-'));
    return { folder, leave: () => remove(folder) };
  }
  const folder = join(resolve(io.cwd, given), 'memfix-worker');
  const held = await hold(`${folder}.lock`, {
    title: 'Another worker has this folder',
    takeover: args.flag('takeover'),
  });
  if (held.isInherited) endMarked(`${MARK}=${folder}#`);
  remove(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const leave = () => {
    remove(folder);
    held.release();
  };
  return { folder, leave };
}

/** The same code on all machines, or they would not come to the same. */
class Versions {
  readonly #told = new Set<string>();

  constructor(
    private readonly context: Context,
    private readonly store: Store,
    private readonly own: string,
    private readonly queue: string,
  ) {}

  async check(): Promise<void> {
    const { own, others } = await this.#runs();
    const [first] = others;
    if (first !== undefined && own === 0) throw this.#failure(first);
    await this.listen();
  }

  /** A campaign of another version may come at any time. */
  async listen(): Promise<void> {
    for (const version of (await this.#runs()).others) {
      if (this.#told.has(version)) continue;
      this.#told.add(version);
      this.context.warn(this.#failure(version));
    }
  }

  async #runs(): Promise<{ readonly own: number; readonly others: readonly string[] }> {
    const all = [...(await this.store.runs()).values()];
    const others = all.filter((version) => version !== this.own);
    return { own: all.length - others.length, others };
  }

  #failure(version: string): Failure {
    return new Failure(
      'A campaign of another memfix',
      `one on ${this.queue} was begun with memfix ${version}; this is ${this.own}, and leaves it alone`,
      `Install memfix@${version} here, or begin the campaign with memfix ${this.own}.`,
    );
  }
}

function until(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
}

function stagesIn(args: Arguments): readonly StageName[] {
  const given = args.list('stages') ?? STAGES;
  const odd = given.find((name) => !STAGES.some((stage) => stage === name));
  if (odd !== undefined)
    throw args.misuse(`\`${odd}\` is no stage; there are ${STAGES.join(', ')}.${didYouMean(odd, STAGES)}`);
  return STAGES.filter((stage) => given.includes(stage));
}

function leaseIn(args: Arguments): number {
  const text = args.text('lease') ?? '30s';
  const seconds = parseSeconds(text);
  if (seconds === undefined)
    throw args.misuse(`\`--lease\` cannot be \`${text}\`: it is a time such as 30s or 2m.`);
  return seconds;
}

function widthIn(args: Arguments, name: keyof typeof WIDTHS): number {
  const text = args.text(name) ?? String(WIDTHS[name]);
  if (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= 256) return Number(text);
  throw args.misuse(`\`--${name}\` cannot be \`${text}\`: it is a whole number from 1 to 256.`);
}

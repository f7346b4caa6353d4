import { didYouMean, shortened } from '../text/resemblance.js';
import type { Group, Symptom, TransformMeta } from '../toolkit/contract.js';
import { symptomsOf } from '../toolkit/effect.js';
import type { Catalogue, Entry } from './catalogue.js';
import { Failure } from './failure.js';

/** Names that are told where one was meant to stand for all of them. */
const MOST_ALIKE = 6;

/** Every group and symptom, so that a name is known even while no transform carries it. */
export const GROUPS: readonly Group[] = ['default', 'opt-in', 'documented'];
export const SYMPTOMS: readonly Symptom[] = [
  'leak',
  'peak',
  'sync',
  'fragmentation',
  'host-memory',
  'future-break',
];

/** The ids of plugins have two words at least, so that none is a group, a symptom or a word of a command line. */
export const PLUGIN_ID = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/;

/** Lists of ids, groups and symptoms, as typed; and where they were typed, for the words of an error. */
export interface Wish {
  readonly select: readonly string[];
  readonly ignore: readonly string[];
}

type Kind = 'all' | 'group' | 'symptom' | 'id';

/** How much a name says: one that means fewer transforms wins over one that means more. */
const WEIGHT: Readonly<Record<Kind, number>> = { all: 1, group: 1, symptom: 2, id: 3 };

/** What names on the command line or in a config file can mean. */
export class Vocabulary {
  readonly #kinds: ReadonlyMap<string, Kind>;

  constructor(private readonly catalogue: Pick<Catalogue, 'entries' | 'metas' | 'isWhole'>) {
    this.#kinds = new Map<string, Kind>([
      ['all', 'all'],
      ...GROUPS.map((name) => [name, 'group'] as const),
      ...SYMPTOMS.map((name) => [name, 'symptom'] as const),
      ...catalogue.entries.flatMap(idsOf).map((id) => [id, 'id'] as const),
    ]);
  }

  /** Fails on a name that means nothing; `where` is the flag or config key that holds it. */
  check(names: readonly string[], where: string): void {
    for (const name of names) {
      if (this.isKnown(name)) continue;
      throw new Failure(
        'Unknown transform',
        `\`${shortened(name)}\` in ${where} is no transform, group or symptom.${this.#meant(name)}`,
        `Run \`memfix list\` to see every transform. Groups: all, ${GROUPS.join(', ')}; symptoms: ${SYMPTOMS.join(', ')}.`,
      );
    }
  }

  /** Other tools select by how names begin. */
  #meant(name: string): string {
    if (known(name) === 'recommended') return ' Did you mean `default`?';
    const symptoms = symptomsOf(known(name));
    if (symptoms.length > 0) return ` An effect is chosen by its symptoms: ${symptoms.join(', ')}.`;
    const beginning = known(name).replace(/\*+$/, '');
    const alike = this.ids.filter((id) => beginning.length > 1 && id.startsWith(beginning));
    const [only, ...others] = alike;
    if (only === undefined) return didYouMean(name, this.#kinds.keys());
    if (others.length === 0) return ` Did you mean \`${only}\`?`;
    const shown = alike.slice(0, MOST_ALIKE).map((id) => `\`${id}\``);
    return ` These begin so: ${shown.join(', ')}${alike.length > shown.length ? ', …' : ''}.`;
  }

  isKnown(name: string): boolean {
    return this.#kinds.has(known(name));
  }

  /** Whether the transforms of every plugin that the config names are here. */
  get hasPlugins(): boolean {
    return this.catalogue.isWhole === true;
  }

  /** Everything that can be selected. */
  get names(): readonly string[] {
    return [...this.#kinds.keys()];
  }

  /** Every name of a transform, former ones included. */
  get ids(): readonly string[] {
    return this.catalogue.entries.flatMap(idsOf);
  }

  get metas(): readonly TransformMeta[] {
    return this.catalogue.metas;
  }

  meta(id: string): TransformMeta {
    return this.#found(id, this.metas);
  }

  entry(id: string): Entry {
    return this.#found(id, this.catalogue.entries);
  }

  #found<T extends Entry>(id: string, among: readonly T[]): T {
    const found = among.find((each) => idsOf(each).includes(known(id)));
    if (found !== undefined) return found;
    throw new Failure(
      'Unknown transform',
      `There is no transform \`${id}\`.${this.#meant(id)}`,
      'Run `memfix list` to see every name.',
    );
  }

  /** The ids that a wish means. The most particular name decides; between equals, ignoring wins. */
  resolve(wish: Wish): ReadonlySet<string> {
    const chosen = this.catalogue.entries.filter(
      (entry) => this.#weight(wish.select, entry) > this.#weight(wish.ignore, entry),
    );
    return new Set(chosen.map(({ id }) => id));
  }

  /** Whether one of these names asks for more of a transform than it does by default; a symptom asks for fewer transforms only. */
  isNamed(names: readonly string[], id: string): boolean {
    const entry = this.entry(id);
    return names.map(known).some((name) => {
      const kind = this.#kinds.get(name);
      if (name === 'default' || kind === undefined || kind === 'symptom') return false;
      return means(name, kind, entry) || (name === 'opt-in' && hasMore(entry));
    });
  }

  /** The ids that these names mean, together. */
  expand(names: readonly string[]): ReadonlySet<string> {
    return this.resolve({ select: names, ignore: [] });
  }

  #weight(names: readonly string[], entry: Entry): number {
    let weight = 0;
    for (const name of names.map(known)) {
      const kind = this.#kinds.get(name);
      if (kind !== undefined && means(name, kind, entry)) weight = Math.max(weight, WEIGHT[kind]);
    }
    return weight;
  }
}

/** `ALL` is what others write. */
function known(name: string): string {
  return name.toLowerCase();
}

function idsOf({ id, aliases = [] }: Entry): readonly string[] {
  return [id, ...aliases];
}

/** `documented` transforms run only when asked for by that word or by their id. */
function means(name: string, kind: Kind, entry: Entry): boolean {
  if (kind === 'id') return idsOf(entry).includes(name);
  if (kind === 'group') return name === entry.group;
  return entry.group !== 'documented' && (kind === 'all' || name === entry.symptom);
}

/** Some of its findings are beyond the default set: where it runs, `opt-in` adds them. */
function hasMore({ options }: Entry): boolean {
  return Object.values(options).some(({ whenNamed }) => whenNamed !== undefined);
}

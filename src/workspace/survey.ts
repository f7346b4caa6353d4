import type { Scan } from '../engine/outcome.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { BUSY, Stretch } from './clock.js';
import type { Candidate } from './discover.js';
import { Examiner, type Glance } from './examine.js';
import { attempt } from './limit.js';
import { Reader } from './read.js';
import type { Tools } from './tools.js';

/** Milliseconds for one file: what takes longer is for a closer look. */
const PER_FILE = 200;
/** The same for the first that asks about others, which reads the project. */
const PROJECT = 800;

/** Files up to which a project is read as a whole. */
const FEW = 300;

const PACKAGES: ReadonlySet<string> = new Set(
  'torch transformers accelerate peft trl diffusers lightning pytorch_lightning deepspeed'.split(' '),
);
/** They come with torch. */
const OF_TORCH = /^torch(?:vision|audio|text)$/;

/** Bytes of a line to each side of the word `import`. */
const LINE = 200;

export interface Survey extends Imports {
  readonly files: number;
  /** How many of them are notebooks. */
  readonly notebooks: number;
  readonly scans: readonly Scan[];
  /** Files that may hold more, which only a look at the whole project or more time would tell. */
  readonly unsettled: number;
}

export interface Imports {
  /** How many files import each of some packages. */
  readonly packages: ReadonlyMap<string, number>;
  /** There was no time for some files, which may do so too. */
  readonly isPartial: boolean;
}

/** Which packages the files import, as far as so many milliseconds go. */
export function packagesIn(candidates: readonly Candidate[], time: number): Imports {
  const stretch = new Stretch();
  const reader = new Reader();
  const packages = new Map<string, number>();
  for (const candidate of scriptsFirst(candidates)) {
    if (stretch.isOver(time)) return { packages, isPartial: true };
    const opened = reader.open(candidate);
    if (opened.kind === 'skipped') continue;
    for (const name of importsIn(opened.bytes, isNotebookName(candidate.path)))
      packages.set(name, (packages.get(name) ?? 0) + 1);
  }
  return { packages, isPartial: false };
}

/** Looked for in the bytes, since most of a notebook is pictures. */
function importsIn(bytes: Buffer, isNotebook: boolean): ReadonlySet<string> {
  const found = new Set<string>();
  // In the JSON of a notebook, lines end so.
  const end = isNotebook ? /["\n]|\\n/ : /\n/;
  for (let at = bytes.indexOf('import'); at !== -1; at = bytes.indexOf('import', at + 1)) {
    const before =
      bytes
        .toString('latin1', Math.max(0, at - LINE), at)
        .split(end)
        .at(-1) ?? '';
    const [, from] = /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?$/.exec(before) ?? [undefined, ''];
    const after = bytes.toString('latin1', at + 'import'.length, at + LINE).split(end, 1)[0] ?? '';
    if (from === '' || !/^[ \t(*]/.test(after)) continue;
    for (const path of from === undefined ? after.split(',') : [from]) {
      const [name = ''] = path.trim().split(/[.\s]/, 1);
      if (PACKAGES.has(name)) found.add(name);
      else if (OF_TORCH.test(name)) found.add('torch');
    }
  }
  return found;
}

/** A notebook is larger than what it says. */
function scriptsFirst(candidates: readonly Candidate[]): readonly Candidate[] {
  return [...candidates].sort((a, b) => Number(isNotebookName(a.path)) - Number(isNotebookName(b.path)));
}

/**
 * What files show in so many milliseconds: first each by itself, with `tools` of a project that leaves questions about it
 * to others; then, where there are few, those that asked, with `closer` ones.
 */
export async function survey(
  candidates: readonly Candidate[],
  { tools, closer }: { readonly tools: Tools; readonly closer: Tools },
  time: number,
): Promise<Survey> {
  const stretch = new Stretch();
  const isOver = () => stretch.isOver(time);
  const imports = packagesIn(candidates, time / 2);
  const first = await looked(scriptsFirst(candidates), tools, isOver);
  const second =
    candidates.length > FEW
      ? { scans: [], left: first.left }
      : await looked(first.left, closer, isOver, PROJECT);
  return {
    files: candidates.length,
    notebooks: candidates.filter(({ path }) => isNotebookName(path)).length,
    ...imports,
    scans: [...first.scans, ...second.scans],
    unsettled: second.left.length,
  };
}

interface Looked {
  readonly scans: readonly Scan[];
  /** Files that ask about others, take long, or were not got to. */
  readonly left: readonly Candidate[];
}

async function looked(
  candidates: readonly Candidate[],
  tools: Tools,
  isOver: () => boolean,
  forFirst = PER_FILE,
): Promise<Looked> {
  const examiner = new Examiner(tools, undefined, false);
  // The engine, then its parser.
  await examiner.prepare();
  await examiner.prepare();
  const scans: Scan[] = [];
  const left: Candidate[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if (isOver()) return { scans, left: [...left, ...candidates.slice(index)] };
    let glance: Glance | undefined;
    const outcome = attempt(BUSY * (index === 0 ? forFirst : PER_FILE), () => {
      glance = examiner.glance({ candidate });
    });
    // What it was at is not to be used again.
    if (outcome === 'cut off') return { scans, left: [...left, ...candidates.slice(index)] };
    const sight = glance?.kind === 'examined' ? glance.examined.sight : undefined;
    if (sight === undefined || sight.kind === 'left') left.push(candidate);
    else if (sight.kind === 'scan') scans.push(sight);
  }
  return { scans, left };
}

import type { Scan } from '../engine/outcome.js';
import { isNotebookName } from '../text/notebook/notebook.js';
import { BUSY, now, Stretch } from './clock.js';
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

const IMPORTS =
  /^[ \t]*(?:import|from)[ \t]+(torch|transformers|accelerate|peft|trl|diffusers|lightning|pytorch_lightning|deepspeed)\b/gm;

/** The same in the JSON of a notebook. */
const CELL_IMPORTS = new RegExp(String.raw`(?:"|\\n)${IMPORTS.source.slice(1)}`, 'g');

export interface Survey {
  readonly files: number;
  /** How many of them are notebooks. */
  readonly notebooks: number;
  /** How many import each of these packages. */
  readonly packages: ReadonlyMap<string, number>;
  readonly scans: readonly Scan[];
  /** Files that may hold more, which only a look at the whole project or more time would tell. */
  readonly unsettled: number;
}

/** Which of these packages the files import, as far as so many milliseconds go. */
export function packagesIn(candidates: readonly Candidate[], time: number): ReadonlyMap<string, number> {
  const end = now() + time;
  const reader = new Reader();
  const packages = new Map<string, number>();
  for (const candidate of candidates) {
    if (now() > end) break;
    const opened = reader.open(candidate);
    if (opened.kind === 'skipped') continue;
    const found = new Set(
      [
        ...opened.bytes.toString('latin1').matchAll(isNotebookName(candidate.path) ? CELL_IMPORTS : IMPORTS),
      ].map(([, name = '']) => name),
    );
    for (const name of found) packages.set(name, (packages.get(name) ?? 0) + 1);
  }
  return packages;
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
  const packages = packagesIn(candidates, time / 2);
  // A notebook is larger than what it says.
  const ordered = [...candidates].sort(
    (a, b) => Number(isNotebookName(a.path)) - Number(isNotebookName(b.path)),
  );
  const first = await looked(ordered, tools, isOver);
  const second =
    candidates.length > FEW
      ? { scans: [], left: first.left }
      : await looked(first.left, closer, isOver, PROJECT);
  return {
    files: candidates.length,
    notebooks: candidates.filter(({ path }) => isNotebookName(path)).length,
    packages,
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

import { setFlagsFromString } from 'node:v8';
import type { Engine } from '../engine/engine.js';
import type { Skipped, SourceFile } from '../engine/outcome.js';
import type { Candidate, Discovery } from '../workspace/discover.js';
import { chosenParser } from '../workspace/parser-choice.js';
import { Project } from '../workspace/project.js';
import { interpret } from '../workspace/read.js';
import { type Visit, visit } from '../workspace/visit.js';
import { type Context, Progress } from './context.js';
import { readAll } from './io.js';

/** Files up to which starting fast beats running fast. */
const SMALL_RUN = 200;

/** What is looked at and with what, the same for `check`, `apply` and `diff`. */
export interface Look {
  readonly project: Project;
  readonly engine: Engine;
  readonly discovery: Discovery;
  /** The candidates by the names they are reported under. */
  readonly targets: ReadonlyMap<string, Candidate>;
}

export interface StandardInput {
  readonly project: Project;
  readonly engine: Engine;
  readonly bytes: Buffer;
  readonly read: { readonly kind: 'file'; readonly file: SourceFile } | Skipped;
}

export async function prepare(context: Context): Promise<Look> {
  const project = new Project(context.args.request(context.io.cwd), context.transforms);
  const discovery = project.discover();
  const engine = await engineOf(context, project, discovery.candidates.length);
  const targets = new Map(discovery.candidates.map((candidate) => [candidate.path, candidate]));
  sayWhatRuns(context, project);
  return { project, engine, discovery, targets };
}

export async function prepareStdin(context: Context): Promise<StandardInput> {
  const { args, io } = context;
  if (args.operands.length > 1)
    throw args.misuse('`-` stands alone: it cannot be combined with other paths.');
  const project = new Project(args.request(io.cwd), context.transforms);
  const engine = await engineOf(context, project, 1);
  const bytes = await readAll(io.stdin, io.signal);
  return { project, engine, bytes, read: interpret(args.text('stdin-filename') ?? 'stdin.py', bytes) };
}

/** Reads what could matter and shows how far it got. */
export async function lookThrough<T extends object>(
  context: Context,
  look: Look,
  see: (file: SourceFile) => (T | Skipped) | Promise<T | Skipped>,
): Promise<Visit<T>> {
  const progress = new Progress(context);
  try {
    const { signal } = context.io;
    const seen = await visit(look.discovery, look.engine, see, {
      signal,
      progress: (done, total) => progress.show(done, total),
    });
    if (context.isVerbose)
      for (const path of seen.generated) context.say(`${path}: passed over: it is marked @generated`);
    return seen;
  } finally {
    progress.clear();
  }
}

async function engineOf(context: Context, project: Project, files: number): Promise<Engine> {
  // Optimising wasm takes longer than checking a few files, and the process waits for it before it ends.
  if (files <= SMALL_RUN) setFlagsFromString('--liftoff-only');
  const parser = await chosenParser(context.io.env['MEMFIX_PARSER']);
  if (context.isVerbose) context.say(`parser: ${parser.backend}`);
  return project.engine(parser);
}

function sayWhatRuns(context: Context, project: Project): void {
  if (context.isVerbose) {
    context.say(`config: ${project.config.path ?? 'none'}`);
    context.say(`transforms: ${[...project.selected].join(', ') || 'none'}`);
  } else if (project.selected.size === 0)
    context.say('No transform is selected, so there is nothing to look for.');
}

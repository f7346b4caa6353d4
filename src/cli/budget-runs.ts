import { modelOf } from '../budget/configuration.js';
import { knownModel } from '../budget/known.js';
import { type Budget, budgetOf, type Run } from '../budget/memory.js';
import { type KnownModel, withClasses } from '../budget/shape.js';
import { draftOf, isTrainable } from '../run/draft.js';
import { readPython } from '../run/python.js';
import { isTold, type Reading, takenFor } from '../run/reading.js';
import { loadParser, type PythonParser } from '../syntax/parser.js';
import { LARGEST_FILE, textOf } from '../workspace/bounded.js';
import type { Project } from '../workspace/project.js';
import { type Around, aroundIn, moduleIn } from './budget-project.js';
import type { Look } from './looking.js';

/** Words that a script which trains a model by itself has. */
const TRAINS = /\.backward\(|Trainer\(/;
const LOADS = /from_pretrained|Config\(|resnet\d/;

/** A script of the project that trains, and what its run needs; or why that cannot be told. */
export type ScriptRun =
  | {
      readonly path: string;
      /** Where its model is named. */
      readonly place: string;
      readonly model: string;
      readonly run: Run;
      readonly budget: Budget;
    }
  | { readonly path: string; readonly untold: string };

/** The training runs of a project, by the scripts that make them. */
export async function runsOf({
  targets,
  project,
}: Pick<Look, 'targets' | 'project'>): Promise<readonly ScriptRun[]> {
  const found: ScriptRun[] = [];
  let parser: PythonParser | undefined;
  let around: Around | undefined;
  for (const [path, { target }] of targets) {
    const text = path.endsWith('.py') ? textOf(target, LARGEST_FILE) : undefined;
    if (text === undefined || !TRAINS.test(text)) continue;
    parser ??= await loadParser();
    around ??= await aroundIn(project, parser);
    const tree = parser.parse(text);
    try {
      const run = runOf(readPython(moduleIn(around, path, text, tree)), path);
      // What a file trains that names no model is told only where a file that it imports names one.
      if ('run' in run || LOADS.test(text)) found.push(run);
    } finally {
      tree.dispose();
    }
  }
  return found;
}

/** Whether the run of a script can be told, and what is missing where it cannot. */
export async function budgetFor(
  project: Project,
  path: string,
  text: string,
): Promise<{ readonly budget: 'can' | 'needs-model' | 'cannot'; readonly parameters?: number }> {
  const parser = await loadParser();
  const tree = parser.parse(text);
  try {
    const reading = readPython(moduleIn(await aroundIn(project, parser), path, text, tree));
    const found = runOf(reading, path);
    if ('run' in found) return { budget: 'can', parameters: found.run.trainable };
    return {
      budget:
        modelIn(reading) !== undefined || reading.network?.value.isConvolutional === true
          ? 'cannot'
          : 'needs-model',
    };
  } finally {
    tree.dispose();
  }
}

function runOf(reading: Reading, path: string): ScriptRun {
  const named = reading.config ?? reading.model;
  if (named === undefined)
    return {
      path,
      untold:
        reading.network === undefined
          ? 'it names no model'
          : `its model, \`${reading.network.value.name}\` (${reading.network.place}), is none that a budget can be told of`,
    };
  if (!isTold<unknown>(named)) return { path, untold: named.why };
  const found = modelIn(reading);
  if (found === undefined)
    return { path, untold: `its model (${named.place}) is none that memfix knows by name` };
  const model = reading.classes === undefined ? found : withClasses(found, takenFor(reading.classes) ?? 2);
  const { run } = draftOf(reading, model, {});
  if (!isTrainable(run)) return { path, untold: 'it trains no part of its model that memfix understands' };
  return { path, place: named.place, model: model.shape.model, run, budget: budgetOf(run) };
}

function modelIn({ config, model }: Reading): KnownModel | undefined {
  const made = config === undefined ? undefined : modelOf({ ...config.value });
  if (made !== undefined && typeof made !== 'string') return made;
  return model === undefined || !isTold(model) ? undefined : knownModel(model.value);
}

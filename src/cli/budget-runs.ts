import { modelOf } from '../budget/configuration.js';
import { knownModel } from '../budget/known.js';
import { type Budget, budgetOf, type Run } from '../budget/memory.js';
import { type KnownModel, withClasses } from '../budget/shape.js';
import { draftOf, isTrainable } from '../run/draft.js';
import { readPython } from '../run/python.js';
import type { Reading } from '../run/reading.js';
import { PyModule } from '../semantic/module.js';
import { loadParser, type PythonParser } from '../syntax/parser.js';
import { LARGEST_FILE, textOf } from '../workspace/bounded.js';
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
export async function runsOf({ targets }: Pick<Look, 'targets'>): Promise<readonly ScriptRun[]> {
  const found: ScriptRun[] = [];
  let parser: PythonParser | undefined;
  for (const [path, { target }] of targets) {
    const text = path.endsWith('.py') ? textOf(target, LARGEST_FILE) : undefined;
    if (text === undefined || !TRAINS.test(text) || !LOADS.test(text)) continue;
    parser ??= await loadParser();
    const tree = parser.parse(text);
    try {
      found.push(runOf(readPython(new PyModule(path, text, tree)), path));
    } finally {
      tree.dispose();
    }
  }
  return found;
}

function runOf(reading: Reading, path: string): ScriptRun {
  const named = reading.config ?? reading.model;
  if (named === undefined) return { path, untold: 'it names no model that can be told without running it' };
  const found = modelIn(reading);
  if (found === undefined)
    return { path, untold: `its model (${named.place}) is none that memfix knows by name` };
  const model = reading.classes === undefined ? found : withClasses(found, reading.classes.value);
  const { run } = draftOf(reading, model, {});
  if (!isTrainable(run)) return { path, untold: 'it trains no part of its model that memfix understands' };
  return { path, place: named.place, model: model.shape.model, run, budget: budgetOf(run) };
}

function modelIn({ config, model }: Reading): KnownModel | undefined {
  const made = config === undefined ? undefined : modelOf({ ...config.value });
  if (made !== undefined && typeof made !== 'string') return made;
  return model === undefined ? undefined : knownModel(model.value);
}

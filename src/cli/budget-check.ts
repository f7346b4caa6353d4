import type { Card } from '../budget/cards.js';
import { cardNamed } from '../budget/cards.js';
import { modelOf } from '../budget/configuration.js';
import { knownModel } from '../budget/known.js';
import { budgetOf } from '../budget/memory.js';
import { type KnownModel, withClasses } from '../budget/shape.js';
import type { TooLarge } from '../report/too-large.js';
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

/** Runs of the project that cannot fit the card that its config names. */
export async function runsTooLarge({ project, targets }: Look): Promise<readonly TooLarge[] | undefined> {
  const card = project.config.gpu === undefined ? undefined : cardNamed(project.config.gpu);
  if (card === undefined) return undefined;
  const found: TooLarge[] = [];
  let parser: PythonParser | undefined;
  for (const [path, { target }] of targets) {
    const text = path.endsWith('.py') ? textOf(target, LARGEST_FILE) : undefined;
    if (text === undefined || !TRAINS.test(text) || !LOADS.test(text)) continue;
    parser ??= await loadParser();
    const large = tooLarge(readPython(new PyModule(path, text, parser.parse(text))), path, card);
    if (large !== undefined) found.push(large);
  }
  return found;
}

/** Only where even the low end of the estimate is too much. */
function tooLarge(reading: Reading, path: string, card: Card): TooLarge | undefined {
  const named = reading.config ?? reading.model;
  const found = named && modelIn(reading);
  const model = found && reading.classes !== undefined ? withClasses(found, reading.classes.value) : found;
  if (named === undefined || model === undefined) return undefined;
  const { run } = draftOf(reading, model, {});
  if (!isTrainable(run)) return undefined;
  const { peak, low } = budgetOf(run);
  if (low <= card.bytes) return undefined;
  return { path, place: named.place, model: model.shape.model, peak, low, card };
}

function modelIn({ config, model }: Reading): KnownModel | undefined {
  const made = config === undefined ? undefined : modelOf({ ...config.value });
  if (made !== undefined && typeof made !== 'string') return made;
  return model === undefined ? undefined : knownModel(model.value);
}

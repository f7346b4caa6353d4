import { methodCallsAt } from '../semantic/called-name.js';
import { argumentsOf, enclosingFunction, keywordValue } from '../semantic/statements.js';
import { waysReaching } from '../semantic/variables.js';
import type { PyNode } from '../syntax/node.js';
import { argumentsCall } from '../torch/huggingface/huggingface.js';
import { type Script, shownCode } from './script.js';
import { makersOf } from './trained.js';
import type { TrainerParts } from './trainer.js';

interface Training {
  readonly trainer: PyNode;
  readonly made: TrainerParts['made'];
  readonly makers: readonly PyNode[];
}

interface OneTraining {
  readonly parts: TrainerParts;
  readonly open: readonly string[];
  /** Whether something is done only after this training, for the next. */
  readonly isAfter: (node: PyNode) => boolean;
}

/** The first of several trainings of a file, with its own arguments, and a sentence about the others. */
export function oneTraining(script: Script, parts: TrainerParts): OneTraining {
  const running = script.running(parts.trainers).toSorted((a, b) => a.start - b.start);
  // A trainer without data to train on is made to evaluate.
  const fed = running.filter((call) => keywordValue(call, 'train_dataset') !== undefined);
  const [first, ...more] = (fed.length > 0 ? fed : running).map((call) => trainingOf(script, call));
  const others = first === undefined ? [] : more.filter((each) => isAnother(first, each));
  if (first === undefined || others.length === 0) return { parts, open: [], isAfter: () => false };
  const same = [first, ...more.filter((each) => !others.includes(each))];
  const shown = [first, ...others].map(
    ({ trainer }) => `\`${shownCode(trainer.function ?? trainer)}\` (${script.placeOf(trainer)})`,
  );
  const isOthers = others.some(({ made }) => made !== undefined && made.call === parts.made?.call);
  const made = first.made ?? (isOthers ? undefined : parts.made);
  const owner = enclosingFunction(first.trainer);
  const trains = methodCallsAt(script.module, '.train(').find(({ start }) => start >= first.trainer.start);
  return {
    isAfter: (node) => trains !== undefined && enclosingFunction(node) === owner && node.start > trains.end,
    parts: { ...parts, trainers: same.map(({ trainer }) => trainer), made },
    open: [
      `${shown.length} trainings are here, ${shown.join(', ')}: the first is counted, by its own settings; another may need more.`,
    ],
  };
}

function trainingOf(script: Script, trainer: PyNode): Training {
  const { module } = script;
  const given = keywordValue(trainer, 'args') ?? argumentsOf(trainer)[1];
  const ways = given?.type === 'identifier' ? waysReaching(module, given) : [];
  const values =
    given?.type === 'call' ? [given] : ways.flatMap((way) => (way.kind === 'value' ? way.value : []));
  const [made] = values.flatMap((value) =>
    value.type === 'call' ? (argumentsCall(module, value) ?? []) : [],
  );
  const model = keywordValue(trainer, 'model') ?? argumentsOf(trainer)[0];
  return {
    trainer,
    made: values.length === 1 ? made : undefined,
    makers: model === undefined ? [] : makersOf(module, model).map(({ call }) => call),
  };
}

/** By a model that is made elsewhere, or by other arguments: what cannot be told is no difference. */
function isAnother(one: Training, two: Training): boolean {
  const isOtherModel =
    one.makers.length > 0 && two.makers.length > 0 && !one.makers.some((call) => two.makers.includes(call));
  const isOtherRun = one.made !== undefined && two.made !== undefined && one.made.call !== two.made.call;
  return isOtherModel || isOtherRun;
}

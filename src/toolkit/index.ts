/** The only API of a transform: everything it may say or ask comes from here. */

export { ARGUMENT_WORDS } from '../library/huggingface.js';
export { canonical, isExact, isPlain, isReportedBy, ofTensor, row } from '../library/library.js';
export type { Accumulation, Addition } from '../semantic/accumulation.js';
export {
  accumulatedDivisions,
  accumulationOf,
  looseComments,
  mayAccumulate,
} from '../semantic/accumulation.js';
export type { Answer } from '../semantic/answer.js';
export { all, any, not } from '../semantic/answer.js';
export type { Assigned } from '../semantic/assigned.js';
export { assignedBy } from '../semantic/assigned.js';
export { callsNamed, type NamedCall } from '../semantic/called-name.js';
export { caughtHere } from '../semantic/catching.js';
export {
  asksForNone,
  type DefaultedOption,
  defaultedOption,
  fallbackOf,
  shadowingOption,
} from '../semantic/command-line.js';
export * from '../semantic/definitions.js';
export type { Definition } from '../semantic/flow.js';
export { definitionOf, reachingDefinitions } from '../semantic/flow.js';
export { freeName } from '../semantic/free-name.js';
export {
  arrives,
  filesOf,
  type Given,
  givenAcross,
  givenBy,
  givenIn,
  isGivenBeside,
  type SettingsDict,
  siblingOf,
  spreadsMore,
} from '../semantic/given.js';
export { hydraSetting, hydraSources } from '../semantic/hydra.js';
export {
  hasStarImport,
  importsPackage,
  nameFor,
  qualifiedName,
} from '../semantic/imports.js';
export { onlyUse, type Written, wholeNumber, writtenBehind } from '../semantic/literals.js';
export { frameReader, neededAfter } from '../semantic/liveness.js';
export type { PyModule } from '../semantic/module.js';
export { binds, roleOf } from '../semantic/names.js';
export { lacksParameter } from '../semantic/parameters.js';
export { isOlderBranch, isPrivate, isProgram, lastOfImports } from '../semantic/program.js';
export { settersElsewhere } from '../semantic/project-names.js';
export { type Repetition, repetitionOf } from '../semantic/repetition.js';
export type { Scope } from '../semantic/scope.js';
export * from '../semantic/statements.js';
export { plainString } from '../semantic/strings.js';
export type { NamedFile } from '../semantic/surroundings.js';
export { swallowingManager } from '../semantic/swallowing.js';
export { isTestCode, isTestFile } from '../semantic/test-code.js';
export { attributeUsesElsewhere } from '../semantic/uses-elsewhere.js';
export type { Versions } from '../semantic/versions.js';
export { hasWhole } from '../semantic/word-places.js';
export { behindBracket, linesOf, methodsBehind, withoutSubscripts } from '../syntax/code-text.js';
export type { Glimpse } from '../syntax/glimpse.js';
export { endsItsLine, ownsItsLines, startsItsLine } from '../syntax/layout.js';
export type { PyNode } from '../syntax/node.js';
export { copyOf, onOneLine, standalone, textBetween } from '../syntax/written.js';
export { readYaml, type YamlScalar, type YamlSection } from '../syntax/yaml.js';
export * from '../torch/catalog.js';
export { placeOf, shown } from '../torch/gate.js';
export { type Backward, backwards } from '../torch/grad/backward-calls.js';
export { callerGates } from '../torch/grad/callers.js';
export { doubtsAbout, hasGradMode, keepsOnlyNumbers } from '../torch/grad/doubts.js';
export {
  type Evaluation,
  evaluations,
  isFrozen,
  linesBeforeForward,
  mayEvaluate,
  SWITCHES,
} from '../torch/grad/evaluation.js';
export { hasInferenceFastPath } from '../torch/grad/fast-path.js';
export { mayCarryGradient, recordsNoGraph } from '../torch/grad/gradient.js';
export { differentiatingCaller, differentiatingReader } from '../torch/grad/mode.js';
export { mayRunForNumbers, NUMBERS, numericRuns } from '../torch/grad/numeric-runs.js';
export { fatesAt } from '../torch/grad/record-fate.js';
export { compilerOf, importsTorch, mayMeanTorch } from '../torch/grad/roles.js';
export { spendingBackward } from '../torch/grad/spent-graph.js';
export { mayWalk, type Walk, walks } from '../torch/grad/walks.js';
export * from '../torch/huggingface/huggingface.js';
export {
  isPipeline,
  type ModelLoad,
  mayLoadAnyModel,
  mayLoadModel,
  modelLoad,
  placesModel,
} from '../torch/huggingface/pretrained.js';
export * from '../torch/module/checkpointing.js';
export { hookGates, staysNotReentrant } from '../torch/module/checkpointing-again.js';
export { mayLearnMore } from '../torch/module/frozen-parts.js';
export { isModel, nameSaysModel } from '../torch/module/model-value.js';
export {
  type AttributeUse,
  attributeUses,
  moduleKind,
  plainAttributes,
  registrationOf,
  runsInForward,
} from '../torch/module/modules.js';
export { networksOf } from '../torch/module/networks.js';
export { hasAdapters, isTransformersModel } from '../torch/module/pretrained-value.js';
export {
  graphCarrier,
  isDetachable,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
} from '../torch/record/kept-loss.js';
export { lossTerm } from '../torch/record/loss-term.js';
export { backwardIn, isEvaluation, isReport } from '../torch/record/loss-use.js';
export { mayTotal, type RunningTotal, runningTotals } from '../torch/record/running-total.js';
export { storeGates } from '../torch/record/store-elsewhere.js';
export { initialisesBefore, inPlaceGates, startOf } from '../torch/statistic/in-place-statistic.js';
export {
  mayHaveStatistic,
  type RunningStatistic,
  type Update,
} from '../torch/statistic/running-statistic.js';
export {
  detachGates,
  keepsGraph,
  statisticsCuredBy,
  valuesToDetach,
} from '../torch/statistic/statistic-cure.js';
export { isComputedHere } from '../torch/tensor/computed-value.js';
export { givenInstead, isCertainDevice, isCpu, isDevice } from '../torch/tensor/device-value.js';
export { IS_TORCH, isTorchCode } from '../torch/tensor/framework.js';
export { type Held, heldTensor } from '../torch/tensor/held-tensor.js';
export {
  isWeight,
  type LowRank,
  lowRank,
  type MatrixProduct,
  matrixProduct,
} from '../torch/tensor/low-rank.js';
export { isProvenTensor } from '../torch/tensor/proven-tensor.js';
export type { TensorKind } from '../torch/tensor/tensor.js';
export { isFloating, kindOf } from '../torch/tensor/tensor.js';
export * from '../torch/training/fsdp.js';
export * from '../torch/training/optimizer-call.js';
export { type TrainedModel, trainedModels, trainingForwards } from '../torch/training/trained-model.js';
export * from '../torch/training/training-loop.js';
export { isTraced, tracedElsewhere, wrappingGates } from '../torch/training/wrapping.js';
export { isAtLeast, isInstalled } from '../torch/versions.js';
export type * from './contract.js';
export { countPasses } from './counting.js';
export { EditBuilder, Unfixable } from './edit-builder.js';
export { withEvidence } from './evidence.js';
export { requireArrival, requireOriginal, requireTrainer, requireUncaught, requireVersion } from './gates.js';
export { Proof } from './proof.js';

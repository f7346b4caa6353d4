/** The only API of a transform: everything it may say or ask comes from here. */

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
export { type DefaultedOption, defaultedOption } from '../semantic/command-line.js';
export * from '../semantic/definitions.js';
export * from '../semantic/flag-types.js';
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
export {
  hasStarImport,
  importsPackage,
  nameFor,
  qualifiedName,
} from '../semantic/imports.js';
export { onlyUse, type Written, wholeNumber, writtenBehind } from '../semantic/literals.js';
export { neededAfter } from '../semantic/liveness.js';
export type { PyModule } from '../semantic/module.js';
export { binds, roleOf } from '../semantic/names.js';
export { lacksParameter } from '../semantic/parameters.js';
export { isOlderBranch, isPrivate, isProgram, lastOfImports } from '../semantic/program.js';
export { type Repetition, repetitionOf } from '../semantic/repetition.js';
export type { Scope } from '../semantic/scope.js';
export * from '../semantic/statements.js';
export { plainString } from '../semantic/strings.js';
export type { NamedFile } from '../semantic/surroundings.js';
export { isTestCode, isTestFile } from '../semantic/test-code.js';
export { attributeUsesElsewhere } from '../semantic/uses-elsewhere.js';
export type { Versions } from '../semantic/versions.js';
export { hasWhole } from '../semantic/word-places.js';
export { changedOnTheWay, type YamlSource, yamlSource } from '../semantic/yaml-source.js';
export { behindBracket, linesOf, methodsBehind, withoutSubscripts } from '../syntax/code-text.js';
export type { Glimpse } from '../syntax/glimpse.js';
export { endsItsLine, ownsItsLines, startsItsLine } from '../syntax/layout.js';
export type { PyNode } from '../syntax/node.js';
export { copyOf, onOneLine, standalone, textBetween } from '../syntax/written.js';
export { readYaml, type YamlScalar, type YamlSection } from '../syntax/yaml.js';
export * from '../torch/catalog.js';
export { placeOf, shown } from '../torch/gate.js';
export { type Backward, backwards } from '../torch/grad/backward-calls.js';
export { doubtsAboutLoop, type EvaluationLoop, evaluationLoops } from '../torch/grad/block.js';
export { doubtsAbout, hasGradMode } from '../torch/grad/doubts.js';
export {
  type Evaluation,
  evaluations,
  isFrozen,
  linesBeforeForward,
  mayEvaluate,
} from '../torch/grad/evaluation.js';
export { hasInferenceFastPath } from '../torch/grad/fast-path.js';
export { mayCarryGradient, recordsNoGraph } from '../torch/grad/gradient.js';
export { differentiatingCaller, differentiatingReader } from '../torch/grad/mode.js';
export { takesGradAsTensor } from '../torch/grad/none.js';
export { isOnlyBackward } from '../torch/grad/repeated-backward.js';
export { compilerOf, importsTorch, mayMeanTorch } from '../torch/grad/roles.js';
export { spendingBackward } from '../torch/grad/spent-graph.js';
export { mayWalk, type Walk, walks } from '../torch/grad/walks.js';
export * from '../torch/huggingface/huggingface.js';
export * from '../torch/huggingface/legacy-arguments.js';
export { literalValue, type SettingChange, settingChanges } from '../torch/huggingface/memory-settings.js';
export {
  isPipeline,
  type ModelLoad,
  mayLoadAnyModel,
  mayLoadModel,
  modelLoad,
  placesModel,
} from '../torch/huggingface/pretrained.js';
export { hasAdapters, isTransformersModel } from '../torch/huggingface/pretrained-value.js';
export { type LengthPlace, lengthsAbove, shapesModel } from '../torch/huggingface/sequence-length.js';
export { type SettingsReceiver, settingsReceiver } from '../torch/huggingface/settings-receiver.js';
export * from '../torch/module/checkpointing.js';
export {
  feedsLoss,
  isReadInForward,
  isStoreFetched,
  readsOfStore,
  type StoredOutput,
  storedOutputs,
} from '../torch/module/forward-hooks.js';
export { initialisesBefore, inPlaceGates, startOf } from '../torch/module/in-place-statistic.js';
export { isModel, nameSaysModel } from '../torch/module/model-value.js';
export {
  type AttributeUse,
  attributeUses,
  moduleKind,
  plainAttributes,
  registrationOf,
  runsInForward,
} from '../torch/module/modules.js';
export { isMove, movedAttributes, movedNames } from '../torch/module/moved-attribute.js';
export { networksOf } from '../torch/module/networks.js';
export { mayHaveStatistic, type RunningStatistic, type Update } from '../torch/module/running-statistic.js';
export {
  detachGates,
  keepsGraph,
  statisticsCuredBy,
  valuesToDetach,
} from '../torch/module/statistic-cure.js';
export { isTraced, tracedElsewhere, wrappingGates } from '../torch/module/wrapping.js';
export { callerGates } from '../torch/record/callers.js';
export { entropyFrom } from '../torch/record/cross-entropy.js';
export { logitCollectors, mayCollectLogits } from '../torch/record/eval-logits.js';
export { type JoinedOutputs, joinedOutputs, mayJoinOutputs } from '../torch/record/joined-outputs.js';
export { type KeptList, keptLists, mayKeepList } from '../torch/record/kept-list.js';
export {
  graphCarrier,
  isDetachable,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
} from '../torch/record/kept-loss.js';
export { changedInPlace, handedOn, keptFromElsewhere, strayDevice } from '../torch/record/kept-term.js';
export { type LoggedTensor, loggedTensors } from '../torch/record/logged-tensor.js';
export { lossTerm } from '../torch/record/loss-term.js';
export { backwardIn, isEvaluation, isReport } from '../torch/record/loss-use.js';
export { fatesAt } from '../torch/record/record-fate.js';
export { mayTotal, type RunningTotal, runningTotals } from '../torch/record/running-total.js';
export { storeGates } from '../torch/record/store-elsewhere.js';
export { reloadsOptimizer } from '../torch/saved/loaded-use.js';
export { type Fate, fateOf } from '../torch/saved/loaded-value.js';
export { loadsPlainly } from '../torch/saved/loading-class.js';
export * from '../torch/saved/saving.js';
export { copiesState } from '../torch/saved/state-receiver.js';
export { isComputedHere } from '../torch/tensor/computed-value.js';
export { mayBuildInForward, mayRepeatConstant } from '../torch/tensor/constant-cue.js';
export { type BufferPlace, bufferPlace, canLeave, withoutDevice } from '../torch/tensor/constant-place.js';
export { type ConstantUse, constantUse, usesOfName } from '../torch/tensor/constant-use.js';
export { isCertainDevice, isCpu, isDevice } from '../torch/tensor/device-value.js';
export { cutsAlike, isExactOnAnyDevice, isFilled, roundsAlike } from '../torch/tensor/factory-numbers.js';
export { IS_TORCH, isTorchCode } from '../torch/tensor/framework.js';
export { type HalfPlace, halfPlaces, halfSpread, strayHalf } from '../torch/tensor/half-precision.js';
export { type Held, heldTensor } from '../torch/tensor/held-tensor.js';
export {
  alwaysRuns,
  type Constant,
  changesModes,
  constantAt,
  isInvariant,
  isLarge,
  keywordValue,
  loopToLeave,
  mayBeMissing,
  movesInLoops,
} from '../torch/tensor/loop-constant.js';
export { makesLora } from '../torch/tensor/lora.js';
export {
  isWeight,
  type LowRank,
  lowRank,
  type MatrixProduct,
  matrixProduct,
} from '../torch/tensor/low-rank.js';
export { isPromoted } from '../torch/tensor/one-dtype.js';
export { isProvenTensor } from '../torch/tensor/proven-tensor.js';
export { isFreeOfRandomness } from '../torch/tensor/randomness.js';
export type { TensorKind } from '../torch/tensor/tensor.js';
export { isFloating, kindOf } from '../torch/tensor/tensor.js';
export {
  accumulatesElsewhere,
  hasLength,
  isNoMean,
  type StrictLoop,
  strictLoop,
} from '../torch/training/accumulation-loop.js';
export * from '../torch/training/allocator.js';
export { askerGates, isDtypeSetElsewhere } from '../torch/training/amp-askers.js';
export * from '../torch/training/cuda-cache.js';
export { type EagerDataset, eagerDataset, isIndexable } from '../torch/training/eager-dataset.js';
export * from '../torch/training/fsdp.js';
export {
  type AmpImport,
  type AmpUse,
  ampGates,
  ampImport,
  dottedAmpUse,
  importedFromHere,
  mayBeInOtherAutocast,
  mayOpenAutocast,
  reachGates,
} from '../torch/training/old-amp.js';
export * from '../torch/training/optimizer-call.js';
export { type StepTensors, stepTensors } from '../torch/training/step-tensors.js';
export { type TrainedModel, trainedModels, trainingForwards } from '../torch/training/trained-model.js';
export * from '../torch/training/training-loop.js';
export type * from './contract.js';
export { countPasses } from './counting.js';
export { EditBuilder, Unfixable } from './edit-builder.js';
export { withEvidence } from './evidence.js';
export { requireArrival, requireUncaught, requireVersion } from './gates.js';
export { Proof } from './proof.js';

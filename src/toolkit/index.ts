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
export { type DefaultedOption, defaultedOption } from '../semantic/command-line.js';
export * from '../semantic/definitions.js';
export * from '../semantic/flag-types.js';
export type { Definition } from '../semantic/flow.js';
export { definitionOf, reachingDefinitions } from '../semantic/flow.js';
export { freeName } from '../semantic/free-name.js';
export {
  arrives,
  type Given,
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
export { neededBehind } from '../semantic/liveness.js';
export type { PyModule } from '../semantic/module.js';
export { binds, roleOf } from '../semantic/names.js';
export { isOlderBranch, isPrivate, isProgram, lastOfImports } from '../semantic/program.js';
export { type Repetition, repetitionOf } from '../semantic/repetition.js';
export type { Scope } from '../semantic/scope.js';
export * from '../semantic/statements.js';
export { plainString } from '../semantic/strings.js';
export type { NamedFile } from '../semantic/surroundings.js';
export { isTestCode, isTestFile } from '../semantic/test-code.js';
export type { Versions } from '../semantic/versions.js';
export { changedOnTheWay, type YamlSource, yamlSource } from '../semantic/yaml-source.js';
export { behindBracket, methodsBehind } from '../syntax/code-text.js';
export { endsItsLine, ownsItsLines, startsItsLine } from '../syntax/layout.js';
export type { PyNode } from '../syntax/node.js';
export { readYaml, type YamlScalar, type YamlSection } from '../syntax/yaml.js';
export {
  accumulatesElsewhere,
  hasLength,
  isNoMean,
  type StrictLoop,
  strictLoop,
} from '../torch/accumulation-loop.js';
export * from '../torch/allocator.js';
export * from '../torch/catalog.js';
export * from '../torch/checkpointing.js';
export { isComputedHere } from '../torch/computed-value.js';
export { type ConstantUse, constantUse, usesOfName } from '../torch/constant-use.js';
export { entropyFrom } from '../torch/cross-entropy.js';
export * from '../torch/cuda-cache.js';
export { isCpu, isDevice } from '../torch/device-value.js';
export { type EagerDataset, eagerDataset, isIndexable } from '../torch/eager-dataset.js';
export { logitCollectors } from '../torch/eval-logits.js';
export {
  feedsLoss,
  isReadInForward,
  isStoreFetched,
  readsOfStore,
  type StoredOutput,
  storedOutputs,
} from '../torch/forward-hooks.js';
export * from '../torch/fsdp.js';
export { shown } from '../torch/gate.js';
export { doubtsAboutLoop, type EvaluationLoop, evaluationLoops } from '../torch/grad-block.js';
export { doubtsAbout, hasGradMode } from '../torch/grad-doubts.js';
export { type Evaluation, evaluations, isFrozen, mayEvaluate } from '../torch/grad-evaluation.js';
export { differentiatingCaller, differentiatingReader } from '../torch/grad-mode.js';
export { takesGradAsTensor } from '../torch/grad-none.js';
export { compilerOf, hasInferenceFastPath, importsTorch } from '../torch/grad-roles.js';
export { mayWalk, type Walk, walks } from '../torch/grad-walks.js';
export { mayCarryGradient, recordsNoGraph } from '../torch/gradient.js';
export { type HalfPlace, halfPlaces, strayHalf } from '../torch/half-precision.js';
export { type Held, heldTensor } from '../torch/held-tensor.js';
export * from '../torch/huggingface.js';
export { initialisesBefore, inPlaceGates, startOf } from '../torch/in-place-statistic.js';
export { type JoinedOutputs, joinedOutputs } from '../torch/joined-outputs.js';
export { type KeptList, keptLists, mayKeepList } from '../torch/kept-list.js';
export {
  graphCarrier,
  isDetachable,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
} from '../torch/kept-loss.js';
export { changedInPlace, keptFromElsewhere, strayDevice } from '../torch/kept-term.js';
export * from '../torch/legacy-arguments.js';
export { reloadsOptimizer } from '../torch/loaded-use.js';
export { type Fate, fateOf } from '../torch/loaded-value.js';
export { type LoggedTensor, loggedTensors } from '../torch/logged-tensor.js';
export {
  alwaysRuns,
  type Constant,
  changesModes,
  constantAt,
  isInvariant,
  keywordValue,
  loopToLeave,
  mayBeMissing,
  movesInLoops,
} from '../torch/loop-constant.js';
export { makesLora } from '../torch/lora.js';
export { lossTerm } from '../torch/loss-term.js';
export { backwardIn, isEvaluation, isReport } from '../torch/loss-use.js';
export { isWeight, type LowRank, lowRank, type MatrixProduct, matrixProduct } from '../torch/low-rank.js';
export { literalValue, type SettingChange, settingChanges } from '../torch/memory-settings.js';
export { isModel, nameSaysModel } from '../torch/model-value.js';
export {
  type AttributeUse,
  attributeUses,
  moduleKind,
  plainAttributes,
  registrationOf,
  runsInForward,
} from '../torch/modules.js';
export { networksOf } from '../torch/networks.js';
export * from '../torch/old-amp.js';
export * from '../torch/optimizer-call.js';
export { isPipeline, type ModelLoad, modelLoad, placesModel } from '../torch/pretrained.js';
export { hasAdapters, isTransformersModel } from '../torch/pretrained-value.js';
export { isProvenTensor } from '../torch/proven-tensor.js';
export { isFreeOfRandomness } from '../torch/randomness.js';
export { fatesAt } from '../torch/record-fate.js';
export { isOnlyBackward } from '../torch/repeated-backward.js';
export { mayHaveStatistic, type RunningStatistic, type Update } from '../torch/running-statistic.js';
export { mayTotal, type RunningTotal, runningTotals } from '../torch/running-total.js';
export * from '../torch/saving.js';
export { type LengthPlace, lengthsAbove, shapesModel } from '../torch/sequence-length.js';
export { type SettingsReceiver, settingsReceiver } from '../torch/settings-receiver.js';
export { type Backward, backwards, spendingBackward } from '../torch/spent-graph.js';
export { copiesState } from '../torch/state-receiver.js';
export { detachGates, keepsGraph, statisticsCuredBy, valuesToDetach } from '../torch/statistic-cure.js';
export { type StepTensors, stepTensors } from '../torch/step-tensors.js';
export type { TensorKind } from '../torch/tensor.js';
export { isFloating, kindOf } from '../torch/tensor.js';
export { type TrainedModel, trainedModels, trainingForwards } from '../torch/trained-model.js';
export * from '../torch/training-loop.js';
export { isTraced, wrappingGates } from '../torch/wrapping.js';
export type * from './contract.js';
export { countPasses } from './counting.js';
export { EditBuilder, Unfixable } from './edit-builder.js';
export { requireArrival, requireVersion } from './gates.js';
export { Proof } from './proof.js';

/** The only API of a transform: everything it may say or ask comes from here. */

export { ARGUMENT_WORDS } from '../library/huggingface.js';
export { canonical, isExact, isPlain, isReportedBy, ofTensor, row } from '../library/library.js';
export {
  ADAMW,
  AMP_NAMES,
  BFLOAT16,
  BITS_AND_BYTES_CONFIG,
  CHECKPOINT,
  CHECKPOINT_SEQUENTIAL,
  COLLECT_GARBAGE,
  CONTEXT_MANAGER,
  CPU_OFFLOAD_NAME,
  CUDA,
  CURRENT_DEVICE,
  DEEPCOPY,
  DETECT_ANOMALY,
  DISTRIBUTED,
  EMPTY_CACHE,
  ENVIRONMENT,
  FLOAT16,
  FLOAT32,
  FSDP_NAME,
  LOAD,
  MATMUL,
  NEW_AMP,
  NN_MODULE,
  NO_GRAD,
  OLD_AMP,
  PARAMETER,
  PARTIAL,
  PLAIN_BASES,
  RECORD_HISTORY,
  SET_GRAD_ENABLED,
  STACK,
  TENSOR_BACKWARD,
  VARIABLE,
} from '../library/names.js';
export { isKbitPreparation } from '../library/paths.js';
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
export { type AttributeUse, attributeUses, plainAttributes } from '../semantic/attribute-uses.js';
export { busyProperty } from '../semantic/busy-property.js';
export { callsNamed } from '../semantic/called-name.js';
export { caughtHere } from '../semantic/catching.js';
export { asksForNone, type DefaultedOption, defaultedOption, fallbackOf } from '../semantic/command-line.js';
export {
  ancestryOf,
  calledDefinition,
  classAround,
  classBehind,
  definitionBehind,
  hasParameter,
  methodNamed,
  selfName,
} from '../semantic/definitions.js';
export { reachingDefinitions } from '../semantic/flow.js';
export { freeName } from '../semantic/free-name.js';
export { type Gate, placeOf, shown } from '../semantic/gate.js';
export {
  filesOf,
  type Given,
  givenAcross,
  givenBy,
  givenIn,
  isGivenBeside,
  siblingOf,
  spreadsMore,
} from '../semantic/given.js';
export { hydraSources } from '../semantic/hydra.js';
export { calledPath, importsPackage, nameFor, qualifiedName } from '../semantic/imports.js';
export { initialisesBefore } from '../semantic/instance.js';
export { type Written, wholeNumber, writtenBehind } from '../semantic/literals.js';
export { frameReader, neededAfter, readerInFile } from '../semantic/liveness.js';
export type { PyModule } from '../semantic/module.js';
export { roleOf } from '../semantic/names.js';
export { lacksParameter } from '../semantic/parameters.js';
export { passOf } from '../semantic/passes.js';
export { isOlderBranch, isPrivate, isProgram, lastOfImports } from '../semantic/program.js';
export { settersElsewhere } from '../semantic/project-names.js';
export { ask, type Question } from '../semantic/question.js';
export { repetitionOf } from '../semantic/repetition.js';
export type { Scope } from '../semantic/scope.js';
export { isAtLeast, isInstalled } from '../semantic/standing.js';
export {
  argumentsOf,
  contextManagers,
  enclosingClass,
  enclosingFunction,
  enclosingLoops,
  enclosingWiths,
  hasSplat,
  isCallee,
  isInExpressionScope,
  keywordArgument,
  keywordNames,
  keywordValue,
  methodName,
  positionalArguments,
  receiverOf,
  statementOf,
  swallowsErrors,
  unparenthesized,
} from '../semantic/statements.js';
export { plainString } from '../semantic/strings.js';
export type { NamedFile } from '../semantic/surroundings.js';
export { swallowingManager } from '../semantic/swallowing.js';
export { isTestCode, isTestFile } from '../semantic/test-code.js';
export { attributeUsesElsewhere } from '../semantic/uses-elsewhere.js';
export { hasWhole } from '../semantic/word-places.js';
export { behindBracket, linesOf, methodsBehind, withoutSubscripts } from '../syntax/code-text.js';
export type { Glimpse } from '../syntax/glimpse.js';
export { hasItsLines, ownsItsLines, startsItsLine } from '../syntax/layout.js';
export type { PyNode } from '../syntax/node.js';
export { copyOf, onOneLine, standalone, textBetween } from '../syntax/written.js';
export { readYaml, type YamlScalar, type YamlSection } from '../syntax/yaml.js';
export { IS_TORCH, isTorchCode } from '../torch/framework.js';
export { type Backward, backwards } from '../torch/grad/backward-calls.js';
export { doubtsAbout, keptOf } from '../torch/grad/doubts.js';
export {
  type Evaluation,
  evaluations,
  isFrozen,
  linesBeforeForward,
  mayEvaluate,
  SWITCHES,
} from '../torch/grad/evaluation.js';
export { hasInferenceFastPath, hasLstm } from '../torch/grad/fast-path.js';
export {
  mayReadNumbers,
  mayRunForOwnNumbers,
  NUMBERS,
  namesHandingOn,
} from '../torch/grad/numeric-cues.js';
export { numericFunctions, numericRunsIn } from '../torch/grad/numeric-runs.js';
export { gradlessReasons } from '../torch/grad/reasons.js';
export { compilerOf, importsTorch } from '../torch/grad/roles.js';
export { isInTraining } from '../torch/grad/teachers.js';
export { mayWalk, type Walk, walks } from '../torch/grad/walks.js';
export {
  type ArgumentsCall,
  argumentsCall,
  argumentsCalls,
  argumentsTakers,
  isDefault,
  isTrainerClass,
  libraryOf,
  mayMakeArguments,
  SETTINGS_OF_A_MODULE,
  setsField,
  showsTraining,
  takesLibraryKeyword,
  usesDeepSpeed,
} from '../torch/huggingface/huggingface.js';
export {
  isPipeline,
  type ModelLoad,
  mayLoadAnyModel,
  mayLoadModel,
  modelLoad,
} from '../torch/huggingface/pretrained.js';
export {
  CHECKPOINTING,
  CHECKPOINTING_ENABLE,
  CHECKPOINTING_KWARGS,
  formGates,
  kbitSwitch,
  mayLearnMore,
  NOT_REENTRANT,
  surroundingGates,
} from '../torch/module/checkpointing.js';
export { isModel, isTransformersModel, nameSaysModel } from '../torch/module/model-value.js';
export { moduleKind, registrationOf, runsInForward } from '../torch/module/modules.js';
export { networksOf } from '../torch/module/networks.js';
export { hasDetach, ONLY_READ } from '../torch/questions.js';
export { runsAlikeWithoutGradients } from '../torch/record/harmless.js';
export {
  graphCarrier,
  isDetachable,
  isWithoutGrad,
  type LossRecord,
  lossRecord,
} from '../torch/record/kept-loss.js';
export type { GradlessPart } from '../torch/record/left-behind.js';
export { lossTerm } from '../torch/record/loss-term.js';
export { storeGates } from '../torch/record/store-elsewhere.js';
export { inPlaceGates, startOf } from '../torch/statistic/in-place-statistic.js';
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
export {
  type AdamCall,
  adamCalls,
  isMadeOnGpu,
  optimizerDoes,
  otherEngine,
} from '../torch/training/optimizer-call.js';
export { type TrainedModel, trainedModels } from '../torch/training/trained-model.js';
export {
  accumulatingLoops,
  isOptimizer,
  mayTrain,
  type TrainingLoop,
  trainingLoops,
} from '../torch/training/training-loop.js';
export { isTraced, wrappingGates } from '../torch/training/wrapping.js';
export {
  differentiatingReader,
  mayBeReadOutside,
  onlyReadOutside,
} from '../values/effects/mode.js';
export { effectsOf, usesOf, valueOf } from '../values/index.js';

export { isEvaluation, isReport } from '../values/uses/report.js';

export { isCertainDevice } from '../values/value/device-value.js';
export { recordsNoGraph } from '../values/value/gradient.js';
export type { Held } from '../values/value/held-tensor.js';
export { type LowRank, lowRank, type MatrixProduct, matrixProduct } from '../values/value/low-rank.js';

export type * from './contract.js';
export { countPasses } from './counting.js';
export { EditBuilder, Unfixable } from './edit-builder.js';
export { withEvidence } from './evidence.js';
export {
  countsOn,
  onlyHere,
  requireArrival,
  requireOriginal,
  requireOriginals,
  requireTrainer,
  requireUncaught,
  requireVersion,
} from './gates.js';
export type { Plugin, PluginMeta, PluginToolkit, PluginTransform } from './plugin.js';
export { Proof } from './proof.js';

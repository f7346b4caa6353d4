import { all, any, not } from '../semantic/answer.js';
import { calledDefinition, classBehind, definitionBehind, methodNamed } from '../semantic/definitions.js';
import { reachingDefinitions } from '../semantic/flow.js';
import { shown } from '../semantic/gate.js';
import { importsPackage, nameFor, qualifiedName } from '../semantic/imports.js';
import { wholeNumber, writtenBehind } from '../semantic/literals.js';
import { ask } from '../semantic/question.js';
import {
  argumentsOf,
  contextManagers,
  enclosingClass,
  enclosingFunction,
  enclosingLoops,
  enclosingWiths,
  hasSplat,
  keywordArgument,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../semantic/statements.js';
import { plainString } from '../semantic/strings.js';
import { isTestFile } from '../semantic/test-code.js';
import type { Site, Transform, TransformMeta } from './contract.js';
import { Proof } from './proof.js';

/** The version of what follows, and of `EditBuilder`, `PyModule` and `PyNode` as `docs/plugins.md` describes them. */
export const API_VERSION = 1;

/** What a plugin is given to work with. Within a version names are added, and none is taken away or changed. */
export const pluginToolkit = {
  all,
  any,
  argumentsOf,
  ask,
  calledDefinition,
  classBehind,
  contextManagers,
  definitionBehind,
  enclosingClass,
  enclosingFunction,
  enclosingLoops,
  enclosingWiths,
  hasSplat,
  importsPackage,
  isTestFile,
  keywordArgument,
  methodName,
  methodNamed,
  nameFor,
  not,
  plainString,
  Proof,
  qualifiedName,
  reachingDefinitions,
  receiverOf,
  shown,
  statementOf,
  unparenthesized,
  wholeNumber,
  writtenBehind,
};

export type PluginToolkit = typeof pluginToolkit;

/** What has a default may be left out. */
type Defaulted = 'group' | 'options' | 'requires' | 'evidence' | 'origin' | 'example';

export interface PluginMeta
  extends Omit<TransformMeta, Defaulted | 'docs'>,
    Partial<Pick<TransformMeta, Defaulted>> {
  readonly docs: Pick<TransformMeta['docs'], 'why' | 'does'> & Partial<TransformMeta['docs']>;
}

/** A transform of a plugin: the same as one of memfix, without what only saves time. */
export interface PluginTransform<S extends Site = Site>
  extends Omit<Transform<S>, 'meta' | 'cue' | 'isIdle'> {
  readonly meta: PluginMeta;
}

/** The default export of a plugin's file. */
export interface Plugin {
  readonly apiVersion: typeof API_VERSION;
  transforms(toolkit: PluginToolkit): readonly PluginTransform[];
}

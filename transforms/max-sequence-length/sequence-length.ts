import { isModuleClass } from '../../src/library/paths.js';
import { type DefaultedOption, shadowingOption } from '../../src/semantic/command-line.js';
import { ancestryOf } from '../../src/semantic/definitions.js';
import { placeOf } from '../../src/semantic/gate.js';
import { type Given, givenIn } from '../../src/semantic/given.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { type Written, wholeNumber, writtenBehind } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { keywordArgument, keywordValue, methodName } from '../../src/semantic/statements.js';
import { plainString } from '../../src/semantic/strings.js';
import { isTestCode } from '../../src/semantic/test-code.js';
import { usesElsewhere } from '../../src/semantic/uses-elsewhere.js';
import type { PyNode } from '../../src/syntax/node.js';
import { libraryOf } from '../../src/torch/huggingface/huggingface.js';

/** A place that says how many tokens an example may have. */
export interface LengthPlace {
  /** The name to point at. */
  readonly name: PyNode;
  readonly written: Written;
  readonly tokens: number;
  /** How it reaches the data; undefined for a constant whose readers the file does not show. */
  readonly given: Given | undefined;
}

const KEYWORDS: readonly string[] = ['max_seq_length', 'max_length'];
const CONSTANT =
  /^[ \t]*(MAX_(?:SEQ(?:UENCE)?_)?LEN(?:GTH)?|MAX_SEQ_LENGTH|max_seq_length)[ \t]*(?::[ \t]*int[ \t]*)?=[ \t]*\d/gm;
/** An option of a command line, by its usual names. */
const OPTION = /["']--max[-_](?:seq(?:uence)?[-_])?len(?:gth)?["']/g;

/** Every place above a limit, each number once: keywords of trl and of tokenizers, constants and command line options of the usual names. */
export function lengthsAbove(module: PyModule, limit: number): readonly LengthPlace[] {
  const found = new Map<PyNode, LengthPlace>();
  const add = (name: PyNode, written: Written, given: Given | undefined): void => {
    const tokens = wholeNumber(written.node);
    if (tokens !== undefined && tokens > limit && !found.has(written.node))
      found.set(written.node, { name, written, tokens, given });
  };
  for (const given of KEYWORDS.flatMap((name) => givenIn(module, name))) {
    const isLoose = given.calls.length === 0 && given.name.text.includes('max_seq_length');
    if (isLoose || (given.calls.length > 0 && given.calls.every((call) => truncates(module, call))))
      add(given.name, writtenBehind(module, given.value), given);
  }
  for (const { index, 0: line } of module.text.matchAll(CONSTANT)) {
    const name = module.root.descendantAt(index + line.search(/\S/));
    const assignment = name.parent;
    const value = assignment?.type === 'assignment' ? assignment.right : undefined;
    const scope = module.resolve(name);
    if (name.type !== 'identifier' || value === undefined || scope?.kind !== 'module') continue;
    if (module.writes(scope, name.text).length === 1) add(name, { node: value, variable: name }, undefined);
  }
  for (const { index } of module.text.matchAll(OPTION)) {
    const flag = module.root.descendantAt(index + 1).closest('string');
    const call = flag?.parent?.parent;
    const value = call?.type === 'call' ? keywordValue(call, 'default') : undefined;
    if (flag === undefined || call === undefined || methodName(call) !== 'add_argument') continue;
    if (value !== undefined && keywordArgument(call, 'dest') === undefined)
      add(flag, { node: value, variable: undefined }, undefined);
  }
  return [...found.values()].sort((a, b) => a.name.start - b.name.start);
}

/** A use of a constant that never takes effect, and whether all others are in tests. */
export interface Idle {
  readonly place: string;
  readonly option: DefaultedOption;
  readonly isOnly: boolean;
}

/** Where the default of an option stands before a constant, here or in another file of the project. */
export function idleUse(module: PyModule, { written: { variable } }: LengthPlace): Idle | undefined {
  const scope = variable && module.resolve(variable);
  if (variable === undefined || scope === undefined) return undefined;
  const own = module.reads(scope, variable.text).map((node) => ({ module, node }));
  const look = { may: (text: string) => text.includes(variable.text), byName: false };
  const uses = [...own, ...usesElsewhere(module, variable, look).uses];
  const idle = uses.flatMap((use) => {
    const option = shadowingOption(use.module, use.node);
    return option === undefined ? [] : [{ ...use, option }];
  });
  const [first] = idle;
  if (first === undefined) return undefined;
  const others = uses.filter(({ node }) => !idle.some((each) => each.node === node));
  return {
    place: first.module === module ? 'this file' : placeOf(first.module, first.node),
    option: first.option,
    isOnly: others.every((use) => isTestCode(use.module, use.node)),
  };
}

/** A trainer of trl, unsloth's loader, or a tokenizer that is told to truncate. Never `generate`. */
function truncates(module: PyModule, call: PyNode): boolean {
  const callee = call.function;
  if (callee === undefined) return false;
  if (
    libraryOf(module, call) === 'trl' ||
    /^unsloth\.\w+\.from_pretrained$/.test(qualifiedName(module, callee) ?? '')
  )
    return true;
  const truncation = keywordValue(call, 'truncation');
  return (
    truncation !== undefined && truncation.type !== 'false' && /tokeniz|processor|encode/i.test(callee.text)
  );
}

/** Whether the number also shapes the model: a table of positions has as many rows, and checkpoints with it. */
export function shapesModel(module: PyModule, place: LengthPlace): boolean {
  return readsOf(module, place).some((read) => {
    const owner = read.closest('class_definition');
    if (owner !== undefined && ancestryOf(module, owner).imported.some(isModuleClass)) return true;
    for (let call = read.parent?.closest('call'); call !== undefined; call = call.parent?.closest('call')) {
      const callee = call.function;
      const path = (callee && qualifiedName(module, callee)) ?? callee?.text ?? '';
      if (/^torch\.|Embedding|\.generate$|position|Config$/i.test(path) && libraryOf(module, call) !== 'trl')
        return true;
    }
    return false;
  });
}

/** Where the file reads the variable, or the option as an attribute. */
function readsOf(module: PyModule, { name, written: { variable }, given }: LengthPlace): readonly PyNode[] {
  const scope = variable && module.resolve(variable);
  if (variable !== undefined) return scope === undefined ? [] : module.reads(scope, variable.text);
  const flag = given === undefined ? plainString(name)?.replace(/^-+/, '').replaceAll('-', '_') : undefined;
  if (flag === undefined) return [];
  return module.words(flag).filter(({ parent, text }) => text === flag && parent?.attribute?.text === flag);
}

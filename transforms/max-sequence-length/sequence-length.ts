import { ancestryOf } from '../../src/semantic/definitions.js';
import { type Given, givenIn } from '../../src/semantic/given.js';
import { qualifiedName } from '../../src/semantic/imports.js';
import { type Written, wholeNumber, writtenBehind } from '../../src/semantic/literals.js';
import type { PyModule } from '../../src/semantic/module.js';
import { keywordArgument } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import { isModuleClass } from '../../src/torch/catalog.js';
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

/** Every place above a limit, each number once: keywords of trl and of tokenizers, and constants of the usual names. */
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
    const value = assignment?.type === 'assignment' ? assignment.field('right') : undefined;
    const scope = module.resolve(name);
    if (name.type !== 'identifier' || value === undefined || scope?.kind !== 'module') continue;
    if (module.writes(scope, name.text).length === 1) add(name, { node: value, variable: name }, undefined);
  }
  return [...found.values()].sort((a, b) => a.name.start - b.name.start);
}

/** A trainer of trl, unsloth's loader, or a tokenizer that is told to truncate. Never `generate`. */
function truncates(module: PyModule, call: PyNode): boolean {
  const callee = call.field('function');
  if (callee === undefined) return false;
  if (
    libraryOf(module, call) === 'trl' ||
    /^unsloth\.\w+\.from_pretrained$/.test(qualifiedName(module, callee) ?? '')
  )
    return true;
  const truncation = keywordArgument(call, 'truncation')?.field('value');
  return (
    truncation !== undefined && truncation.type !== 'false' && /tokeniz|processor|encode/i.test(callee.text)
  );
}

/** Whether the number also shapes the model: a table of positions has as many rows, and checkpoints with it. */
export function shapesModel(module: PyModule, { written: { variable } }: LengthPlace): boolean {
  const scope = variable && module.resolve(variable);
  if (variable === undefined || scope === undefined) return false;
  return module.reads(scope, variable.text).some((read) => {
    const owner = read.closest('class_definition');
    if (owner !== undefined && ancestryOf(module, owner).imported.some(isModuleClass)) return true;
    for (let call = read.parent?.closest('call'); call !== undefined; call = call.parent?.closest('call')) {
      const callee = call.field('function');
      const path = (callee && qualifiedName(module, callee)) ?? callee?.text ?? '';
      if (/^torch\.|Embedding|\.generate$|position|Config$/i.test(path) && libraryOf(module, call) !== 'trl')
        return true;
    }
    return false;
  });
}

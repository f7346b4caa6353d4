import { isMaker, mayShare, ofTensor, row } from '../../library/library.js';
import { zeroGiven } from '../../semantic/counter.js';
import { definitionOf } from '../../semantic/flow.js';
import { calledPath } from '../../semantic/imports.js';
import type { PyModule } from '../../semantic/module.js';
import {
  argumentsOf,
  methodName,
  receiverOf,
  statementOf,
  unparenthesized,
} from '../../semantic/statements.js';
import type { Glimpse } from '../../syntax/glimpse.js';
import type { PyNode } from '../../syntax/node.js';

export const EVALUATION_NAME =
  /^_?(?:eval|evaluate|evaluation|val|valid|validate|validation|test|infer|inference)(?:_(?:epoch|one_epoch|loop|model|set|step|loss))?$/;

const TRAINS_OR_EVALUATES =
  /\bdef[ \t]+\w*?(?:eval|val_|valid|test|infer|predict|train|epoch|step|probe|report|diagnos|curve|metric|measure|monitor|check|drift)/i;

/**
 * The code with loops and a word that trains or evaluates, going by the text: elsewhere a sum or a list is part of a
 * computation, no record.
 */
export function recordingStretches(glimpse: Glimpse, word: string): readonly string[] {
  const { text } = glimpse;
  const trains = text.includes('backward(');
  // Where the text as a whole does neither, it need not be cut.
  if (!trains && !glimpse.memo(isRecordingSomewhere)) return [];
  const repeating = glimpse.repeatingWith(word);
  return trains ? repeating : repeating.filter(isRecording);
}

function isRecordingSomewhere({ text }: Glimpse): boolean {
  return isRecording(text);
}

function isRecording(text: string): boolean {
  return text.includes('.eval()') || TRAINS_OR_EVALUATES.test(text);
}

/**
 * A function without a backward returns what is in the variable, perhaps joined or divided: it may well be the loss.
 * `naming`: the lines of its text that name the variable.
 */
export function isHandedBack(text: string, name: string, naming: readonly string[]): boolean {
  const again = new RegExp(`(?<![\\w.])${name}[ \\t]*=(?!=)[^\\r\\n]*(?<![\\w.])${name}(?!\\w)`);
  if (text.includes('backward(') || naming.some((line) => again.test(line))) return false;
  if (EVALUATION_NAME.test(/\bdef[ \t]+(\w+)/.exec(text)?.[1] ?? '')) return false;
  const joined = `torch\\.(?:cat|stack)\\(${name}(?:,[^()\\r\\n]*)?\\)`;
  const plain = `(?:\\w+,[ \\t]*)*${name}(?!\\w)(?:[ \\t]*[-+*/][^.()\\r\\n]*)?`;
  const returns = new RegExp(`^[ \\t]+return[ \\t]+(?:${plain}|${joined})[ \\t]*(?:#.*)?\\r?$`);
  return naming.some((line) => returns.test(line));
}

const STEP = /=[ \t]*(?:\w+\.)?(\w+)\(/g;

/** The code takes a value from a function of the file, which may have differentiated it: `loss = self.train_step(batch)`. */
export function callsStep(code: string, file: string): boolean {
  if (!file.includes('backward(') || code.includes('backward(')) return false;
  return [...code.matchAll(STEP)].some(([, name = '']) => file.includes(`def ${name}(`));
}

/** A variable is set to `0.0`, or to a new tensor that nobody else holds. */
export function isZero(module: PyModule, place: PyNode): boolean {
  if (zeroGiven(place) !== undefined || isOneOfNoughts(place)) return true;
  const assignment = place.parent;
  const statement = statementOf(place);
  if (assignment?.type !== 'assignment' || statement.named[0] !== assignment) return false;
  const definition = definitionOf(place);
  if (definition.kind !== 'value' || assignment.right !== definition.value) return false;
  let value: PyNode | undefined = unparenthesized(definition.value);
  while (value?.type === 'call' && isMoved(methodName(value) ?? '')) value = receiverOf(value);
  if (value?.type !== 'call' || /requires_grad/.test(value.text)) return false;
  const path = calledPath(module, value);
  if (path === undefined) return methodName(value) === 'new_zeros';
  return path.endsWith('.zeros')
    ? isMaker(path)
    : row(path)?.makes === 'data' && isNought(argumentsOf(value)[0]);
}

/** `total, count = [0.0] * 2` */
function isOneOfNoughts(place: PyNode): boolean {
  const definition = definitionOf(place);
  const assignment = place.parent?.parent;
  if (definition.kind !== 'part' || assignment?.right !== definition.value) return false;
  if (statementOf(place).named[0] !== assignment) return false;
  const { type, operator, left, right } = unparenthesized(definition.value);
  const isRepeated = type === 'binary_operator' && operator?.text === '*' && right?.type === 'integer';
  return isRepeated && left?.type === 'list' && isNought(left);
}

/** `.to(device)`, `.float()`. */
function isMoved(name: string): boolean {
  const known = ofTensor(name.replace(/([^_])_$/, '$1'));
  return (
    (known?.shape === 'same' || known?.shape === 'fewer') &&
    mayShare(known) &&
    known.dtype !== 'whole' &&
    !known.attribute
  );
}

function isNought(node: PyNode | undefined): boolean {
  return node !== undefined && /^(?:\[\s*)?0(?:\.0*)?(?:\s*\])?$/.test(node.text);
}

import { ask, type Question } from '../../src/semantic/question.js';
import { enclosingFunction } from '../../src/semantic/statements.js';
import type { PyNode } from '../../src/syntax/node.js';
import type { Left } from './left-names.js';

/** A longer one is not told again. */
const LONG_PLACE = 30;

export function messageOf(name: string | undefined): string {
  return name === undefined
    ? 'while it is loaded, a checkpoint that was saved from a GPU is on that GPU again, beside what it holds already, once for each process'
    : `a checkpoint that was saved from a GPU goes back to that GPU and stays there until \`${name}\` is dropped, beside what it holds already, once for each process`;
}

export function messageAt(place: PyNode, name: string | undefined): string {
  const where = place.text.length <= LONG_PLACE ? `\`${place.text}\`` : 'the device that it names';
  return name === undefined
    ? `while it is loaded, all of the checkpoint is on ${where}, beside what that holds already`
    : `all of the checkpoint is on ${where} until \`${name}\` is dropped, beside what that holds already`;
}

export function mayStay({ name, kind }: Left): Question {
  const written = `\`${name.text}\``;
  const taker = enclosingFunction(name)?.name?.text;
  if (kind === 'import')
    return ask('left-without-use')`May ${written}, which this file imports, stay without a use?`;
  return kind === 'parameter' && taker !== undefined
    ? ask('left-without-use')`May the parameter ${written} of \`${taker}\` stay without a use?`
    : ask('left-without-use')`May the variable ${written} stay without a use?`;
}

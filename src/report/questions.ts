import type { Question } from '../semantic/question.js';

/** The questions as a reader is asked: those that differ only in whom they ask about are one, with "And `b`?" after it. */
export function askedTogether(questions: readonly Question[]): readonly string[] {
  const groups = new Map<string, { readonly text: string; readonly others: string[] }>();
  for (const { kind, subject, text } of questions) {
    const named = `\`${subject}\``;
    const shape = `${kind} ${subject === '' ? text : text.replace(named, '')}`;
    const alike = groups.get(shape);
    if (alike === undefined) groups.set(shape, { text, others: [] });
    else alike.others.push(named);
  }
  return [...groups.values()].map(({ text, others }) =>
    others.length === 0 ? text : `${text} And ${others.join(', ')}?`,
  );
}

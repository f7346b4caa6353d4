import type { Question } from '../semantic/question.js';
import { compareVersions } from '../semantic/versions.js';

/** The questions as a reader is asked: those that differ only in whom they ask about are one, with "And `b`?" after it. */
export function askedTogether(questions: readonly Question[]): readonly string[] {
  const groups = new Map<string, { readonly text: string; readonly others: string[] }>();
  for (const { kind, subject, text } of questions.filter((each) => !isImplied(each, questions))) {
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

/** `torch 1.12 or newer`, beside `torch 2.3 or newer`. */
function isImplied(question: Question, all: readonly Question[]): boolean {
  const least = leastOf(question);
  return (
    least !== undefined &&
    all.some((other) => {
      const more = leastOf(other);
      return more?.name === least.name && compareVersions(more.version, least.version) > 0;
    })
  );
}

function leastOf({ kind, subject }: Question): { name: string; version: string } | undefined {
  const [, name, version] = (kind === 'version' && /^(\S+) ([\d.]+) or newer$/.exec(subject)) || [];
  return name === undefined || version === undefined ? undefined : { name, version };
}

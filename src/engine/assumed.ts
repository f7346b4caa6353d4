import type { Question } from '../semantic/question.js';
import type { PyNode } from '../syntax/node.js';
import type { EngineSetup } from './engine.js';
import type { Finding } from './outcome.js';

/**
 * A finding with the questions that are left when what the configuration assumes is taken for granted. Where none is, its
 * fix is as safe as a proven one, by assumption, and says so.
 */
export function withAssumed(
  { assumes }: Pick<EngineSetup, 'assumes'>,
  finding: Finding,
  path: string,
): Finding {
  const isAssumed = finding.questions.map(
    (each) => assumes?.(finding.transform, each, path, finding.within) === true,
  );
  if (!isAssumed.includes(true)) return finding;
  const questions = finding.questions.filter((_, at) => !isAssumed[at]);
  const assumed = [...(finding.assumed ?? []), ...finding.questions.filter((_, at) => isAssumed[at])];
  const isSettled = finding.safety === 'unsafe' && questions.length === 0;
  return { ...finding, questions, assumed, safety: isSettled ? 'safe' : finding.safety };
}

/** A finding at a node with what an answer to its questions is remembered by. */
export function asRemembered(
  { subjectFor }: Pick<EngineSetup, 'subjectFor'>,
  finding: Finding,
  node: PyNode,
): Finding {
  const within = nameAround(node);
  const named = (questions: readonly Question[]) =>
    subjectFor === undefined
      ? questions
      : questions.map((each) => ({ ...each, subject: subjectFor(each.subject) }));
  return {
    ...finding,
    questions: named(finding.questions),
    ...(finding.answered && { answered: named(finding.answered) }),
    ...(within !== '' && { within }),
  };
}

/** A decorator is outside of what it decorates, and yet a part of it. */
function nameAround(node: PyNode): string {
  const definitions = [node, ...node.ancestors()].map((each) =>
    each.type === 'decorated_definition' ? (each.definition ?? each) : each,
  );
  const named = definitions.filter(
    ({ type }) => type === 'function_definition' || type === 'class_definition',
  );
  return [...new Set(named)]
    .reverse()
    .flatMap(({ name }) => name?.text ?? [])
    .join('.');
}

/** What the code proves. Unknown is never treated as yes. */
export type Answer = 'yes' | 'no' | 'unknown';

/** `no` when one is no, `yes` only when all are yes. */
export function all(answers: Iterable<Answer>): Answer {
  let result: Answer = 'yes';
  for (const answer of answers) {
    if (answer === 'no') return 'no';
    if (answer === 'unknown') result = 'unknown';
  }
  return result;
}

/** `yes` when one is yes, `no` only when all are no. */
export function any(answers: Iterable<Answer>): Answer {
  let result: Answer = 'no';
  for (const answer of answers) {
    if (answer === 'yes') return 'yes';
    if (answer === 'unknown') result = 'unknown';
  }
  return result;
}

export function not(answer: Answer): Answer {
  return answer === 'yes' ? 'no' : answer === 'no' ? 'yes' : 'unknown';
}

/**
 * What the code does not prove and a person can answer. Yes is always the answer under which the fix is right, so that a yes
 * to the question and a yes to the fix are one. `kind` and `subject` name it for `assume`, whatever words it is asked in.
 */
export interface Question {
  /** Which question of its transform it is: a slug that stays when the words change. */
  readonly kind: string;
  /** Whom it asks about: a name of the code, a file, a package. Empty where the question is about the machine or the run. */
  readonly subject: string;
  /** One sentence that ends with a question mark and names its subject. */
  readonly text: string;
}

/** What it asks and about whom, as `assume` names it behind the id of its transform: `kind(subject)`. */
export function aboutWhat({ kind, subject }: Question): string {
  return subject === '' ? kind : `${kind}(${subject})`;
}

/** Lines move: `train.py:12` is `train.py` to who remembers an answer. */
const LINE = /(?<=\.\w+):\d+/g;

/** The only way to make one: ``ask('sized')`Does ${code} have a length?` ``. The first value is its subject; it has none where a value is missing. */
export function ask(
  kind: string,
): (words: TemplateStringsArray, ...values: readonly (string | undefined)[]) => Question {
  return (words, ...values) => ({
    kind,
    subject: values.includes(undefined) ? '' : (values[0] ?? '').replaceAll('`', '').replace(LINE, ''),
    text: words.map((part, at) => part + (values[at] ?? '')).join(''),
  });
}

import { compareVersions } from './versions.js';

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

type Named = Pick<Question, 'kind' | 'subject'>;

/** What it asks and about whom, as `assume` names it behind the id of its transform: `kind(subject)`. */
export function aboutWhat({ kind, subject }: Named): string {
  return subject === '' ? kind : `${kind}(${subject})`;
}

/** Whether a yes to one question is a yes to another: torch 2.3 or newer is torch 1.12 or newer. */
export function implies(yes: Named, other: Named): boolean {
  if (yes.kind !== other.kind) return false;
  if (yes.subject === other.subject) return true;
  const [one, two] = [versionAskedFor(yes), versionAskedFor(other)];
  if (one === undefined || two === undefined || one.name !== two.name || one.isLeast !== two.isLeast)
    return false;
  // Whether 2.9.1 is newer than 2.9 is another question.
  if (two.isBeyond) return false;
  const difference = compareVersions(one.version, two.version);
  return one.isLeast ? difference >= 0 : difference <= 0;
}

/** A version is the same for all that ask about it; another subject of the same kind is another version. */
export function isAboutVersion(question: Named): boolean {
  return versionAskedFor(question) !== undefined;
}

function versionAskedFor({ kind, subject }: Named) {
  const [, name, least, beyond, below] =
    (kind === 'version' &&
      /^(\S+) (?:([\d.]+) or newer|newer than ([\d.]+)|older than ([\d.]+))$/.exec(subject)) ||
    [];
  const version = least ?? beyond ?? below;
  return name === undefined || version === undefined
    ? undefined
    : { name, version, isLeast: below === undefined, isBeyond: beyond !== undefined };
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

import { implies, type Question } from '../semantic/question.js';
import { isNotebookName } from '../text/notebook/notebook.js';

/** What is named in a question, with what is said about it behind its name: `` `fit` (`train.py:12`) ``. */
const NAMED = /`[^`]*`(?: \((?:[^()`]|`[^`]*`)*\))?/g;

interface Group {
  readonly text: string;
  readonly names: readonly string[];
  /** Which of the names differs from question to question; undefined as long as there is one question. */
  at?: number;
  readonly others: string[];
}

/**
 * The questions as the reader of a finding in `path` is asked: what another one implies is not asked, and those that differ
 * only in one name are one, with "And `b`?" after it.
 */
export function askedTogether(questions: readonly Question[], path: string): readonly string[] {
  const groups = new Map<string, Group[]>();
  const open = questions.filter((each, at) => !isImplied(each, at, questions));
  const asked = open.map((question) => {
    const text = fromInside(question.text, path);
    const shape = `${question.kind} ${text.replace(NAMED, '``')}`;
    const alike = groups.get(shape) ?? [];
    groups.set(shape, alike);
    const names = text.match(NAMED) ?? [];
    if (alike.some((group) => joins(group, names))) return undefined;
    const group: Group = { text, names, others: [] };
    alike.push(group);
    return group;
  });
  return asked.flatMap((group) => {
    if (group === undefined) return [];
    const { text, others } = group;
    return others.length === 0 ? text : `${text} And ${others.join(', ')}?`;
  });
}

/** Whether the names differ from those of the group where its own do, and in no other place. */
function joins(group: Group, names: readonly string[]): boolean {
  const differing = names.flatMap((name, at) => (name === group.names[at] ? [] : [at]));
  const [at, ...more] = differing;
  if (at === undefined) return true;
  if (more.length > 0 || (group.at !== undefined && group.at !== at)) return false;
  const name = names[at] ?? '';
  group.at = at;
  if (!group.others.includes(name)) group.others.push(name);
  return true;
}

/** The reader has the file before them: its own places are told by their lines. */
function fromInside(text: string, path: string): string {
  if (path === '') return text;
  const own = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const place = new RegExp(
    `(?<![\\w./-])(\`?)${own}(?::(\\d+)|: (cell \\d+, line \\d+))?\\1(?![\\w/-])`,
    'g',
  );
  return text.replace(place, (_, _tick, line?: string, cell?: string) => {
    if (line !== undefined) return `line ${line}`;
    return cell ?? (isNotebookName(path) ? 'this notebook' : 'this file');
  });
}

/** `torch 1.12 or newer`, beside `torch 2.3 or newer`. */
function isImplied(question: Question, at: number, all: readonly Question[]): boolean {
  return all.some(
    (other, place) =>
      other.subject !== question.subject &&
      implies(other, question) &&
      // Of two that say the same, the first is asked.
      (place < at || !implies(question, other)),
  );
}

import type { Edit } from '../edit/edit.js';
import type { PyModule } from '../semantic/module.js';
import { statementOf } from '../semantic/statements.js';
import type { PyNode } from '../syntax/node.js';
import { didYouMean, resembling } from '../text/resemblance.js';
import type { Transform } from '../toolkit/contract.js';
import type { Finding, Note } from './outcome.js';

/** Lines with other comments, or none, that may stand between a comment and the code that it is about. */
const MOST_BETWEEN = 10;
/** A comment in a note is cut after so many characters. */
const LONGEST_SHOWN = 40;

interface Directive {
  readonly scope: 'line' | 'file';
  readonly ids: readonly string[];
  /** The lines that it is about: its own, and the next one with code where it has a line to itself. */
  readonly lines: readonly number[];
  readonly offset: number;
  readonly used: Set<string>;
}

const VERBS = ['ignore', 'file-ignore'] as const;
const DIRECTIVE = /#\s*memfix:\s*(file-ignore|ignore)(?![\w-])(?:\[([^\]\n]*)\])?/g;
/** What may be meant for us and is no directive: our name before another word, and comments of other tools. */
const FOREIGN =
  /#\s*(?:memfix(?<mark>\s*:\s*|-|\s+)(?<word>[a-z][\w-]*)(?<open>\s?[[({])?|(?:eslint-disable\b|noqa:|pylint:|ruff:))(?:(?!#\s*memfix:)[^\n])*/gi;
/** Words of other tools for what our verbs do. */
const OTHERS_VERBS = /^(?:disable|noqa|off|skip|suppress)(?![^-])/i;

/** The `# memfix:` comments of a file and which of them earn their keep. */
export class Suppressions {
  readonly #directives: readonly Directive[];
  /** By what they silence: a transform in the whole file, or on a line. */
  readonly #byPlace = new Map<string, Directive[]>();

  /** `transforms`: those whose former ids a comment may use. */
  constructor(
    private readonly module: PyModule,
    transforms: readonly Transform[],
  ) {
    const own = new Map(
      transforms.flatMap(({ meta }) => (meta.aliases ?? []).map((alias) => [alias, meta.id])),
    );
    this.#directives = readDirectives(module).map((directive) => ({
      ...directive,
      ids: directive.ids.map((id) => own.get(id) ?? id),
    }));
    for (const directive of this.#directives)
      for (const place of directive.ids.flatMap((id) => placesOf(id, directive)))
        this.#byPlace.set(place, [...(this.#byPlace.get(place) ?? []), directive]);
  }

  /** Whether a comment silences this finding; remembers that it did. */
  silences(finding: Finding): boolean {
    if (this.#directives.length === 0) return false;
    const { transform } = finding;
    const places = [transform, ...linesOf(this.module, finding).map((line) => placeOnLine(transform, line))];
    const silencing = places.flatMap((place) => this.#byPlace.get(place) ?? []);
    for (const { used } of silencing) used.add(transform);
    return silencing.length > 0;
  }

  /** Comments that name no transform, and those of the selected transforms that silenced nothing. */
  notes(selected: ReadonlySet<string>, known: ReadonlySet<string>): readonly Note[] {
    const notes = [...this.#foreign(known), ...this.#own(selected, known)];
    return notes.sort(({ at: a }, { at: b }) => a.line - b.line || a.column - b.column);
  }

  /** Comments that are misspelt, or in the words of other tools, and silence nothing. */
  #foreign(known: ReadonlySet<string>): readonly Note[] {
    if (!/#\s*(?:memfix|noqa|pylint|ruff|eslint)/i.test(this.module.text)) return [];
    const own = new Set(this.#directives.filter(({ ids }) => ids.length > 0).map(({ offset }) => offset));
    return [...this.module.text.matchAll(FOREIGN)].flatMap((match) => {
      const { 0: comment, index, groups = {} } = match;
      const { mark, word, open } = groups;
      if (own.has(index) || this.module.root.descendantAt(index).type !== 'comment') return [];
      const id = idIn(comment, known, word !== undefined);
      const meant = word === undefined ? undefined : verbMeant(word);
      // Without a mark, our name may begin a sentence; after another word than ours, only a list in brackets is meant so.
      const isMeant =
        word === undefined || open !== undefined || (meant !== undefined && mark?.trim() !== '');
      if (!isMeant || (id === undefined && meant === undefined)) return [];
      const words = comment.trim().replace(/\s+/g, ' ');
      const shown = words.length > LONGEST_SHOWN ? `${words.slice(0, LONGEST_SHOWN)}…` : words;
      const at = this.module.lines.position(index);
      const isOfFile =
        meant === 'file-ignore' || (meant !== 'ignore' && isOverFile(comment, index, this.module.text));
      const right = `# memfix: ${isOfFile ? 'file-ignore' : 'ignore'}[${id ?? 'id'}]`;
      return [{ at, message: `\`${shown}\` silences nothing here; write \`${right}\`` }];
    });
  }

  #own(selected: ReadonlySet<string>, known: ReadonlySet<string>): readonly Note[] {
    return this.#directives.flatMap(({ scope, ids, offset, used }) => {
      const at = this.module.lines.position(offset);
      const verb = scope === 'file' ? 'file-ignore' : 'ignore';
      return ids.flatMap((id) => {
        if (!known.has(id))
          return [
            {
              at,
              message: `\`# memfix: ${verb}[${id}]\` names no transform that exists${meant(id, known)}`,
            },
          ];
        if (!selected.has(id) || used.has(id)) return [];
        return [{ at, message: `unused \`# memfix: ${verb}[${id}]\`: nothing to silence here` }];
      });
    });
  }
}

function idIn(comment: string, known: ReadonlySet<string>, mayBeMisspelt: boolean): string | undefined {
  const words = comment.toLowerCase().match(/[a-z][a-z0-9-]+/g) ?? [];
  const listed = mayBeMisspelt ? /[[({]\s*([\w-]+)/.exec(comment)?.[1] : undefined;
  return words.find((word) => known.has(word)) ?? (listed && resembling(listed, known));
}

/** Which of our verbs a word stands for: `igonre`, `Ignore`, `ignore-next-line`; other tools' words stand for either. */
function verbMeant(word: string): 'ignore' | 'file-ignore' | 'either' | undefined {
  if (OTHERS_VERBS.test(word)) return 'either';
  const resembled = resembling(word, VERBS);
  return VERBS.find((verb) => verb === resembled || word.toLowerCase().startsWith(`${verb}-`));
}

/** Other tools silence a file by a comment of its own before all code, unless it names a line. */
function isOverFile(comment: string, index: number, text: string): boolean {
  if (/-line\b|^#\s*noqa/.test(comment)) return false;
  return text
    .slice(0, index)
    .split('\n')
    .every((line) => /^\s*(?:#.*)?$/.test(line));
}

function meant(id: string, known: ReadonlySet<string>): string {
  const hint = didYouMean(id, known);
  return hint === '' ? '; `memfix list` shows their ids' : `.${hint}`;
}

function placesOf(id: string, { scope, lines }: Directive): readonly string[] {
  return scope === 'file' ? [id] : lines.map((line) => placeOnLine(id, line));
}

function placeOnLine(id: string, line: number): string {
  return `${id} on ${line}`;
}

/** The edit that silences a finding with a comment behind its line; undefined where no comment can stand. */
export function suppressionEdit(
  module: PyModule,
  finding: Finding,
  reason: string | undefined,
): Edit | undefined {
  const words = reason === undefined || reason.trim() === '' ? '' : ` ${reason.trim().replace(/\s+/g, ' ')}`;
  for (const line of linesOf(module, finding)) {
    const at = module.lines.end(line);
    if (canTakeComment(module, at))
      return { start: at, end: at, text: `  # memfix: ignore[${finding.transform}]${words}` };
  }
  return undefined;
}

function readDirectives(module: PyModule): readonly Directive[] {
  const found: Directive[] = [];
  if (!module.text.includes('memfix:')) return found;
  for (const match of module.text.matchAll(DIRECTIVE)) {
    const node = module.root.descendantAt(match.index);
    if (node.type !== 'comment') continue;
    found.push({
      scope: match[1] === 'file-ignore' ? 'file' : 'line',
      ids: (match[2] ?? '')
        .split(',')
        .map((id) => id.trim())
        .filter((id) => id !== ''),
      lines: linesMeant(module, match.index),
      offset: match.index,
      used: new Set(),
    });
  }
  return found;
}

function linesMeant(module: PyModule, offset: number): readonly number[] {
  const { lines, text } = module;
  const own = lines.lineAt(offset);
  if (text.slice(lines.start(own), offset).trim() !== '') return [own];
  const after = Array.from({ length: MOST_BETWEEN }, (_, at) => own + 1 + at);
  const next = after.find((line) => line <= lines.count && !/^\s*(?:#|$)/.test(lines.content(line)));
  return next === undefined ? [own] : [own, next];
}

/** The lines a comment may stand on: those of the finding, then the last and the first of its statement. */
function linesOf(module: PyModule, finding: Finding): readonly number[] {
  const { lines } = module;
  const found: number[] = [];
  for (let line = lines.lineAt(finding.span.start); line <= lines.lineAt(finding.span.end); line++)
    found.push(line);
  const statement = statementOf(module.root.descendantAt(finding.span.start));
  const definition = statement.named.find((child) => child.type.endsWith('_definition')) ?? statement;
  const body = definition.named.find((child) => child.type === 'block');
  const simple = body === undefined && !isCompound(statement);
  if (simple) found.push(lines.lineAt(statement.end));
  // Of a statement with a body, its head only; decorators belong to it.
  if (simple || (body !== undefined && finding.span.start < body.start)) {
    const whole = statement.parent?.type === 'decorated_definition' ? statement.parent : statement;
    found.push(lines.lineAt(definition.start), lines.lineAt(whole.start));
  }
  return [...new Set(found)];
}

function isCompound(statement: PyNode): boolean {
  return (
    statement.type.endsWith('_definition') || statement.named.some((child) => child.type.endsWith('_clause'))
  );
}

function canTakeComment(module: PyModule, lineEnd: number): boolean {
  const last = module.text[lineEnd - 1];
  if (last === '\\' && module.root.descendantAt(lineEnd - 1).type !== 'comment') return false;
  const node = module.root.descendantAt(lineEnd);
  const string = node.closest('string');
  return string === undefined || string.end <= lineEnd || string.start >= lineEnd;
}

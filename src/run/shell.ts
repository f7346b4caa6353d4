/** A word of a command, after its variables were replaced. */
export interface ShellWord {
  readonly text: string;
  readonly line: number;
  /** What it holds that the file does not say: `$BATCH`. */
  readonly unread: string | undefined;
}

type Quote = 'none' | 'single' | 'double';

interface Piece {
  readonly text: string;
  readonly quote: Quote;
}

interface RawWord {
  readonly pieces: readonly Piece[];
  readonly line: number;
}

interface RawCommand {
  readonly words: readonly RawWord[];
  /** After `&&` or `||`: it may not run. */
  readonly isConditional: boolean;
}

/** A longer value is taken for unknown: variables of variables can double it each time. */
const LONGEST = 4096;
const OPENERS: ReadonlySet<string> = new Set(['if', 'for', 'while', 'until', 'case', 'select', '{', '(']);
/** Another branch of an `if`, or a pattern of a `case`. */
const TURN = /^(?:else|elif|[^()]+\))$/;
const CLOSERS: ReadonlySet<string> = new Set(['fi', 'done', 'esac', '}', ')']);
/** Words before what is run or assigned; `main()` goes before the body of a function. */
const LEADER = /^(?:then|do|export|local|readonly|declare|[\w-]+\(\))$/;

/** The commands of a shell script in order, with the plain assignments above them put in. Nothing is run. */
export function commandsOf(text: string): readonly (readonly ShellWord[])[] {
  const state = new Variables();
  const commands: ShellWord[][] = [];
  for (const { words, isConditional } of rawCommands(text)) {
    const rest = [...words];
    const lead = () => (rest[0] === undefined ? '' : written(rest[0]));
    while (OPENERS.has(lead()) || TURN.test(lead()) || CLOSERS.has(lead()) || LEADER.test(lead())) {
      const word = lead();
      rest.shift();
      if (TURN.test(word) || CLOSERS.has(word)) state.leave();
      if (TURN.test(word) || OPENERS.has(word)) state.enter();
      if (word === 'for' || word === 'select') state.forget(rest.splice(0, 1).map(written)[0] ?? '');
    }
    if (lead() === 'read' || lead() === 'unset') for (const word of rest) state.forget(written(word));
    if (rest.length > 0 && rest.every((word) => state.isAssignment(word))) {
      for (const word of rest) state.assign(word, isConditional);
      continue;
    }
    const from = rest.findIndex((word) => !state.isAssignment(word));
    const made = from < 0 ? [] : rest.slice(from).flatMap((word) => state.expanded(word));
    const last = commands.at(-1);
    // A comment between two lines ends the command for a shell, though nobody means it to.
    if (made[0]?.text.startsWith('--') && last !== undefined) last.push(...made);
    else if (made.length > 0) commands.push(made);
  }
  return commands;
}

function written({ pieces }: RawWord): string {
  return pieces.map((piece) => piece.text).join('');
}

const ASSIGNMENT = /^([A-Za-z_]\w*)(\+?)=/;

/** What variables hold at one line of a script; what a branch assigns is unknown after it. */
class Variables {
  private readonly values = new Map<string, readonly ShellWord[]>();
  private readonly branches: Set<string>[] = [];

  enter(): void {
    this.branches.push(new Set());
  }

  leave(): void {
    for (const name of this.branches.pop() ?? []) this.forget(name);
  }

  forget(name: string): void {
    this.values.set(name, [unknown(`$${name}`, 0)]);
  }

  isAssignment({ pieces: [first] }: RawWord): boolean {
    return first?.quote === 'none' && ASSIGNMENT.test(first.text);
  }

  assign({ pieces, line }: RawWord, isConditional: boolean): void {
    const [first, ...others] = pieces;
    const [head = '', name = '', adds = ''] = ASSIGNMENT.exec(first?.text ?? '') ?? [];
    const tail = [{ text: first?.text.slice(head.length) ?? '', quote: 'none' as const }, ...others];
    const isArray = tail[0]?.text.startsWith('(') === true;
    const value = isArray
      ? rawCommands(written({ pieces: tail, line }).slice(1, -1)).flatMap((each) =>
          each.words.flatMap((word) => this.expanded({ ...word, line: line + word.line - 1 })),
        )
      : [joined(this.expanded({ pieces: tail.map(unsplit), line }), line)];
    const before = adds === '' ? [] : (this.values.get(name) ?? [unknown(`$${name}`, line)]);
    this.branches.at(-1)?.add(name);
    if (isConditional) this.forget(name);
    else if (!isArray) this.values.set(name, [joined([...before, ...value], line)]);
    else if (before.length + value.length > LONGEST) this.forget(name);
    else this.values.set(name, [...before, ...value]);
  }

  /** Unquoted, a variable with blanks in it becomes several words. */
  expanded({ pieces, line }: RawWord): readonly ShellWord[] {
    let words: ShellWord[] = [];
    let isOpen = false;
    const add = (word: ShellWord, isNew: boolean) => {
      const last = isNew || !isOpen ? undefined : words.at(-1);
      words = last === undefined ? [...words, word] : [...words.slice(0, -1), joined([last, word], line)];
      isOpen = true;
    };
    for (const piece of pieces) {
      if (piece.quote === 'single') {
        add({ text: piece.text, line, unread: undefined }, false);
        continue;
      }
      for (const part of piece.text.split(REFERENCE)) {
        if (part === '') continue;
        const held = part.startsWith('$') || part.startsWith('`') ? this.held(part, line) : undefined;
        if (held === undefined) add({ text: part, line, unread: undefined }, false);
        else
          held
            .flatMap((word) => (piece.quote === 'none' ? split(word) : [word]))
            .forEach((word, index) => {
              add({ ...word, line }, index > 0);
            });
      }
      if (piece.text === '') add({ text: '', line, unread: undefined }, false);
    }
    return words;
  }

  private held(part: string, line: number): readonly ShellWord[] {
    const [, plain, name = plain, whole, fallback] =
      /^\$(?:(\w+)|\{(\w+)(\[[@*]\])?(?::?-([^{}$`]*))?\})$/.exec(part) ?? [];
    const held = name === undefined ? undefined : this.values.get(name);
    if (held !== undefined) return whole === undefined ? held.slice(0, 1) : held;
    return fallback === undefined ? [unknown(part, line)] : [{ text: fallback, line, unread: undefined }];
  }
}

const REFERENCE = /(\$\w+|\$\{[^{}]*\}|\$\([^()]*\)|\$\S|`[^`]*`)/;

function unknown(text: string, line: number): ShellWord {
  return { text, line, unread: text };
}

function unsplit(piece: Piece): Piece {
  return piece.quote === 'none' ? { ...piece, quote: 'double' } : piece;
}

function joined(words: readonly ShellWord[], line: number): ShellWord {
  const text = words.map((word) => word.text).join('');
  const unread = words.find((word) => word.unread !== undefined)?.unread;
  return text.length > LONGEST ? unknown('$…', line) : { text, line, unread };
}

/** An unknown part makes only the word that it is in unknown. */
function split(word: ShellWord): readonly ShellWord[] {
  const parts = word.text.split(/\s+/).filter((part) => part !== '');
  if (parts.length <= 1) return parts.map((text) => ({ ...word, text }));
  return parts.map((text) => ({ text, line: word.line, unread: /[$`]/.test(text) ? text : undefined }));
}

const TOKEN =
  /(?<continued>\\\r?\n)|(?<newline>\r?\n)|(?<blank>[^\S\n]+)|(?<single>'[^']*'?)|(?<double>"(?:\\[\s\S]|[^"\\])*"?)|(?<call>\$\([^()]*\)|\$\{[^{}]*\}|`[^`]*`)|(?<here><<-?[^\S\n]*['"]?(\w+)['"]?)|(?<redirect>\d*[<>]+(?:&\d+|[^\S\n]*))|(?<both>&&|\|\|)|(?<end>;;|[;&|])|(?<escaped>\\[\s\S])|(?<plain>[^\s'"\\;&|<>$`]+|[\s\S])/gy;

/** Words as they are written, by command; comments and the text of here-documents are left out. */
function rawCommands(text: string): readonly RawCommand[] {
  const commands: RawCommand[] = [];
  let words: RawWord[] = [];
  let pieces: Piece[] = [];
  let isConditional = false;
  let line = 1;
  let from = 1;
  let here: string | undefined;
  const endWord = () => {
    if (pieces.length > 0) words.push({ pieces, line: from });
    pieces = [];
  };
  const endCommand = (isNext: boolean) => {
    endWord();
    if (words.length > 0) commands.push({ words, isConditional });
    words = [];
    isConditional = isNext;
  };
  const add = (piece: string, quote: Quote) => {
    if (pieces.length === 0) from = line;
    const last = pieces.at(-1);
    if (quote !== 'none' || last?.quote !== 'none') pieces.push({ text: piece, quote });
    else pieces = [...pieces.slice(0, -1), { text: last.text + piece, quote }];
  };
  const token = new RegExp(TOKEN);
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [all] = match;
    const is = match.groups ?? {};
    const skip = (pattern: RegExp) => {
      const found = pattern.exec(text.slice(token.lastIndex));
      token.lastIndex = found === null ? text.length : token.lastIndex + found.index;
    };
    if (is['blank'] !== undefined || is['continued'] !== undefined) endWord();
    else if (is['newline'] !== undefined) {
      endCommand(false);
      if (here !== undefined) {
        const end = new RegExp(`^\\s*${here}\\s*$`, 'm');
        const body = text.slice(token.lastIndex);
        skip(end);
        line += (body.slice(0, body.length - (text.length - token.lastIndex)).match(/\n/g) ?? []).length;
        here = undefined;
      }
    } else if (is['both'] !== undefined) endCommand(true);
    else if (is['end'] !== undefined) endCommand(all === '|' && isConditional);
    else if (is['here'] !== undefined) here = /\w+/.exec(all)?.[0];
    else if (is['redirect'] !== undefined) {
      endWord();
      skip(/[\s;&|]/);
    } else if (all.startsWith('#') && pieces.length === 0) skip(/\r?\n/);
    else if (is['single'] !== undefined) add(all.replaceAll("'", ''), 'single');
    else if (is['double'] !== undefined) add(unescaped(all), 'double');
    else if (is['escaped'] !== undefined) add(all.slice(1), 'single');
    else if (/^\w+\+?=\($/.test(all.slice(0, all.indexOf('(') + 1)) && pieces.length === 0) {
      const rest = text.slice(token.lastIndex - all.length);
      const array = rest.slice(0, rest.indexOf(')') + 1 || rest.length);
      add(array, 'none');
      token.lastIndex += array.length - all.length;
      line += (array.match(/\n/g) ?? []).length;
      endWord();
      continue;
    } else add(all, 'none');
    line += (all.match(/\n/g) ?? []).length;
  }
  endCommand(false);
  return commands;
}

function unescaped(quoted: string): string {
  return quoted
    .replace(/^"|"$/g, '')
    .replaceAll(/\\(\r?\n|["\\])/g, (_, each: string) => (/\n/.test(each) ? '' : each));
}

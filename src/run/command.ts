import type { YamlScalar } from '../syntax/yaml.js';
import { commandsOf, type ShellWord } from './shell.js';

/** An option of a command: `--rank 8`, `--rank=8`, or `--fp16` alone. */
interface Option {
  /** Without dashes: `gradient_checkpointing`. */
  readonly name: string;
  readonly value: YamlScalar;
  readonly line: number;
  readonly words: string;
  /** Its value is of a variable that the file does not set. */
  readonly isUnread: boolean;
}

interface Command {
  readonly options: readonly Option[];
  /** Each a sentence. */
  readonly remarks: readonly string[];
}

/** The command of a shell script that runs `script`; without it, the first that runs Python, or that with most options. */
export function commandIn(path: string, text: string, script: string | undefined): Command | undefined {
  const commands = commandsOf(text)
    .filter(([first]) => !/^(?:echo|printf|pip3?|conda|source)$/.test(first?.text ?? ''))
    .map((words) => ({ words, options: optionsOf(words), runs: scriptIn(words) }))
    .filter(({ options }) => options.length > 0);
  const running = commands.filter(({ runs }) => runs !== undefined);
  const own = script === undefined ? running : running.filter(({ runs }) => runs === nameOf(script));
  const [largest] = commands.toSorted((a, b) => b.options.length - a.options.length);
  const chosen = own[0] ?? running[0] ?? largest;
  if (chosen === undefined) return undefined;
  const isOther = script !== undefined && own.length === 0 && chosen.runs !== undefined;
  const at = chosen.words[0]?.line ?? 1;
  return {
    options: chosen.options,
    remarks: [
      ...(isOther ? [`\`${path}\` runs \`${chosen.runs}\` (line ${at}), not \`${nameOf(script)}\`.`] : []),
      ...(own.length > 1
        ? [`\`${path}\` runs \`${chosen.runs}\` ${own.length} times; the first (line ${at}) is counted.`]
        : []),
    ],
  };
}

function nameOf(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}

function scriptIn(words: readonly ShellWord[]): string | undefined {
  const found = words.find(({ text, unread }) => unread === undefined && /^[^-].*\.py$/.test(text));
  return found && nameOf(found.text);
}

function optionsOf(words: readonly ShellWord[]): readonly Option[] {
  return words.flatMap((word, index) => {
    const [, name, own] = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(word.text) ?? [];
    if (name === undefined) return [];
    const next = words[index + 1];
    const given =
      own === undefined && next !== undefined && !/^--?[A-Za-z]/.test(next.text) ? next : undefined;
    const text = own ?? given?.text;
    const unread = word.unread ?? given?.unread;
    const off = text === undefined ? /^no[-_](.+)$/.exec(name)?.[1] : undefined;
    return {
      name: (off ?? name).replaceAll('-', '_'),
      value: text === undefined ? off === undefined : scalarOf(text),
      line: word.line,
      words: given === undefined ? word.text : `${word.text} ${given.text}`,
      isUnread: unread !== undefined,
    };
  });
}

function scalarOf(text: string): YamlScalar {
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  const number = Number(text);
  return /^[-+.\d]/.test(text) && !Number.isNaN(number) ? number : text;
}

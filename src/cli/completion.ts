import { FAILING } from '../workspace/fail-on.js';
import { COMMANDS, type CommandName, commandInfo } from './commands.js';
import { summaryIn } from './help.js';
import { COLOR_CHOICES } from './io.js';
import { type OptionName, optionInfo } from './options.js';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;

type Shell = (typeof SHELLS)[number];

/** An option as a shell sees it: its spellings, its words, and what it says about itself. */
interface Choice {
  readonly long: string;
  readonly short: string | undefined;
  readonly takes: 'nothing' | 'words' | 'files' | 'anything';
  readonly words: readonly string[];
  readonly summary: string;
}

interface Completed {
  readonly name: CommandName;
  readonly summary: string;
  readonly options: readonly Choice[];
  /** What may follow besides files. */
  readonly operands: readonly string[];
}

const FILES: ReadonlySet<string> = new Set(['FILE', 'LOG', 'PATH', 'PATHS', 'DIR']);
const NAMED: ReadonlySet<string> = new Set(['list', 'explain']);

/** `names`: ids, groups and symptoms. */
export function scriptFor(shell: Shell, names: readonly string[]): string {
  const commands = (Object.keys(COMMANDS) as readonly CommandName[]).map((name): Completed => {
    const { options, summary } = commandInfo(name);
    const operands = NAMED.has(name) ? names : name === 'completions' ? SHELLS : [];
    return {
      name,
      summary: plain(summary),
      options: options.flatMap((option) => choicesOf(name, option, names)),
      operands,
    };
  });
  return { bash, zsh, fish, powershell }[shell](commands);
}

function choicesOf(command: CommandName, option: OptionName, names: readonly string[]): readonly Choice[] {
  const { type, short, value = '', shown = option } = optionInfo(option);
  const summary = plain(summaryIn(command, option));
  const words = wordsOf(command, option, names);
  const takes =
    type === 'boolean' ? 'nothing' : words.length > 0 ? 'words' : FILES.has(value) ? 'files' : 'anything';
  const choice = { long: `--${option}`, short: short && `-${short}`, takes, words, summary } as const;
  if (shown.startsWith('[no-]')) return [choice, { ...choice, long: `--no-${option}`, short: undefined }];
  return [{ ...choice, long: `--${shown}` }];
}

function wordsOf(command: CommandName, option: OptionName, names: readonly string[]): readonly string[] {
  if (option === 'output-format') return commandInfo(command).formats ?? [];
  if (option === 'color') return COLOR_CHOICES;
  if (option === 'fail-on') return FAILING;
  return optionInfo(option).value === 'NAMES' ? names : [];
}

/** Without the marks of code, which shells take for their own. */
function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll("'", '’');
}

function bash(commands: readonly Completed[]): string {
  const options = ({ options }: Completed) =>
    options.flatMap(({ long, short }) => [long, ...(short ? [short] : [])]).join(' ');
  const values = ({ name, options }: Completed) =>
    options
      .filter(({ takes }) => takes !== 'nothing')
      .map(({ long, short, takes, words }) => {
        const spelt = [long, ...(short ? [short] : [])].map((each) => `${name}:${each}`).join('|');
        const answer =
          takes === 'words' ? `words="${words.join(' ')}"` : takes === 'files' ? 'files=1' : 'none=1';
        return `    ${spelt}) ${answer} ;;\n`;
      })
      .join('');
  return `# bash completion for memfix: source <(memfix completions bash)
_memfix() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command="" words="" files="" none="" index
  # With = among the characters that break words, --option=value arrives in three of them.
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
    ${commands.map(({ name }) => name).join(' | ')}) command=\${COMP_WORDS[index]} && break ;;
    esac
  done
  if [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')} --help --version" -- "$current"))
    return
  fi
  case $command:$previous in
${commands.map(values).join('')}  esac
  if [[ -n $none ]]; then
    return
  elif [[ -n $files ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $current == -* ]]; then
    case $command in
${commands.map((each) => `    ${each.name}) words="${options(each)}" ;;\n`).join('')}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    case $command in
${commands.flatMap(({ name, operands }) => (operands.length === 0 ? [] : [`    ${name}) words="${operands.join(' ')}" ;;\n`])).join('')}    esac
    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi
  fi
}
complete -o filenames -F _memfix memfix
`;
}

function zsh(commands: readonly Completed[]): string {
  const quoted = (text: string) => text.replace(/[[\]:\\]/g, '\\$&');
  const spec = ({ long, short, takes, words, summary }: Choice) => {
    const told = `[${quoted(summary)}]`;
    const value = {
      nothing: '',
      words: `:value:(${words.join(' ')})`,
      files: ':file:_files',
      anything: ':value:',
    }[takes];
    return [long, ...(short ? [short] : [])].map((each) => {
      const name = takes === 'nothing' || !each.startsWith('--') ? each : `${each}=`;
      return `'*${name}${told}${value}'`;
    });
  };
  const rest = ({ operands }: Completed) =>
    operands.length === 0 ? "'*:file:_files'" : `'*:name:(${operands.join(' ')})'`;
  return `#compdef memfix
# zsh completion for memfix: memfix completions zsh > "\${fpath[1]}/_memfix"
_memfix() {
  local -a commands=(
${commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'\n`).join('')}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${commands.map((each) => `    ${each.name}) _arguments -s ${[...each.options.flatMap(spec), rest(each)].join(' \\\n      ')} ;;\n`).join('')}  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _memfix "$@"; else compdef _memfix memfix; fi
`;
}

function fish(commands: readonly Completed[]): string {
  const none = '__fish_use_subcommand';
  const line = (name: string, { long, short, takes, words, summary }: Choice) =>
    [
      `complete -c memfix -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)}`,
      ...(short ? [`-s ${short.slice(1)}`] : []),
      ...{ nothing: [], words: [`-x -a '${words.join(' ')}'`], files: ['-r -F'], anything: ['-x'] }[takes],
      `-d '${summary}'`,
    ].join(' ');
  return [
    '# fish completion for memfix: memfix completions fish > ~/.config/fish/completions/memfix.fish',
    ...commands.map(({ name, summary }) => `complete -c memfix -n ${none} -f -a ${name} -d '${summary}'`),
    ...commands.flatMap(({ name, options, operands }) => [
      ...options.map((choice) => line(name, choice)),
      ...(operands.length === 0
        ? []
        : [`complete -c memfix -n '__fish_seen_subcommand_from ${name}' -f -a '${operands.join(' ')}'`]),
    ]),
    '',
  ].join('\n');
}

function powershell(commands: readonly Completed[]): string {
  const list = (words: readonly string[]) => `@(${words.map((word) => `'${word}'`).join(', ')})`;
  const values = ({ name, options }: Completed) =>
    options
      .filter(({ words }) => words.length > 0)
      .map(({ long, words }) => `    '${name} ${long}' = ${list(words)}\n`)
      .join('');
  return `# PowerShell completion for memfix: memfix completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName memfix -ScriptBlock {
  param($word, $ast, $position)
  $commands = [ordered]@{
${commands.map(({ name, options, operands }) => `    '${name}' = ${list([...options.flatMap(({ long, short }) => [long, ...(short ? [short] : [])]), ...operands])}\n`).join('')}  }
  $values = @{
${commands.map(values).join('')}  }
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })
  $command = $before | Select-Object -Skip 1 | Where-Object { $commands.Contains($_) } | Select-Object -First 1
  $words = if (-not $command) { @($commands.Keys) + '--help', '--version' }
    elseif ($values.ContainsKey("$command $($before[-1])")) { $values["$command $($before[-1])"] }
    else { $commands[$command] }
  $words | Where-Object { $_ -like "$word*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}

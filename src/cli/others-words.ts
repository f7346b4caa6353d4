import { COMMANDS, type CommandName, commandInfo } from './commands.js';
import { optionInfo } from './options.js';

const MOST_OWNERS = 3;

/** What other tools call our commands. */
export const OTHERS_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['lint', 'check'],
  ['lsp', 'server'],
  ['language-server', 'server'],
  ['linter', 'list'],
  ['rules', 'list'],
  ['patch', 'diff'],
  ['revert', 'undo'],
  ['oom', 'check --oom'],
  ['doctor', 'check --oom'],
  ['diagnose', 'check --oom'],
  ['debug', 'check --oom'],
  ['clean', 'check --no-cache'],
  ['format', 'apply'],
  ['add', 'apply -i'],
  ['why', 'explain'],
]);

const MAKE_CONFIG =
  ' A config is optional: `[tool.memfix]` in pyproject.toml, or memfix.toml; `memfix config` shows what is in force.';

/** Words at the start of other tools' command lines, with a sentence each. */
export const OTHERS_STARTS: ReadonlyMap<string, string> = new Map([
  ['init', MAKE_CONFIG],
  ['--init', MAKE_CONFIG],
  ['--env-info', ' Did you mean `memfix --version`?'],
]);

/** What other tools call our options. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--show-fixes', 'memfix diff'],
  ['--format', '--output-format'],
  ['--output-file', '--output'],
  ['--patch', 'apply --interactive'],
  ['-p', 'apply --interactive'],
  ['--cached', '--staged'],
  ['--add-noqa', 'memfix baseline'],
  ['--fix-dry-run', 'memfix diff'],
  ['--fix-only', 'memfix apply'],
  ['--print-config', 'memfix config'],
  ['--extend-exclude', '--exclude'],
  ['--extend-ignore', '--ignore'],
  ['-n', '--no-cache'],
  ['--show-source', '--output-format full'],
  ['--cache-location', '--cache-dir'],
  ['--rulesdir', '--plugin'],
  ['--suppress-all', 'memfix baseline'],
  ['--stats', '--statistics'],
  ['--inspect-config', 'memfix config'],
  ['--no-eslintrc', '--isolated'],
  ['--no-config-lookup', '--isolated'],
  ['-c', '--config'],
  ['--stdin', '-'],
  ['--debug', '--verbose'],
  ['--fix-type', '--select'],
  ['--ignore-pattern', '--exclude'],
  ['--silent', '--quiet'],
  ['-s', '--quiet'],
  ['-e', '--exit-zero'],
  ['-w', '--watch'],
  ['--stat', 'memfix check --statistics'],
  ['--preview', '--extend-select opt-in'],
]);

/** What is said elsewhere: a sentence. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['--per-file-ignores', 'It is a key of the config: `[tool.memfix.per-file-ignores]`.'],
  [
    '--ignore-noqa',
    'What a comment silences is counted by `-v`, and comes back when `# memfix: ignore[id]` is removed.',
  ],
  [
    '--exit-non-zero-on-fix',
    '`memfix diff --exit-code` exits with 1 where there is something to fix, before it is done.',
  ],
  [
    '--max-warnings',
    'Any finding exits with 1; `--fail-on safe` or `--fail-on leak` is for fewer, `--baseline` for new ones only.',
  ],
  ['--no-respect-gitignore', 'A file that is named is read, also where git ignores it.'],
  [
    '--ignore-path',
    'What git ignores is passed over as it is; `--exclude`, or `exclude` of the config, names more.',
  ],
  ['--no-inline-config', 'What a comment silences is counted by `-v`.'],
  ['--node-ipc', 'It speaks on standard input and output: `--stdio`.'],
  ['--socket', 'It speaks on standard input and output: `--stdio`.'],
  ['--pipe', 'It speaks on standard input and output: `--stdio`.'],
  ['--no-ignore', 'A file that is named is read, also where git ignores it.'],
  ['--report-unused-disable-directives', 'Comments that silence nothing are always told.'],
  ['--rule', '`--select` and `--ignore` choose transforms; `--fail-on` says which findings fail a run.'],
  ['--include', 'Name the files or folders as paths.'],
  ['--ext', 'Python files and notebooks are read; name others as paths.'],
]);

const UNDO_FIRST =
  '`memfix undo` names each file that it restores; until then `git diff` shows what would go, and `memfix apply` makes it again.';

/** The same for an option of one command. */
const OF_COMMAND: ReadonlyMap<string, string> = new Map([
  ['config --init', MAKE_CONFIG.trim()],
  ['undo --dry-run', UNDO_FIRST],
  ['undo --list', UNDO_FIRST],
  ['diff --name-only', '`memfix diff | git apply --numstat` lists the files.'],
]);

/** A hint for an option of another tool, made to be appended to a sentence; undefined where there is none. */
export function othersOption(typed: string, command?: CommandName): string | undefined {
  const here = OF_COMMAND.get(`${command} ${typed}`);
  if (here !== undefined) return ` ${here}`;
  const own = OPTIONS.get(typed);
  if (own !== undefined) return ` Did you mean \`${own}\`?`;
  const sentence = ELSEWHERE.get(typed);
  return sentence === undefined ? undefined : ` ${sentence}`;
}

/** The same for an option that other commands of ours have. */
export function ownedElsewhere(typed: string, command: CommandName): string | undefined {
  const names = Object.keys(COMMANDS) as readonly CommandName[];
  const owners = names.filter(
    (name) =>
      name !== command &&
      commandInfo(name).options.some(
        (each) => typed === `--${each}` || typed === `-${optionInfo(each).short}`,
      ),
  );
  const [first, ...others] = owners.slice(0, MOST_OWNERS).map((name) => `\`memfix ${name}\``);
  if (first === undefined) return undefined;
  return ` It is an option of ${others.length === 0 ? first : `${[first, ...others.slice(0, -1)].join(', ')} and ${others.at(-1)}`}.`;
}

/** Formats of other tools, and the one of ours that is for the same eyes or machines. */
export const OTHERS_FORMATS: ReadonlyMap<string, string> = new Map([
  ['text', 'short'],
  ['stylish', 'short'],
  ['grouped', 'short'],
  ['codeframe', 'full'],
  ['pylint', 'concise'],
  ['compact', 'concise'],
  ['unix', 'concise'],
  ['visualstudio', 'concise'],
  ['rdjson', 'sarif'],
  ['azure', 'junit'],
  ['checkstyle', 'junit'],
  ['jslint-xml', 'junit'],
  ['html', 'markdown'],
]);

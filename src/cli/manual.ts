import { COMMANDS, type CommandName, commandInfo } from './commands.js';
import { HEADINGS, headingIn, spelling, summaryIn } from './help.js';

const EXIT_CODES: readonly (readonly [string, string])[] = [
  ['0', 'nothing found, or everything fixed'],
  ['1', 'findings remain'],
  ['2', 'wrong usage or configuration, a file that could not be written, or a bug of memfix'],
  ['130, 143, 129', 'interrupted: by Ctrl-C, SIGTERM, SIGHUP'],
];

const VARIABLES: readonly (readonly [string, string])[] = [
  ['MEMFIX_STATE_DIR', 'the folder for the undo journal and the cache, as an absolute path'],
  ['MEMFIX_PARSER', 'wasm or native: which parser is used'],
  ['MEMFIX_FILE_LIMIT', 'seconds that one file may take (default 30)'],
  ['NO_COLOR, FORCE_COLOR', 'never or always use colours, unless --color says otherwise'],
];

/** memfix(1), made of what `--help` shows. */
export function manualPage(version: string): string {
  const commands = (Object.keys(COMMANDS) as readonly CommandName[]).flatMap((name) => commandSection(name));
  return [
    `.TH MEMFIX 1 "" "memfix ${version}" "User Commands"`,
    ...section('NAME'),
    'memfix \\- byte\\-exact, proven fixes for PyTorch training code that wastes GPU memory',
    ...section('SYNOPSIS'),
    '.B memfix',
    '.I command',
    '[\\fIoptions\\fR] [\\fIpaths\\fR]',
    ...section('DESCRIPTION'),
    escaped(
      'memfix reads PyTorch training code, finds the places that waste GPU memory or break tomorrow, and fixes the ones it can prove to be safe, byte for byte.',
    ),
    ...section('COMMANDS'),
    ...commands,
    ...section('EXIT STATUS'),
    ...EXIT_CODES.flatMap(([code, meaning]) => item(code, meaning)),
    ...section('ENVIRONMENT'),
    ...VARIABLES.flatMap(([name, meaning]) => item(name, meaning)),
    ...section('FILES'),
    ...item(
      'memfix.toml, pyproject.toml',
      'the nearest config, the latter in [tool.memfix]; `memfix config` explains it',
    ),
    ...item('memfix-baseline.json', 'what `memfix baseline` recorded'),
    '',
  ].join('\n');
}

function commandSection(name: CommandName): string[] {
  const { operands, about, options, examples } = commandInfo(name);
  return [
    `.SS ${escaped(`memfix ${name} ${operands}`.trimEnd())}`,
    ...about.split('\n').map(escaped),
    ...HEADINGS.flatMap((heading) =>
      options
        .filter((option) => headingIn(name, option) === heading)
        .flatMap((option) => item(spelling(option).trim(), summaryIn(name, option))),
    ),
    '.PP',
    'Examples:',
    ...examples.flatMap(([line, meaning]) => item(line, meaning)),
  ];
}

function section(title: string): string[] {
  return [`.SH ${title}`];
}

function item(term: string, text: string): string[] {
  return ['.TP', `\\fB${escaped(term)}\\fR`, escaped(text)];
}

/** Hyphens of options are hyphens, backslashes are backslashes, and no line of text is taken for a request. */
function escaped(text: string): string {
  const safe = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('’', "'")
    .replaceAll('`', '');
  return /^[.']/.test(safe) ? `\\&${safe}` : safe;
}

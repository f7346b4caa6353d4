import { type CommandInfo, EVERYWHERE, SCAN } from './command-info.js';
import { PAGE_FORMATS } from './formats.js';
import type { OptionName } from './options.js';

/** `baseline` changes nothing and reads no text. */
const BASELINE = SCAN.filter(
  (name) => !['fixable', 'unfixable', 'unsafe-fixes', 'stdin-filename'].includes(name),
);

/** Commands that set memfix up in a project or a shell. */
export const SETUP_COMMANDS = {
  baseline: {
    summary: "record today's findings, so that `check --baseline` reports only new ones",
    operands: '[paths…]',
    about:
      'Writes memfix-baseline.json at the root of the repository, for you to commit. A finding is known by its own words and\n' +
      'the functions around it, not by its line: it stays known when code moves, also to a file of another name. Findings in\n' +
      'files outside of the paths given stay recorded. Run it again to forget what is gone.\n' +
      'Exits with 0, or with 2 on an error.',
    options: BASELINE,
    examples: [
      ['memfix baseline', 'all findings of this folder are old debts from now on'],
      ['memfix check --baseline', 'only what is new; fails when there is something'],
      ['memfix baseline -o debts.json src/', 'in another file, which `check --baseline=debts.json` reads'],
    ],
  },
  config: {
    summary: 'explain the settings in force, and where each comes from',
    operands: '[paths…]',
    about:
      'Every setting with its value and its source: an option of the command line, the nearest config file, one that it\n' +
      'extends, or the default; what does not count is shown with the reason. `memfix check --show-settings` also tells which\n' +
      'transforms that comes to, and the versions found. With `--schema`, the JSON schema of config files, for editors.\n' +
      'Exits with 0, or with 2 on an error.',
    formats: PAGE_FORMATS,
    options: [
      ...['select', 'extend-select', 'ignore', 'fixable', 'unfixable', 'unsafe-fixes'],
      ...['config', 'isolated', 'plugin', 'target-version', 'strict-config'],
      ...['schema', 'output-format', 'output'],
      ...EVERYWHERE,
    ] as readonly OptionName[],
    examples: [
      ['memfix config', 'where the settings of this folder come from'],
      ['memfix config --schema -o memfix.schema.json', 'for an editor that checks TOML'],
    ],
  },
  trust: {
    summary: 'let the plugins that a config names be loaded',
    operands: '[folder]',
    about:
      'A plugin is code that runs as you. A config file that names plugins loads none by itself, since it may have come with a\n' +
      'cloned repository: only after this command, in this repository, on this machine, and only those that are named now.\n' +
      '`--plugin` loads one for a single run. docs/plugins.md says how to write one.\n' +
      'Exits with 0, or with 2 on an error.',
    options: ['forget', 'config', 'output', ...EVERYWHERE],
    examples: [
      ['memfix trust', 'the plugins of this repository'],
      ['memfix trust --forget', 'take it back'],
    ],
  },
  'new-transform': {
    summary: 'begin a transform of your own',
    operands: '<id> [folder]',
    about:
      'Writes a plugin with one transform, a fixture that it fixes, one that it keeps, and a test, into memfix_rules/ or the\n' +
      'folder given, and prints the lines for your config. docs/plugins.md says how to go on.\n' +
      'Exits with 0, or with 2 on an error.',
    options: ['output', ...EVERYWHERE],
    examples: [['memfix new-transform acme-cache', 'memfix_rules/acme-cache.mjs, its fixtures and its test']],
  },
  'test-transform': {
    summary: 'hold the fixtures of your own transforms to the laws of memfix',
    operands: '[plugins…]',
    about:
      'Byte-exact outside of edits, stable when run again, still Python, the same with other line ends and names, nothing\n' +
      'changed that must be kept: all that the transforms of memfix itself are held to. Without files, the plugins that the\n' +
      'config names, where you trust them. Exits with 0, 1 when a law is broken, 2 on an error.',
    options: ['record', 'config', 'output', ...EVERYWHERE],
    examples: [
      ['memfix test-transform ./memfix_rules/acme-cache.mjs', 'one plugin'],
      ['memfix test-transform --record', 'what fixtures give now is what they should give: read the diff'],
    ],
  },
  completions: {
    summary: 'print the completion script of a shell',
    operands: '<bash | zsh | fish | powershell>',
    about: 'The first line of each script says where to put it.',
    options: ['output', ...EVERYWHERE],
    examples: [
      ['memfix completions bash > ~/.local/share/bash-completion/completions/memfix', 'for bash'],
      ['memfix completions zsh > ~/.zfunc/_memfix', 'for zsh, with ~/.zfunc in its fpath'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandInfo>>;

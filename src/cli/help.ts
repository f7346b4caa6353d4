import { wrap } from '../report/prose.js';
import { COMMANDS, type CommandName, commandInfo } from './commands.js';
import { formatWords } from './formats.js';
import type { OptionInfo } from './option-info.js';
import { type OptionName, optionInfo } from './options.js';

export const HEADINGS: readonly OptionInfo['heading'][] = [
  'Repositories',
  'Runs',
  'Model',
  'Training',
  'GPUs',
  'Figures of your own',
  'Which fixes',
  'Which files',
  'Which findings',
  'Out of memory',
  'Writing',
  'Output',
  'Config',
  'Other',
];

export function overview(): string {
  const commands = Object.entries(COMMANDS).map(([name, { operands, summary }]) => [
    `memfix ${name} ${operands}`.trimEnd(),
    summary,
  ]);
  return [
    'memfix: byte-exact, proven fixes for PyTorch training code that wastes GPU memory',
    '',
    'Usage:',
    ...columns(commands),
    '',
    'Start here:',
    ...columns([
      ['memfix check .', 'what there is to fix, and why'],
      ['memfix --oom train.log', 'what explains that a run ran out of memory'],
      ['memfix diff .', 'the fixes as a patch'],
      ['memfix apply --interactive .', 'review and apply, one by one'],
      ['memfix prove . -- python train.py', 'your own command, before and after'],
    ]),
    '',
    'Config: the nearest memfix.toml, or [tool.memfix] in pyproject.toml.',
    'Help for one command: memfix <command> --help',
    '',
  ].join('\n');
}

export function helpFor(command: CommandName): string {
  const info = commandInfo(command);
  const sections = HEADINGS.flatMap((heading) => {
    const names = info.options.filter((name) => headingIn(command, name) === heading);
    if (names.length === 0) return [];
    return ['', `${heading}:`, ...columns(names.map((name) => [spelling(name), summaryIn(command, name)]))];
  });
  return [
    `memfix ${command}: ${info.summary}`,
    '',
    `Usage: memfix ${command} ${`[options] ${info.operands}`.trimEnd()}`,
    '',
    // A line of the source ends where its sentence goes on.
    info.about.replace(/(?<![.:])\n/g, ' '),
    '',
    'Examples:',
    ...info.examples.flatMap(([line, meaning]) => [`  ${line}`, `      ${meaning}`]),
    ...sections,
    '',
  ].join('\n');
}

/** What an option of a command says for itself: only formats that the command has. */
export function summaryIn(command: CommandName, name: OptionName): string {
  const { formats, own } = commandInfo(command);
  if (name === 'output-format' && formats !== undefined) return formatWords(formats);
  return (own?.[name] ?? optionInfo(name)).summary;
}

export function headingIn(command: CommandName, name: OptionName): OptionInfo['heading'] {
  return (commandInfo(command).own?.[name] ?? optionInfo(name)).heading;
}

export function spelling(name: OptionName): string {
  const { short, value, shown, optional } = optionInfo(name);
  const given = value === undefined ? '' : optional ? `[=${value}]` : ` ${value}`;
  const long = `--${shown ?? name}${given}`;
  return short === undefined ? `    ${long}` : `-${short}, ${long}`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left?.length ?? 0));
  return rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`.trimEnd());
}

/** The same in lines of at most so many columns: where two columns are too wide, the second one stands below the first. */
export function fitted(text: string, width: number): string {
  // Lines with the same columns belong together.
  const tooWide = new Set<number>();
  const rows = text.split('\n').map((line) => {
    const [, left = '', right = ''] = /^( *\S.*? {2,})(\S.*)$/.exec(line) ?? [];
    if (left.length > width / 2 && line.length > width) tooWide.add(left.length);
    return { line, left, right, margin: /^ */.exec(line)?.[0] ?? '' };
  });
  return rows
    .flatMap(({ line, left, right, margin }) => {
      const below = `${margin}    `;
      if (tooWide.has(left.length))
        return [
          ...wrap(left.trim(), width, { first: margin, rest: below }),
          ...wrap(right, width, { first: below, rest: below }),
        ];
      if (line.length <= width) return [line];
      if (left === '') return wrap(line.trim(), width, { first: margin, rest: margin });
      return wrap(right, width, { first: left, rest: ' '.repeat(left.length) });
    })
    .join('\n');
}

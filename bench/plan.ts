import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository, Sized } from './inputs.js';
import { isCalled } from './inputs.js';
import type { Command, Contender } from './measure.js';
import type { Absent, Peer, PeerName } from './peers.js';

/** Contenders that do comparable work and run in turns. */
export interface Work {
  readonly id: string;
  readonly title: string;
  readonly contenders: readonly Contender[];
  /** What the contenders are sizes of, where the question is how time grows. */
  readonly sizes?: readonly number[];
}

export interface Memfix {
  readonly cli: string;
  /** The ids of all transforms. */
  readonly ids: readonly string[];
  readonly hasCache: boolean;
}

export interface Stage {
  readonly memfix: Memfix;
  readonly peers: readonly (Peer | Absent)[];
  readonly here: string;
  /** For caches. */
  readonly scratch: string;
}

const LITERALS = [
  '.backward(',
  '.eval()',
  'checkpoint(',
  'gradient_checkpointing',
  'save_pretrained(',
  'torch.load(',
];

/** The scan of one repository. Those that targets name get more contenders; the slow peers run on the small one only. */
export function scanning(stage: Stage, repository: Repository): Work {
  const { memfix } = stage;
  const at = repository.at;
  const contenders: (Contender | undefined)[] = [
    { name: 'memfix', command: memfixCommand(memfix, at, ['check', ...cold(memfix)]) },
    peerContender(stage, 'ripgrep', 'rg -l -F', at, [
      '-l',
      '-F',
      '-t',
      'py',
      ...LITERALS.flatMap((each) => ['-e', each]),
      '.',
    ]),
    astGrep(stage, 'ast-grep, 17 broad', at, 'broad.yml'),
    peerContender(stage, 'ruff', 'Ruff', at, [...RUFF, '--no-cache', '.']),
  ];
  if (isCalled(repository.name, 'transformers')) contenders.push(...closely(stage, at));
  if (isCalled(repository.name, 'trl')) {
    contenders.push(
      peerContender(stage, 'torchfix', 'TorchFix', at, ['-j', '2', '.']),
      peerContender(stage, 'torch-preflight', 'torch-preflight', at, ['check', '--no-color', '-j', '2', '.']),
      peerContender(stage, 'libcst', 'LibCST', at, [join(stage.here, 'libcst_walk.py')]),
    );
  }
  const megabytes = (repository.bytes / 1e6).toFixed(1);
  return {
    id: repository.name,
    title: `scan of ${repository.name} (${repository.files.toLocaleString('en')} files, ${megabytes} MB)`,
    contenders: contenders.filter((each) => each !== undefined),
  };
}

const RUFF = ['check', '--isolated', '--quiet', '--output-format', 'concise'];

function closely(stage: Stage, at: string): readonly (Contender | undefined)[] {
  const { memfix, scratch } = stage;
  const narrow = ruleIds(stage, 'narrow.yml').filter((id) => memfix.ids.includes(id));
  const memfixCache = join(scratch, 'memfix-cache');
  const cached = ['check', '--cache-dir', memfixCache];
  const noCache = 'memfix has no cache yet';
  return [
    {
      name: 'memfix, 5 narrow',
      command:
        narrow.length === 0
          ? 'memfix has none of these transforms yet'
          : memfixCommand(memfix, at, ['check', ...cold(memfix), '--select', narrow.join(',')]),
    },
    astGrep(stage, 'ast-grep, 5 narrow', at, 'narrow.yml'),
    {
      name: 'memfix, all groups',
      command: memfixCommand(memfix, at, ['check', ...cold(memfix), '--select', 'all']),
    },
    {
      name: 'memfix, wasm parser',
      command: { ...memfixCommand(memfix, at, ['check', ...cold(memfix)]), env: { MEMFIX_PARSER: 'wasm' } },
    },
    {
      name: 'memfix diff',
      command: {
        argv: [process.execPath, memfix.cli, 'diff', '-q', '--isolated', ...cold(memfix), '.'],
        cwd: at,
      },
    },
    {
      name: 'memfix, filling its cache',
      command: memfix.hasCache
        ? {
            ...memfixCommand(memfix, at, cached),
            prepare: () => rmSync(memfixCache, { recursive: true, force: true }),
          }
        : noCache,
    },
    { name: 'memfix, warm', command: memfix.hasCache ? memfixCommand(memfix, at, cached) : noCache },
    peerContender(stage, 'ruff', 'Ruff, warm', at, [
      ...RUFF,
      '--cache-dir',
      join(scratch, 'ruff-cache'),
      '.',
    ]),
  ];
}

/** What a person waits for at least. */
export function starting(stage: Stage, repository: Repository, script: string): Work {
  const { memfix } = stage;
  return {
    id: 'start-up',
    title: `start-up; one file is ${repository.name}/${script}`,
    contenders: [
      {
        name: 'empty node script',
        command: { argv: [process.execPath, join(stage.here, 'empty.js')], cwd: repository.at },
      },
      {
        name: 'memfix --version',
        command: { argv: [process.execPath, memfix.cli, '--version'], cwd: repository.at },
      },
      {
        name: 'memfix, one file',
        command: memfixCommand(memfix, repository.at, ['check', ...cold(memfix)], script),
      },
    ],
  };
}

/** `limit`: seconds that one file may take, so that none is passed over for taking long; `select`: the one transform to run. */
export function growing(
  stage: Stage,
  id: string,
  title: string,
  inputs: readonly Sized[],
  limit: number,
  select?: string,
): Work {
  const chosen = select === undefined ? [] : ['--select', select];
  return {
    id,
    title,
    sizes: inputs.map(({ size }) => size),
    contenders: inputs.map(({ size, at, home }) => ({
      name: size.toLocaleString('en'),
      command: {
        ...memfixCommand(stage.memfix, home, ['check', ...cold(stage.memfix), ...chosen], at),
        env: { MEMFIX_FILE_LIMIT: `${limit}` },
      },
    })),
  };
}

/** The transforms a rule file stands for. */
export function ruleIds({ here }: Pick<Stage, 'here'>, file: string): readonly string[] {
  const rules = readFileSync(join(here, 'ast-grep', file), 'utf8');
  return [...rules.matchAll(/^id: (.+)$/gm)].map(([, id]) => id ?? '');
}

function cold({ hasCache }: Memfix): readonly string[] {
  return hasCache ? ['--no-cache'] : [];
}

function memfixCommand({ cli }: Memfix, cwd: string, words: readonly string[], path = '.'): Command {
  return {
    argv: [process.execPath, cli, ...words, '-q', '--isolated', '--output-format', 'concise', path],
    cwd,
  };
}

function astGrep(stage: Stage, name: string, cwd: string, rules: string): Contender | undefined {
  const file = join(stage.here, 'ast-grep', rules);
  return peerContender(stage, 'ast-grep', name, cwd, ['scan', '-r', file, '--report-style', 'short', '.']);
}

/** Nothing for a peer that was not asked for; one that was asked for and is absent says why. */
function peerContender(
  { peers }: Stage,
  peer: PeerName,
  name: string,
  cwd: string,
  args: readonly string[],
): Contender | undefined {
  const found = peers.find((each) => each.name === peer);
  if (found === undefined) return undefined;
  return { name, command: 'problem' in found ? found.problem : { argv: [found.program, ...args], cwd } };
}

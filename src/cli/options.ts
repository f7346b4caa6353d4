import type { Heading, OptionInfo } from './option-info.js';

const PATHS = { type: 'string', list: true, value: 'PATHS' } as const;

export const OPTIONS = {
  select: names('look only for these: ids, groups (default, opt-in, documented, all) or symptoms (leak, …)'),
  'extend-select': names('look for these too'),
  ignore: names('do not look for these'),
  fixable: names('of what is found, change only these; the rest is still reported'),
  unfixable: names('of what is found, report these and never change them'),
  'unsafe-fixes': {
    type: 'boolean',
    shown: '[no-]unsafe-fixes',
    summary: 'also take fixes whose preconditions the code does not prove',
    heading: 'Which fixes',
  },
  changed: files('only files with changes since the last commit, new ones included'),
  staged: files('only files with staged changes; `check` reads them as they are staged'),
  since: { ...files('only lines that changed since the branch left REF'), type: 'string', value: 'REF' },
  'whole-files': files('with --since: all lines of the files that changed'),
  exclude: {
    ...files('pass over these too: files, folders, patterns as in .gitignore'),
    type: 'string',
    list: true,
    value: 'PATTERNS',
  },
  'force-exclude': files('also pass over files that are named, where `exclude` means them'),
  stdio: {
    type: 'boolean',
    summary: 'speak on standard input and output, as it always does: editors add this by themselves',
    heading: 'Other',
  },
  'stdin-filename': {
    ...files('the name that the text on standard input goes by'),
    type: 'string',
    value: 'PATH',
  },
  baseline: {
    type: 'string',
    optional: true,
    value: 'FILE',
    summary: 'leave out what `memfix baseline` recorded, in memfix-baseline.json or in FILE',
    heading: 'Which findings',
  },
  'fail-on': {
    type: 'string',
    list: true,
    value: 'KINDS',
    summary: 'exit with 1 only for these: any (default), safe, never, or symptoms such as leak',
    heading: 'Which findings',
  },
  'exit-zero': {
    type: 'boolean',
    summary: 'exit with 0 whatever is found: --fail-on never',
    heading: 'Which findings',
  },
  oom: {
    type: 'string',
    value: 'LOG',
    summary: 'rank findings by the out-of-memory tracebacks in this log (`-`: standard input)',
    repeats: true,
    heading: 'Out of memory',
  },
  snapshot: {
    type: 'string',
    value: 'FILE',
    summary: "rank them by what is live in this snapshot, PyTorch's _dump_snapshot (takes Python, no torch)",
    heading: 'Out of memory',
  },
  interactive: { ...writing('review the fixes one by one; so does -p, as in git add -p'), short: 'i' },
  resume: writing('go on with the last review: its answers are remembered (implies --interactive)'),
  'dry-run': writing('print the patch instead of writing, as `memfix diff` does'),
  'allow-dirty': writing('also write files that have uncommitted changes'),
  'allow-no-vcs': writing('also write files outside a git repository'),
  yes: { ...writing('answer yes to any question; for scripts'), short: 'y' },
  'output-format': {
    ...output('how findings are shown'),
    type: 'string',
    repeats: true,
    short: 'f',
    value: 'FORMAT',
  },
  output: {
    ...output('write to FILE instead of standard output'),
    type: 'string',
    short: 'o',
    value: 'FILE',
  },
  statistics: output('count findings per transform instead of listing them'),
  'exit-code': output('exit with 1 when the patch is not empty'),
  quiet: { ...output('no summary'), short: 'q' },
  verbose: { ...output('also say what was left alone, and why'), short: 'v' },
  color: { ...output('auto (default), always or never'), type: 'string', value: 'WHEN' },
  config: {
    type: 'string',
    value: 'FILE',
    summary: 'use this config file instead of the nearest',
    heading: 'Config',
  },
  isolated: { type: 'boolean', summary: 'use no config file', heading: 'Config' },
  plugin: {
    type: 'string',
    repeats: true,
    value: 'FILE',
    summary: 'also load the transforms of this plugin, whose code then runs as you (repeatable)',
    heading: 'Config',
  },
  record: { ...writing('write findings.json of the fixtures anew, and output.py where there is none') },
  forget: { type: 'boolean', summary: 'trust the plugins no more', heading: 'Config' },
  'target-version': {
    type: 'string',
    list: true,
    value: 'VERSIONS',
    summary: 'write for these versions: torch=2.6,transformers=4.50 (default: what the project has)',
    heading: 'Config',
  },
  'strict-config': {
    type: 'boolean',
    summary: 'heed a config only where it makes things stricter, as `migrate` does',
    heading: 'Config',
  },
  watch: output('check again whenever a file changes, until Ctrl-C'),
  'show-files': output('list the files that would be looked at; check nothing'),
  'show-settings': {
    type: 'boolean',
    summary: 'print the settings and the versions found, and where; check nothing',
    heading: 'Config',
  },
  schema: { type: 'boolean', summary: 'print the JSON schema of config files instead', heading: 'Config' },
  cache: {
    type: 'boolean',
    shown: 'no-cache',
    summary: 'look at every file again, and remember nothing',
    heading: 'Other',
  },
  'cache-dir': {
    type: 'string',
    value: 'DIR',
    summary: 'remember results in DIR instead of your state folder',
    heading: 'Other',
  },
  strict: {
    type: 'boolean',
    summary: 'count advice as findings, and a skipped file as an error',
    heading: 'Other',
  },
  pager: { ...output('print long output at once'), shown: 'no-pager' },
  fix: writing('apply the safe fixes, as `memfix apply` does'),
  dtype: budgeted('Model', 'TYPE', 'fp32, mixed (autocast), bf16 (default), fp16, int8 or int4'),
  layers: budgeted('Model', 'N', 'number of layers; guessed from the parameters when not given'),
  hidden: budgeted('Model', 'N', 'width of the model; guessed when not given'),
  vocabulary: budgeted('Model', 'N', 'size of the vocabulary (default 32000)'),
  optimizer: budgeted(
    'Training',
    'NAME',
    'adamw (default), adamw-fused, adamw-8bit, sgd-momentum, sgd, adafactor',
  ),
  'master-weights': { ...training('keep an fp32 copy of half-precision weights'), type: 'boolean' },
  'lora-rank': budgeted('Training', 'R', 'train adapters of this rank on every linear layer'),
  trainable: budgeted(
    'Training',
    'PART',
    'how much is trained: 1.5% or 239M (default: all, or the adapters)',
  ),
  batch: budgeted('Training', 'N', 'sequences per step and GPU (default 1)'),
  sequence: budgeted('Training', 'N', 'tokens of a sequence (default 2048)'),
  checkpointing: { ...training('gradient checkpointing is on; --no-checkpointing: off'), type: 'boolean' },
  attention: budgeted('Training', 'KIND', 'sdpa (default), flash or eager, which keeps its scores'),
  generate: budgeted('Training', 'N', 'no training: so many new tokens behind a prompt of `--sequence`'),
  gpu: budgeted('GPUs', 'NAME', 'a card by its name, such as a100-80gb, rtx-4090 or t4'),
  diff: { ...training('with `--fit`: only the patch that makes it fit'), type: 'boolean' },
  plot: budgeted(
    'Other',
    'FILE',
    'also draw what fills the card over one step: .svg, or .html for a whole page',
  ),
  gpus: budgeted('GPUs', 'N', 'number of GPUs (default 1)'),
  parallel: budgeted(
    'GPUs',
    'HOW',
    'data (default: each holds everything), sharded (FSDP, ZeRO-3) or model (layers)',
  ),
  offload: budgeted('GPUs', 'WHAT', 'to host memory: none (default), optimizer or all'),
  fit: budgeted('GPUs', 'SIZE', 'the gentlest changes that fit a card: 24GB, a100-40gb, 23.6GiB (by CUDA)'),
  activations: budgeted('Figures of your own', 'SIZE', 'activations, instead of the estimate'),
  adapters: budgeted('Figures of your own', 'SIZE', 'adapters'),
  gradients: budgeted('Figures of your own', 'SIZE', 'gradients'),
  'optimizer-state': budgeted('Figures of your own', 'SIZE', 'optimizer state'),
  overhead: budgeted('Figures of your own', 'SIZE', 'anything else'),
  example: budgeted(
    'Other',
    'NAME',
    'a budget from the documents beside the same run computed: 13b or 7b-lora',
  ),
  'per-fix': runs('also measure each transform alone, and rank them'),
  repeat: {
    ...runs('time so many runs of each: medians and spread (default 1)'),
    type: 'string',
    value: 'N',
  },
  metric: {
    ...runs('compare the numbers that this pattern finds in the output; its first group is the number'),
    type: 'string',
    value: 'REGEX',
  },
  timeout: { ...runs('end a run that takes longer, such as 90 or 10m'), type: 'string', value: 'TIME' },
  counts: {
    ...runs('count autograd bytes, synchronisations and losses, in runs of their own (default: yes)'),
    shown: '[no-]counts',
  },
  link: {
    ...runs('ignored files to read in place; what is written there is written in your tree'),
    ...PATHS,
  },
  copy: { ...runs('ignored files to copy, however large'), ...PATHS },
  prepare: {
    ...runs('do not run: fill DIR with the trees, the shim and a script, for another machine'),
    type: 'string',
    value: 'DIR',
  },
  read: { ...runs('do not run: go by what that script left in DIR'), type: 'string', value: 'DIR' },
  json: output('the same as --output-format json'),
  evidence: {
    ...output('add what `prove --json` or `--save-evidence` wrote to FILE: what your own run has shown'),
    type: 'string',
    value: 'FILE',
  },
  deterministic: runs('set seeds and deterministic kernels in the runs, where they differ by chance'),
  'save-evidence': {
    ...runs('put what the run of --verify has shown into FILE, for --evidence'),
    type: 'string',
    value: 'FILE',
  },
  repos: {
    ...repositories('only these: names or URLs, with * and ?'),
    type: 'string',
    list: true,
    value: 'GLOBS',
  },
  shard: {
    ...repositories('only the I-th of N parts, such as 2/8: for CI matrices and job arrays'),
    type: 'string',
    value: 'I/N',
  },
  limit: { ...repositories('at most so many that have work left'), type: 'string', value: 'N' },
  failed: repositories('only those that failed before'),
  update: repositories(
    'plan: take the repositories and commits that are there now; status: ask what became of pull requests',
  ),
  push: repositories('run: also push the branches; without it, no remote is written to'),
  pr: repositories('run: also open a pull request for each branch that is pushed; needs --push'),
  'prs-per-hour': {
    ...repositories('open at most so many pull requests in any hour, over all runs of the campaign'),
    type: 'string',
    value: 'N',
  },
  keep: {
    ...repositories('what stays on disk: none, failed (default: mirrors, and trees of failures) or all'),
    type: 'string',
    value: 'WHAT',
  },
  takeover: repositories('take what another process holds that is gone, or is to leave it'),
  branch: {
    ...repositories('init: the name of the branch (default memfix/fixes)'),
    type: 'string',
    value: 'NAME',
  },
  apply: runs('then apply what the runs have shown to be right, as `apply --verify` does'),
  budget: {
    ...runs('with --verify or --apply: no new run after this time, such as 30m; the same command goes on'),
    type: 'string',
    value: 'TIME',
  },
  verify: {
    ...runs('take only what a run of it shows to be right; init: it must succeed in the fixed tree'),
    type: 'string',
    value: 'COMMAND',
  },
  queue: {
    ...repositories('let workers do it: the URL of a Redis, or env:NAME for a variable that holds it'),
    type: 'string',
    value: 'URL',
  },
  stages: {
    ...repositories('only these: clone, plan, apply, verify, commit, push, … (default: all)'),
    type: 'string',
    list: true,
    value: 'STAGES',
  },
  network: { ...repositories('talk to so many remotes at a time (default 4)'), type: 'string', value: 'N' },
  work: { ...repositories('work on so many repositories at a time (default 2)'), type: 'string', value: 'N' },
  lease: {
    ...repositories('others get what a silent worker had in hand after this time (default 30s)'),
    type: 'string',
    value: 'TIME',
  },
  dir: {
    ...repositories('work below DIR, as the only one there (default: a temporary folder)'),
    type: 'string',
    value: 'DIR',
  },
  csv: output('a line for each repository instead of JSON'),
  sourcegraph: output('export: a batch spec for Sourcegraph'),
  'multi-gitter': output(
    'export: a script and a configuration for multi-gitter, in the folder that --output names',
  ),
  html: output('one page with every diff, to look at in a browser, instead of JSON'),
  open: { ...output('show the page in a browser (default, on a terminal)'), shown: '[no-]open' },
  port: { ...output('listen on this port (default: any that is free)'), type: 'string', value: 'N' },
  help: { type: 'boolean', short: 'h', summary: 'show this help', heading: 'Other' },
  version: { type: 'boolean', short: 'V', summary: 'show the version', heading: 'Other' },
} as const satisfies Readonly<Record<string, OptionInfo>>;

export type OptionName = keyof typeof OPTIONS;

export function optionInfo(name: OptionName): OptionInfo {
  return OPTIONS[name];
}

function names(summary: string) {
  return { type: 'string', list: true, value: 'NAMES', summary, heading: 'Which fixes' } as const;
}

function files(summary: string) {
  return { type: 'boolean', summary, heading: 'Which files' } as const;
}

function writing(summary: string) {
  return { type: 'boolean', summary, heading: 'Writing' } as const;
}

function repositories(summary: string) {
  return { type: 'boolean', summary, heading: 'Repositories' } as const;
}

function runs(summary: string) {
  return { type: 'boolean', summary, heading: 'Runs' } as const;
}

function training(summary: string) {
  return { summary, heading: 'Training' } as const;
}

function budgeted<H extends Heading>(heading: H, value: string, summary: string) {
  return { type: 'string', value, summary, heading } as const;
}

function output(summary: string) {
  return { type: 'boolean', summary, heading: 'Output' } as const;
}

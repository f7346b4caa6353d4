import { type CommandInfo, EVERYWHERE, SCAN } from './command-info.js';
import { FINDING_FORMATS, PAGE_FORMATS } from './formats.js';
import type { OptionName } from './options.js';
import { SETUP_COMMANDS } from './setup-commands.js';

/** What `prove` has no use for: it reads no text, leaves no cache in the tree, and fixes only what can be read. */
const NOT_TO_PROVE: readonly string[] = ['stdin-filename', 'cache', 'cache-dir', 'strict'];

/** How a run of the user's own decides about fixes, and what is kept of that. */
const VERIFY: readonly string[] = [
  ...['verify', 'read', 'evidence', 'save-evidence', 'deterministic'],
  ...['budget', 'metric', 'timeout', 'link', 'copy'],
];

export const COMMANDS = {
  check: {
    summary: 'report findings; writes nothing',
    operands: '[paths…]',
    about:
      'Looks through Python files and notebooks for training code that wastes GPU memory. Without paths, the folder you are in.\n' +
      'With `--oom` or `--snapshot`, findings come in the order in which they explain why a run ran out of memory; then the\n' +
      'opt-in transforms run too, unless `--select` says otherwise.\n' +
      '`--output-format` may be given several times, with a file for each but one: `sarif=memfix.sarif`.\n' +
      'Exits with 0 when there is nothing to fix, 1 with findings, 2 on an error. Advice alone is 0, unless `--strict` is given.',
    formats: FINDING_FORMATS,
    own: {
      diff: { summary: 'print the patch instead of the findings, as `memfix diff` does', heading: 'Writing' },
    },
    options: [
      ...['baseline', 'fail-on', 'exit-zero', 'oom', 'snapshot', 'fix', 'diff'],
      ...['output-format', 'statistics', 'evidence', 'watch', 'show-files', 'show-settings'],
      ...SCAN,
    ] as readonly OptionName[],
    examples: [
      ['memfix check src/ train.py', 'findings, explained'],
      ['memfix check --output-format concise --changed', 'one line each, only in files you changed'],
      ['memfix check --select leak .', 'only what holds memory that is never given back'],
      [
        'memfix check --oom train.log src/',
        'what explains the CUDA out of memory in that log, the likeliest first',
      ],
      ['memfix check - --stdin-filename train.py < train.py', 'a text on standard input'],
      [
        'memfix check --output-format github --output-format sarif=memfix.sarif .',
        'annotations on standard output, and a file for code scanning',
      ],
      [
        'memfix check --select leak --fixable detach-appended-loss .',
        'all leaks, but `--diff` and `--fix` touch only those of one transform',
      ],
      ['memfix check --watch src/', 'again whenever a file changes, until Ctrl-C'],
      ['memfix check --show-settings', 'the config in force, and the versions that the project asks for'],
    ],
  },
  apply: {
    summary: 'apply safe fixes, or review them with --interactive',
    operands: '[paths…]',
    about:
      'Applies the fixes whose preconditions the code proves, and says what it did and what remains. A file is written in one\n' +
      'step, and only if it still has the bytes that were read; `memfix undo` takes it back. A file with uncommitted changes is\n' +
      'left alone and named, unless `--allow-dirty`, `--changed` or `--staged` asks for it. With `--staged`, fixes are staged too,\n' +
      'and files with changes that are not staged are left alone. `memfix fix` and `memfix check --fix` are the same.\n' +
      'Exits with 0 when nothing remains to fix, 1 when findings remain, 2 on an error.',
    formats: FINDING_FORMATS,
    options: [
      ...['interactive', 'resume', 'dry-run', 'allow-dirty', 'allow-no-vcs', 'yes', 'oom', 'snapshot'],
      ...['baseline', 'prepare', ...VERIFY],
      ...['fail-on', 'exit-zero', 'output-format', 'statistics', ...SCAN],
    ] as readonly OptionName[],
    examples: [
      ['memfix apply .', 'safe fixes, everywhere below this folder'],
      [
        "memfix apply --unsafe-fixes --verify 'python train.py --max-steps 20' .",
        'also the unsafe fixes that this run shows to be right',
      ],
      [
        "memfix apply --unsafe-fixes --verify 'python train.py' --prepare out .",
        'the same on a machine without memfix, by `python3 out/verify.py` there',
      ],
      ['memfix apply --unsafe-fixes --read out .', 'decides by what that has run, and applies'],
      ['memfix apply --interactive .', 'look at each fix, then say yes or no'],
      ['memfix apply --unsafe-fixes --select no-grad train.py', 'one transform, also where it is not proven'],
      ['memfix apply - < train.py > fixed.py', 'from standard input to standard output'],
    ],
  },
  diff: {
    summary: 'print the patch of what apply would do',
    operands: '[paths…]',
    about:
      'The patch is for `git apply` at the root of the repository, wherever you run memfix.\n' +
      'Exits with 0, or with `--exit-code` 1 when the patch is not empty; 2 on an error.',
    options: [
      ...['exit-code', 'baseline', ...VERIFY],
      ...['oom', 'snapshot', ...SCAN],
    ] as readonly OptionName[],
    examples: [
      ['memfix diff . > fixes.patch && git apply fixes.patch', 'take the fixes as a patch'],
      ['memfix diff --unsafe-fixes -o all.patch src/', 'with the fixes that need a look'],
      ['memfix diff --exit-code --since main', 'fail in CI when a branch adds fixable code'],
      ['memfix diff --evidence prove.json', 'with what `memfix prove` measured, as comments'],
    ],
  },
  prove: {
    summary: 'run your own command with and without the fixes, and compare',
    operands: '[paths…] -- <command>',
    runsAnother: true,
    about:
      'Copies your tree as it is, uncommitted changes included, into temporary git work trees, applies the fixes in one of\n' +
      'them, runs the command in both, and compares: peak GPU and host memory, growth per step, time, synchronisations, exit\n' +
      'code and losses. Your tree is not touched. What git ignores is copied where it is small, environments are linked, and\n' +
      'what is left out is named. A step is a step of a torch optimizer. Autograd bytes, synchronisations and losses come from\n' +
      'a run of their own, so that counting does not slow down what is timed.\n' +
      'Exits with 0 when the fixed command is equal or better; 1 when the fixes break it, change its losses or need more memory;\n' +
      '2 when nothing is proven: the command fails as it is, never loads what is fixed, or there was an error.',
    formats: PAGE_FORMATS,
    options: [
      ...['per-fix', 'repeat', 'metric', 'timeout', 'counts', 'link', 'copy', 'prepare', 'read', 'json'],
      ...['apply', 'budget', 'deterministic', 'save-evidence', 'allow-dirty', 'allow-no-vcs'],
      ...['output-format', ...SCAN.filter((name) => !NOT_TO_PROVE.includes(name))],
    ] as readonly OptionName[],
    examples: [
      ['memfix prove . -- python train.py --max-steps 50', 'the safe fixes, on your own run'],
      ['memfix prove --per-fix --repeat 3 -- python train.py', 'each transform alone too, with the spread'],
      ["memfix prove --metric 'loss[:=] *([0-9.]+)' -- python train.py", 'compare what the command prints'],
      [
        'memfix prove --unsafe-fixes --link data -- torchrun train.py',
        'with a folder that git ignores, read in place',
      ],
      ['memfix prove --json -o prove.json -- python train.py', 'for `memfix diff --evidence prove.json`'],
      [
        'memfix prove --prepare out -- python train.py',
        'trees and a script for a GPU machine without memfix',
      ],
      ['memfix prove --read out', 'the table of what that script measured'],
    ],
  },
  list: {
    summary: 'the catalogue of transforms',
    operands: '[names…]',
    about:
      'Every transform, group by group, with its safety, numerics, symptom and summary; with `-v`, also the measured effect.\n' +
      'With names (ids, groups or symptoms), only those.',
    formats: PAGE_FORMATS,
    options: ['verbose', 'plugin', 'config', 'isolated', 'output-format', 'output', ...EVERYWHERE],
    examples: [
      ['memfix list', 'the catalogue'],
      ['memfix list leak documented', 'what cures leaks, and what documents recommend in vain'],
    ],
  },
  explain: {
    summary: 'the page of one transform, or why memfix says what it says at a line',
    operands: '<id | file:line>',
    about:
      'Everything there is to know about one transform: why, before and after, when it refuses, measured effect. Of a\n' +
      'line, what is found or left alone there, and every step of why a fix is safe: what the code shows, what is known\n' +
      'of the library, and what versions it counts on.',
    options: ['plugin', 'config', 'isolated', 'target-version', 'output', ...EVERYWHERE],
    examples: [
      ['memfix explain no-grad', 'why evaluation without no_grad costs memory'],
      ['memfix explain train.py:42', 'why the fix at that line is safe, or what is not known'],
      ['memfix explain train.ipynb:7:3', 'the same for line 3 of cell 7'],
    ],
  },
  budget: {
    summary: 'what a training run needs on a GPU, and how to make it fit',
    operands: '<train.py | folder | 7B | name | config.json> [settings…]',
    about:
      'What the GPU holds in each phase of a step, the largest of them, and what that takes for granted. Of a training\n' +
      'script, and of YAML, DeepSpeed and accelerate files beside it, model, dtype, optimizer, batch, length and more are\n' +
      'read, each with its place; nothing is run. With `--fit`, the smallest set of changes that reaches a size, those\n' +
      'that change the training least first; of a script, changes that transforms write, and with `--diff` their patch.\n' +
      'Measured against 294 runs on an H200: `docs/budget.md`.\n' +
      'Exits with 0, or with `--fit` 1 when nothing reaches that size; 2 on an error.',
    formats: PAGE_FORMATS,
    options: [
      ...['dtype', 'layers', 'hidden', 'vocabulary'],
      ...['optimizer', 'master-weights', 'lora-rank', 'trainable', 'batch', 'sequence', 'checkpointing'],
      ...['attention', 'generate', 'gpu', 'diff', 'plot'],
      ...[
        'gpus',
        'parallel',
        'offload',
        'fit',
        'activations',
        'adapters',
        'gradients',
        'optimizer-state',
        'overhead',
      ],
      ...['example', 'target-version', 'output-format', 'output', ...EVERYWHERE],
    ] as readonly OptionName[],
    examples: [
      ['memfix budget train.py --gpu a100-80gb', 'does this run fit?'],
      ['memfix budget . --gpu a100-80gb', 'all training scripts of this folder, a line each'],
      ['memfix budget train.py --fit 24GB --diff', 'the patch that makes it fit'],
      ['memfix budget 7B --batch 4 --fit 4090', 'full fine-tuning, and what it takes to fit'],
      ['memfix budget llama-3.1-8b --lora-rank 16', 'a model by its name'],
      ['memfix budget config.json --lora-rank 64 --dtype int4', 'adapters on a model in 4 bits'],
      ['memfix budget 13B --gpus 2 --parallel sharded --output-format json', 'for a program'],
      ['memfix budget --example 13b', 'a budget done by hand, and what is wrong in it'],
    ],
  },
  migrate: {
    summary: 'carry fixes through many repositories',
    operands: '<action> [folder]',
    about:
      'A campaign is a folder. Its actions:\n' +
      '  init      writes campaign.toml for the repositories named after the folder: URLs, paths, folders of checkouts,\n' +
      '            github:org/NAME, github:user/NAME, github:topic/NAME, github:search/QUERY, gitlab:group/PATH,\n' +
      '            gitlab:user/NAME, gitlab:topic/NAME (on a server of your own: gitlab+https://HOST/group/PATH), or files\n' +
      '            that list these; the options about fixes go into it, too\n' +
      '  plan      clones, looks, and writes a patch for each repository, and report.html to look at them; `memfix review`\n' +
      '            lets you choose among the fixes\n' +
      '  run       also applies and verifies the patch and commits it on a branch in a mirror; with `--push`, pushes the\n' +
      '            branch where there is none of that name (in a checkout, it appears there); with `--push --pr`, opens a\n' +
      '            pull request for it where there is none, a draft unless campaign.toml says otherwise\n' +
      '  resume    goes on with a run that was stopped, however it was stopped\n' +
      '  pr        opens pull requests for branches that are pushed, and asks what became of those that are open\n' +
      '  status    shows where each repository is\n' +
      '  report    the same for programs; with `--html`, as one page that needs nothing else\n' +
      '  export    the campaign for Sourcegraph Batch Changes or for multi-gitter, which then do all the rest\n' +
      '  stop      with `--queue`: takes back what workers have not begun, and keeps what they did\n' +
      'With `--queue`, the stages are done by `memfix worker` on any number of machines.\n' +
      'Tokens come from GH_TOKEN or GITHUB_TOKEN, GITLAB_TOKEN, MEMFIX_TOKEN_<HOST> for a server of your own, `gh`, or git\n' +
      'credential helpers; those in a URL are left out. A verify command runs in a sandbox where there is one, else\n' +
      'with your rights, and without these variables.\n' +
      'Exits with 0, 1 when repositories failed, 2 on an error.',
    options: [
      ...['repos', 'shard', 'limit', 'failed', 'update', 'push', 'pr', 'prs-per-hour'],
      ...['keep', 'queue', 'takeover', 'branch', 'verify'],
      ...[
        'select',
        'extend-select',
        'ignore',
        'unsafe-fixes',
        'csv',
        'html',
        'sourcegraph',
        'multi-gitter',
        'output',
        'quiet',
        'verbose',
      ],
      ...EVERYWHERE,
    ] as readonly OptionName[],
    examples: [
      ['memfix migrate init fixes repos.txt --verify compileall', 'a new campaign'],
      ['memfix migrate plan fixes', 'fixes/patches/ holds what would change; nothing is pushed'],
      ['memfix migrate run fixes --push --limit 5', 'the first five, on branches'],
      ['memfix migrate run fixes --push --shard 2/8 --keep none', 'one of eight jobs, with little disk'],
      ['memfix migrate init fixes github:org/acme', 'the repositories of an organisation'],
      ['memfix migrate run fixes --push --pr --prs-per-hour 20', 'and draft pull requests, at a pace'],
      ['memfix migrate run fixes --push --queue redis://cache:6379', 'by the workers of that queue'],
      ['memfix migrate resume fixes', 'after Ctrl-C, a crash or a reboot'],
      ['memfix migrate report fixes --csv -o fixes.csv', 'a table'],
      ['memfix migrate export fixes --sourcegraph -o batch.yaml', 'for `src batch preview -f batch.yaml`'],
      ['memfix migrate report fixes --html -o fixes.html', 'every diff, to look at and to send around'],
    ],
  },
  review: {
    summary: 'accept and reject the fixes of a campaign in a browser',
    operands: '[folder]',
    about:
      'Shows the page of a campaign, with a diff for each fix of its plan, to a browser on this machine. What you accept or\n' +
      'reject there is in the campaign at once; `memfix migrate run` leaves out what was rejected. A decision holds as long as\n' +
      'its file has the same bytes; in a file that changed, fixes like a rejected one are held back until you look again.\n' +
      'The address holds a secret that changes each time. Over ssh: `ssh -L 8123:127.0.0.1:8123 HOST`, and `--port 8123` there.\n' +
      'Ctrl-C ends it. Exits with 0, or 2 on an error.',
    options: ['open', 'port', 'takeover', 'quiet', ...EVERYWHERE],
    examples: [
      ['memfix review fixes', 'after `memfix migrate plan fixes`'],
      ['memfix review fixes --no-open --port 8123', 'only print the address'],
    ],
  },
  worker: {
    summary: 'do the work of campaigns that were put on a queue',
    operands: '',
    about:
      'Takes repositories from the queue of `memfix migrate run --queue`, does what is to be done, and sends back records and\n' +
      'patches; it needs git and the way to the remotes, and no disk in common with anyone. Any number of workers can share a\n' +
      'queue, on any number of machines. What a worker had in hand when it died, others get.\n' +
      'It runs until it is told to stop: the first signal lets it finish the stages in hand, the second ends it at once.\n' +
      'Whoever can write to that Redis can run commands here: give it a password, and TLS where the network is not yours.',
    options: [
      ...['queue', 'stages', 'network', 'work', 'lease', 'dir', 'takeover', 'quiet', 'verbose'],
      ...EVERYWHERE,
    ] as readonly OptionName[],
    examples: [
      ['memfix worker --queue env:QUEUE_URL', 'every stage; the URL, with its password, is in that variable'],
      [
        'memfix worker --queue redis://cache:6379 --stages clone,plan,apply,verify,commit',
        'on machines that have no right to push',
      ],
    ],
  },
  server: {
    summary: 'findings and fixes in an editor, by the Language Server Protocol',
    operands: '',
    about:
      'Speaks the Language Server Protocol on standard input and output, for an editor that starts it: findings as you type,\n' +
      'fixes, explanations. It looks at texts as they are in the editor, at the files around them as they are on disk, and\n' +
      'changes nothing by itself. Notebooks are looked at cell by cell. docs/editors.md says how to set up an editor.\n' +
      'Exits with 0 when the editor hangs up, 2 on an error.',
    options: [
      ...['select', 'extend-select', 'ignore', 'fixable', 'unfixable', 'unsafe-fixes', 'config'],
      ...['isolated', 'plugin', 'target-version', 'strict-config', 'stdio', ...EVERYWHERE],
    ] as readonly OptionName[],
    examples: [
      ['memfix server', 'what an editor runs'],
      ['memfix server --select leak', 'only what is never given back'],
    ],
  },
  ...SETUP_COMMANDS,
  undo: {
    summary: 'take back the last apply',
    operands: '[paths…]',
    about:
      'Restores the files that the last apply wrote, where they still have the bytes that memfix gave them; files that\n' +
      'you changed since are left alone and named. Run it again to take back the apply before that.\n' +
      'Name files or folders to take back only what was done there, or another repository. What `--staged` put into the\n' +
      'index goes out of it, and a yes for good out of the config, where these are as memfix left them.\n' +
      'The journal is in your state folder (`MEMFIX_STATE_DIR`), not in the project.',
    options: ['quiet', ...EVERYWHERE],
    examples: [
      ['memfix undo', 'the last apply in this repository'],
      ['memfix undo train.py', 'only what the last apply did in that file'],
    ],
  },
} as const satisfies Readonly<Record<string, CommandInfo>>;

export type CommandName = keyof typeof COMMANDS;

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

export function commandInfo(name: CommandName): CommandInfo {
  return COMMANDS[name];
}

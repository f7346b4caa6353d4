import { DEFAULT_MESSAGES } from './message.js';
import { provenCommand } from './verify-words.js';

/** A campaign for a tool that clones, commits and proposes by itself: what it has to run, and where. */
export interface Exported {
  readonly name: string;
  /** As the tool names them. */
  readonly repositories: readonly string[];
  readonly script: string;
  readonly branch: string;
  readonly message: string;
  readonly body: string;
}

/** What of a campaign the script of another tool depends on. */
export interface Order {
  readonly version: string;
  readonly select?: readonly string[];
  readonly extendSelect: readonly string[];
  readonly ignore: readonly string[];
  readonly unsafeFixes?: boolean;
  readonly verify?: string;
}

const PLACEHOLDER = /\{\w+\}/;

/** What is only known once a repository was looked into is not for others to fill in. */
export function exportedMessage(message: string | undefined, version: string): string {
  if (message !== undefined && !PLACEHOLDER.test(message)) return message;
  const [title = ''] = (message ?? DEFAULT_MESSAGES.repository).split('\n');
  const own = PLACEHOLDER.test(title) ? 'Fix GPU memory waste' : title;
  return `${own}\n\nMade by memfix ${version}.\n`;
}

/**
 * Does in a checkout what the campaign does: a verify command runs on a copy, so that what it writes is in no change.
 * `MEMFIX` is the program, where it is not to be fetched.
 */
export function exportedScript(order: Order): string {
  const { version, verify } = order;
  const chosen = selection(order);
  const proven = provenCommand(verify ?? '');
  const decided = proven === undefined ? '' : ` --verify ${word(proven)}`;
  const lines = [
    '#!/bin/sh',
    `# Applies the fixes of memfix ${version} in a checkout. Written by \`memfix migrate export\`.`,
    'set -eu',
    `memfix() { if [ -n "\${MEMFIX:-}" ]; then $MEMFIX "$@"; else npx --yes memfix@${version} "$@"; fi; }`,
    '# 1 says that findings are left which are not for a program to fix.',
    `memfix apply .${chosen}${decided} --allow-dirty --allow-no-vcs --no-cache --quiet >/dev/null || [ $? -eq 1 ]`,
    ...(verify === undefined || proven !== undefined ? [] : verifying(verify)),
  ];
  return `${lines.join('\n')}\n`;
}

function selection({ select, extendSelect, ignore, unsafeFixes }: Order): string {
  const list = (name: string, ids: readonly string[] = []) =>
    ids.length === 0 ? '' : ` --${name} ${word(ids.join(','))}`;
  const unsafe = unsafeFixes === undefined ? '' : unsafeFixes ? ' --unsafe-fixes' : ' --no-unsafe-fixes';
  return (
    ' --strict-config' +
    list('select', select) +
    list('extend-select', extendSelect) +
    list('ignore', ignore) +
    unsafe
  );
}

/** Compiles files; those that do not compile as they are committed stay out of it. */
const COMPILE = `import subprocess, sys
def compiles(text, path):
    try:
        return compile(text, path, "exec", dont_inherit=True) is not None
    except (SyntaxError, ValueError) as error:
        problems[path] = error
problems = {}
for path in sys.argv[1:]:
    if not compiles(open(path, "rb").read(), path):
        before = subprocess.run(["git", "show", "HEAD:" + path], capture_output=True).stdout
        problem = problems[path]
        if compiles(before, path):
            sys.exit(path + " does not compile with the fixes: " + str(problem))`;

function verifying(verify: string): readonly string[] {
  const command =
    verify === 'compileall'
      ? `git diff --name-only --diff-filter=d -z -- '*.py' | xargs -0 -r python3 -I -c ${word(COMPILE)}`
      : verify;
  return [
    'copy=$(mktemp -d)',
    'trap \'rm -rf "$copy"\' EXIT',
    'cp -R . "$copy/tree"',
    `(cd "$copy/tree" && sh -c ${word(command)})`,
  ];
}

/** A word that a shell takes as it is. */
function word(text: string): string {
  return /^[\w,.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A batch spec of Sourcegraph. Nothing is published before someone there says so. */
export function sourcegraphSpec({ name, repositories, script, branch, message, body }: Exported): string {
  const [title = ''] = message.split('\n');
  return [
    'version: 2',
    `name: ${name}`,
    `description: ${scalar(title)}`,
    'on:',
    ...repositories.map((repository) => `  - repository: ${scalar(repository)}`),
    'steps:',
    '  - container: node:20',
    '    run: |',
    ...script
      .trimEnd()
      .split('\n')
      .map((line) => (line === '' ? '' : `      ${line}`)),
    'changesetTemplate:',
    `  title: ${scalar(title)}`,
    `  body: ${scalar(body)}`,
    `  branch: ${scalar(branch)}`,
    '  commit:',
    `    message: ${scalar(message)}`,
    '  published: false',
    '',
  ].join('\n');
}

export interface Platform {
  readonly kind: 'github' | 'gitlab';
  /** For a server of one's own. */
  readonly api?: string;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
  readonly concurrent: number;
}

/** The options of `multi-gitter run`, as its `--config` takes them. */
export function multiGitterConfig(
  { repositories, branch, message, body }: Exported,
  platform: Platform,
): string {
  const { kind, api, draft, labels, reviewers, concurrent } = platform;
  const [title = ''] = message.split('\n');
  const list = (key: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${key}:`, ...items.map((item) => `  - ${scalar(item)}`)];
  return [
    `platform: ${kind}`,
    ...(api === undefined ? [] : [`base-url: ${scalar(api)}`]),
    ...list(kind === 'github' ? 'repo' : 'project', repositories),
    `branch: ${scalar(branch)}`,
    `commit-message: ${scalar(message)}`,
    `pr-title: ${scalar(title)}`,
    `pr-body: ${scalar(body)}`,
    `draft: ${draft}`,
    ...list('labels', labels),
    ...list('reviewers', reviewers),
    'conflict-strategy: skip',
    'fetch-depth: 1',
    `concurrent: ${concurrent}`,
    '',
  ].join('\n');
}

/** JSON's strings are YAML's. */
function scalar(text: string): string {
  return JSON.stringify(text);
}

/**
 * How memfix starts git, in the repository of a user as in the mirror of a campaign. A repository's own config is the text
 * of a stranger and can name programs: hooks, filters, monitors, transports. None of them runs. Settings of the user
 * (`~/.gitconfig`, the environment) hold as always, unless a repository could turn them into a program.
 */
export const SAFE_SETTINGS: readonly string[] = [
  ...['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'protocol.ext.allow=never'],
  ...['submodule.recurse=false', 'status.submoduleSummary=false', 'safe.bareRepository=explicit'],
];

/** Variables that point git at one repository: that of whoever started us, such as a hook. */
const OF_ONE_REPOSITORY = new Set([
  ...['GIT_DIR', 'GIT_WORK_TREE', 'GIT_PREFIX', 'GIT_COMMON_DIR', 'GIT_NAMESPACE', 'GIT_CONFIG'],
  ...['GIT_OBJECT_DIRECTORY', 'GIT_ALTERNATE_OBJECT_DIRECTORIES', 'GIT_SHALLOW_FILE', 'GIT_GRAFT_FILE'],
  ...['GIT_REPLACE_REF_BASE', 'GIT_ATTR_SOURCE'],
]);

type Environment = Readonly<Record<string, string | undefined>>;

/** What git sees of an environment, wherever it is asked. */
export function gitVariables(env: Environment): Environment {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !OF_ONE_REPOSITORY.has(name))),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** The options of installers that take the next word, where it is not written after `=`. */

/** Of `pip install`, older versions included, and of `uv pip install` and `uv add`. */
const PIP: ReadonlySet<string> = new Set(
  `requirement constraint build-constraint group requirements-from-script target platform python-version
  implementation abi root prefix src build upgrade-strategy config-setting config-settings global-option
  install-option build-option no-binary only-binary progress-bar root-user-action report hash uploaded-prior-to
  all-releases only-final index-url pypi-url extra-index-url find-links mirrors download download-cache
  python log log-file local-log keyring-provider proxy retries resume-retries timeout default-timeout
  exists-action trusted-host cert client-cert cache-dir use-feature use-deprecated
  requirements constraints build-constraints override overrides exclude excludes extra optional index default-index
  index-strategy resolution prerelease fork-strategy exclude-newer exclude-newer-package link-mode torch-backend
  python-platform no-binary-package no-build-package no-build-isolation-package reinstall-package refresh-package
  upgrade-package no-sources-package no-install-package config-settings-package config-file directory project
  allow-insecure-host color package script marker bounds branch tag rev`
    .split(/\s+/)
    .map((name) => `--${name}`),
);
const PIP_LETTERS = 'rctifbCpPmd';

const CONDA: ReadonlySet<string> = new Set(
  `name prefix channel file repodata-fn solver experimental-solver experimental revision clone subdir platform console
  channel-alias channel-priority root-prefix rc-file category environment-specifier`
    .split(/\s+/)
    .map((name) => `--${name}`),
);
const CONDA_LETTERS = 'npcr';

/** What a command line of an installer asks for, without its options; `-e` is one whose word is asked for. */
export function askedFor(words: readonly string[], isConda: boolean): readonly string[] {
  const asked: string[] = [];
  let isArgument = false;
  for (const word of words) {
    if (isArgument) isArgument = false;
    else if (!word.startsWith('-')) asked.push(word);
    else if (word.startsWith('--')) isArgument = (isConda ? CONDA : PIP).has(word);
    else isArgument = isLastOf(word, isConda ? CONDA_LETTERS : PIP_LETTERS);
  }
  return asked;
}

/** `-qf`: letters may be written together, and what is after the first that takes a word is that word. */
function isLastOf(word: string, letters: string): boolean {
  const at = [...word].findIndex((letter) => letters.includes(letter));
  return at !== -1 && at === word.length - 1;
}

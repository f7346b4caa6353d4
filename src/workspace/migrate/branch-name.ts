/** What `git check-ref-format` has against a branch name. */
export function branchProblem(branch: string): string | undefined {
  const isOdd =
    /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/$|^\/|^-|\.$|^@$/.test(branch) ||
    branch.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
  return isOdd ? `is no name that git takes for a branch: \`${branch}\`` : undefined;
}

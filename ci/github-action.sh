#!/usr/bin/env bash
# The steps of action.yml. Inputs come as variables, never as text of the script: a branch may be called anything.
set -euo pipefail

venv="${RUNNER_TEMP:?}/memfix"
case "${OSTYPE:-}" in
  msys* | cygwin* | win*) bin="$venv/Scripts" ;;
  *) bin="$venv/bin" ;;
esac

# An environment of its own: nothing of the project's is touched.
install() {
  local wanted="memfix"
  if [[ "${MEMFIX_VERSION:-}" =~ ^[0-9] ]]; then
    wanted="memfix==$MEMFIX_VERSION"
  elif [ -n "${MEMFIX_VERSION:-}" ]; then
    wanted="$MEMFIX_VERSION"
  else
    # The version that belongs to this version of the action.
    wanted=$(sed -n 's/^dependencies = \["\(memfix==[^"]*\)"\]$/\1/p' "${MEMFIX_ACTION_PATH:?}/pyproject.toml")
  fi
  python3 -m venv "$venv"
  "$bin/python" -m pip install --quiet --disable-pip-version-check "$wanted"
  "$bin/memfix" --version
}

check() {
  local words=(check --output-format github)
  local summary="$venv/summary.md"
  rm -f "$summary"
  if [ -n "${MEMFIX_FAIL_ON:-}" ]; then words+=("--fail-on=$MEMFIX_FAIL_ON"); fi
  if [ -n "${MEMFIX_SARIF:-}" ]; then words+=(--output-format "sarif=$MEMFIX_SARIF"); fi
  if [ "${MEMFIX_SUMMARY:-}" = true ]; then words+=(--output-format "markdown=$summary"); fi
  if [ -n "${MEMFIX_BASELINE:-}" ]; then words+=("--baseline=$MEMFIX_BASELINE"); fi
  if [ "${MEMFIX_ONLY_CHANGES:-}" = true ] && [ -n "${GITHUB_BASE_REF:-}" ]; then
    fetch_base
    words+=("--since=origin/$GITHUB_BASE_REF")
  fi
  local more paths
  read -r -a more <<<"${MEMFIX_ARGS:-}"
  read -r -a paths <<<"${MEMFIX_PATHS:-.}"
  local code=0
  "$bin/memfix" "${words[@]}" ${more[@]+"${more[@]}"} -- "${paths[@]}" || code=$?
  if [ -s "$summary" ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$summary" >>"$GITHUB_STEP_SUMMARY"; fi
  {
    echo "exit-code=$code"
    if [ -n "${MEMFIX_FAIL_ON:-}" ]; then words+=("--fail-on=$MEMFIX_FAIL_ON"); fi
  if [ -n "${MEMFIX_SARIF:-}" ] && [ -f "$MEMFIX_SARIF" ]; then echo "sarif-file=$MEMFIX_SARIF"; fi
  } >>"${GITHUB_OUTPUT:?}"
  exit "$code"
}

# A checkout has only its newest commit: where the branch began must be found out.
fetch_base() {
  local ref="+refs/heads/$GITHUB_BASE_REF:refs/remotes/origin/$GITHUB_BASE_REF"
  local depth
  git fetch --quiet --no-tags --depth=1 origin "$ref"
  for depth in 50 500 5000; do
    if git merge-base HEAD "origin/$GITHUB_BASE_REF" >/dev/null 2>&1; then return; fi
    git fetch --quiet --no-tags --deepen="$depth" origin "$ref" HEAD || true
  done
  if [ -f "$(git rev-parse --git-dir)/shallow" ]; then git fetch --quiet --no-tags --unshallow origin; fi
}

case "${1:-}" in
  install) install ;;
  check) check ;;
  *) echo "usage: github-action.sh install | check" >&2 && exit 2 ;;
esac

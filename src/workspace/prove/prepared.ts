import { chmodSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import type { Plan, Runs } from '../../report/prove/assemble.js';
import type { Ending, Trial, Variant } from '../../report/prove/record.js';
import { shellWord } from '../../report/prove/render.js';
import { textOf } from '../bounded.js';
import { Failure } from '../failure.js';
import { slashed } from '../places.js';
import { fill } from './copy.js';
import { type Change, fixCopy } from './fixes.js';
import type { Tree } from './tree.js';
import { placeShim, readTrial } from './trial.js';

const PLAN = 'plan.json';

/** A folder to take to a machine without memfix: the trees, the shim, and one script that runs them all. */
export function prepareFolder(
  folder: string,
  plan: Plan,
  tree: Tree,
  cwd: string,
  changes: ReadonlyMap<string, readonly Change[]>,
): void {
  emptyFolder(folder);
  mkdirSync(folder, { recursive: true });
  placeShim(join(folder, 'shim'));
  fill(tree, join(folder, 'before'));
  for (const [name, list] of changes) {
    fill(tree, join(folder, name));
    fixCopy(tree.root, join(folder, name), list);
  }
  writeFileSync(join(folder, PLAN), `${JSON.stringify({ version: 1, ...plan }, undefined, 2)}\n`);
  const script = join(folder, 'run.sh');
  writeFileSync(
    script,
    scriptFor(plan, slashed(relative(tree.root, realpathSync.native(cwd))), [...changes.keys()]),
  );
  chmodSync(script, 0o755);
}

/** Refuses a folder with something in it. */
export function emptyFolder(folder: string): void {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  throw new Failure(
    'The folder is not empty',
    `\`--prepare\` fills a folder of its own, and ${folder} has something in it`,
    'Name a folder that does not exist yet.',
  );
}

function scriptFor(plan: Plan, cwd: string, fixed: readonly string[]): string {
  const names = ['before', ...fixed];
  const rounds = Array.from({ length: plan.repeats }, (_, index) => index + 1);
  const lines = [
    ...(plan.counts ? [...names.map((name) => `run ${name} counted 1 1`), 'run before counted 2 1'] : []),
    ...rounds.flatMap((round) => names.map((name) => `run ${name} measured ${round} 0`)),
  ];
  return `#!/bin/sh
# Made by \`memfix prove --prepare\`. Runs the command in a fresh copy of each tree; what was measured goes to runs/.
# Bring this folder back and run \`memfix prove --read <folder>\` for the table.
here=$(cd "$(dirname "$0")" && pwd) || exit 2
run() {
  out="$here/runs/$1-$2-$3"
  rm -rf "$out" "$here/work" && mkdir -p "$out/records" && cp -R "$here/$1" "$here/work" || exit 2
  echo "$1, $2, run $3" >&2
  (
    cd "$here/work/${cwd.replaceAll(/(["$`\\])/g, '\\$1')}" || exit 2
    export MEMFIX_PROVE_RECORDS="$out/records" MEMFIX_PROVE_COUNT="$4" PYTHONDONTWRITEBYTECODE=1
    export MEMFIX_PROVE_COPY="$here/work" PYTHONPATH="$here/shim\${PYTHONPATH:+:$PYTHONPATH}"
    exec ${plan.command.map(shellWord).join(' ')}
  ) >"$out/log.txt" 2>&1 </dev/null
  echo $? >"$out/status"
  rm -rf "$here/work"
}
${lines.join('\n')}
for status in "$here"/runs/*/status; do
  [ "$(cat "$status")" = 0 ] || { echo "failed: $status" >&2; tail -n 5 "$(dirname "$status")/log.txt" >&2; }
done
`;
}

/** What \`run.sh\` of a prepared folder left, wherever it ran. */
export function readFolder(folder: string): { readonly plan: Plan; readonly runs: Runs } {
  const plan = planIn(folder);
  const metric = plan.metric === undefined ? undefined : new RegExp(plan.metric, 'g');
  const variant = (name: string): Variant => ({
    measured: trialsIn(folder, name, 'measured', metric),
    counted: trialsIn(folder, name, 'counted', metric),
  });
  const alone = plan.perFix ? plan.fixes.map(({ transform }) => transform) : [];
  return {
    plan,
    runs: {
      before: needed(variant('before'), folder),
      after: needed(variant('after'), folder),
      alone: new Map(alone.map((id) => [id, needed(variant(id), folder)])),
    },
  };
}

function planIn(folder: string): Plan {
  const text = textOf(join(folder, PLAN));
  try {
    if (text !== undefined) return JSON.parse(text) as Plan;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new Failure(
    'Nothing to read',
    `${folder} has no ${PLAN} of \`memfix prove --prepare\``,
    'Name the folder that `--prepare` filled, after its run.sh has run.',
  );
}

function needed(variant: Variant, folder: string): Variant {
  if (variant.measured.length > 0) return variant;
  throw new Failure(
    'The runs are not complete',
    `${join(folder, 'runs')} lacks a measured run of one of the trees`,
    'Run `sh run.sh` in that folder, where the command can run, and let it end.',
  );
}

function trialsIn(
  folder: string,
  name: string,
  kind: keyof Variant,
  metric: RegExp | undefined,
): readonly Trial[] {
  const trials: Trial[] = [];
  for (;;) {
    const place = join(folder, 'runs', `${name}-${kind}-${trials.length + 1}`);
    const status = textOf(join(place, 'status'));
    if (status === undefined) return trials;
    trials.push(readTrial(place, signalEnding(Number(status)), metric));
  }
}

/** As a shell tells it. */
export function signalEnding(status: number): Ending {
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128)?.[0];
  return signal === undefined ? { kind: 'exited', code: status } : { kind: 'killed', signal };
}

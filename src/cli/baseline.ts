import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Compared, compared, type Files, type Known, parseBaseline } from '../report/baseline.js';
import type { Report } from '../report/report.js';
import { bytesOf } from '../workspace/bounded.js';
import { codeOf, Failure, reasonOf } from '../workspace/failure.js';
import { isInside, shownFrom, slashed } from '../workspace/places.js';
import type { Project } from '../workspace/project.js';
import type { Context } from './context.js';
import type { Look } from './looking.js';

const FILE = 'memfix-baseline.json';

/** The file that `--baseline` names; by itself it means the one at the root of the project. */
export function baselineFile(
  { io }: Context,
  named: string | undefined,
  { project }: Pick<Look, 'project'>,
): string {
  return named === undefined || named === '' ? join(project.root, FILE) : resolve(io.cwd, named);
}

/** The findings recorded in a file; undefined where there is none. */
export function recordedIn(context: Context, file: string): readonly Known[] | undefined {
  const shown = shownFrom(context.io.cwd, file);
  let text: string;
  try {
    text = bytesOf(file).toString();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Failure('The baseline cannot be read', `${shown}: ${reasonOf(error)}`, 'Name another file.');
  }
  const known = parseBaseline(text);
  if (known !== undefined) return known;
  throw new Failure(
    'No baseline in that file',
    `${shown} is not what \`memfix baseline\` writes`,
    'Record one with `memfix baseline`.',
  );
}

/** How a baseline in this file calls the files of a run, and what of it that run looked for. */
export function filesOf({ io }: Context, look: Look, file: string, unread: readonly Unread[]): Files {
  const { project, targets } = look;
  const folder = dirname(file);
  const nameOf = (path: string) => slashed(relative(folder, resolve(io.cwd, path)));
  const skipped = new Set(unread.map(({ path }) => path));
  const seen = new Set([...targets.keys()].filter((path) => !skipped.has(path)).map(nameOf));
  const isGone = (name: string) => !existsSync(resolve(folder, name));
  const isWhole = isAboutAll(project);
  return {
    nameOf,
    isGone,
    isLookedFor({ path, id }) {
      if (project.newLines !== undefined) return false;
      const place = resolve(folder, path);
      if (!project.rulesFor(place).selectedFor(place).has(id)) return false;
      // A file that is gone may have another name outside of what was looked at.
      return seen.has(path) || (isWhole && isGone(path));
    },
  };
}

interface Unread {
  readonly path: string;
}

function isAboutAll({ request: { cwd, paths, since }, root }: Project): boolean {
  const folders = paths.length === 0 ? [cwd] : paths.map((path) => resolve(cwd, path));
  return since === undefined && folders.some((folder) => isInside(root, folder));
}

/** The report without what the baseline of `--baseline` knows; the same where none was asked for. */
export function withoutKnown(
  context: Context,
  look: Look,
  report: Report,
  crashes: readonly Unread[],
): Report {
  const named = context.args.text('baseline');
  if (named === undefined) return report;
  const file = baselineFile(context, named, look);
  const recorded = recordedIn(context, file);
  if (recorded === undefined)
    throw new Failure(
      'There is no baseline',
      `${shownFrom(context.io.cwd, file)} does not exist`,
      'Record today’s findings with `memfix baseline`; `--baseline=FILE` names another file.',
    );
  const files = filesOf(context, look, file, [...report.skipped, ...crashes]);
  const { scans, known, gone }: Compared = compared(report.scans, recorded, files);
  return { ...report, scans, baseline: { known: known.length, gone: gone.length } };
}

/** `--baseline FILE` would be understood as a path to look at. */
export function refuseLooseFile({ args }: Pick<Context, 'args'>): void {
  const loose = args.operands.find((path) => path.endsWith('.json'));
  if (args.text('baseline') === '' && loose !== undefined)
    throw args.misuse(`\`--baseline\` takes its file after \`=\`: write \`--baseline=${loose}\`.`);
}

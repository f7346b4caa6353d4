import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { resembling } from '../text/resemblance.js';
import { codeOf, Failure } from './failure.js';

/** Files of a folder that are looked at for a name that somebody may have meant. */
const MOST_NAMES = 2000;

/** What a user hears who names a path that is not there. */
export function missingPath(path: string, argument: string, cwd: string): Failure {
  return new Failure('Path not found', `\`${argument}\` does not exist`, nextStep(path, argument, cwd));
}

function nextStep(path: string, argument: string, cwd: string): string {
  if (/^https?:\/\//.test(argument)) return 'Download it first: memfix reads files of this machine only.';
  const [, whole] = /^(.+?)(?::\d+)+$/.exec(argument) ?? [];
  if (whole !== undefined && existsSync(path.slice(0, path.length - argument.length + whole.length)))
    return `memfix looks at whole files: \`${whole}\`; \`memfix explain ${argument}\` tells about one place.`;
  if (/[*?[]/.test(argument))
    return 'Name the folder, which is searched through; a pattern without quotes is for the shell.';
  const meant = nameMeant(path);
  if (meant === undefined) return `Check the spelling; paths are taken relative to ${cwd}.`;
  return `Did you mean \`${argument.slice(0, argument.length - basename(argument).length)}${meant}\`?`;
}

/** With an ending that was left out, or with a letter or two in other places. */
function nameMeant(path: string): string | undefined {
  const typed = basename(path);
  const names = namesIn(dirname(path));
  const ended = ['.py', '.ipynb'].map((ending) => typed + ending).find((name) => names.includes(name));
  return ended ?? resembling(typed, names);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).slice(0, MOST_NAMES);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}

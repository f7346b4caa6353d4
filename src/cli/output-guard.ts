import { lstatSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isNotebookName } from '../text/notebook/notebook.js';
import { textOf } from '../workspace/bounded.js';
import { Failure } from '../workspace/failure.js';
import { askGit } from '../workspace/git.js';
import type { Context } from './context.js';

/** Characters at the beginning of a file that show who wrote it. */
const BEGINNING = 4096;

/** What reports of memfix look like, each format at its beginning; a patch is one, too. */
const REPORTS: readonly RegExp[] = [
  /^\s*$/,
  /^\{\s*"version":\s*\d+,/,
  /^\{"(?:type|kind)":/,
  /"(?:\$schema|runs)"[\s\S]*"name": ?"memfix"/,
  /^\[\s*(?:\]|\{\s*"(?:description|check_name|type)":)/,
  /^<\?xml[\s\S]*"memfix/,
  /^::(?:error|warning|notice) /,
  /^(?:#[^\n]*\n)*diff --git /,
  /^(?:#+ )?memfix\b/,
  /^\S[^\n]*:\d+:\d+\b[\s\S]*\b(?:safe|unsafe|advice)\b/,
];

/** Before the work begins: what is asked for as an output is no file that a person wrote. */
export function guardOutputs(context: Context): void {
  const { args, io } = context;
  // What comes out of standard input is Python, and may go back where it was.
  if (args.command === 'apply' && args.readsStdin) return;
  const reports = args.each('output-format').map((word) => /=(.*)$/s.exec(word)?.[1]);
  for (const file of [args.text('output'), args.text('save-evidence'), ...reports])
    if (file !== undefined && file !== '' && file !== '-') guard(file, resolve(io.cwd, file));
}

function guard(shown: string, path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return;
  const isCode = /\.pyi?$/i.test(path) || isNotebookName(path);
  if (!isCode && (isReport(path) || !isTracked(path))) return;
  throw new Failure(
    'That file would be lost',
    `the output was to go to ${shown}, which is ${isCode ? 'code' : 'in git, and no earlier output of memfix'}`,
    'Name another file for the output, or move this one away.',
  );
}

function isReport(path: string): boolean {
  const beginning = textOf(path)?.slice(0, BEGINNING);
  return beginning !== undefined && REPORTS.some((each) => each.test(beginning));
}

function isTracked(path: string): boolean {
  return (
    askGit(dirname(path), ['--literal-pathspecs', 'ls-files', '--error-unmatch', '--', path]).status === 0
  );
}

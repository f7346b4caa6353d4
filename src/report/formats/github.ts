import type { Level } from '../json.js';
import type { Report } from '../report.js';
import { type About, type Published, publish } from './publication.js';

const COMMANDS: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', note: 'notice' };

/** Workflow commands that GitHub shows beside the lines of a pull request. It takes ten of each level from a step. */
export function renderGithub(report: Report, about: About): string {
  const { findings, document } = publish(report, about);
  const lines = [
    ...findings.map(annotation),
    ...document.notes.map(({ path, line, column, message }) =>
      command('notice', { title: 'memfix', file: about.fromRoot(path), line, col: column }, message),
    ),
    ...document.skipped.map(({ path, line, column, reason }) =>
      command(
        'warning',
        { title: 'memfix: skipped', file: about.fromRoot(path), line, col: column },
        `This file was not looked into: ${reason}`,
      ),
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function annotation({ level, id, path, line, column, endLine, endColumn, sentences }: Published): string {
  // Columns count only within one line.
  const columns = line === endLine ? { col: column, endColumn } : {};
  return command(
    COMMANDS[level],
    { title: `memfix: ${id}`, file: path, line, endLine, ...columns },
    sentences.join('\n'),
  );
}

function command(
  name: string,
  properties: Readonly<Record<string, string | number | null>>,
  message: string,
): string {
  const given = Object.entries(properties).flatMap(([key, value]) =>
    value === null ? [] : [`${key}=${property(String(value))}`],
  );
  return `::${name} ${given.join(',')}::${data(message)}`;
}

/** As the runner reads it: a line break would begin another command. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

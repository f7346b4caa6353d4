import { afterEach } from 'vitest';
import { Terminal, type TerminalOptions } from './terminal.js';

/** What people have open. */
export const SIZES = [
  { cols: 60, rows: 20 },
  { cols: 80, rows: 24 },
  { cols: 120, rows: 40 },
] as const;

const open: Terminal[] = [];
afterEach(() => {
  for (const terminal of open.splice(0)) terminal.dispose();
});

export function start(options: TerminalOptions, ...words: readonly string[]): Terminal {
  const terminal = new Terminal(options, ...words);
  open.push(terminal);
  return terminal;
}

export async function seen(options: TerminalOptions, ...words: readonly string[]) {
  const terminal = start(options, ...words);
  const code = await terminal.ended();
  return { code, text: terminal.text, lines: terminal.lines };
}

/** Columns of the widest line; a command that is to be copied stays in one. */
export function widest(lines: readonly string[]): number {
  return Math.max(...lines.filter((line) => !/^ {4}memfix /.test(line)).map((line) => line.length));
}

import type { HunkLine } from './diff.js';

/** A line of a change as it is shown: one that is only indented further is shown once, as it will be. */
export interface ShownLine {
  readonly kind: HunkLine['kind'] | typeof INDENTED;
  readonly text: string;
}

export const INDENTED = '→';
/** Fewer lines are clearer as they were and as they will be. */
const FEWEST = 3;

/** Where lines are only put under another one, the removed ones are left out: a reader sees what is added, and how far it goes. */
export function withIndented(lines: readonly HunkLine[]): readonly ShownLine[] {
  const shown: ShownLine[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, '-');
    const added = runOf(lines, at + removed.length, '+');
    const length = removed.length + added.length;
    if (length === 0) shown.push(...lines.slice(at, at + 1));
    else shown.push(...(indentedOnly(removed, added) ?? [...removed, ...added]));
    at += Math.max(length, 1);
  }
  return shown.filter(({ kind }) => kind === INDENTED).length < FEWEST ? lines : shown;
}

/** The added lines, where the removed ones are all among them in their order, deeper by the same. */
function indentedOnly(
  removed: readonly HunkLine[],
  added: readonly HunkLine[],
): readonly ShownLine[] | undefined {
  let next = 0;
  const depths = new Set<number>();
  const shown = added.map((line): ShownLine => {
    const old = removed[next];
    if (old === undefined || old.text.trim() !== line.text.trim()) return line;
    depths.add(indentOf(line) - indentOf(old));
    next++;
    return { kind: INDENTED, text: line.text };
  });
  const [depth = 0] = depths;
  return removed.length > 0 && next === removed.length && depths.size === 1 && depth > 0 ? shown : undefined;
}

function indentOf({ text }: HunkLine): number {
  return /^[ \t]*/.exec(text)?.[0].length ?? 0;
}

function runOf(lines: readonly HunkLine[], from: number, kind: HunkLine['kind']): readonly HunkLine[] {
  const end = lines.findIndex((line, at) => at >= from && line.kind !== kind);
  return lines.slice(from, end === -1 ? lines.length : end);
}

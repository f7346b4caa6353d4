/** A line that a cell wrote when it ran. */
interface OutputLine {
  /** Among all cells, from 1. */
  readonly cell: number;
  readonly line: string;
}

/** What the cells of a notebook wrote, errors included; undefined where it is no notebook of version 4. */
export function outputsIn(json: string): readonly OutputLine[] | undefined {
  let cells: unknown;
  try {
    cells = membersOf(JSON.parse(json))['cells'];
  } catch {
    return undefined;
  }
  if (!Array.isArray(cells)) return undefined;
  return cells.flatMap((cell, index) => {
    const { outputs } = membersOf(cell);
    if (!Array.isArray(outputs)) return [];
    const lines = outputs.map(membersOf).flatMap(linesOf);
    return lines.map((line) => ({ cell: index + 1, line }));
  });
}

/** An error's traceback has an element for each frame; a stream has one for each line. */
function linesOf({ traceback, text }: Readonly<Record<string, unknown>>): readonly string[] {
  const parts = [traceback, text].flat().filter((part) => typeof part === 'string');
  return parts.flatMap((part) => part.replace(/\n$/, '').split(/\r?\n|\r/));
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

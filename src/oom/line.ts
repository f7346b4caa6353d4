const LONGEST = 8192;
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** Without colours and movements. */
export function plain(line: string): string {
  return line.includes('\x1b') ? line.replace(ESCAPES, '') : line;
}

const WRAPPED = /^\s*\{.*"(?:message|msg|log|line|textPayload)"\s*:\s*("(?:[^"\\]|\\.)*")/;

/** What a shipper of logs put into a JSON object, one for each line. */
export function unwrapped(line: string): string {
  const text = line.length > LONGEST || line.includes('\\n') ? null : WRAPPED.exec(line);
  try {
    return text === null ? line : String(JSON.parse(text[1] ?? '""'));
  } catch {
    return line;
  }
}

/** The lines of a text whose line ends are spelt out. */
export function unquoted(line: string): readonly string[] {
  return line
    .replaceAll(String.raw`\"`, '"')
    .replaceAll(/\\(?:u001b|x1b|033)/gi, '\x1b')
    .split(/(?:\\r)?\\n/);
}

const TIMES =
  /\b\d{10,}(?:\.\d+)?\b|\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d?:\d\d:\d\d(?:[.,]\d+)?Z?/g;

/** A pattern for the same words at another time. */
export function patternOf(prefix: string): string {
  const parts = prefix.split(TIMES).map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  return parts.join(String.raw`[\d:.,TZ/+-]+(?: \d[\d:.,]*)?`);
}

/** Who wrote a line, by what stands before it. */
export function rankIn(prefix: string): string | undefined {
  const named = /\brank[\s_]?[=:]?\s*(\d+)|\[default(\d+)\]|\blocal_rank[=:]\s*(\d+)/i.exec(prefix);
  const number = named?.[1] ?? named?.[2] ?? named?.[3];
  if (number !== undefined) return `rank ${number}`;
  const task = /^(\d+): /.exec(prefix)?.[1];
  return task === undefined ? undefined : `task ${task}`;
}

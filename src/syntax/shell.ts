import type { Edit } from '../edit/edit.js';

/** What a shell script does about a program and one of its environment variables. */
export type ScriptSetting =
  /** It starts the program, and the variable reaches it. */
  | { readonly kind: 'set' }
  /** It gives the variable a value that no program sees, since it is not exported; `edit` exports it. */
  | { readonly kind: 'kept'; readonly edit: Edit }
  /** It starts the program without the variable; `edit` exports it above. */
  | { readonly kind: 'unset'; readonly edit: Edit }
  /** It speaks of the variable, or starts the program, in a way that is not taken apart. */
  | { readonly kind: 'unclear' };

const STARTERS = 'python[\\d.]*|torchrun|accelerate|deepspeed|exec|nohup|time|srun|env|uv|poetry';

/** What starts a program is shorter; patterns look through a line again and again. */
const LONGEST_SCRIPT = 128 * 1024;
const LONGEST_LINE = 4000;

/** Undefined where the script does not start the program. */
export function scriptSetting(
  text: string,
  program: string,
  variable: string,
  value: string,
): ScriptSetting | undefined {
  if (!text.includes(program)) return undefined;
  if (text.length > LONGEST_SCRIPT) return { kind: 'unclear' };
  const lines = linesOf(text);
  if (lines.some(({ line }) => line.length > LONGEST_LINE && line.includes(program)))
    return { kind: 'unclear' };
  const file = program.replace(/[^\w]/g, '\\$&');
  const starts = new RegExp(`^[^#]*(?:^|[\\s;&|(])(?:${STARTERS})\\s[^#]*(?<![\\w-])${file}(?![\\w.])`);
  const index = lines.findIndex(({ line }) => line.includes(program) && starts.test(line));
  const launch = lines[index];
  if (launch === undefined) return undefined;
  const named = new RegExp(`^[^#]*\\b${variable}\\b`);
  const settings = lines.filter(({ line }) => line.includes(variable) && named.test(line));
  if (settings.length > 0) {
    const [only] = settings;
    const plain = new RegExp(`^[ \\t]*${variable}=[^\\s;&|]*[ \\t]*(?:#.*)?$`);
    const above = only !== undefined && settings.length === 1 && only.start < launch.start;
    if (above && plain.test(only.line)) {
      const at = only.start + (/^[ \t]*/.exec(only.line)?.[0].length ?? 0);
      return { kind: 'kept', edit: { start: at, end: at, text: 'export ' } };
    }
    const inline = new RegExp(`\\b(?:export[ \\t]+(?:\\S+=\\S*[ \\t]+)*)?${variable}=`).test(launch.line);
    const exported = new RegExp(`^[ \\t]*export[ \\t].*\\b${variable}=`);
    return inline || (above && exported.test(only.line)) ? { kind: 'set' } : { kind: 'unclear' };
  }
  const before = lines.slice(0, index).findLast(({ line }) => line.trim() !== '');
  const isCommand = new RegExp(`^[ \\t]*(?:\\w+=\\S*[ \\t]+)*(?:${STARTERS})\\s`).test(launch.line);
  if (!isCommand || text.includes('<<') || /(?:[|&]|\\)[ \t]*$/.test(before?.line ?? ''))
    return { kind: 'unclear' };
  const indentation = /^[ \t]*/.exec(launch.line)?.[0] ?? '';
  const written = `${indentation}export ${variable}="${value}"${launch.newline}`;
  return { kind: 'unset', edit: { start: launch.start, end: launch.start, text: written } };
}

/** Lines with what a backslash continues joined to them. */
function linesOf(
  text: string,
): readonly { readonly line: string; readonly start: number; readonly newline: string }[] {
  return [...text.matchAll(/((?:[^\\\r\n]|\\(?:\r\n|[\s\S]))*)(\r\n|\n|$)/g)]
    .filter(([whole]) => whole !== '')
    .map(({ 1: line = '', 2: newline = '', index }) => ({
      line: line.replace(/\\\r?\n/g, ' '),
      start: index,
      newline: newline === '' ? '\n' : newline,
    }));
}

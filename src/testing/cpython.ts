import { spawnSync } from 'node:child_process';

const COMPILE = `
import ast, base64, json, sys, warnings
warnings.simplefilter("ignore")
answers = []
for line in sys.stdin:
    source = base64.b64decode(line)
    try:
        ast.parse(source)
        compile(source, "file.py", "exec", dont_inherit=True)
        answers.append(None)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        answers.append(f"{type(error).__name__}: {error}")
json.dump(answers, sys.stdout)
`;

/** Where there is one, it has the last word. */
export function hasPython(): boolean {
  return spawnSync('python3', ['-c', '']).status === 0;
}

/** What CPython says to each source, in one process: undefined where it compiles, else its complaint. */
export function complaints(sources: readonly Uint8Array[]): (string | undefined)[] {
  if (sources.length === 0) return [];
  const input = sources.map((source) => `${Buffer.from(source).toString('base64')}\n`).join('');
  const python = spawnSync('python3', ['-c', COMPILE], { input, maxBuffer: 2 ** 30, encoding: 'utf8' });
  if (python.status !== 0) {
    throw new Error(`python3 is needed to check the results\n${python.error?.message ?? python.stderr}`);
  }
  return (JSON.parse(python.stdout) as (string | null)[]).map((answer) => answer ?? undefined);
}

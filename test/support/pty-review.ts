/** A review of the `.py` files of a folder, for a pseudo-terminal: `pty-review.ts <folder> [--resume] [--color] [--real]`; with toys unless `--real`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { review } from '../../src/cli/session.js';
import { createEngine } from '../../src/engine/engine.js';
import type { SourceFile } from '../../src/engine/outcome.js';
import { loadParser } from '../../src/syntax/parser.js';
import { defaultsOf } from '../../src/testing/defaults.js';
import { decode, encode } from '../../src/text/decode.js';
import { entryFor } from '../../src/workspace/assumptions.js';
import { State } from '../../src/workspace/state.js';
import { draftName, replaceBytes } from '../../src/workspace/write.js';
import { transforms } from '../../transforms/index.js';
import { TOYS } from './pty-toys.js';

const [folder = '.', ...flags] = process.argv.slice(2);
const chosen = flags.includes('--real') ? transforms : TOYS;
const metas = new Map(chosen.map(({ meta }) => [meta.id, meta]));
const engine = createEngine({
  parser: await loadParser(),
  transforms: chosen,
  knownIds: new Set(metas.keys()),
  optionsFor: (id) => defaultsOf(chosen.find(({ meta }) => meta.id === id)),
});

function read(path: string): SourceFile | undefined {
  try {
    const decoded = decode(readFileSync(join(folder, path)));
    return decoded.ok ? { path, source: decoded.source } : undefined;
  } catch {
    return undefined;
  }
}

const scans = readdirSync(folder)
  .filter((name) => name.endsWith('.py'))
  .sort()
  .flatMap((path) => {
    const file = read(path);
    const scan = file && engine.scan(file);
    return scan?.kind === 'scan' ? [scan] : [];
  });

const result = await review({
  engine,
  scans,
  metas,
  async write({ file, after }) {
    const before = encode(file.source, file.source.text);
    const bytes = encode(file.source, after);
    if (before === undefined || bytes === undefined) return { ok: false, reason: 'it cannot be encoded' };
    return replaceBytes(join(folder, file.path), before, bytes, draftName());
  },
  reread: read,
  remember: (transform, questions, path, reach) => ({
    file: 'memfix.toml',
    note: `Remembered ${questions.map((each) => entryFor(transform, each, path, reach)).join(' ')}.`,
  }),
  state: State.of(folder, process.env),
  resume: flags.includes('--resume'),
  terminal: { input: process.stdin, output: process.stderr, color: flags.includes('--color') },
});
process.stderr.write(`RESULT ${JSON.stringify(result)} END\n`);
process.exitCode = result.interrupted ? 130 : 0;
